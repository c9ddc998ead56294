"""The tables of arbitrary-scale super-resolution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean

from ..config import Method
from ..errors import UserError
from . import captions
from .aggregates import BICUBIC, Aggregates
from .captions import paragraph, run_notes
from .compare import Scope
from .kinds import scale_key
from .layout import DASH, Cell, Float, Line, Span, signed, size_for, table, value, values
from .statistics import Metric, Summary

DIGITS = {"psnr_y": 3, "ssim_y": 4}
MEGA = 1e6


# --- quality grids ------------------------------------------------------------------------------


@table("asr_quality_x2_x3_x4_main", bicubic=True)
def quality_trained(source: Aggregates, bicubic: bool = False) -> Float:
    """PSNR-Y at the scales seen in training (Table 11); `bicubic` adds a row that it lacks."""
    scales = source.config["asr"]["trained_scales"]
    return _grid(source, "psnr_y", scales, "asr_quality_main", bicubic)


@table("asr_quality_x6_x8_appendix", bicubic=True)
def quality_beyond(source: Aggregates, bicubic: bool = False) -> Float:
    """PSNR-Y at the scales not seen in training (Table 13), see `quality_trained`."""
    trained = source.config["asr"]["trained_scales"]
    scales = [s for s in source.config["asr"]["scales"] if s not in trained]
    if not scales:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    return _grid(source, "psnr_y", scales, "asr_quality_ood", bicubic)


@table("asr_full_all_scales_appendix", bicubic=True)
def quality_full(source: Aggregates, bicubic: bool = False) -> list[Float]:
    """PSNR-Y and SSIM-Y at every scale (Tables 14 and 15), see `quality_trained`."""
    scales, labels = source.config["asr"]["scales"], {"psnr_y": "psnr", "ssim_y": "ssim"}
    made = [_grid(source, m, scales, f"asr_quality_full_{labels[m]}", bicubic) for m in labels]
    return [replace(part, sideways=True) for part in made]


def _grid(
    source: Aggregates, metric: str, scales: Sequence[float], label: str, bicubic: bool
) -> Float:
    """One block of methods per evaluation set, one column per scale; with the row of `bicubic`
    interpolation, where it was measured, if asked for.
    """
    quality, keys = source.cells("asr_quality"), [scale_key(scale) for scale in scales]
    columns, digits = list(source.config["asr"]["evaluate"]), Metric(metric, "", DIGITS[metric])
    names = {name: m.name for name, m in source.methods_where("baseline", "base").items()}
    if bicubic and any(method == BICUBIC for _, method, _, _ in quality):
        names = {BICUBIC: "Bicubic", **names}
    blocks = {c: [[quality.get((c, m, k, metric)) for m in names] for k in keys] for c in columns}
    if not any(cell for block in blocks.values() for cells in block for cell in cells):
        raise UserError(
            f"{source.path('asr_quality')} has no {metric} at the scales {', '.join(keys)}; "
            "evaluate a method first."
        )
    groups: list[list[Line]] = []
    rows: dict[str, list[Summary | None]] = {name: [] for name in names.values()}
    for column, block in blocks.items():
        heading = Span(f"**{source.title('asr', column)}**", 1 + len(keys), "l")
        shown = values(block, [digits] * len(keys))
        groups.append([[heading], *([name, *line] for name, line in zip(rows, shown, strict=True))])
        for name, cells in zip(rows, zip(*block, strict=True), strict=True):
            rows[name] += cells
    trained = {name: cells for name, cells in rows.items() if name != "Bicubic"}
    caption = paragraph(
        {"psnr_y": "PSNR-Y in dB", "ssim_y": "SSIM-Y"}[metric],
        captions.over_seeds(trained),
        "Luma after 8-bit rounding, borders shaved; bold: best of a column within a data set, and "
        "ties at the printed precision",
        "Bicubic interpolation is not trained and has no spread" if "Bicubic" in rows else None,
        _parameters_sentence(source, source.methods_where("baseline", "base")),
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.ASR_QUALITY,)),
    )
    header = ["Method", *(f"×{key}" for key in keys)]
    return Float(label, caption, ["l", *["r"] * len(keys)], [header], groups)


def _parameters_sentence(source: Aggregates, methods: Mapping[str, Method]) -> str | None:
    counts = {m.name: source.parameters(name) for name, m in methods.items()}
    known = [
        f"{name} {count / MEGA:.2f}M" if count >= MEGA / 10 else f"{name} {count:,}"
        for name, count in counts.items()
        if count
    ]
    return f"Trainable parameters: {', '.join(known)}" if known else None


# --- efficiency ---------------------------------------------------------------------------------


class Timing:
    """Times and memory under the fixed protocol at the timed scale, and ratios between methods."""

    def __init__(self, source: Aggregates) -> None:
        timing = source.config["asr"]["timing"]
        self.source = source
        self.scale = scale_key(timing["scale"])
        self.datasets: list[str] = timing["datasets"]
        if source.frame("asr_latency").empty:
            raise UserError(f"{source.path('asr_latency')} has no rows; time a method first.")

    def cell(self, dataset: str, method: str, metric: str) -> Summary | None:
        """Return `metric` of one cell, by the source's clock."""
        clock = self.source.clock
        return self.source.cell("asr_latency", dataset, method, self.scale, clock, metric)

    def cells(self, methods: Iterable[str]) -> dict[str, list[Summary | None]]:
        """Return the times of methods on every timed set, by the method's name."""
        return {
            self.source.methods[m].name: [self.cell(d, m, "mean_ms") for d in self.datasets]
            for m in methods
        }

    def ratios(self, over: str, under: str, metric: str) -> list[float] | None:
        """Return `over` / `under` of every timed set; None unless all were measured."""
        cells = [(self.cell(d, over, metric), self.cell(d, under, metric)) for d in self.datasets]
        found = [a.mean / b.mean for a, b in cells if a and b and b.mean]
        return found if len(found) == len(cells) else None


