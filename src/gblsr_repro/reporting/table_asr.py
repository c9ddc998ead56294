"""The tables of arbitrary-scale super-resolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean

from ..config import Method
from ..errors import UserError
from . import captions
from .captions import paragraph, run_notes
from .compare import Scope
from .layout import DASH, Cell, Float, Line, Span, Table, signed, size_for, value
from .source import BICUBIC, Source
from .statistics import Summary, bold
from .tidy import scale_key

DIGITS = {"psnr_y": 3, "ssim_y": 4}
MEGA = 1e6


# --- quality grids ------------------------------------------------------------------------------


def quality_trained(source: Source, bicubic: bool = False) -> Table:
    """PSNR-Y at the scales seen in training (Table 11); `bicubic` adds a row that it lacks."""
    title = "Super-resolution quality at the trained scales (PSNR-Y, dB)"
    scales = source.config["asr"]["trained_scales"]
    return Table(
        "asr_quality_x2_x3_x4_main",
        [_grid(source, "psnr_y", scales, "asr_quality_main", title, bicubic)],
    )


def quality_beyond(source: Source, bicubic: bool = False) -> Table:
    """PSNR-Y at the scales not seen in training (Table 13), see `quality_trained`."""
    trained = source.config["asr"]["trained_scales"]
    scales = [s for s in source.config["asr"]["scales"] if s not in trained]
    if not scales:
        raise UserError("Config: asr.scales has no scale outside asr.trained_scales; add one.")
    title = "Super-resolution quality beyond the trained scales (PSNR-Y, dB)"
    return Table(
        "asr_quality_x6_x8_appendix",
        [_grid(source, "psnr_y", scales, "asr_quality_ood", title, bicubic)],
    )


def quality_full(source: Source, bicubic: bool = False) -> Table:
    """PSNR-Y and SSIM-Y at every scale (Tables 14 and 15), see `quality_trained`."""
    scales = source.config["asr"]["scales"]
    title = "Super-resolution quality at every scale"
    grids = (
        ("psnr_y", "asr_quality_full_psnr", f"{title} (PSNR-Y, dB)"),
        ("ssim_y", "asr_quality_full_ssim", f"{title} (SSIM-Y)"),
    )
    return Table(
        "asr_full_all_scales_appendix",
        [
            replace(_grid(source, metric, scales, label, said, bicubic), sideways=True)
            for metric, label, said in grids
        ],
    )


def _grid(
    source: Source,
    metric: str,
    scales: Sequence[float],
    label: str,
    title: str,
    bicubic: bool,
) -> Float:
    """One block of methods per evaluation set, one column per scale; with the row of `bicubic`
    interpolation, where it was measured, if asked for.
    """
    quality, keys = source.asr_quality, [scale_key(scale) for scale in scales]
    columns = list(source.config["asr"]["evaluate"])
    names = {name: m.name for name, m in source.methods_where("baseline", "base").items()}
    if bicubic and any(method == BICUBIC for _, method, _, _ in quality):
        names = {BICUBIC: "Bicubic", **names}
    if not any((c, m, k, metric) in quality for c in columns for m in names for k in keys):
        raise UserError(
            f"{source.path('asr_quality')} has no {metric} at the scales {', '.join(keys)}; "
            "evaluate a method first."
        )
    groups: list[list[Line]] = []
    rows: dict[str, list[Summary | None]] = {name: [] for name in names.values()}
    for column in columns:
        block = [[quality.get((column, m, k, metric)) for k in keys] for m in names]
        strong = list(
            zip(*(bold(c, False, DIGITS[metric]) for c in zip(*block, strict=True)), strict=True)
        )
        heading = Span(f"**{source.title('asr', column)}**", 1 + len(keys), "l")
        lines: list[Line] = [[heading]]
        for name, cells, stress in zip(names.values(), block, strong, strict=True):
            marked = map(value, cells, [DIGITS[metric]] * len(cells), stress)
            lines.append([name, *marked])
            rows[name] += cells
        groups.append(lines)
    trained = {name: cells for name, cells in rows.items() if name != "Bicubic"}
    caption = paragraph(
        title,
        captions.over_seeds(trained),
        "Luma after 8-bit rounding, borders shaved; bold: best of a column within a data set, and "
        "ties at the printed precision",
        "Bicubic interpolation is not trained and has no spread" if "Bicubic" in rows else None,
        _parameters_sentence(source, source.methods_where("baseline", "base")),
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.ASR_QUALITY,)),
    )
    header = ["Method", *(f"×{key}" for key in keys)]
    spec = ["l", *["r"] * len(keys)]
    return Float(label, caption, spec, [header], groups)


def _parameters_sentence(source: Source, methods: Mapping[str, Method]) -> str | None:
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

    def __init__(self, source: Source) -> None:
        timing = source.config["asr"]["timing"]
        self.source = source
        self.scale = scale_key(timing["scale"])
        self.datasets: list[str] = timing["datasets"]
        if not source.asr_latency:
            raise UserError(f"{source.path('asr_latency')} has no rows; time a method first.")

    def cell(self, dataset: str, method: str, metric: str) -> Summary | None:
        """Return `metric` of one cell, by the source's clock."""
        key = (dataset, method, self.scale, self.source.clock, metric)
        return self.source.asr_latency.get(key)

    def mean(self, dataset: str, method: str, metric: str) -> float | None:
        """Return the mean over seeds, None where it was not measured."""
        cell = self.cell(dataset, method, metric)
        return None if cell is None else cell.mean

    def ratios(self, over: str, under: str, metric: str) -> list[float] | None:
        """Return `over` / `under` of every timed set; None unless all were measured."""
        pairs = [(self.mean(d, over, metric), self.mean(d, under, metric)) for d in self.datasets]
        if any(a is None or not b for a, b in pairs):
            return None
        return [a / b for a, b in pairs]  # type: ignore[operator]


