"""List the versions of the models that ship, and read what a class says of itself in its file.

No module is imported: planning needs neither torch nor what a class of one's own needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ..errors import UserError, build_syntax_error
from ..files import compute_sha256
from ..wording import suggest

MODEL_VERSIONS = {
    "gblsr_repro.models.encoder": 1,
    "gblsr_repro.models.gblsr": 1,
    "gblsr_repro.models.fourier_mlp": 1,
    "gblsr_repro.models.liif": 1,
    "gblsr_repro.models.lte": 1,
    "gblsr_repro.models.wire": 1,
    "gblsr_repro.models.asr.rdn": 1,
    "gblsr_repro.models.asr.swinir": 1,
    "gblsr_repro.models.asr.edsr": 1,
    "gblsr_repro.models.asr.liif": 1,
    "gblsr_repro.models.asr.lte": 1,
    "gblsr_repro.models.asr.local_spectral": 1,
}
"""The versions of the modules of models: raise one when the numbers of its classes change."""


def list_model_versions(classes: Iterable[str]) -> dict[str, int | str]:
    """List the versions of the modules of some classes ("module:Class"), by module.

    A module that does not ship with a version has the SHA-256 of its file. Raises `UserError` as
    `find_module` does.
    """
    modules = dict.fromkeys(name.partition(":")[0] for name in classes)
    return {name: MODEL_VERSIONS.get(name) or compute_sha256(find_module(name)) for name in modules}


def find_module(name: str) -> Path:
    """Find the file of a module without importing it or its packages; `UserError` without one."""
    folders, parts = None, name.split(".")
    for end in range(1, len(parts) + 1):
        found = PathFinder.find_spec(".".join(parts[:end]), folders)
        folders = found.submodule_search_locations if found else None
        if not folders:
            break
    if found is None or found.name != name or not found.origin:
        raise UserError(
            f"The module {name!r}, which a row of config/arms.tsv or config/methods.tsv names, is "
            "not found; correct the name, or have the module in src/, in a folder that PYTHONPATH "
            "names, or installed where Snakemake runs."
        )
    return Path(found.origin)


@cache
def read_class_settings(name: str) -> tuple[str, ...]:
    """Read the SETTINGS of a class ("module:Class"): a literal in its file, its own or a base's.

    Raises `UserError` for a class without them, and for a file that is missing or no Python.
    """
    module, _, class_name = name.partition(":")
    file = find_module(module)
    try:
        statements = ast.parse(file.read_bytes(), str(file)).body
    except SyntaxError as error:
        raise build_syntax_error(error) from error
    classes = {each.name: each for each in statements if isinstance(each, ast.ClassDef)}
    if class_name not in classes:
        raise UserError(
            f"{file} has no class {class_name!r}, which a row of config/arms.tsv or "
            f"config/methods.tsv names; {suggest(class_name, classes)}"
        )
    waiting = [classes[class_name]]
    while waiting:
        found = waiting.pop()
        for inner in found.body:
            match inner:
                case (
                    ast.Assign(targets=[ast.Name("SETTINGS")], value=literal)
                    | ast.AnnAssign(target=ast.Name("SETTINGS"), value=literal)
                ):
                    return _evaluate_settings(literal, f"{file}, line {inner.lineno}")
        bases = (base.id for base in found.bases if isinstance(base, ast.Name))
        waiting += [classes[base] for base in bases if base in classes]
    raise UserError(
        f"{file}: the class {class_name} must list the settings that it reads, as in "
        'SETTINGS = ("features", "patch").'
    )


def _evaluate_settings(literal: Any, place: str) -> tuple[str, ...]:
    """Evaluate the literal of SETTINGS, a tuple or list of names; `UserError` for anything else."""
    try:
        names = ast.literal_eval(literal)
    except (ValueError, TypeError):
        names = None
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        raise UserError(
            f"{place}: SETTINGS must list names in quotes, as in "
            '("features", "patch") or ("patch",); correct it.'
        )
    return tuple(names)
