"""The tables of arbitrary-scale super-resolution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ...analysis.reader import BICUBIC, Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Metric, Summary
from ...config import Method
from ...errors import UserError
from .. import captions
from ..items import item
from ..layout import (
    DASH,
    Cell,
    Cells,
    Row,
    Span,
    Table,
    choose_size,
    format_columns,
    format_difference,
    format_number,
)
from ..names import name_dataset, select_compared_methods, select_methods

DIGITS = {"psnr_y": 3, "ssim_y": 4}
MEGA = 1e6


# --- quality grids ------------------------------------------------------------------------------


@item
def asr_quality(source: Aggregates, which: str) -> list[Table]:
    """Make Tables 11 and 13: PSNR-Y at the scales seen in training, and at the others.

    `which` is trained or untrained.
    """
    trained = source.config["asr"]["trained_scales"]
    if which == "trained":
        return [_quality_grid(source, "psnr_y", trained, "asr_quality_main")]
    scales = [scale for scale in source.config["asr"]["scales"] if scale not in trained]
    if not scales:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    return [_quality_grid(source, "psnr_y", scales, "asr_quality_ood")]


@item
def asr_full_all_scales_appendix(source: Aggregates) -> list[Table]:
    """Make Tables 14 and 15: PSNR-Y and SSIM-Y at every scale."""
    scales = source.config["asr"]["scales"]
    labels = {"psnr_y": "psnr", "ssim_y": "ssim"}
    tables = [
        _quality_grid(source, metric, scales, f"asr_quality_full_{label}")
        for metric, label in labels.items()
    ]
    return [replace(table, sideways=True) for table in tables]


def _quality_grid(source: Aggregates, metric: str, scales: Sequence[float], label: str) -> Table:
    """Make one block of methods per evaluation set, with one column per scale."""
    keys = [format_scale(scale) for scale in scales]
    digits = Metric(metric, "", DIGITS[metric])
    trained = select_compared_methods(source)
    names = {name: method.name for name, method in trained.items()}
    if source.bicubic and BICUBIC in {*source.frame("asr_quality")["method"]}:
        names = {BICUBIC: "Bicubic", **names}
    groups: list[list[Row]] = []
    numbers: dict[str, list[Summary]] = {method: [] for method in names}
    for column in source.config["asr"]["evaluate"]:
        block = [
            [source.cell("asr_quality", column, method, key, metric) for method in names]
            for key in keys
        ]
        heading = Span(f"**{name_dataset(source, 'asr', column)}**", 1 + len(keys), "l")
        rows = [Row("", [heading])]
        for method, cells in zip(names, format_columns(block, [digits] * len(keys)), strict=True):
            rows.append(Row(method, [names[method], *cells]))
        groups.append(rows)
        for method, own in zip(numbers, zip(*block, strict=True), strict=True):
            numbers[method] += own
    measured = [cell for cells in numbers.values() for cell in cells if cell.measured]
    source.require(measured, "asr_quality", f"{metric} at the scales {', '.join(keys)}")
    over_seeds = {names[m]: cells for m, cells in numbers.items() if m != BICUBIC}
    notes = [
        {"psnr_y": "PSNR-Y in dB", "ssim_y": "SSIM-Y"}[metric],
        captions.over_seeds(over_seeds),
        "Bicubic interpolation is not trained and has no spread" if BICUBIC in names else None,
        _describe_parameters(source, trained),
        captions.missing({names[method]: cells for method, cells in numbers.items()}),
    ]
    header = ["Method", *(f"×{key}" for key in keys)]
    return Table(label, ["l", *["r"] * len(keys)], [header], groups, notes)


def _describe_parameters(source: Aggregates, methods: Mapping[str, Method]) -> str | None:
    counts = {m.name: source.parameters(name) for name, m in methods.items()}
    known = [
        f"{name} {count / MEGA:.2f}M" if count >= MEGA / 10 else f"{name} {count:,}"
        for name, count in counts.items()
        if count > 0
    ]
    return f"Trainable parameters: {', '.join(known)}" if known else None


# --- efficiency ---------------------------------------------------------------------------------


class Efficiency:
    """PSNR-Y, times and memory of all methods, with NaN for what was not measured.

    `psnr` has a row per (data set, scale) of the quality grid, `ms` and `mib` one per timed set at
    the timed scale; columns are methods.
    """

    def __init__(self, source: Aggregates) -> None:
        asr = source.config["asr"]
        self.source, self.scale = source, format_scale(asr["timing"]["scale"])
        self.sets: list[str] = asr["timing"]["datasets"]
        source.require(source.frame("asr_latency"), "asr_latency", "rows")
        self.ms, self.mib = (
            source.pivot("asr_latency", ["dataset"], "method", scale=self.scale, clock=source.clock,
                        metric=metric).reindex(self.sets, columns=[*source.methods])
            for metric in ("mean_ms", "peak_memory_mib")
        )  # fmt: skip
        psnr = pd.DataFrame(dtype=float)  # where only times were taken
        if source.has("asr_quality"):
            psnr = source.pivot("asr_quality", ["dataset", "scale"], "method", metric="psnr_y")
        places = [[*asr["evaluate"]], [format_scale(s) for s in asr["scales"]]]
        grid = pd.MultiIndex.from_product(places, names=["dataset", "scale"])
        self.psnr = psnr.reindex(grid, columns=[*source.methods])

    def notes(self, methods: Iterable[str], every: Iterable[str]) -> list[str | None]:
        """Say over how many seeds the numbers of `every` method are, and which have no time."""
        rows, timed, cell = {}, {}, self.source.cell
        grid = self.psnr.index if self.source.has("asr_quality") else ()
        place = self.scale, self.source.clock, "mean_ms"
        for method in every:
            name = self.source.methods[method].name
            timed[name] = [cell("asr_latency", d, method, *place) for d in self.sets]
            quality = (cell("asr_quality", d, method, scale, "psnr_y") for d, scale in grid)
            rows[name] = [*timed[name], *quality]
        own = [self.source.methods[method].name for method in methods]
        absent = captions.missing({name: timed[name] for name in own})
        return [captions.over_seeds(rows, spread=False), absent]


@item
def asr_latency_main(source: Aggregates) -> list[Table]:
    """Make Table 6: PSNR-Y, time per image and speed against one baseline per encoder.

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    efficiency = Efficiency(source)
    baselines = select_methods(source, "baseline")
    family = {
        name: method
        for name, method in select_methods(source, "base", "variant").items()
        if method.table == "main"
    }
    references = _first_by_encoder(baselines)
    sets = list(dict.fromkeys((efficiency.sets[0], efficiency.sets[-1])))
    columns = _latency_columns(efficiency, sets, references)
    groups = [
        [
            Row(
                name,
                [_label(method), *(format_number(column[name], form) for column, form in columns)],
            )
            for name, method in part.items()
        ]
        for part in (baselines, family)
        if part
    ]
    names = [name_dataset(source, "asr", dataset) for dataset in sets]
    size = choose_size(names)
    # Longer names leave no room for the scale, which the caption gives as well.
    titles = [f"{name} ×{efficiency.scale}" if size == "footnotesize" else name for name in names]
    speeds = [f"vs {baselines[name].name}" for name in references]
    spans = [("PSNR-Y (dB) ↑", titles), ("ms/img ↓", titles), ("Speed ↑", speeds)]
    first: list[Cell] = ["Method"]
    first += [Span(text, len(members)) for text, members in spans if members]
    second = ["", *(member for _, members in spans for member in members)]
    every = baselines | family
    return [
        Table(
            "asr_latency_main",
            ["l", *["r"] * (len(second) - 1)],
            [first, second],
            groups,
            [_describe_parameters(source, every), *efficiency.notes(every, every)],
            sets,
            size=size,
            separation=3,
            timed=range(1 + len(sets), len(second)),
        )
    ]


