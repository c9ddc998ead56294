"""Write one PDF with every table and figure of a run, in the paper's order, by LaTeX.

The conditions of the run stand once, in front; captions name theirs by number. What a run does not
have is named at the end with the reason.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..analysis.reader import Aggregates
from ..config import Config, Item, read_items
from ..errors import UserError
from ..files import write_bytes
from ..progress import log
from .captions import Caption, compose_caption, format_sentence
from .compiler import COMPILER, require_compiler
from .items import build_possible, find_figure, select_items
from .layout import Table
from .names import sort_by_order
from .rendering import render_template
from .sections import explain_preset
from .tables.build import build_beside_paper, build_tables


@dataclass(frozen=True)
class Float:
    """A table or figure of the document.

    `number` is that of the paper, 0 for one that the paper does not have or that shares it.
    """

    number: int
    caption: Caption
    table: Table | None = None
    picture: str = ""


def write_document(results: Path, output: Path, config: Config) -> None:
    """Write the PDF about `results` to `output`.

    `config` is the run's resolved configuration. Raises `UserError` without the folder, without
    LaTeX, and where that refuses the document.
    """
    require_compiler()
    if not results.is_dir():
        raise UserError(f"{results} is not a folder; run the workflow first.")
    write_bytes(output, _compile(render_document(results, config), results / "figures"))
    log.info("report: %s", output)


def render_document(results: Path, config: Config) -> str:
    """Render the document about a results folder as LaTeX, which reads the folder `figures`."""
    source = Aggregates(results / "aggregates", config)
    items = select_items("table", config) | select_items("figure", config)
    names = sort_by_order(items, read_items())
    built, failures = build_possible(names, lambda name: _build_floats(source, items[name]))
    floats = [each for of_item in built.values() for each in of_item]
    differences = _collect(each.caption.differences for each in floats)
    conditions = _collect(each.caption.conditions for each in floats)
    numbers = {text: number for number, text in enumerate([*differences, *conditions], start=1)}
    return render_template(
        "document.tex.j2",
        warning=explain_preset(config["preset"]),
        differences=[format_sentence(text) for text in differences],
        conditions=conditions,
        floats=[(each, _mark_conditions(each.caption, numbers)) for each in floats],
        failures=[
            (f"{items[name].title} ({items[name].paper})", failures[name]) for name in failures
        ],
    )


def _build_floats(source: Aggregates, item: Item) -> list[Float]:
    """Build the figure of an item, or its tables, beside the paper's values where compared."""
    numbers = [*map(int, re.findall(r"\d+", item.paper))] or [0]
    if item.kind == "figure":
        picture = find_figure(item, source, "pdf").name
        return [Float(numbers[0], compose_caption(item, source.provenance), picture=picture)]
    build = build_beside_paper if item.compared else build_tables
    return [
        # Tables beyond the paper's share the number of the last.
        Float(numbers[min(place, len(numbers) - 1)], table.caption, table)
        for place, table in enumerate(build(source, item))
    ]


def _collect(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(text for texts in lists for text in texts))


def _mark_conditions(caption: Caption, numbers: dict[str, int]) -> str:
    """Return a caption as it is printed, with the numbers of its conditions."""
    own = sorted(numbers[text] for text in (*caption.differences, *caption.conditions))
    if not own:
        return caption.printed
    return f"{caption.printed} *Conditions {_join_numbers(own)}.*"


def _join_numbers(numbers: Sequence[int]) -> str:
    """Join sorted numbers, three or more in a row as a range: 1–3, 5, 6."""
    # In a row, a number less its place stays the same.
    rows = groupby(enumerate(numbers), lambda numbered: numbered[1] - numbered[0])
    runs = [[number for _, number in row] for _, row in rows]
    return ", ".join(
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def _compile(document: str, figures: Path) -> bytes:
    """Compile a document that reads a folder `figures` to PDF."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "report.tex").write_text(document, encoding="utf-8")
        (folder / "figures").symlink_to(figures.resolve())
        command = [COMPILER, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
        done = subprocess.run(
            [*command, "report.tex"], cwd=folder, capture_output=True, text=True, errors="replace"
        )
        if done.returncode:
            told = re.findall(r"^! .*", done.stdout, re.M) or done.stdout.splitlines()[-1:]
            raise UserError(f"{COMPILER} refused the document: {' '.join(told)}")
        return (folder / "report.pdf").read_bytes()
