"""Build the tables of super-resolution quality: every data set and scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...analysis.metrics import PSNR_Y, SUPERRES, Metric
from ...analysis.reader import BICUBIC, Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Summary
from ...config import OWN
from ...errors import UserError
from ..captions import describe_seeds, name_own_rows
from ..names import name_dataset, select_compared_methods
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow, collect_numbers

MEGA = 1e6


def build_asr_quality(source: Aggregates, scales: str) -> list[Sheet]:
    """Build Tables 11 and 13: PSNR-Y at the scales seen in training, or at the others.

    `scales` is trained or untrained.
    """
    trained = source.config["asr"]["trained_scales"]
    if scales == "trained":
        return [_build_grid(source, PSNR_Y, trained, "asr_quality_main")]
    untrained = [scale for scale in source.config["asr"]["scales"] if scale not in trained]
    if not untrained:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    return [_build_grid(source, PSNR_Y, untrained, "asr_quality_ood")]


def build_asr_quality_at_every_scale(source: Aggregates) -> list[Sheet]:
    """Build Tables 14 and 15: PSNR-Y and SSIM-Y at every scale."""
    scales = source.config["asr"]["scales"]
    return [
        _build_grid(source, metric, scales, f"asr_quality_full_{label}")
        for metric, label in zip(SUPERRES, ("psnr", "ssim"), strict=True)
    ]


def _build_grid(source: Aggregates, metric: Metric, scales: Sequence[float], label: str) -> Sheet:
    """Build one block of methods per evaluation set, with one column per scale."""
    keys = [format_scale(scale) for scale in scales]
    methods, sets = select_compared_methods(source), [*source.config["asr"]["evaluate"]]

    def read_at(scale: str) -> Callable[[str, str], Summary]:
        return lambda dataset, method: source.cell(
            "asr_quality", dataset, method, scale, metric.name
        )

    columns = [
        SheetColumn(
            f"{metric.name}_x{key}",
            f"×{key}",
            read_at(key),
            digits=metric.digits,
            spread=True,
            metric=metric,
        )
        for key in keys
    ]
    numbers = {
        method.name: collect_numbers(columns, [(dataset, name) for dataset in sets])
        for name, method in methods.items()
    }
    measured = [cell for cells in numbers.values() for cell in cells if cell.measured]
    what = f"{metric.name} at the scales {', '.join(keys)}"
    source.require(measured, "asr_quality", what)
    # The paper has no bicubic row, so it stands where the measured numbers have company only.
    has_bicubic = any(BICUBIC in key for key in source.cells("asr_quality"))
    groups = []
    for dataset in sets:
        rows = [
            SheetRow((dataset, name), method.name, rated=method.group != OWN)
            for name, method in methods.items()
        ]
        if has_bicubic:
            rows.insert(0, SheetRow((dataset, BICUBIC), "Bicubic", beside_only=True))
        groups.append(SheetGroup(rows, f"**{name_dataset(source, 'asr', dataset)}**"))
    notes = [
        f"{metric.title} in {metric.unit}" if metric.unit else metric.title,
        name_own_rows(methods.values()),
        describe_seeds(numbers),
        describe_parameters(source, methods),
    ]
    names = "l1" if len(keys) > 3 else "l"  # names wrap where the numbers need the width
    return Sheet(label, names, ["Method"], columns, groups, notes)


def describe_parameters(source: Aggregates, methods: Iterable[str]) -> str | None:
    """Describe in a caption how many parameters the trained methods among some have."""
    counts = {source.methods[name].name: source.parameters(name) for name in methods}
    texts = [
        f"{name} {count / MEGA:.2f}M" if count >= MEGA / 10 else f"{name} {count:,.0f}"
        for name, count in counts.items()
        if count > 0
    ]
    return f"Trainable parameters: {', '.join(texts)}" if texts else None
