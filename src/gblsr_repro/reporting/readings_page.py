"""Build the page of the readings of the baselines, with the published numbers of each data set.

What decides is in docs/readings.md: LPIPS on Urban100 first, then PSNR and SSIM, then the time of
the plain path.
"""

from __future__ import annotations

from pathlib import Path

from ..analysis.metrics import Metric, list_shown
from ..analysis.reader import Aggregates, read, read_paper_aggregates
from ..config import BASELINE, Config, load_protocol
from ..errors import UserError
from ..files import write_text
from .layout import format_summary
from .page import Section, build_simple_table, render_markdown

COLUMNS = (
    *list_shown("readings"),
    Metric("border_step", "step across borders", 2, ""),
    Metric("center_step", "across centers", 2, ""),
    Metric("inference_ms", "plain ms", 2, ""),
)
MEANING = (
    "Steps between neighboring pixels across patch borders and across patch centers are in units "
    "of the mean step elsewhere: 1 where patches leave no trace. Times are by "
    "the paper's clock."
)


def write(aggregate: Path, config: Config, output: Path) -> None:
    """Write the table of readings.csv as Markdown to `output`. Raises `UserError`."""
    tables = {"readings": read(aggregate, "readings")}
    source = Aggregates(aggregate.parent, config, tables=tables)
    write_text(output, render_markdown(build_page(source)))


def build_page(source: Aggregates) -> Section:
    """Build a table of the readings for every data set. Raises `UserError` without a reading.

    A baseline's readings are the arms of its decoder class; its published numbers are those of the
    arm that the benchmark takes for the paper's.
    """
    paper = read_paper_aggregates(load_protocol())
    header = ["reading", *(metric.arrowed_heading for metric in COLUMNS)]
    sections = []
    for dataset in dict.fromkeys(key[0] for key in source.cells("readings")):
        rows = _list_rows(source, paper, dataset)
        if not rows:
            raise UserError(
                f"{source.path('readings')} has no reading of a baseline; name some under "
                "native.arms, as config/readings.yaml does."
            )
        sections.append(Section(dataset, tables=[build_simple_table(header, rows)]))
    text = f"{_describe_conditions(source.config)} {MEANING}"
    return Section("Readings of the baselines", text, inside=sections)


def _list_rows(source: Aggregates, paper: Aggregates, dataset: str) -> list[list[str]]:
    """List the published numbers of every baseline on a data set, and below them its readings."""
    rows = []
    for name, arm in source.arms.items():
        readings = [
            other.arm
            for other in source.arms.values()
            if other.decoder == arm.decoder
            and (dataset, other.arm, "psnr") in source.cells("readings")
        ]
        if arm.group == BASELINE and readings:
            label = f"**{arm.short}, published**"
            rows.append(_format_row(label, paper, "native", dataset, name))
            for reading in readings:
                label = source.arms[reading].name
                rows.append(_format_row(label, source, "readings", dataset, reading))
    return rows


def _format_row(label: str, source: Aggregates, *key: str) -> list[str]:
    cells = ((source.cell(*key, metric.name), metric.digits) for metric in COLUMNS)
    return [label, *(format_summary(cell, digits) for cell, digits in cells)]


def _describe_conditions(config: Config) -> str:
    run, paper = config["native"]["training"], load_protocol()["native"]["training"]
    fewer = ", ".join(f"{count:,} for {arm}" for arm, count in run["pixels"].items())
    return (
        f"{run['steps']:,} of {paper['steps']:,} steps, batches of {run['batch_size']} "
        f"({paper['batch_size']}), all pixels of each image in the loss"
        f"{fewer and f' but {fewer}'} (all), seeds "
        f"{', '.join(map(str, config['seeds']))}; the paper's in brackets. Trained on "
        f"{' + '.join(config['native']['data']['train'])}."
    )
