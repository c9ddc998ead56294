"""Build the tables of super-resolution efficiency: time, speed and memory beside quality."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from ...analysis.derived import (
    PEAK,
    GridCell,
    Timing,
    geometric_mean_speed,
    lowest_psnr_gap,
    mean_psnr_gap,
    mean_speed,
    memory_saved,
    read_value,
)
from ...analysis.estimates import Estimate
from ...analysis.metrics import PSNR_Y
from ...analysis.reader import Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Summary
from ...config import OWN, Method
from ...errors import UserError
from ..captions import describe_seeds, list_missing_rows
from ..layout import (
    DASH,
    Cell,
    Cells,
    Row,
    Span,
    Table,
    View,
    format_difference,
    format_number,
    format_summary,
)
from ..names import name_dataset, select_methods
from .superres_quality import MEGA, describe_parameters


class Efficiency:
    """Reader of PSNR-Y, times, memory and what was derived from them; NaN: not measured."""

    def __init__(self, source: Aggregates, clock: str) -> None:
        self.source = source
        source.require(source.table("asr_latency"), "asr_latency", "rows")
        self.timing = Timing.read(source.config, clock)
        self.sets, self.scale, self.clock = self.timing
        asr = source.config["asr"]
        self.grid = [*product(asr["evaluate"], map(format_scale, asr["scales"]))]

    def read_psnr(self, dataset: str, method: str, scale: str) -> Summary:
        """Read the PSNR-Y of a method in dB."""
        if not self.source.has("asr_quality"):  # where only times were taken
            return Summary()
        return self.source.cell("asr_quality", dataset, method, scale, PSNR_Y.name)

    def read_latency(self, dataset: str, method: str, metric: str = "mean_ms") -> Summary:
        """Read a time of a method in ms or its peak memory in MiB."""
        return self.source.cell("asr_latency", dataset, method, self.scale, self.clock, metric)

    def compare(self, compute: Callable[..., Estimate], method: str, reference: str) -> float:
        """Compare the times or the memory of a method with another's."""
        return read_value(self.source, compute, method, reference, self.timing)

    def list_cells(self, method: str) -> list[GridCell]:
        """List the cells (data set and scale factor) whose PSNR-Y both a method and base have."""
        both = (method, self.source.config["asr"]["base_method"])
        return [
            (dataset, scale)
            for dataset, scale in self.grid
            if all(self.read_psnr(dataset, name, scale).measured for name in both)
        ]

    def list_notes(self, methods: Iterable[str], averaged: Iterable[str]) -> list[str | None]:
        """List for the caption over how many seeds numbers are, and which methods have no time.

        `methods` are the rows of the table, `averaged` all methods that its numbers are of.
        """
        rows, timed = {}, {}
        for method in averaged:
            name = self.source.methods[method].name
            timed[name] = [self.read_latency(dataset, method) for dataset in self.sets]
            quality = (self.read_psnr(dataset, method, scale) for dataset, scale in self.grid)
            rows[name] = [*timed[name], *quality]
        names = [self.source.methods[method].name for method in methods]
        missing = list_missing_rows({name: timed[name] for name in names})
        return [describe_seeds(rows, spread=False), missing]


