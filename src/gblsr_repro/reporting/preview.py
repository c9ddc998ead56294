"""One PDF with every table and figure of a results folder, compiled by LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..config import items
from ..errors import UserError
from ..files import atomic_path
from .aggregates import ordered
from .captions import caption
from .conditions import Conditions
from .layout import environment

LATEX = "pdflatex"


def available() -> bool:
    """Say whether a LaTeX that can compile the preview is installed."""
    return shutil.which(LATEX) is not None


def write(results: Path, output: Path) -> None:
    """Compile the tables and figures under `results` into the PDF file `output`.

    The paper's order comes first, then tables and figures the paper does not have. Raises
    `UserError` when there is no LaTeX, nothing to show, or a table that LaTeX cannot read.
    """
    if not available():
        raise UserError(
            f"{LATEX} is not installed, so {output} was not made; install TeX Live (Debian: "
            "texlive-latex-recommended) and run this again."
        )
    tables, figures = _found(results / "tables", ".tex"), _found(results / "figures", ".pdf")
    if not tables and not figures:
        raise UserError(f"{results} has no tables and no figures yet; make them first.")
    run = Conditions.read(results / "aggregates")
    compile_pdf(document(tables, figures, run), output)


def _found(folder: Path, suffix: str) -> dict[str, Path]:
    found = {path.stem: path for path in sorted(folder.glob(f"*{suffix}"))}
    return {name: found[name] for name in ordered(found, items())}


def document(tables: Mapping[str, Path], figures: Mapping[str, Path], run: Conditions) -> str:
    """Return the LaTeX document that shows the given files by name.

    `run` is what was run, for the captions of figures; tables bring theirs.
    """
    # Floats that may only stand at the top of a page would leave most pages half empty here.
    texts = (path.read_text(encoding="utf-8") for path in tables.values())
    bodies = [re.sub(r"(\\begin\{table\})\[\w+\]", r"\1[!htbp]", text) for text in texts]
    known = items()
    pictures = [
        {"name": name, "path": path.resolve().as_posix(), "caption": caption(known[name], run)}
        for name, path in figures.items()
        if name in known
    ]
    return environment().get_template("preview.tex.j2").render(tables=bodies, figures=pictures)


def compile_pdf(text: str, output: Path) -> str:
    """Compile a LaTeX document to `output` and return the log; `UserError` on an error in it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "preview.tex")
        source.write_text(text, encoding="utf-8")
        command = [LATEX, "-interaction=nonstopmode", "-halt-on-error", source.name]
        for _ in range(2):  # the second run settles references and the sizes of floats
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace"
            )
        if done.returncode:
            problem = re.search(r"^! (.*)", done.stdout, re.MULTILINE)
            reason = problem[1] if problem else "see its log"
            raise UserError(
                f"LaTeX cannot compile the preview ({reason}); mend the table it names."
            )
        with atomic_path(output) as temporary:
            shutil.copyfile(source.with_suffix(".pdf"), temporary)
        return source.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