def _first_by_encoder(baselines: Mapping[str, Method]) -> list[str]:
    """Return the first baseline of every encoder, in the order of the table."""
    first: dict[str, str] = {}
    for name, method in baselines.items():
        first.setdefault(method.encoder, name)
    return [name for name in baselines if name in first.values()]


def _latency_columns(
    efficiency: Efficiency, sets: Sequence[str], references: Sequence[str]
) -> list[tuple[pd.Series, str]]:
    """Return the columns of Table 6 by method, each with the form of its cells."""
    psnr = efficiency.psnr.reindex([(dataset, efficiency.scale) for dataset in sets])
    columns = [(number, "{:.3f}") for _, number in psnr.iterrows()]
    columns += [(efficiency.ms.loc[dataset], "{:.2f}") for dataset in sets]
    for reference in references:
        ratios = efficiency.ms[[reference]].to_numpy() / efficiency.ms
        # The logarithm of a mean of logarithms; NaN unless all sets were timed.
        columns.append((np.exp(np.log(ratios).mean(skipna=False)), "{:.2f}×"))
    return columns


def _label(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


@item
def asr_pareto(source: Aggregates, which: str) -> list[Table]:
    """Make Tables 7 and 12: quality and efficiency of the family's variants against its base.

    `which` is main or appendix; the base stands above the variants of the main text alone.
    """
    efficiency, asr = Efficiency(source), source.config["asr"]
    name = f"asr_pareto_{which}"
    base = asr["base_method"]
    methods = [n for n, m in select_methods(source, "variant").items() if m.table == which]
    if which == "main":
        methods.insert(0, base)
    if not methods:
        raise UserError(f"Config: asr.methods has no variant for the table {name}; add one.")
    deltas = efficiency.psnr[methods].sub(efficiency.psnr[base], axis=0)
    counts = deltas.drop(columns=base, errors="ignore").count()
    fewer = [
        f"{source.methods[str(method)].name} {count} of {len(deltas)}"
        for method, count in counts.items()
        if count < len(deltas)
    ]
    notes = [
        f"Cells at hand: {', '.join(fewer)}" if fewer else None,
        *efficiency.notes(methods, [base, *methods]),
    ]
    title = name_dataset(source, "asr", efficiency.sets[-1])
    header: list[Cells] = [
        [
            "Variant",
            "Params (M)",
            Span("Mean ΔPSNR-Y (dB)", 2),
            "Worst-cell",
            "Mean speedup",
            f"{title} peak",
            "Mean mem",
        ],
        ["", "", "ID ↑", "OOD ↑", "Δ (dB)", "vs base ↑", "(MB) ↓", "reduction ↑"],
    ]
    return [
        Table(
            name,
            list("lrrrrrrr"),
            header,
            [_pareto_rows(efficiency, deltas, methods, base)],
            notes,
            size=choose_size([title]),
            separation=3,
            timed=(5, 6, 7),
        )
    ]


def _pareto_rows(
    efficiency: Efficiency, deltas: pd.DataFrame, methods: Sequence[str], base: str
) -> list[Row]:
    source = efficiency.source
    scales = [format_scale(scale) for scale in source.config["asr"]["trained_scales"]]
    trained = deltas.index.isin(scales, level="scale")
    inside, outside, worst = deltas[trained].mean(), deltas[~trained].mean(), deltas.min()
    times = (efficiency.ms[[base]].to_numpy() / efficiency.ms).mean(skipna=False)
    shares = efficiency.mib / efficiency.mib[[base]].to_numpy()
    memory = 100 * (1 - shares.mean(skipna=False))
    last = efficiency.sets[-1]
    return [
        Row(
            method,
            [
                _label(source.methods[method]),
                format_number(source.parameters(method) / MEGA, "{:.3f}"),
                format_difference(inside[method], 4),
                format_difference(outside[method], 4),
                "n/a" if method == base else format_difference(worst[method], 4),
                format_number(times[method], "{:.3f}×"),
                format_number(efficiency.mib[method][last], "{:.1f}"),
                DASH if np.isnan(memory[method]) else f"{format_difference(memory[method], 2)}%",
            ],
        )
        for method in methods
    ]