def latency(source: Source) -> Table:
    """PSNR-Y, time per image and speed against one baseline per encoder (Table 6).

    Times are shown for the first and the last timed set; speed ratios are geometric means over all
    of them.
    """
    timing = Timing(source)
    baselines = source.methods_where("baseline")
    family = {
        name: method
        for name, method in source.methods_where("base", "variant").items()
        if method.table == "main"
    }
    references = list({m.encoder: name for name, m in reversed(baselines.items())}.values())[::-1]
    shown = list(dict.fromkeys((timing.datasets[0], timing.datasets[-1])))
    groups = [
        [
            [
                _family_label(method),
                *(value(_plain(_psnr(source, d, name, timing.scale)), 3) for d in shown),
                *(_milliseconds(timing.mean(d, name, "mean_ms")) for d in shown),
                *(_speed(timing.ratios(reference, name, "mean_ms")) for reference in references),
            ]
            for name, method in methods.items()
        ]
        for methods in (baselines, family)
        if methods
    ]
    names = [source.title("asr", d) for d in shown]
    size = size_for(names)
    # Longer names leave no room for the scale, which the caption gives as well.
    titles = [f"{name} ×{timing.scale}" if size == "footnotesize" else name for name in names]
    spans = [("PSNR-Y (dB) ↑", shown), ("ms/img ↓", shown), ("Speed ↑", references)]
    every = {m.name: [timing.cell(d, n, "mean_ms") for d in timing.datasets]
             for n, m in (baselines | family).items()}  # fmt: skip
    quality = {m.name: [_psnr(source, d, n, timing.scale) for d in shown]
               for n, m in (baselines | family).items()}  # fmt: skip
    caption = paragraph(
        f"Super-resolution latency at ×{timing.scale}",
        _psnr_seeds(quality),
        "Column ms/img: mean over the images of a set, batch size 1, by the plain path with "
        "gradients recorded" + _seeds_of_means(every),
        "Speed: geometric mean, over "
        f"{captions.listed([source.title('asr', d) for d in timing.datasets])}, of the baseline's "
        "time divided by the method's",
        "The noLE variants are trained and evaluated without the 4-corner ensemble",
        _parameters_sentence(source, baselines | family),
        captions.missing(every),
        *run_notes(source.conditions, (Scope.ASR_QUALITY, Scope.ASR_LATENCY), shown),
    )
    first: list[Cell] = ["Method"]
    rules, start = [], 2
    for text, members in spans:
        if members:
            first.append(Span(text, len(members)))
            rules.append((start, start + len(members) - 1))
            start += len(members)
    second = ["", *titles, *titles, *(f"vs {baselines[r].name}" for r in references)]
    return Table(
        "asr_latency_main",
        [
            Float(
                "asr_latency_main", caption, ["l", *["r"] * (len(second) - 1)], [first, second],
                groups, rules, size=size,
                separation=3, timed=range(1 + len(shown), len(second)),
            )
        ],
    )  # fmt: skip


