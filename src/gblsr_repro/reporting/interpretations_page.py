"""Build the page of the interpretations of the baselines, beside the published numbers.

What decides is in docs/interpretations.md: LPIPS on Urban100 first, then PSNR and SSIM, then the
time of the plain path.
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
    *list_shown("interpretations"),
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
    """Write the table of interpretations.csv as Markdown to `output`. Raises `UserError`."""
    tables = {"interpretations": read(aggregate, "interpretations")}
    source = Aggregates(aggregate.parent, config, tables=tables)
    write_text(output, render_markdown(build_page(source)))


def build_page(source: Aggregates) -> Section:
    """Build a table of the interpretations for every data set. Raises `UserError` without one.

    A baseline's interpretations are the arms of its decoder class; its published numbers are those
    of the arm that the benchmark takes for the paper's.
    """
    paper = read_paper_aggregates(load_protocol())
    header = ["interpretation", *(metric.arrowed_heading for metric in COLUMNS)]
    sections = []
    for dataset in dict.fromkeys(key[0] for key in source.cells("interpretations")):
        rows = _list_rows(source, paper, dataset)
        if not rows:
            raise UserError(
                f"{source.path('interpretations')} has no interpretation of a baseline; name some "
                "under native.arms, as config/interpretations.yaml does."
            )
        sections.append(Section(dataset, tables=[build_simple_table(header, rows)]))
    text = f"{_describe_conditions(source.config)} {MEANING}"
    return Section("Interpretations of the baselines", text, inside=sections)


def _list_rows(source: Aggregates, paper: Aggregates, dataset: str) -> list[list[str]]:
    """List every baseline's published numbers on a data set, and below them its interpretations."""
    rows = []
    for name, arm in source.arms.items():
        interpretations = [
            other.arm
            for other in source.arms.values()
            if other.decoder == arm.decoder
            and (dataset, other.arm, "psnr") in source.cells("interpretations")
        ]
        if arm.group == BASELINE and interpretations:
            label = f"**{arm.short}, published**"
            rows.append(_format_row(label, paper, "native", dataset, name))
            for interpretation in interpretations:
                label = source.arms[interpretation].name
                rows.append(_format_row(label, source, "interpretations", dataset, interpretation))
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
