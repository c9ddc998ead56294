"""What the commands about numbers, tables and figures do and say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..config import Config, resolve, selected_arms
from ..errors import UserError
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


def summary(config: Config) -> str:
    """Return the native PSNR of every arm and where tables, figures and the report are.

    Reads `aggregates/native.csv` under the config's results folder; raises `UserError` when the
    native benchmark has not been aggregated yet.
    """
    from ..reporting.aggregates import Aggregates

    results = resolve(config, config["results"])
    path = results / "aggregates" / "native.csv"
    if not path.is_file():
        raise UserError(f"{path} does not exist yet; run the workflow first.")
    run = Aggregates(path.parent, config)
    columns = list(config["native"]["data"]["evaluate"])
    lines = [f"{'PSNR (dB)':<32}" + "".join(f"{column:>12}" for column in columns)]
    for arm, row in selected_arms(config).items():
        found = [run.cell("native", column, arm, "psnr") for column in columns]
        if any(cell.measured for cell in found):
            cells = (f"{cell.mean:12.2f}" if cell.measured else f"{'-':>12}" for cell in found)
            lines.append(f"{row.name:<32}" + "".join(cells))
    steps = config["native"]["training"]["steps"]
    seeds = len(config["seeds"])
    lines.append(
        f"{steps} steps, {seeds} seed{'s' if seeds > 1 else ''}, preset {config['preset']}"
    )
    if config["preset"] != "paper":
        lines.append(
            "These numbers show that everything runs; they are not the paper's experiment."
        )
    lines.append("")
    for name in ("tables", "figures", "claims.md", "report.html"):
        if (results / name).exists():
            path, here = results / name, Path.cwd()
            shown = path.relative_to(here) if path.is_relative_to(here) else path
            lines.append(f"{name.partition('.')[0]:<8} {shown}")
    return "\n".join(lines)
