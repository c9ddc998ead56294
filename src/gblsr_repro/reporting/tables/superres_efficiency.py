"""Build the tables of super-resolution efficiency: time, speed and memory beside quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ...analysis.reader import Aggregates
from ...analysis.schemas import format_scale
from ...config import Method
from ...errors import UserError
from ..captions import describe_seeds, list_missing_rows
from ..items import register
from ..layout import (
    DASH,
    Cell,
    Cells,
    Row,
    Span,
    Table,
    choose_size,
    format_difference,
    format_number,
)
from ..names import name_dataset, select_methods
from .superres_quality import MEGA, describe_parameters


class Efficiency:
    """PSNR-Y, times and memory of all methods, with NaN for what was not measured.

    `psnr` has a row per (data set, scale) of the quality grid, `ms` and `mib` one per timed set at
    the timed scale; columns are methods.
    """

    def __init__(self, source: Aggregates) -> None:
        asr = source.config["asr"]
        self.source = source
        self.scale = format_scale(asr["timing"]["scale"])
        self.sets: list[str] = asr["timing"]["datasets"]
        source.require(source.frame("asr_latency"), "asr_latency", "rows")
        self.ms = self._read_latency("mean_ms")
        self.mib = self._read_latency("peak_memory_mib")
        psnr = pd.DataFrame(dtype=float)  # where only times were taken
        if source.has("asr_quality"):
            psnr = source.pivot("asr_quality", ["dataset", "scale"], "method", metric="psnr_y")
        places = [[*asr["evaluate"]], [format_scale(scale) for scale in asr["scales"]]]
        grid = pd.MultiIndex.from_product(places, names=["dataset", "scale"])
        self.psnr = psnr.reindex(grid, columns=[*source.methods])

    def _read_latency(self, metric: str) -> pd.DataFrame:
        where = {"scale": self.scale, "clock": self.source.clock, "metric": metric}
        frame = self.source.pivot("asr_latency", ["dataset"], "method", **where)
        return frame.reindex(self.sets, columns=[*self.source.methods])

    def list_notes(self, methods: Iterable[str], averaged: Iterable[str]) -> list[str | None]:
        """List for the caption over how many seeds numbers are, and which methods have no time.

        `methods` are the rows of the table, `averaged` all methods that its numbers are of.
        """
        rows, timed, cell = {}, {}, self.source.cell
        grid = self.psnr.index if self.source.has("asr_quality") else ()
        key = self.scale, self.source.clock, "mean_ms"
        for method in averaged:
            name = self.source.methods[method].name
            timed[name] = [cell("asr_latency", dataset, method, *key) for dataset in self.sets]
            quality = (cell("asr_quality", d, method, scale, "psnr_y") for d, scale in grid)
            rows[name] = [*timed[name], *quality]
        names = [self.source.methods[method].name for method in methods]
        missing = list_missing_rows({name: timed[name] for name in names})
        return [describe_seeds(rows, spread=False), missing]


@register
def build_asr_latency(source: Aggregates) -> list[Table]:
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
    references = _select_references(baselines)
    sets = list(dict.fromkeys((efficiency.sets[0], efficiency.sets[-1])))
    columns = _compute_columns(efficiency, sets, references)
    groups = [
        [
            Row(
                name,
                [
                    _format_name(method),
                    *(format_number(column[name], form) for column, form in columns),
                ],
            )
            for name, method in part.items()
        ]
        for part in (baselines, family)
        if part
    ]
    names = [name_dataset(source, "asr", dataset) for dataset in sets]
    size = choose_size(names)
    # Longer names leave no room for the scale, which the caption has as well.
    titles = [f"{name} ×{efficiency.scale}" if size == "footnotesize" else name for name in names]
    speeds = [f"vs {baselines[name].name}" for name in references]
    spans = [("PSNR-Y (dB) ↑", titles), ("ms/img ↓", titles), ("Speed ↑", speeds)]
    first: list[Cell] = ["Method"]
    first += [Span(text, len(members)) for text, members in spans if members]
    second = ["", *(member for _, members in spans for member in members)]
    methods = baselines | family
    return [
        Table(
            "asr_latency_main",
            ["l", *["r"] * (len(second) - 1)],
            [first, second],
            groups,
            [describe_parameters(source, methods), *efficiency.list_notes(methods, methods)],
            sets,
            size=size,
            separation=3,
            timed=range(1 + len(sets), len(second)),
        )
    ]


def _select_references(baselines: Mapping[str, Method]) -> list[str]:
    """Select the first baseline of every encoder, in the order of the table."""
    first: dict[str, str] = {}
    for name, method in baselines.items():
        first.setdefault(method.encoder, name)
    return [name for name in baselines if name in first.values()]


def _compute_columns(
    efficiency: Efficiency, sets: Sequence[str], references: Sequence[str]
) -> list[tuple[pd.Series, str]]:
    """Compute the columns of Table 6 by method, each with the form of its cells."""
    psnr = efficiency.psnr.reindex([(dataset, efficiency.scale) for dataset in sets])
    columns = [(number, "{:.3f}") for _, number in psnr.iterrows()]
    columns += [(efficiency.ms.loc[dataset], "{:.2f}") for dataset in sets]
    for reference in references:
        ratios = efficiency.ms[[reference]].to_numpy() / efficiency.ms
        # The logarithm of a mean of logarithms; NaN unless all sets were timed.
        columns.append((np.exp(np.log(ratios).mean(skipna=False)), "{:.2f}×"))
    return columns


def _format_name(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


@register
def build_asr_pareto(source: Aggregates, part: str) -> list[Table]:
    """Build Tables 7 and 12: quality and efficiency of the family's variants against its base.

    `part` of the paper is main or appendix; the base stands above the variants of the main text
    alone.
    """
    efficiency, base = Efficiency(source), source.config["asr"]["base_method"]
    variants = select_methods(source, "variant")
    methods = [name for name, method in variants.items() if method.table == part]
    if part == "main":
        methods.insert(0, base)
    if not methods:
        raise UserError(
            f"Config: asr.methods has no variant for the table asr_pareto_{part}; add one."
        )
    deltas = efficiency.psnr[methods].sub(efficiency.psnr[base], axis=0)
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
            list("lrrrrrrr"),
            header,
            [_build_pareto_rows(efficiency, deltas, methods, base)],
            [
                _list_partial_variants(source, deltas, base),
                *efficiency.list_notes(methods, [base, *methods]),
            ],
            size=choose_size([title]),
            separation=3,
            timed=(5, 6, 7),
        )
    ]


def _list_partial_variants(source: Aggregates, deltas: pd.DataFrame, base: str) -> str | None:
    """List for the caption the variants that lack cells of the quality grid."""
    counts = deltas.drop(columns=base, errors="ignore").count()
    texts = [
        f"{source.methods[str(method)].name} {count} of {len(deltas)}"
        for method, count in counts.items()
        if count < len(deltas)
    ]
    return f"Measured cells: {', '.join(texts)}" if texts else None


def _build_pareto_rows(
    efficiency: Efficiency, deltas: pd.DataFrame, methods: Sequence[str], base: str
) -> list[Row]:
    """Build a row per variant: parameters, quality, speed and memory beside the base's."""
    source = efficiency.source
    scales = [format_scale(scale) for scale in source.config["asr"]["trained_scales"]]
    trained = deltas.index.isin(scales, level="scale")
    inside, outside, worst = deltas[trained].mean(), deltas[~trained].mean(), deltas.min()
    speeds = (efficiency.ms[[base]].to_numpy() / efficiency.ms).mean(skipna=False)
    shares = efficiency.mib / efficiency.mib[[base]].to_numpy()
    memory = 100 * (1 - shares.mean(skipna=False))
    last = efficiency.sets[-1]
    return [
        Row(
            method,
            [
                _format_name(source.methods[method]),
                format_number(source.parameters(method) / MEGA, "{:.3f}"),
                format_difference(inside[method], 4),
                format_difference(outside[method], 4),
                "n/a" if method == base else format_difference(worst[method], 4),
                format_number(speeds[method], "{:.3f}×"),
                format_number(efficiency.mib[method][last], "{:.1f}"),
                DASH if np.isnan(memory[method]) else f"{format_difference(memory[method], 2)}%",
            ],
        )
        for method in methods
    ]
