"""The tables of arbitrary-scale super-resolution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..config import Method
from ..errors import UserError
from . import captions
from .aggregates import BICUBIC, Aggregates
from .items import item
from .kinds import scale_key
from .layout import DASH, Cell, Float, Line, Span, shown, signed, size_for, values
from .statistics import Metric, Summary

DIGITS = {"psnr_y": 3, "ssim_y": 4}
MEGA = 1e6


# --- quality grids ------------------------------------------------------------------------------


@item
def asr_quality(source: Aggregates, which: str) -> Float:
    """PSNR-Y at the scales seen in training (Table 11), and beyond them (Table 13: appendix)."""
    trained = source.config["asr"]["trained_scales"]
    if which.endswith("main"):
        return _grid(source, "psnr_y", trained, "asr_quality_main")
    scales = [s for s in source.config["asr"]["scales"] if s not in trained]
    if not scales:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    return _grid(source, "psnr_y", scales, "asr_quality_ood")


@item
def asr_full_all_scales_appendix(source: Aggregates) -> list[Float]:
    """PSNR-Y and SSIM-Y at every scale (Tables 14 and 15)."""
    scales, labels = source.config["asr"]["scales"], {"psnr_y": "psnr", "ssim_y": "ssim"}
    made = [_grid(source, m, scales, f"asr_quality_full_{labels[m]}") for m in labels]
    return [replace(part, sideways=True) for part in made]


def _grid(source: Aggregates, metric: str, scales: Sequence[float], label: str) -> Float:
    """One block of methods per evaluation set, one column per scale."""
    keys = [scale_key(scale) for scale in scales]
    columns, digits = list(source.config["asr"]["evaluate"]), Metric(metric, "", DIGITS[metric])
    trained = source.rivals
    names = {name: m.name for name, m in trained.items()}
    if source.bicubic and BICUBIC in {*source.frame("asr_quality")["method"]}:
        names = {BICUBIC: "Bicubic", **names}
    groups: list[list[Line]] = []
    rows: dict[str, list[Summary]] = {name: [] for name in names.values()}
    for column in columns:
        block = [[source.cell("asr_quality", column, m, k, metric) for m in names] for k in keys]
        heading = Span(f"**{source.title('asr', column)}**", 1 + len(keys), "l")
        lines = zip(rows, values(block, [digits] * len(keys)), strict=True)
        groups.append([[heading], *([name, *line] for name, line in lines)])
        for name, cells in zip(rows, zip(*block, strict=True), strict=True):
            rows[name] += cells
    measured = [cell for cells in rows.values() for cell in cells if cell.measured]
    source.require(measured, "asr_quality", f"{metric} at the scales {', '.join(keys)}")
    told = [
        {"psnr_y": "PSNR-Y in dB", "ssim_y": "SSIM-Y"}[metric],
        captions.over_seeds({name: cells for name, cells in rows.items() if name != "Bicubic"}),
        "Bicubic interpolation is not trained and has no spread" if "Bicubic" in rows else None,
        _parameters(source, trained),
        captions.missing(rows),
    ]
    header = ["Method", *(f"×{key}" for key in keys)]
    return Float(label, ["l", *["r"] * len(keys)], [header], groups, told)


def _parameters(source: Aggregates, methods: Mapping[str, Method]) -> str | None:
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
        self.source, self.scale = source, scale_key(asr["timing"]["scale"])
        self.sets: list[str] = asr["timing"]["datasets"]
        source.require(source.frame("asr_latency"), "asr_latency", "rows")
        self.ms, self.mib = (
            source.wide("asr_latency", ["dataset"], "method", scale=self.scale, clock=source.clock,
                        metric=metric).reindex(self.sets, columns=[*source.methods])
            for metric in ("mean_ms", "peak_memory_mib")
        )  # fmt: skip
        psnr = pd.DataFrame(dtype=float)  # where only times were taken
        if source.has("asr_quality"):
            psnr = source.wide("asr_quality", ["dataset", "scale"], "method", metric="psnr_y")
        places = [[*asr["evaluate"]], [scale_key(s) for s in asr["scales"]]]
        grid = pd.MultiIndex.from_product(places, names=["dataset", "scale"])
        self.psnr = psnr.reindex(grid, columns=[*source.methods])

    def told(self, methods: Iterable[str], every: Iterable[str]) -> list[str | None]:
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
def asr_latency_main(source: Aggregates) -> Float:
    """PSNR-Y, time per image and speed against one baseline per encoder (Table 6).

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    found = Efficiency(source)
    baselines = source.methods_where("baseline")
    family = {n: m for n, m in source.methods_where("base", "variant").items() if m.table == "main"}
    references = list({m.encoder: name for name, m in reversed(baselines.items())}.values())[::-1]
    sets = list(dict.fromkeys((found.sets[0], found.sets[-1])))
    # The logarithm of a mean of logarithms; NaN unless all sets were timed.
    speeds = [
        np.exp(np.log(found.ms[[r]].to_numpy() / found.ms).mean(skipna=False)) for r in references
    ]
    psnr = found.psnr.reindex([(dataset, found.scale) for dataset in sets])
    columns = [(number, "{:.3f}") for _, number in psnr.iterrows()]
    columns += [(found.ms.loc[dataset], "{:.2f}") for dataset in sets]
    columns += [(speed, "{:.2f}×") for speed in speeds]
    groups = [
        [
            [_label(m), *(shown(column[n], form) for column, form in columns)]
            for n, m in part.items()
        ]
        for part in (baselines, family)
        if part
    ]
    names = [source.title("asr", dataset) for dataset in sets]
    size = size_for(names)
    # Longer names leave no room for the scale, which the caption gives as well.
    titles = [f"{name} ×{found.scale}" if size == "footnotesize" else name for name in names]
    spans = [("PSNR-Y (dB) ↑", titles), ("ms/img ↓", titles),
             ("Speed ↑", [f"vs {baselines[r].name}" for r in references])]  # fmt: skip
    first: list[Cell] = ["Method"]
    second = ["", *(member for _, members in spans for member in members)]
    first += [Span(text, len(members)) for text, members in spans if members]
    every = baselines | family
    told = [_parameters(source, every), *found.told(every, every)]
    spec, timed = ["l", *["r"] * (len(second) - 1)], range(1 + len(sets), len(second))
    return Float("asr_latency_main", spec, [first, second], groups, told, sets,
                 size=size, separation=3, timed=timed)  # fmt: skip


