"""Find the LaTeX that compiles the PDF; planning asks, too, and imports nothing else."""

from __future__ import annotations

import shutil

from ..errors import UserError

COMPILER = "pdflatex"


def require_compiler() -> None:
    """Raise `UserError` where LaTeX is not installed."""
    if shutil.which(COMPILER) is None:
        raise UserError(
            f"{COMPILER} was not found, which makes the PDF of the tables and figures; install "
            "LaTeX, on Debian the package texlive-latex-recommended, and ask for the PDF again."
        )
