"""What a run has made, in a few lines for a terminal."""

from __future__ import annotations

from pathlib import Path

from .. import config as configuration
from ..config import Config
from ..errors import UserError
from ..reporting.tidy import KEYS, read_summaries


def summary(config: Config) -> str:
    """Return the native PSNR of every arm and where tables, figures and the report are.

    Reads `aggregates/native.csv` under the config's results folder; raises `UserError` when the
    native benchmark has not been aggregated yet.
    """
    results = configuration.resolve(config, config["results"])
    path = results / "aggregates" / "native.csv"
    if not path.is_file():
        raise UserError(f"{path} does not exist yet; run the workflow first.")
    means = read_summaries(path, KEYS["native"])
    columns = list(config["native"]["data"]["evaluate"])
    lines = [f"{'PSNR (dB)':<32}" + "".join(f"{column:>12}" for column in columns)]
    for arm, row in configuration.selected_arms(config).items():
        found = [means.get((column, arm, "psnr")) for column in columns]
        if any(found):
            cells = (f"{psnr.mean:12.2f}" if psnr else f"{'-':>12}" for psnr in found)
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
            lines.append(f"{name.partition('.')[0]:<8} {_shown(results / name)}")
    return "\n".join(lines)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