def build_asr_latency(source: Aggregates, view: View) -> list[Table]:
    """Build Table 6: PSNR-Y, time per image and speed against one baseline per encoder.

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    efficiency = Efficiency(source, view.clock)
    baselines = select_methods(source, "baseline")
    family = {
        name: method
        for name, method in select_methods(source, "base", "variant").items()
        if method.table == "main"
    }
    own = select_methods(source, OWN)
    references = _select_references(baselines)
    sets = list(dict.fromkeys((efficiency.sets[0], efficiency.sets[-1])))
    groups = [
        [
            Row(name, [_format_name(method), *_format_latency(efficiency, name, sets, references)])
            for name, method in part.items()
        ]
        for part in (baselines, family, own)
        if part
    ]
    titles = [f"{name_dataset(source, 'asr', name)} ×{efficiency.scale}" for name in sets]
    speeds = [f"vs {baselines[name].name}" for name in references]
    spans = [(PSNR_Y.arrowed_heading, titles), ("ms/img ↓", titles), ("Speed ↑", speeds)]
    first: list[Cell] = ["Method"]
    first += [Span(text, len(members)) for text, members in spans if members]
    second = ["", *(member for _, members in spans for member in members)]
    methods = baselines | family | own
    return [
        Table(
            "asr_latency_main",
            ["l1", *["r4.7em"] * (len(second) - 1)],
            [first, second],
            groups,
            [describe_parameters(source, methods), *efficiency.list_notes(methods, methods)],
            sets,
            separation=2,
            timed=range(1 + len(sets), len(second)),
        )
    ]


def _select_references(baselines: Mapping[str, Method]) -> list[str]:
    """Select the first baseline of every encoder, in the order of the table."""
    first: dict[str, str] = {}
    for name, method in baselines.items():
        first.setdefault(method.encoder, name)
    return [name for name in baselines if name in first.values()]


def _format_latency(
    efficiency: Efficiency, method: str, sets: Sequence[str], references: Sequence[str]
) -> list[str]:
    """Format the cells of a method in Table 6: PSNR-Y and time on some sets, and speeds."""
    psnr = [efficiency.read_psnr(dataset, method, efficiency.scale) for dataset in sets]
    times = [efficiency.read_latency(dataset, method) for dataset in sets]
    speeds = [efficiency.compare(geometric_mean_speed, method, other) for other in references]
    return [
        *(format_summary(cell, PSNR_Y.digits, spread=False) for cell in psnr),
        *(format_summary(cell, 2, spread=False) for cell in times),
        *(format_number(speed, "{:.2f}×") for speed in speeds),
    ]


def _format_name(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


def build_asr_pareto(source: Aggregates, view: View, part: str) -> list[Table]:
    """Build Tables 7 and 12: quality and efficiency of the family's variants against its base.

    `part` of the paper is main or appendix; the base stands above the variants of the main text
    alone.
    """
    efficiency, base = Efficiency(source, view.clock), source.config["asr"]["base_method"]
    variants = select_methods(source, "variant")
    methods = [name for name, method in variants.items() if method.table == part]
    if part == "main":
        methods.insert(0, base)
    if not methods:
        raise UserError(
            f"Config: asr.methods has no variant for the table asr_pareto_{part}; add one."
        )
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
            f"asr_pareto_{part}",
            ["l1", "r3.6em", "r4.4em", "r4.4em", "r4.5em", "r4.5em", "r4.8em", "r5.6em"],
            header,
            [[Row(method, _format_variant(efficiency, method, base)) for method in methods]],
            [
                _list_partial_variants(efficiency, [name for name in methods if name != base]),
                *efficiency.list_notes(methods, [base, *methods]),
            ],
            separation=2,
            timed=(5, 6, 7),
        )
    ]


def _list_partial_variants(efficiency: Efficiency, variants: Sequence[str]) -> str | None:
    """List for the caption the variants that lack cells of the quality grid."""
    size, texts = len(efficiency.grid), []
    for method in variants:
        count = len(efficiency.list_cells(method))
        if count < size:
            texts.append(f"{efficiency.source.methods[method].name} {count} of {size}")
    return f"Measured cells: {', '.join(texts)}" if texts else None


def _format_variant(efficiency: Efficiency, method: str, base: str) -> list[str]:
    """Format the cells of a variant: parameters, quality, speed and memory beside the base's."""
    source = efficiency.source
    saved = efficiency.compare(memory_saved, method, base)
    peak = efficiency.read_latency(efficiency.sets[-1], method, PEAK)
    cells = efficiency.list_cells(method)
    scales = [*map(format_scale, source.config["asr"]["trained_scales"])]
    trained = [cell for cell in cells if cell[1] in scales]
    others = [cell for cell in cells if cell[1] not in scales]
    means = (read_value(source, mean_psnr_gap, method, base, part) for part in (trained, others))
    lowest = read_value(source, lowest_psnr_gap, method, base, cells)
    return [
        _format_name(source.methods[method]),
        format_number(source.parameters(method) / MEGA, "{:.3f}"),
        *(format_difference(mean, 4) for mean in means),
        "n/a" if method == base else format_difference(lowest, 4),
        format_number(efficiency.compare(mean_speed, method, base), "{:.3f}×"),
        format_summary(peak, 1, spread=False),
        DASH if math.isnan(saved) else f"{format_difference(saved, 2)}%",
    ]