def _psnr(source: Source, dataset: str, method: str, scale: str) -> Summary | None:
    """Return PSNR-Y; None where it was not measured, as when only times were taken."""
    if not source.has("asr_quality"):
        return None
    return source.asr_quality.get((dataset, method, scale, "psnr_y"))


def _plain(cell: Summary | None) -> Summary | None:
    """Return a cell that is shown without its spread."""
    return None if cell is None else Summary(cell.mean)


def _psnr_seeds(rows: Mapping[str, Sequence[Summary | None]]) -> str | None:
    """Say over how many seeds the PSNR-Y of each row is; None where nothing tells."""
    said = captions.seeds_said(captions.seed_counts(rows))
    return f"PSNR-Y: means over the images of a set, then over {said}" if said else None


def _milliseconds(mean: float | None) -> str:
    return DASH if mean is None else f"{mean:.2f}"


def _speed(ratios: list[float] | None) -> str:
    return DASH if ratios is None else f"{geometric_mean(ratios):.2f}×"


def _family_label(method: Method) -> str:
    return f"{method.name} (base)" if method.group == "base" else method.name


def _seeds_of_means(rows: Mapping[str, Sequence[Summary | None]]) -> str:
    said = captions.seeds_said(captions.seed_counts(rows), "seed")
    return f", averaged over {said}" if said else ""


def pareto_main(source: Source) -> Table:
    """Quality and efficiency of the family's variants against its base (Table 7)."""
    base = source.config["asr"]["base_method"]
    return _pareto(source, "asr_pareto_main", [base, *_variants(source, "main")])


def pareto_appendix(source: Source) -> Table:
    """The same for the variants of the appendix (Table 12)."""
    return _pareto(source, "asr_pareto_appendix", _variants(source, "appendix"))


def _variants(source: Source, table: str) -> list[str]:
    return [n for n, m in source.methods_where("variant").items() if m.table == table]


def _pareto(source: Source, name: str, methods: list[str]) -> Table:
    timing = Timing(source)
    if not methods:
        raise UserError(f"Config: asr.methods has no variant for the table {name}; add one.")
    base = source.config["asr"]["base_method"]
    peak = timing.datasets[-1]
    lines = [_pareto_line(source, timing, base, method, peak) for method in methods]
    every = {source.methods[m].name: [timing.cell(d, m, "mean_ms") for d in timing.datasets]
             for m in methods}  # fmt: skip
    sets = captions.listed([source.title("asr", d) for d in timing.datasets])
    caption = paragraph(
        "Quality and efficiency of the variants against the base",
        "ΔPSNR-Y: variant minus base, averaged over the cells (data set and scale) that both have "
        "at the trained scales (ID) and beyond them (OOD); worst cell: the lowest of them",
        _psnr_seeds(_quality_cells(source, [base, *methods])),
        _unequal_seeds(source, base, methods),
        _cells_sentence(source, base, methods),
        f"Speed-up and memory reduction: arithmetic means over {sets} at ×{timing.scale} of the "
        "ratio to the base" + _seeds_of_means(every),
        "Peak memory of the tensors on the GPU in MiB, which the heading calls MB as the paper's "
        "does",
        captions.missing(every),
        *run_notes(source.conditions, (Scope.ASR_QUALITY, Scope.ASR_LATENCY)),
    )
    title = source.title("asr", peak)
    header = [
        ["Variant", "Params (M)", Span("Mean ΔPSNR-Y (dB)", 2), "Worst-cell", "Mean speedup",
         f"{title} peak", "Mean mem"],
        ["", "", "ID ↑", "OOD ↑", "Δ (dB)", "vs base ↑", "(MB) ↓", "reduction ↑"],
    ]  # fmt: skip
    return Table(
        name,
        [
            Float(
                name, caption, list("lrrrrrrr"), header, [lines], [(3, 4)],
                size=size_for([title]), separation=3, timed=(5, 6, 7),
            )
        ],
    )  # fmt: skip


