"""The tables of the native benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product

import pandas as pd

from ..config import Arm, protocol
from ..evaluation import locality as diagnostic
from . import captions
from .aggregates import NATIVE_TIMES, Aggregates
from .items import item
from .kinds import ABLATION
from .layout import DASH, Cell, Float, Line, Span, shown, signed, size_for, value, values
from .markup import listed
from .statistics import LPIPS, PSNR, QUALITY, Column, Metric, Summary, pooled_p, ties

LSE = Metric("lse", "LSE ↓", 3, lower=True)


@item
def main(source: Aggregates, column: str) -> Float:
    """All arms on one evaluation set: quality with spread, time per image, parameters (Tables 1-3).

    Raises `UserError` when the aggregates have no row of this set.
    """
    arms, frame = source.benchmark, source.frame("native")
    source.require(frame[frame["dataset"] == column], "native", f"rows for {column!r}")
    quality, told = _quality(source, arms, list(product([column], QUALITY)))
    times = _cells(source, column, arms, NATIVE_TIMES[source.clock])
    counts = source.wide("native", ["arm"], "dataset", metric="params").max(axis=1)
    lines = [
        [*line, value(time, 2, spread=False), shown(counts.get(arm, math.nan), "{:,.0f}")]
        for line, time, arm in zip(quality, times, arms, strict=True)
    ]
    header = ["Arm", *(m.heading for m in QUALITY), "inf ms", "#params"]
    return Float(f"main-{column}", ["l", *"r" * 6], [header], [lines], told, [column],
                 separation=3, timed=(5,))  # fmt: skip


@item
def lse(source: Aggregates) -> Float:
    """Local spectrum error beside PSNR for the arms of the family, all sets (Table 10)."""
    arms = {n: a for n, a in source.benchmark.items() if a.group == "family"}
    sets = source.evaluate
    frame = source.frame("native")
    own = frame[frame["arm"].isin(arms) & frame["dataset"].isin(sets) & (frame["metric"] == "lse")]
    source.require(own, "native", "LSE of the GB-LSR arms")
    lines, told = _quality(source, arms, list(product(sets, (LSE, PSNR))))
    titles: Line = ["", *(Span(source.title("native", column), 2) for column in sets)]
    header: Line = ["Arm", *["LSE ↓", "PSNR (dB) ↑"] * len(sets)]
    return Float("lse", ["l", *"rr" * len(sets)], [titles, header], [lines], told,
                 separation=3, sideways=len(sets) > 3)  # fmt: skip


def _quality(
    source: Aggregates, arms: dict[str, Arm], wanted: Sequence[tuple[str, Metric]]
) -> tuple[list[list[str]], list[str | None]]:
    """Return a row per arm with its name and numbers of (data set, metric), and what to tell."""
    columns = [_cells(source, column, arms, metric.name) for column, metric in wanted]
    marked = values(columns, [metric for _, metric in wanted], _alpha(source))
    own = source.main_arm
    names = [f"**{a.name}** (main)" if a is own else a.name for a in arms.values()]
    lines = [[name, *row] for name, row in zip(names, marked, strict=True)]
    rows = dict(zip((a.short for a in arms.values()), zip(*columns, strict=True), strict=True))
    rule = captions.bold_rule(_alpha(source), columns)
    return lines, [captions.over_seeds(rows), rule, captions.missing(rows)]


@item
def winners(source: Aggregates) -> Float:
    """Best arm and best baseline of every set, and the main arm's gap to the latter (Table 4)."""
    lines: list[Line] = []
    for column in source.evaluate:
        line: list[Cell] = []
        for metric in (PSNR, LPIPS):
            line += [_best(source, column, source.benchmark, metric),
                     _best(source, column, source.baselines, metric),
                     _gap(source, column, metric)]  # fmt: skip
        if {*line} != {DASH}:
            lines.append([source.title("native", column), *line])
    source.require(lines, "native", "PSNR or LPIPS to compare")
    header = ["Dataset"]
    for short in ("PSNR", "LPIPS"):
        header += [f"best {short} (any)", f"best {short} (baseline)", f"Δ {short}"]
    size = size_for([source.title("native", c) for c in source.evaluate])
    return Float("winners", list("lllrllr"), [header], [lines], size=size, separation=3)


def _best(source: Aggregates, column: str, arms: Iterable[str], metric: Metric) -> str:
    known = list(arms)
    cells = _cells(source, column, known, metric.name)
    equal = ties(cells, metric.lower, metric.digits, _alpha(source))
    if not equal:
        return DASH
    shorts = [source.arms[known[i]].short for i in equal]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    names = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    return f"{names} ({value(cells[equal[0]], metric.digits, spread=False)})"


