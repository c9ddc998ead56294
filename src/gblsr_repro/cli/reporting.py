"""What the commands of the reporting room do and say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..config import Config
from ..progress import log


def tables(config: Config, aggregates: Path, output: Path, only: Sequence[str]) -> str:
    """Render the LaTeX tables; return their files, and why others were left out."""
    from ..reporting import tables

    return _listed(*tables.write(aggregates, output, config, only), output, "tex")


def figures(config: Config, aggregates: Path, output: Path, only: Sequence[str]) -> str:
    """Draw the figures; return their files, and why others were left out."""
    from ..reporting import figures

    return _listed(*figures.write(aggregates, output, config, only), output, "pdf", "png")


def _listed(made: list[str], skipped: dict[str, str], folder: Path, *endings: str) -> str:
    files = [str(folder / f"{name}.{ending}") for name in made for ending in endings]
    return "\n".join([*files, *(f"skipped {name}: {why}" for name, why in skipped.items())])


def preview(config: Config, results: Path, output: Path) -> str:
    """Compile all tables and figures into one PDF; return its path."""
    from ..reporting import preview

    preview.write(results, output)
    return str(output)


def claims(config: Config, aggregates: Path, output: Path) -> None:
    """Judge every claim, and log how many came out which way."""
    from ..reporting import claims

    page = claims.write(aggregates, output, config)
    log.info("claims: %s", ", ".join(f"{n} {verdict}" for verdict, n in page.counts().items()))


def report(config: Config, results: Path, output: Path) -> None:
    """Write the page about a results folder, and log where."""
    from ..reporting import report

    report.write(results, output, config)
    log.info("report: %s", output)


def record(config: Config, results: Path, output: Path) -> None:
    """Gather a run's numbers, tables and figures, and log how large that is."""
    from ..reporting import record

    size = record.write(results, output, config)
    log.info("record: %s, %.1f MB", output, size / 1e6)