@table("asr_latency_main")
def latency(source: Aggregates) -> Float:
    """PSNR-Y, time per image and speed against one baseline per encoder (Table 6).

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    timing = Timing(source)
    baselines = source.methods_where("baseline")
    family = {n: m for n, m in source.methods_where("base", "variant").items() if m.table == "main"}
    references = list({m.encoder: name for name, m in reversed(baselines.items())}.values())[::-1]
    shown = list(dict.fromkeys((timing.datasets[0], timing.datasets[-1])))

    def line(name: str, method: Method) -> Line:
        psnr = [_psnr(source, dataset, name, timing.scale) for dataset in shown]
        times = [timing.cell(dataset, name, "mean_ms") for dataset in shown]
        ratios = [timing.ratios(reference, name, "mean_ms") for reference in references]
        return [
            _family_label(method),
            *(value(cell, 3, spread=False) for cell in psnr),
            *(value(cell, 2, spread=False) for cell in times),
            *(DASH if r is None else f"{geometric_mean(r):.2f}×" for r in ratios),
        ]

    groups = [[line(*item) for item in part.items()] for part in (baselines, family) if part]
    every = timing.cells(baselines | family)
    quality = {m.name: [_psnr(source, d, name, timing.scale) for d in shown]
               for name, m in (baselines | family).items()}  # fmt: skip
    names = [source.title("asr", dataset) for dataset in shown]
    size = size_for(names)
    # Longer names leave no room for the scale, which the caption gives as well.
    titles = [f"{name} ×{timing.scale}" if size == "footnotesize" else name for name in names]
    spans = [("PSNR-Y (dB) ↑", titles), ("ms/img ↓", titles),
             ("Speed ↑", [f"vs {baselines[r].name}" for r in references])]  # fmt: skip
    caption = paragraph(
        _psnr_seeds(quality),
        "Column ms/img: mean over the images of a set, batch size 1, by the plain path with "
        "gradients recorded" + _seeds_of_means(every),
        f"Speed: geometric mean, over {_timed_sets(source)}, of the baseline's time divided by the "
        "method's",
        "The noLE variants are trained and evaluated without the 4-corner ensemble",
        _parameters_sentence(source, baselines | family),
        captions.missing(every),
        *run_notes(source.conditions, (Scope.ASR_QUALITY, Scope.ASR_LATENCY), shown),
    )
    first: list[Cell] = ["Method"]
    second, rules = [""], []
    for text, members in spans:
        if members:
            rules.append((len(second) + 1, len(second) + len(members)))
            first.append(Span(text, len(members)))
            second += members
    spec, timed = ["l", *["r"] * (len(second) - 1)], range(1 + len(shown), len(second))
    return Float("asr_latency_main", caption, spec, [first, second], groups, rules, size=size,
                 separation=3, timed=timed)  # fmt: skip


def _timed_sets(source: Aggregates) -> str:
    sets = source.config["asr"]["timing"]["datasets"]
    return captions.listed([source.title("asr", dataset) for dataset in sets])


def _psnr(source: Aggregates, dataset: str, method: str, scale: str) -> Summary | None:
    """Return PSNR-Y; None where it was not measured, as when only times were taken."""
    if not source.has("asr_quality"):
        return None
    return source.cell("asr_quality", dataset, method, scale, "psnr_y")


def _psnr_seeds(rows: Mapping[str, Sequence[Summary | None]]) -> str | None:
    """Say over how many seeds the PSNR-Y of each row is; None where nothing tells."""
    said = captions.seeds_said(captions.seed_counts(rows))
    return f"PSNR-Y: means over the images of a set, then over {said}" if said else None


def _family_label(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


def _seeds_of_means(rows: Mapping[str, Sequence[Summary | None]]) -> str:
    said = captions.seeds_said(captions.seed_counts(rows), "seed")
    return f", averaged over {said}" if said else ""


@table("asr_pareto_main")
def pareto_main(source: Aggregates) -> Float:
    """Quality and efficiency of the family's variants against its base (Table 7)."""
    base = source.config["asr"]["base_method"]
    return _pareto(source, "asr_pareto_main", [base, *_variants(source, "main")])