def _gap(source: Aggregates, column: str, metric: Metric) -> str:
    own = source.cell("native", column, source.main_arm.arm, metric.name)
    cells = _cells(source, column, source.baselines, metric.name)
    rival = next((cells[i] for i in ties(cells, metric.lower, metric.digits)), Summary())
    text = signed(own.mean - rival.mean, metric.digits)
    better = own.mean < rival.mean if metric.lower else own.mean > rival.mean
    return f"**{text}**" if better and pooled_p(own, rival) < _alpha(source) else text


@item
def fairness(source: Aggregates) -> Float:
    """Trainable parameters of every arm, the ratio to the main arm's, and its note (Table 8)."""
    counts = source.frame("budget").set_index("arm")["parameters"]
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in counts]
    source.require(arms, "budget", "arm of the main tables")
    arms.sort(key=lambda arm: int(arm.fairness_rank or len(source.arms) + 1))
    anchor, band = source.main_arm, source.config["native"]["criteria"]["parameter_band"]
    ratios = counts / counts.get(anchor.arm, math.nan)
    lines = [
        [
            f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name,
            f"{round(counts[arm.arm]):,}",
            shown(ratios[arm.arm], "{:.3f}×"),
            arm.note,
        ]
        for arm in arms
    ]
    outside = [a.name for a in arms if ratios[a.arm] > band or ratios[a.arm] < 1 / band]
    own, paper = source.config["native"]["model"], protocol()["native"]["model"]
    sizes = [f"{name.replace('_', ' ')} {size} (paper: {paper[name]})" for name, size in own.items()
             if size != paper[name]]  # fmt: skip
    judged = f"{listed(outside) if outside else 'no arm'} outside the band"
    told = [
        f"F1 asks for at most {band:g} times the trainable parameters of {anchor.name}; "
        + (judged if anchor.arm in counts else "that arm is not in this run"),
        f"Counted at this run's sizes, not the paper's: {', '.join(sizes)}" if sizes else None,
    ]
    header, spec = ["Arm", "#params", "ratio", "Decoder / notes"], ["l", "r", "r", "p{6.8cm}"]
    return Float("fairness", spec, [header], [lines], told, size="small", ragged=True)


# --- criteria -----------------------------------------------------------------------------------


@item
def gates(source: Aggregates) -> Float:
    """The quality and inference-cost criteria, met or not (Table 5).

    A criterion is decided from the sets that were measured; "not measured" stands where the
    absent numbers could still change it.
    """
    criteria = source.config["native"]["criteria"]
    required, bound = criteria["datasets_required"], criteria["latency_ratio"]
    control = source.arms[source.config["native"]["control_arm"]]
    means = source.wide("native", ["metric", "dataset"], "arm").reindex(
        pd.MultiIndex.from_product([["psnr", "lpips", "inference_ms"], source.evaluate]),
        columns=[*source.arms],
    )
    own, rivals = means[source.main_arm.arm], means[[*source.baselines]]
    # A set counts where every baseline was measured.
    highest, lowest = rivals.max(axis=1, skipna=False), rivals.min(axis=1, skipna=False)
    below, above = criteria["psnr_below_best_baseline"], criteria["lpips_above_best_baseline"]
    margin = criteria["psnr_above_control"]
    psnr, controls = own["psnr"], means[control.arm]["psnr"]
    asked = {  # by the condition: a distance that must reach a margin
        f"at most {below:g} dB below best baseline PSNR": (psnr - highest["psnr"], -below),
        f"at most {above:g} above best baseline LPIPS": (lowest["lpips"] - own["lpips"], -above),
        f"baseline gap ≥ {margin:g} dB vs {control.name}": (psnr - controls, margin),
    }
    held = {part: _held(*condition) for part, condition in asked.items()}
    lines = [
        [part, "quality sub-condition", _verdict(at_least(outcomes, required)) + _count(outcomes)]
        for part, outcomes in held.items()
    ]
    every = pd.DataFrame(held).all(axis=1, skipna=False)
    definition = f"all three sub-conditions on ≥ {required}/{len(every)} datasets"
    ratios = own["inference_ms"] / highest["inference_ms"]
    cost = f"≤ {bound:g}× slowest baseline's inference time on every dataset"
    lines += [
        ["Quality criterion composite", definition, _verdict(at_least(every, required))],
        ["Inference-cost criterion", cost, _latency_verdict(source, ratios, bound)],
    ]
    header = ["Criterion / sub-condition", "Definition", "Result"]
    return Float("gates", ["p{5.8cm}", "p{6.6cm}", "l"], [header], [lines], separation=3)


