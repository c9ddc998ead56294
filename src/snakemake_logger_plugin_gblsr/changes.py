"""Find in Snakemake's reason for a job which settings have changed since it was run."""

from __future__ import annotations

import ast
import re

CHANGE = re.compile(r"Union of exclusive params before and now across all output: before: (.*)")
TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
CODE = "models"
TABLES = "config/"  # begins the names of files, of which there are checksums alone


def describe_changes(reason: str) -> list[str]:
    """Describe the changed parameters of a job, as in `native.metrics.ssim_sigma: 1.5 -> 2.0`.

    A job has a list of parameters, "name: value" for each thing that its output depends on.
    """
    found = CHANGE.search(reason.replace("\n", " "))
    if found is None:
        return []
    before, _, now = found[1].partition(" now: ")
    old, new = _read_parameters(before), _read_parameters(now)
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    changes = [
        n if n.startswith(TABLES) else f"{n}: {old.get(n, 'none')} -> {new.get(n, 'none')}"
        for n in names
        if n != CODE
    ]
    return [*changes, *(["the code"] if CODE in names else [])]


def _read_parameters(text: str) -> dict[str, str]:
    """Read the parameters with a name in Snakemake's text of their representations."""
    values = (str(ast.literal_eval(value)) for value in TEXT.findall(text))
    return {name: rest for name, colon, rest in (v.partition(": ") for v in values) if colon}
