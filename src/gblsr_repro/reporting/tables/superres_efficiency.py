"""Build the tables of super-resolution efficiency: time, speed and memory beside quality."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import product

from ...analysis.derived import (
    PEAK,
    GridCell,
    TimedSets,
    memory_saved,
    psnr_gaps,
    read_value,
    speeds,
)
from ...analysis.estimates import Estimate, geometric_mean, mean, minimum
from ...analysis.measured import Measured
from ...analysis.metrics import PSNR_Y
from ...analysis.reader import Aggregates
from ...analysis.schemas import format_scale
from ...analysis.statistics import Summary
from ...config import OWN, Method
from ...errors import UserError
from ..captions import describe_seeds
from ..names import name_dataset, select_methods
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow, SheetValue
from .superres_quality import MEGA, describe_parameters

Summarize = Callable[[Estimate], Estimate]
"""One of the functions of `estimates` that make one number of several."""
WIDTH = "r4.7em"
"""The type of the columns of Table 6."""


class Efficiency:
    """Reader of PSNR-Y, times, memory and what was derived from them; NaN: not measured."""

    def __init__(self, source: Aggregates) -> None:
        self.source = source
        source.require(source.table("asr_latency"), "asr_latency", "rows")
        self.timing = TimedSets.read(source.config, source.clock)
        self.sets, self.scale, self.clock = self.timing
        asr = source.config["asr"]
        self.base = asr["base_method"]
        self.grid = [*product(asr["evaluate"], map(format_scale, asr["scales"]))]

    def read_psnr(self, dataset: str, scale: str, method: str) -> Summary:
        """Read the PSNR-Y of a method in dB."""
        if not self.source.has("asr_quality"):  # where only times were taken
            return Summary()
        return self.source.cell("asr_quality", dataset, method, scale, PSNR_Y.name)

    def read_latency(self, dataset: str, metric: str, method: str) -> Summary:
        """Read a time of a method in ms or its peak memory in MiB."""
        return self.source.cell("asr_latency", dataset, method, self.scale, self.clock, metric)

    def compare_speed(self, summarize: Summarize, reference: str, method: str) -> Summary:
        """Summarize the speeds of a method in units of another's, on the timed sets."""

        def measure(run: Measured) -> Estimate:
            return summarize(speeds(run, method, reference, self.timing))

        return Summary(read_value(self.source, measure))

    def compare_memory(self, method: str) -> Summary:
        """Compare the peak memory of a method with that of base."""
        return Summary(read_value(self.source, memory_saved, method, self.base, self.timing))

    def compare_quality(self, summarize: Summarize, scales: Sequence[str], method: str) -> Summary:
        """Summarize the gaps of a method's PSNR-Y to that of base, on the cells of some scales."""
        cells = [cell for cell in self.list_cells(method) if cell[1] in scales]
        return Summary(
            read_value(self.source, lambda run: summarize(psnr_gaps(run, method, self.base, cells)))
        )

    def list_cells(self, method: str) -> list[GridCell]:
        """List the cells (data set and scale factor) whose PSNR-Y both a method and base have."""
        return [
            cell
            for cell in self.grid
            if all(self.read_psnr(*cell, name).measured for name in (method, self.base))
        ]

    def describe_seeds(self, methods: Collection[str]) -> str | None:
        """Describe for the caption over how many seeds numbers are."""
        rows = {
            self.source.methods[method].name: [
                *(self.read_latency(dataset, "mean_ms", method) for dataset in self.sets),
                *(self.read_psnr(*cell, method) for cell in self.grid),
            ]
            for method in dict.fromkeys((*methods, self.base))
        }
        return describe_seeds(rows, spread=False)