@table("asr_pareto_appendix")
def pareto_appendix(source: Aggregates) -> Float:
    """The same for the variants of the appendix (Table 12)."""
    return _pareto(source, "asr_pareto_appendix", _variants(source, "appendix"))


def _variants(source: Aggregates, table: str) -> list[str]:
    return [n for n, m in source.methods_where("variant").items() if m.table == table]


def _pareto(source: Aggregates, name: str, methods: list[str]) -> Float:
    timing = Timing(source)
    if not methods:
        raise UserError(f"Config: asr.methods has no variant for the table {name}; add one.")
    base = source.config["asr"]["base_method"]
    every = timing.cells(methods)
    quality = {
        source.methods[m].name: [_psnr(source, d, m, scale) for d, scale in _places(source)]
        for m in (base, *methods)
    }
    caption = paragraph(
        "ΔPSNR-Y: variant minus base, averaged over the cells (data set and scale) that both have "
        "at the trained scales (ID) and beyond them (OOD); worst cell: the lowest of them",
        _psnr_seeds(quality),
        _cells_sentence(source, base, methods),
        f"Speed-up and memory reduction: arithmetic means over {_timed_sets(source)} at "
        f"×{timing.scale} of the ratio to the base" + _seeds_of_means(every),
        "Peak memory of the tensors on the GPU in MiB, which the heading calls MB as the paper's "
        "does",
        captions.missing(every),
        *run_notes(source.conditions, (Scope.ASR_QUALITY, Scope.ASR_LATENCY)),
    )
    title = source.title("asr", timing.datasets[-1])
    header: list[Line] = [
        ["Variant", "Params (M)", Span("Mean ΔPSNR-Y (dB)", 2), "Worst-cell", "Mean speedup",
         f"{title} peak", "Mean mem"],
        ["", "", "ID ↑", "OOD ↑", "Δ (dB)", "vs base ↑", "(MB) ↓", "reduction ↑"],
    ]  # fmt: skip
    lines = [_pareto_line(source, timing, base, method) for method in methods]
    return Float(name, caption, list("lrrrrrrr"), header, [lines], [(3, 4)],
                 size=size_for([title]), separation=3, timed=(5, 6, 7))  # fmt: skip


def _places(source: Aggregates) -> list[tuple[str, str]]:
    """Return the data sets and scales of the quality grid."""
    asr = source.config["asr"]
    return [(dataset, scale_key(scale)) for dataset in asr["evaluate"] for scale in asr["scales"]]


def psnr_deltas(source: Aggregates, method: str, base: str) -> dict[tuple[str, str], float]:
    """Return PSNR-Y of a method minus the base's by (dataset, scale), where both were measured."""
    found = {}
    for dataset, scale in _places(source):
        own, reference = (_psnr(source, dataset, name, scale) for name in (method, base))
        if own is not None and reference is not None:
            found[dataset, scale] = own.mean - reference.mean
    return found


def _pareto_line(source: Aggregates, timing: Timing, base: str, method: str) -> Line:
    trained = [scale_key(s) for s in source.config["asr"]["trained_scales"]]
    deltas = psnr_deltas(source, method, base)
    inside, outside = (
        [d for (_, scale), d in deltas.items() if (scale in trained) is within]
        for within in (True, False)
    )
    times = timing.ratios(base, method, "mean_ms")
    memory = timing.ratios(method, base, "peak_memory_mib")
    peak = timing.cell(timing.datasets[-1], method, "peak_memory_mib")
    count = source.parameters(method)
    return [
        _family_label(source.methods[method]),
        DASH if count is None else f"{count / MEGA:.3f}",
        *(signed(fmean(part) if part else None, 4) for part in (inside, outside)),
        "n/a" if method == base else signed(min(deltas.values(), default=None), 4),
        DASH if times is None else f"{fmean(times):.3f}×",
        value(peak, 1, spread=False),
        DASH if memory is None else f"{signed(100 * (1 - fmean(memory)), 2)}%",
    ]


def _cells_sentence(source: Aggregates, base: str, methods: list[str]) -> str | None:
    """Say where fewer than all cells of the quality grid were measured."""
    every = len(_places(source))
    counts = {
        source.methods[m].name: len(psnr_deltas(source, m, base)) for m in methods if m != base
    }
    fewer = [f"{name} {count} of {every}" for name, count in counts.items() if count < every]
    return f"Cells at hand: {', '.join(fewer)}" if fewer else None
