"""Build the tables of super-resolution quality: every data set and scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...analysis.metrics import PSNR_Y, SUPERRES, Metric
from ...analysis.reader import BICUBIC, Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Summary
from ...config import OWN
from ...errors import UserError
from ..captions import describe_seeds, list_missing_rows, name_own_rows
from ..layout import Row, Span, Table, View, format_columns
from ..names import name_dataset, select_compared_methods

MEGA = 1e6
SCALES_IN_FOOTNOTESIZE = 3
"""Columns with spreads that a page is wide enough for in the usual type size of tables."""


def build_asr_quality(source: Aggregates, view: View, scales: str) -> list[Table]:
    """Build Tables 11 and 13: PSNR-Y at the scales seen in training, or at the others.

    `scales` is trained or untrained.
    """
    trained = source.config["asr"]["trained_scales"]
    if scales == "trained":
        return [_build_grid(source, view, PSNR_Y, trained, "asr_quality_main")]
    untrained = [scale for scale in source.config["asr"]["scales"] if scale not in trained]
    if not untrained:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    return [_build_grid(source, view, PSNR_Y, untrained, "asr_quality_ood")]


def build_asr_quality_at_every_scale(source: Aggregates, view: View) -> list[Table]:
    """Build Tables 14 and 15: PSNR-Y and SSIM-Y at every scale."""
    scales = source.config["asr"]["scales"]
    return [
        _build_grid(source, view, metric, scales, f"asr_quality_full_{label}")
        for metric, label in zip(SUPERRES, ("psnr", "ssim"), strict=True)
    ]


def _build_grid(
    source: Aggregates, view: View, metric: Metric, scales: Sequence[float], label: str
) -> Table:
    """Build one block of methods per evaluation set, with one column per scale."""
    keys = [format_scale(scale) for scale in scales]
    methods = select_compared_methods(source)
    names = {name: method.name for name, method in methods.items()}
    if view.bicubic and BICUBIC in {*source.frame("asr_quality")["method"]}:
        names = {BICUBIC: "Bicubic", **names}
    groups: list[list[Row]] = []
    numbers: dict[str, list[Summary]] = {name: [] for name in names}
    for dataset in source.config["asr"]["evaluate"]:
        columns = [
            [source.cell("asr_quality", dataset, name, key, metric.name) for name in names]
            for key in keys
        ]
        heading = Span(f"**{name_dataset(source, 'asr', dataset)}**", 1 + len(keys), "l")
        compared = [name == BICUBIC or methods[name].group != OWN for name in names]
        texts = format_columns(columns, [metric] * len(keys), compared)
        block = [Row(name, [names[name], *cells]) for name, cells in zip(names, texts, strict=True)]
        groups.append([Row("", [heading]), *block])
        for name, cells in zip(names, zip(*columns, strict=True), strict=True):
            numbers[name] += cells
    measured = [cell for cells in numbers.values() for cell in cells if cell.measured]
    source.require(measured, "asr_quality", f"{metric.name} at the scales {', '.join(keys)}")
    by_title = {names[name]: cells for name, cells in numbers.items()}
    trained = {names[name]: cells for name, cells in numbers.items() if name != BICUBIC}
    notes = [
        f"{metric.title} in {metric.unit}" if metric.unit else metric.title,
        name_own_rows(methods.values()),
        describe_seeds(trained),
        "Bicubic interpolation is not trained and has no spread" if BICUBIC in names else None,
        describe_parameters(source, methods),
        list_missing_rows(by_title),
    ]
    header = ["Method", *(f"×{key}" for key in keys)]
    wide = len(keys) > SCALES_IN_FOOTNOTESIZE
    return Table(
        label,
        ["l1" if wide else "l", *"r" * len(keys)],
        [header],
        groups,
        notes,
        size="scriptsize" if wide else "footnotesize",
        separation=2 if wide else 4,
    )


def describe_parameters(source: Aggregates, methods: Iterable[str]) -> str | None:
    """Describe in a caption how many parameters the trained methods among some have."""
    counts = {source.methods[name].name: source.parameters(name) for name in methods}
    texts = [
        f"{name} {count / MEGA:.2f}M" if count >= MEGA / 10 else f"{name} {count:,.0f}"
        for name, count in counts.items()
        if count > 0
    ]
    return f"Trainable parameters: {', '.join(texts)}" if texts else None