def _label(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


@item
def asr_pareto(source: Aggregates, which: str) -> Float:
    """Quality and efficiency of the family's variants against its base, which stands above those of
    the main text (Table 7) but not above those of the appendix (Table 12).
    """
    found, asr, name = Efficiency(source), source.config["asr"], f"asr_pareto_{which}"
    methods = [n for n, m in source.methods_where("variant").items() if m.table == which]
    if which == "main":
        methods.insert(0, asr["base_method"])
    if not methods:
        raise UserError(f"Config: asr.methods has no variant for the table {name}; add one.")
    base, last = asr["base_method"], found.sets[-1]
    deltas = found.psnr[methods].sub(found.psnr[base], axis=0)
    trained = deltas.index.isin([scale_key(s) for s in asr["trained_scales"]], level="scale")
    inside, outside, worst = deltas[trained].mean(), deltas[~trained].mean(), deltas.min()
    times = (found.ms[[base]].to_numpy() / found.ms).mean(skipna=False)
    memory = 100 * (1 - (found.mib / found.mib[[base]].to_numpy()).mean(skipna=False))
    lines = [
        [
            _label(source.methods[m]),
            shown(source.parameters(m) / MEGA, "{:.3f}"),
            signed(inside[m], 4),
            signed(outside[m], 4),
            "n/a" if m == base else signed(worst[m], 4),
            shown(times[m], "{:.3f}×"),
            shown(found.mib[m][last], "{:.1f}"),
            DASH if np.isnan(memory[m]) else f"{signed(memory[m], 2)}%",
        ]
        for m in methods
    ]
    counts = deltas.drop(columns=base, errors="ignore").count()
    fewer = [f"{source.methods[str(m)].name} {count} of {len(deltas)}"
             for m, count in counts.items() if count < len(deltas)]  # fmt: skip
    told = [
        f"Cells at hand: {', '.join(fewer)}" if fewer else None,
        *found.told(methods, [base, *methods]),
    ]
    title = source.title("asr", last)
    header: list[Line] = [
        ["Variant", "Params (M)", Span("Mean ΔPSNR-Y (dB)", 2), "Worst-cell", "Mean speedup",
         f"{title} peak", "Mean mem"],
        ["", "", "ID ↑", "OOD ↑", "Δ (dB)", "vs base ↑", "(MB) ↓", "reduction ↑"],
    ]  # fmt: skip
    return Float(name, list("lrrrrrrr"), header, [lines], told,
                 size=size_for([title]), separation=3, timed=(5, 6, 7))  # fmt: skip