def _held(distances: pd.Series, margin: float) -> pd.Series:
    """Say of each set whether a distance reaches a margin; NA where it was not measured."""
    return (distances >= margin).astype("boolean").mask(distances.isna())


def at_least(outcomes: pd.Series, required: int) -> bool | None:
    """Say whether at least `required` outcomes hold; None when the unknown ones (NA) decide."""
    if outcomes.sum() >= required:
        return True
    return False if outcomes.fillna(True).sum() < required else None


def _verdict(outcome: bool | None) -> str:
    return {True: "met", False: "not met", None: "not measured"}[outcome]


def _count(outcomes: pd.Series) -> str:
    known = outcomes.dropna()
    partial = " measured" if len(known) < len(outcomes) else ""
    return f" ({known.sum()}/{len(known)}{partial})" if len(known) else ""


def _latency_verdict(source: Aggregates, ratios: pd.Series, bound: float) -> str:
    if source.conditions.native and source.conditions.native.shared_gpu:
        return "not judged (shared GPU)"
    verdict = _verdict(at_least(_held(-ratios, -bound), len(ratios)))
    texts = [f"{ratio:.3f}×" for ratio in ratios.dropna()]
    if len(set(texts)) > 1:
        return f"{verdict} ({', '.join(texts)})"
    where = f" on all {len(texts)}" if len(texts) == len(ratios) > 1 else ""
    return f"{verdict} ({texts[0]}{where})" if texts else verdict


# --- the log-space ablation ---------------------------------------------------------------------


@item
def locality(source: Aggregates) -> Float:
    """Locality tests, PSNR and LPIPS of the log-space ablation's arms (Table 9)."""
    run = [source.arms[n] for n in source.config["native"]["arms"] if n in source.arms]
    arms = [arm for arm in run if arm.diagnostic in ABLATION]
    arms.sort(key=lambda arm: (ABLATION.index(arm.diagnostic), arm.in_benchmark))
    found = source.frame("ablation")
    source.require(
        found[found["arm"].isin([a.arm for a in arms])], "ablation", "arm of the ablation"
    )
    margins = source.config["diagnostics"]["margins"]
    texture, mixed, edge = (signed(margins[f"psnr_{r}"], 2) for r in ("texture", "mixed", "edge"))
    told = [
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ {texture} dB or on mixed "
        f"patches ≥ {mixed} dB or LPIPS ≤ {signed(margins['lpips'], 3)}, with PSNR on edges ≥ "
        f"{edge} dB, all against the control",
        captions.missing({a.short: [source.cell("ablation", a.arm, "psnr")] for a in arms}),
    ]
    header = ["Arm", "T1–T4", "whole-image PSNR (dB)", "Δ PSNR", "Δ LPIPS", "Criteria result"]
    lines = [_locality_line(source, arm) for arm in arms]
    return Float("locality", list("lllrrl"), [header], [lines], told, size="small", separation=3)


def _locality_line(source: Aggregates, arm: Arm) -> Line:
    psnr = value(source.cell("ablation", arm.arm, "psnr"), 3, spread=False)
    if arm.diagnostic == "control":
        return [f"**{arm.name}**", "n/a", psnr, "n/a", "n/a", "n/a"]
    margins = source.config["diagnostics"]["margins"]
    deltas = {m: source.mean("ablation", arm.arm, f"delta_{m}") for m in ("psnr", *margins)}
    gap = signed(deltas.pop("psnr"), 3)
    if arm.diagnostic == "reference":
        return [arm.name, "n/a", psnr, gap, "n/a", "n/a"]
    met = source.mean("locality", arm.arm, "tests_met")
    flags = {test: source.mean("locality", arm.arm, f"{test}_met") for test in diagnostic.TESTS}
    known = {test: bool(flag) if flag >= 0 else None for test, flag in flags.items()}
    gaps = {m: None if math.isnan(gap) else gap for m, gap in deltas.items()}
    found = diagnostic.criteria(known, gaps, margins)
    result = f"A {_verdict(found.a)}, B {_verdict(found.b)}"
    return [
        arm.name,
        shown(met, "{:.0f}/4"),
        psnr,
        gap,
        signed(deltas["lpips"], 3),
        "neither criterion met" if found.a is False and found.b is False else result,
    ]


# --- helpers ------------------------------------------------------------------------------------


def _cells(source: Aggregates, column: str, arms: Iterable[str], metric: str) -> Column:
    return [source.cell("native", column, arm, metric) for arm in arms]


def _alpha(source: Aggregates) -> float:
    return source.config["native"]["significance"]