def build_asr_latency(source: Aggregates) -> list[Sheet]:
    """Build Table 6: PSNR-Y, time per image and speed against one baseline per encoder.

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
    parts = [part for part in (baselines, family, select_methods(source, OWN)) if part]
    methods = {name: method for part in parts for name, method in part.items()}
    sets = list(dict.fromkeys((efficiency.sets[0], efficiency.sets[-1])))
    columns = _build_latency_columns(efficiency, sets, baselines)
    groups = [
        SheetGroup([SheetRow((name,), _format_name(method)) for name, method in part.items()])
        for part in parts
    ]
    notes = [describe_parameters(source, methods), efficiency.describe_seeds(methods)]
    corner = ["Method", ""]
    return [
        Sheet("asr_latency_main", "l1", corner, columns, groups, notes, sets),
    ]


def _build_latency_columns(
    efficiency: Efficiency, sets: Sequence[str], baselines: Mapping[str, Method]
) -> list[SheetColumn]:
    """Build the columns of Table 6: PSNR-Y and time on some sets, speeds against baselines."""
    source, scale = efficiency.source, efficiency.scale
    titles = {name: f"{name_dataset(source, 'asr', name)} ×{scale}" for name in sets}
    quality = {name: partial(efficiency.read_psnr, name, scale) for name in sets}
    times = {name: partial(efficiency.read_latency, name, "mean_ms") for name in sets}
    speedups = {
        name: partial(efficiency.compare_speed, geometric_mean, name)
        for name in _select_references(baselines)
    }
    # fmt: off
    return [
        *(SheetColumn(f"psnr_y_{name}", titles[name], read, WIDTH, PSNR_Y.digits,
                      above=PSNR_Y.arrowed_heading) for name, read in quality.items()),
        *(SheetColumn(f"ms_{name}", titles[name], read, WIDTH, 2, timed=True,
                      above="ms/img ↓") for name, read in times.items()),
        *(SheetColumn(f"speed_{name}", f"vs {baselines[name].name}", read, WIDTH, 2, "×",
                      timed=True, above="Speed ↑") for name, read in speedups.items()),
    ]
    # fmt: on


def _select_references(baselines: Mapping[str, Method]) -> list[str]:
    """Select the first baseline of every encoder, in the order of the table."""
    first: dict[str, str] = {}
    for name, method in baselines.items():
        first.setdefault(method.encoder, name)
    return [*first.values()]


def _format_name(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


def build_asr_pareto(source: Aggregates, part: str) -> list[Sheet]:
    """Build Tables 7 and 12: quality and efficiency of the family's variants against its base.

    `part` of the paper is main or appendix; the base stands above the variants of the main text
    alone.
    """
    efficiency = Efficiency(source)
    base = efficiency.base
    variants = select_methods(source, "variant")
    methods = [name for name, method in variants.items() if method.table == part]
    if part == "main":
        methods.insert(0, base)
    if not methods:
        raise UserError(
            f"Config: asr.methods has no variant for the table asr_pareto_{part}; add one."
        )
    rows = [SheetRow((name,), _format_name(source.methods[name])) for name in methods]
    columns = _build_pareto_columns(efficiency)
    notes = [
        _list_partial_variants(efficiency, [name for name in methods if name != base]),
        efficiency.describe_seeds(methods),
    ]
    label, corner = f"asr_pareto_{part}", ["Variant", ""]
    return [Sheet(label, "l1", corner, columns, [SheetGroup(rows)], notes)]


def _build_pareto_columns(efficiency: Efficiency) -> list[SheetColumn]:
    """Build the columns of Tables 7 and 12."""
    source, base, asr = efficiency.source, efficiency.base, efficiency.source.config["asr"]
    every, trained = (
        [format_scale(scale) for scale in asr[name]] for name in ("scales", "trained_scales")
    )
    others = [scale for scale in every if scale not in trained]
    inside, outside = (
        partial(efficiency.compare_quality, mean, scales) for scales in (trained, others)
    )
    speed, saved = partial(efficiency.compare_speed, mean, base), efficiency.compare_memory
    timed = efficiency.sets[-1]
    peak = partial(efficiency.read_latency, timed, PEAK)
    title = f"{name_dataset(source, 'asr', timed)} peak"
    gap = "Mean ΔPSNR-Y (dB)"

    def read_parameters(method: str) -> Summary:
        return Summary(source.parameters(method) / MEGA)

    def read_lowest(method: str) -> SheetValue:
        lowest = efficiency.compare_quality(minimum, every, method)
        return "n/a" if method == base else lowest

    # fmt: off
    return [
        SheetColumn("parameters", "", read_parameters, "r3.6em", 3, above="Params (M)"),
        SheetColumn("trained", "ID ↑", inside, "r4.4em", 4, signed=True, above=gap),
        SheetColumn("untrained", "OOD ↑", outside, "r4.4em", 4, signed=True, above=gap),
        SheetColumn("worst", "Δ (dB)", read_lowest, "r4.5em", 4, signed=True, above="Worst-cell"),
        SheetColumn("speed", "vs base ↑", speed, "r4.5em", 3, "×", timed=True,
                    above="Mean speedup"),
        SheetColumn("peak", "(MB) ↓", peak, "r4.8em", 1, timed=True, above=title),
        SheetColumn("saved", "reduction ↑", saved, "r5.6em", 2, "%", signed=True, timed=True,
                    above="Mean mem"),
    ]
    # fmt: on


def _list_partial_variants(efficiency: Efficiency, variants: Sequence[str]) -> str | None:
    """List for the caption the variants that lack cells of the quality grid."""
    counts = {method: len(efficiency.list_cells(method)) for method in variants}
    texts = [
        f"{efficiency.source.methods[method].name} {count} of {len(efficiency.grid)}"
        for method, count in counts.items()
        if count < len(efficiency.grid)
    ]
    return f"Measured cells: {', '.join(texts)}" if texts else None
