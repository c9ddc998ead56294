"""Build the tables of super-resolution efficiency: time, speed and memory beside quality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

from ...analysis.derived import (
    PEAK,
    GridCell,
    TimedSets,
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
from ...evaluation import FAST, PAPER
from ..captions import describe_seeds, list_missing_rows
from ..layout import Cell, Cells, Span
from ..names import name_dataset, select_methods
from .sheet import Form, Sheet, SheetColumn, SheetGroup, SheetRow, SheetValue
from .superres_quality import MEGA, describe_parameters

WIDTH = "r4.7em"
"""The type of the columns of Table 6."""


class Efficiency:
    """Reader of PSNR-Y, times, memory and what was derived from them; NaN: not measured."""

    def __init__(self, source: Aggregates, clock: str) -> None:
        self.source = source
        source.require(source.table("asr_latency"), "asr_latency", "rows")
        self.timing = TimedSets.read(source.config, clock)
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

    def compare(self, compute: Callable[..., Estimate], method: str, reference: str) -> Summary:
        """Compare the times or the memory of a method with another's."""
        return Summary(read_value(self.source, compute, method, reference, self.timing))

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


def build_asr_latency(source: Aggregates) -> list[Sheet]:
    """Build Table 6: PSNR-Y, time per image and speed against one baseline per encoder.

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    plain, fast = (Efficiency(source, clock) for clock in (PAPER, FAST))
    baselines = select_methods(source, "baseline")
    family = {
        name: method
        for name, method in select_methods(source, "base", "variant").items()
        if method.table == "main"
    }
    own = select_methods(source, OWN)
    references = _select_references(baselines)
    sets = list(dict.fromkeys((plain.sets[0], plain.sets[-1])))
    columns = [
        *(SheetColumn(f"psnr_y_{name}", WIDTH, Form(PSNR_Y.digits)) for name in sets),
        *(SheetColumn(f"ms_{name}", WIDTH, Form(2), timed=True) for name in sets),
        *(
            SheetColumn(f"speed_{name}", WIDTH, Form(2, unit="×"), timed=True)
            for name in references
        ),
    ]
    groups = []
    for part in (baselines, family, own):
        rows = []
        for name, method in part.items():
            psnr = {f"psnr_y_{each}": plain.read_psnr(each, name, plain.scale) for each in sets}
            times, fast_times = (
                _read_times(efficiency, name, sets, references) for efficiency in (plain, fast)
            )
            rows.append(SheetRow(name, _format_name(method), psnr | times, fast_times))
        if rows:
            groups.append(SheetGroup(rows))
    titles = [f"{name_dataset(source, 'asr', name)} ×{plain.scale}" for name in sets]
    speeds = [f"vs {baselines[name].name}" for name in references]
    spans = [(PSNR_Y.arrowed_heading, titles), ("ms/img ↓", titles), ("Speed ↑", speeds)]
    first: list[Cell] = ["Method"]
    first += [Span(text, len(members)) for text, members in spans if members]
    second = ["", *(member for _, members in spans for member in members)]
    methods = baselines | family | own
    return [
        Sheet(
            "asr_latency_main",
            "l1",
            columns,
            [first, second],
            groups,
            [describe_parameters(source, methods), *plain.list_notes(methods, methods)],
            sets,
            separation=2,
        )
    ]


def _select_references(baselines: Mapping[str, Method]) -> list[str]:
    """Select the first baseline of every encoder, in the order of the table."""
    first: dict[str, str] = {}
    for name, method in baselines.items():
        first.setdefault(method.encoder, name)
    return [name for name in baselines if name in first.values()]


def _read_times(
    efficiency: Efficiency, method: str, sets: Sequence[str], references: Sequence[str]
) -> dict[str, Summary]:
    """Read the timed cells of a method in Table 6: its time on some sets, and its speeds."""
    times = {f"ms_{dataset}": efficiency.read_latency(dataset, method) for dataset in sets}
    speeds = {
        f"speed_{other}": efficiency.compare(geometric_mean_speed, method, other)
        for other in references
    }
    return times | speeds


def _format_name(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


def build_asr_pareto(source: Aggregates, part: str) -> list[Sheet]:
    """Build Tables 7 and 12: quality and efficiency of the family's variants against its base.

    `part` of the paper is main or appendix; the base stands above the variants of the main text
    alone.
    """
    plain, fast = (Efficiency(source, clock) for clock in (PAPER, FAST))
    base = source.config["asr"]["base_method"]
    variants = select_methods(source, "variant")
    methods = [name for name, method in variants.items() if method.table == part]
    if part == "main":
        methods.insert(0, base)
    if not methods:
        raise UserError(
            f"Config: asr.methods has no variant for the table asr_pareto_{part}; add one."
        )
    title = name_dataset(source, "asr", plain.sets[-1])
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
    columns = [
        SheetColumn("parameters", "r3.6em", Form(3)),
        SheetColumn("trained", "r4.4em", Form(4, signed=True)),
        SheetColumn("untrained", "r4.4em", Form(4, signed=True)),
        SheetColumn("worst", "r4.5em", Form(4, signed=True)),
        SheetColumn("speed", "r4.5em", Form(3, unit="×"), timed=True),
        SheetColumn("peak", "r4.8em", Form(1), timed=True),
        SheetColumn("saved", "r5.6em", Form(2, signed=True, unit="%"), timed=True),
    ]
    rows = []
    for name in methods:
        quality = _compare_quality(plain, name, base)
        cost, fast_cost = (_compare_cost(each, name, base) for each in (plain, fast))
        title = _format_name(source.methods[name])
        rows.append(SheetRow(name, title, quality | cost, fast_cost))
    return [
        Sheet(
            f"asr_pareto_{part}",
            "l1",
            columns,
            header,
            [SheetGroup(rows)],
            [
                _list_partial_variants(plain, [name for name in methods if name != base]),
                *plain.list_notes(methods, [base, *methods]),
            ],
            separation=2,
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


def _compare_quality(efficiency: Efficiency, method: str, base: str) -> dict[str, SheetValue]:
    """Compare a variant with the base in quality, beside its parameters in millions."""
    source = efficiency.source
    cells = efficiency.list_cells(method)
    scales = [*map(format_scale, source.config["asr"]["trained_scales"])]
    trained = [cell for cell in cells if cell[1] in scales]
    others = [cell for cell in cells if cell[1] not in scales]
    lowest = Summary(read_value(source, lowest_psnr_gap, method, base, cells))
    return {
        "parameters": Summary(source.parameters(method) / MEGA),
        "trained": Summary(read_value(source, mean_psnr_gap, method, base, trained)),
        "untrained": Summary(read_value(source, mean_psnr_gap, method, base, others)),
        "worst": "n/a" if method == base else lowest,
    }


def _compare_cost(efficiency: Efficiency, method: str, base: str) -> dict[str, Summary]:
    """Compare a variant with the base in speed and memory, beside its peak in MiB."""
    return {
        "speed": efficiency.compare(mean_speed, method, base),
        "peak": efficiency.read_latency(efficiency.sets[-1], method, PEAK),
        "saved": efficiency.compare(memory_saved, method, base),
    }
