"""The readings of the baselines side by side, each data set's published numbers above them.

What decides is in docs/readings.md: LPIPS on Urban100 first, then PSNR and SSIM, then the time of
the plain path.
"""

from __future__ import annotations

from pathlib import Path

from ..analysis.reader import Aggregates, read
from ..config import BASELINE, Config, protocol
from ..errors import UserError
from ..files import write_text
from .documents import Section, render_markdown, simple_table
from .layout import format_summary

COLUMNS = {  # metric of the aggregate: heading and decimals
    "psnr": ("PSNR ↑", 2),
    "ssim": ("SSIM ↑", 4),
    "lpips": ("LPIPS ↓", 4),
    "edge_lpips": ("edge-LPIPS ↓", 4),
    "border_step": ("step across borders", 2),
    "center_step": ("across centers", 2),
    "inference_ms": ("plain ms", 2),
}
MEANING = (
    "Steps between neighboring pixels across patch borders and across patch centers are in units "
    "of the mean step elsewhere: 1 where a reconstruction does not know of patches. Times are by "
    "the paper's clock."
)


def write(aggregate: Path, config: Config, output: Path) -> None:
    """Write the table of readings.csv as Markdown to `output`. Raises `UserError`."""
    run = Aggregates(aggregate.parent, config, tables={"readings": read(aggregate, "readings")})
    write_text(output, render_markdown(page(run)))


def page(run: Aggregates) -> Section:
    """Return a table of the readings for every data set. Raises `UserError` where there is none.

    A baseline's readings are the arms of its decoder class; its published numbers are those of the
    arm that the benchmark takes for the paper's.
    """
    measured = run.cells("readings")
    published = Aggregates.paper(protocol())

    def row(label: str, of: Aggregates, *key: str) -> list[str]:
        cells = ((of.cell(*key, metric), digits) for metric, (_, digits) in COLUMNS.items())
        return [label, *(format_summary(cell, digits) for cell, digits in cells)]

    header = ["reading", *(heading for heading, _ in COLUMNS.values())]
    sections = []
    for dataset in dict.fromkeys(key[0] for key in measured):
        rows = []
        for name, arm in run.arms.items():
            same = [n for n, other in run.arms.items() if other.decoder == arm.decoder]
            found = [n for n in same if (dataset, n, "psnr") in measured]
            if arm.group == BASELINE and found:
                rows.append(row(f"**{arm.short}, published**", published, "native", dataset, name))
                rows += [row(run.arms[n].name, run, "readings", dataset, n) for n in found]
        if not rows:
            raise UserError(
                f"{run.path('readings')} has no reading of a baseline; name some under "
                "native.arms, as config/readings.yaml does."
            )
        sections.append(Section(dataset, tables=[simple_table(header, rows)]))
    text = f"{_conditions(run.config)} {MEANING}"
    return Section("Readings of the baselines", text, inside=sections)


def _conditions(config: Config) -> str:
    here, there = config["native"]["training"], protocol()["native"]["training"]
    fewer = ", ".join(f"{count:,} for {arm}" for arm, count in here["pixels"].items())
    return (
        f"{here['steps']:,} of {there['steps']:,} steps, batches of {here['batch_size']} "
        f"({there['batch_size']}), all pixels of each image in the loss"
        f"{fewer and f' but {fewer}'} (all), seeds "
        f"{', '.join(map(str, config['seeds']))}; the paper's in brackets. Trained on "
        f"{' + '.join(config['native']['data']['train'])}."
    )