def psnr_deltas(source: Source, method: str, base: str) -> dict[tuple[str, str], float]:
    """Return PSNR-Y of a method minus the base's by (dataset, scale), where both were measured."""
    pairs = _psnr_pairs(source, method, base)
    return {place: own.mean - reference.mean for place, (own, reference) in pairs.items()}


def _psnr_pairs(
    source: Source, method: str, base: str
) -> dict[tuple[str, str], tuple[Summary, Summary]]:
    """Return PSNR-Y of a method and of the base by (dataset, scale), where both were measured."""
    found = {}
    for dataset in source.config["asr"]["evaluate"]:
        for scale in map(scale_key, source.config["asr"]["scales"]):
            own, reference = (_psnr(source, dataset, name, scale) for name in (method, base))
            if own is not None and reference is not None:
                found[dataset, scale] = (own, reference)
    return found


def _quality_cells(source: Source, methods: Sequence[str]) -> dict[str, list[Summary | None]]:
    """Return the PSNR-Y of every data set and scale by the method's name."""
    asr = source.config["asr"]
    places = [(dataset, scale_key(scale)) for dataset in asr["evaluate"] for scale in asr["scales"]]
    return {
        source.methods[name].name: [_psnr(source, d, name, scale) for d, scale in places]
        for name in methods
    }


def _unequal_seeds(source: Source, base: str, methods: Sequence[str]) -> str | None:
    """Name the methods whose difference to the base is one of means over other seed counts."""
    names = [
        source.methods[method].name
        for method in methods
        if any(
            None not in (own.n, reference.n) and own.n != reference.n
            for own, reference in _psnr_pairs(source, method, base).values()
        )
    ]
    if not names:
        return None
    return f"ΔPSNR-Y is between means over unequal numbers of seeds for {captions.listed(names)}"


def _pareto_line(source: Source, timing: Timing, base: str, method: str, peak: str) -> Line:
    trained = [scale_key(s) for s in source.config["asr"]["trained_scales"]]
    deltas = psnr_deltas(source, method, base)
    inside = [d for (_, scale), d in deltas.items() if scale in trained]
    outside = [d for (_, scale), d in deltas.items() if scale not in trained]
    times = timing.ratios(base, method, "mean_ms")
    memory = timing.ratios(method, base, "peak_memory_mib")
    mebibytes = timing.mean(peak, method, "peak_memory_mib")
    count = source.parameters(method)
    worst = "n/a" if method == base else signed(min(deltas.values(), default=None), 4)
    return [
        _family_label(source.methods[method]),
        DASH if count is None else f"{count / MEGA:.3f}",
        signed(fmean(inside) if inside else None, 4),
        signed(fmean(outside) if outside else None, 4),
        worst,
        DASH if times is None else f"{fmean(times):.3f}×",
        DASH if mebibytes is None else f"{mebibytes:.1f}",
        DASH if memory is None else f"{signed(100 * (1 - fmean(memory)), 2)}%",
    ]


def _cells_sentence(source: Source, base: str, methods: list[str]) -> str | None:
    """Say where fewer than all cells of the quality grid were measured."""
    asr = source.config["asr"]
    every = len(asr["evaluate"]) * len(asr["scales"])
    counts = {
        source.methods[m].name: len(psnr_deltas(source, m, base)) for m in methods if m != base
    }
    fewer = [f"{name} {count} of {every}" for name, count in counts.items() if count < every]
    return f"Cells at hand: {', '.join(fewer)}" if fewer else None
