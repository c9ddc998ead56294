"""The readings of the baselines side by side, each data set's published numbers above them.

What decides is in docs/readings.md: LPIPS on Urban100 first, then PSNR and SSIM, then the time of
the plain path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..config import BASELINE, Config, arms, protocol
from ..errors import UserError
from ..files import write_text
from .aggregates import Aggregates, Key, read
from .layout import markdown, value
from .statistics import Summary

COLUMNS = {  # metric of the aggregate: heading and decimals
    "psnr": ("PSNR ↑", 2),
    "ssim": ("SSIM ↑", 4),
    "lpips": ("LPIPS ↓", 4),
    "edge_lpips": ("edge-LPIPS ↓", 4),
    "border_step": ("step across borders", 2),
    "center_step": ("across centers", 2),
    "inference_ms": ("plain ms", 2),
}


def write(aggregate: Path, config: Config, output: Path) -> None:
    """Write the table of readings.csv as Markdown to `output`. Raises `UserError`.

    A baseline's readings are the arms of its decoder class; its published numbers are those of the
    arm that the benchmark takes for the paper's.
    """
    run = Aggregates(aggregate.parent, config, frames={"readings": read(aggregate, "readings")})
    measured = run.cells("readings")
    published = Aggregates.paper(protocol()).cells("native")
    rows = arms()
    lines = ["# Readings of the baselines", "", _conditions(config), ""]
    for dataset in dict.fromkeys(key[0] for key in measured):
        lines += [f"## {dataset}", ""]
        cells = []
        for name in (n for n, row in rows.items() if row.group == BASELINE):
            same = [n for n, row in rows.items() if row.decoder == rows[name].decoder]
            found = [n for n in same if (dataset, n, "psnr") in measured]
            if found:
                cells.append(_row(f"**{rows[name].short}, published**", published, dataset, name))
                cells += [_row(rows[n].name, measured, dataset, n) for n in found]
        if not cells:
            raise UserError(
                f"{aggregate} has no reading of a baseline; name some under native.arms, as "
                "config/readings.yaml does."
            )
        lines += [*markdown(["reading", *(heading for heading, _ in COLUMNS.values())], cells), ""]
    lines.append(
        "Steps between neighboring pixels across patch borders and across patch centers are in "
        "units of the mean step elsewhere: 1 where a reconstruction does not know of patches. "
        "Times are by the paper's clock."
    )
    write_text(output, "\n".join(lines) + "\n")


def _row(label: str, values: Mapping[Key, Summary], dataset: str, arm: str) -> list[str]:
    columns = COLUMNS.items()
    return [label, *(value(values.get((dataset, arm, m)), digits) for m, (_, digits) in columns)]


def _conditions(config: Config) -> str:
    here, there = config["native"]["training"], protocol()["native"]["training"]
    pixels = "all pixels" if here["pixels"] is None else f"{here['pixels']:,} pixels"
    return (
        f"{here['steps']:,} of {there['steps']:,} steps, batches of {here['batch_size']} "
        f"({there['batch_size']}), {pixels} of each image in the loss (all), seeds "
        f"{', '.join(map(str, config['seeds']))}; the paper's in brackets. Trained on "
        f"{' + '.join(config['native']['data']['train'])}."
    )
