"""The tables of the native benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..config import Arm, protocol
from ..errors import UserError
from ..evaluation import locality as diagnostic
from . import captions
from .aggregates import NATIVE_TIMES, Aggregates
from .captions import paragraph, run_notes
from .compare import Scope
from .layout import DASH, Cell, Float, Line, Span, signed, size_for, table, value, values
from .statistics import LPIPS, PSNR, QUALITY, Column, Metric, Summary, pooled_p, ties

LSE = Metric("lse", "LSE ↓", 3, lower=True)


def main(source: Aggregates, column: str) -> Float:
    """All arms on one evaluation set: quality with spread, time per image, parameters (Tables 1-3).

    Raises `UserError` when the aggregates have no row of this set.
    """
    if column not in set(source.frame("native")["dataset"]):
        raise UserError(f"{source.path('native')} has no rows for {column!r}; evaluate it first.")
    quality = [_cells(source, column, source.benchmark, metric.name) for metric in QUALITY]
    times = _cells(source, column, source.benchmark, NATIVE_TIMES[source.clock])
    lines = [
        [_label(source, arm), *marked, value(time, 2, spread=False), _parameters(source, arm)]
        for arm, marked, time in zip(
            source.benchmark, values(quality, QUALITY, _alpha(source)), times, strict=True
        )
    ]
    rows = _by_arm(source.benchmark.values(), quality)
    caption = paragraph(
        captions.over_seeds(rows),
        captions.bold_rule(_alpha(source), quality) + "; the bold name is the main arm",
        "Column inf ms: time to reconstruct one image at batch size 1, by the plain path",
        captions.not_canonical(_shorts(source.baselines.values())),
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.QUALITY, Scope.LATENCY), [column], perceptual=True),
    )
    header = ["Arm", *(m.heading for m in QUALITY), "inf ms", "#params"]
    columns, timed = ["l", *"r" * (len(header) - 1)], (len(header) - 2,)
    return Float(f"main-{column}", caption, columns, [header], [lines], separation=3, timed=timed)


@table("lse")
def lse(source: Aggregates) -> Float:
    """Local spectrum error beside PSNR for the arms of the family, all sets (Table 10)."""
    arms = {n: a for n, a in source.benchmark.items() if a.group == "family"}
    sets = source.evaluate
    metrics = [LSE, PSNR] * len(sets)
    columns = [_cells(source, c, arms, m.name) for c in sets for m in (LSE, PSNR)]
    if not any(cell for column in columns[::2] for cell in column):
        raise UserError(f"{source.path('native')} has no LSE of the GB-LSR arms; evaluate first.")
    shown = values(columns, metrics, _alpha(source))
    lines = [[_label(source, arm), *row] for arm, row in zip(arms, shown, strict=True)]
    rows = _by_arm(arms.values(), columns)
    caption = paragraph(
        captions.over_seeds(rows),
        captions.bold_rule(_alpha(source), columns),
        "A lower LSE means a spectrum closer to the original's; it does not always go with a "
        "higher PSNR",
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.QUALITY,)),
    )
    titles: Line = ["", *(Span(source.title("native", column), 2) for column in sets)]
    header: Line = ["Arm", *["LSE ↓", "PSNR (dB) ↑"] * len(sets)]
    rules = [(2 + 2 * k, 3 + 2 * k) for k in range(len(sets))]
    spec, wide = ["l", *["r"] * len(metrics)], len(sets) > 3
    heads = [titles, header]
    return Float("lse", caption, spec, heads, [lines], rules, separation=3, sideways=wide)


@table("winners")
def winners(source: Aggregates) -> Float:
    """Best arm and best baseline of every set, and the main arm's gap to the latter (Table 4)."""
    arms, metrics = source.benchmark, (PSNR, LPIPS)
    lines: list[Line] = []
    for column in source.evaluate:
        line: list[Cell] = [source.title("native", column)]
        for metric in metrics:
            line += [_best(source, column, arms, metric),
                     _best(source, column, source.baselines, metric),
                     _gap(source, column, metric)]  # fmt: skip
        if {*line[1:]} != {DASH}:
            lines.append(line)
    if not lines:
        raise UserError(f"{source.path('native')} has no PSNR or LPIPS to compare; evaluate first.")
    psnr = [_cells(source, column, arms, PSNR.name) for column in source.evaluate]
    caption = paragraph(
        f"“any” is over all {captions.spelled(len(arms))} arms, “baseline” over "
        + captions.listed(_shorts(source.baselines.values()))
        if source.baselines
        else None,
        captions.missing(_by_arm(arms.values(), psnr)),
        f"≈ joins arms that the pooled two-sided t-test at {100 * _alpha(source):g}% does not tell "
        "apart, the best first (three or more are counted); its mean is in brackets",
        f"Δ is {source.main_arm.name} minus the best baseline, from unrounded means; bold where "
        "the main arm is better beyond that test",
        *run_notes(source.conditions, (Scope.QUALITY,), perceptual=True),
    )
    header = ["Dataset"]
    for short in (metric.name.upper() for metric in metrics):
        header += [f"best {short} (any)", f"best {short} (baseline)", f"Δ {short}"]
    size = size_for([source.title("native", c) for c in source.evaluate])
    return Float("winners", caption, list("lllrllr"), [header], [lines], size=size, separation=3)


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
    top = ties(cells, metric.lower, metric.digits)
    rival = cells[top[0]] if top else None
    if own is None or rival is None:
        return DASH
    text = signed(own.mean - rival.mean, metric.digits)
    better = own.mean < rival.mean if metric.lower else own.mean > rival.mean
    one, other = own.spread, rival.spread
    told = one and other and pooled_p(one, other) < _alpha(source)
    return f"**{text}**" if better and told else text


def _other_sizes(source: Aggregates) -> str | None:
    """Return a sentence on sizes that are not the paper's."""
    own, paper = source.config["native"]["model"], protocol()["native"]["model"]
    told = [
        f"{name.replace('_', ' ')} {size} (paper: {paper[name]})"
        for name, size in own.items()
        if size != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(told)}" if told else None


@table("fairness")
def fairness(source: Aggregates) -> Float:
    """Trainable parameters of every arm, the ratio to the main arm's, and its note (Table 8)."""
    counts = source.frame("budget").set_index("arm")["parameters"].to_dict()
    arms = [arm for name, arm in source.arms.items() if arm.in_benchmark and name in counts]
    if not arms:
        raise UserError(f"{source.path('budget')} has no arm of the main tables; make it again.")
    arms.sort(key=lambda arm: int(arm.fairness_rank or len(source.arms) + 1))
    anchor = source.main_arm
    base = counts.get(anchor.arm)
    ratios = {a.arm: counts[a.arm] / base for a in arms if counts[a.arm] and base}
    lines = [
        [
            f"**{arm.name}** (F1 anchor)" if arm is anchor else arm.name,
            f"{round(counts[arm.arm]):,}",
            f"{ratios[arm.arm]:.3f}×" if arm.arm in ratios else DASH,
            arm.note,
        ]
        for arm in arms
    ]
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [source.arms[n].name for n, ratio in ratios.items() if not 1 / band <= ratio <= band]
    held = "every arm with a ratio is inside the band"
    if outside:
        held = f"{captions.listed(outside)} outside the band"
    caption = paragraph(
        f"F1 asks for at most {band:g} times the trainable parameters of {anchor.name}; {held}",
        _other_sizes(source),
        "All arms share one encoder",
        captions.not_canonical(_shorts(arm for arm in arms if arm.group == "baseline")),
    )
    header = ["Arm", "#params", "ratio", "Decoder / notes"]
    spec = ["l", "r", "r", "p{6.8cm}"]
    return Float("fairness", caption, spec, [header], [lines], size="small", ragged=True)


# --- criteria -----------------------------------------------------------------------------------


@table("gates")
def gates(source: Aggregates) -> Float:
    """The quality and inference-cost criteria, met or not (Table 5).

    A criterion is decided from the sets that were measured; "not measured" stands where the
    absent numbers could still change it.
    """
    criteria = source.config["native"]["criteria"]
    required, bound = criteria["datasets_required"], criteria["latency_ratio"]
    control = source.arms[source.config["native"]["control_arm"]]
    held = [quality_conditions(source, column) for column in source.evaluate]
    conditions = list(zip(*held, strict=True))
    if all(outcome is None for outcomes in conditions for outcome in outcomes):
        raise UserError(f"{source.path('native')} has no numbers for the criteria; evaluate first.")
    parts = [
        f"at most {criteria['psnr_below_best_baseline']:g} dB below best baseline PSNR",
        f"at most {criteria['lpips_above_best_baseline']:g} above best baseline LPIPS",
        f"baseline gap ≥ {criteria['psnr_above_control']:g} dB vs {control.name}",
    ]
    lines = [
        [part, "quality sub-condition", _verdict(at_least(o, required)) + _count(o)]
        for part, o in zip(parts, conditions, strict=True)
    ]
    every = (
        f"all {captions.spelled(len(parts))} sub-conditions on ≥ {required}/{len(held)} datasets"
    )
    composite = at_least([all_of(row) for row in held], required)
    cost = f"≤ {bound:g}× slowest baseline's inference time on every dataset"
    lines += [
        ["Quality criterion composite", every, _verdict(composite)],
        ["Inference-cost criterion", cost, _latency_verdict(source, bound)],
    ]
    caption = paragraph(
        f"They judge {source.main_arm.name}; in brackets: data sets on which a condition holds",
        *run_notes(source.conditions, (Scope.QUALITY, Scope.LATENCY), perceptual=True),
    )
    header = ["Criterion / sub-condition", "Definition", "Result"]
    return Float("gates", caption, ["p{5.8cm}", "p{6.6cm}", "l"], [header], [lines], separation=3)


def quality_conditions(source: Aggregates, column: str) -> list[bool | None]:
    """Return whether the three quality sub-conditions hold on one set; None: not measured.

    PSNR and LPIPS against the best baseline, PSNR against the control, in this order.
    """
    criteria, main_arm = source.config["native"]["criteria"], [source.main_arm.arm]
    psnr, lpips = (_top(source, column, main_arm, metric) for metric in (PSNR, LPIPS))
    rival, near = (_top(source, column, source.baselines, metric) for metric in (PSNR, LPIPS))
    control = _top(source, column, [source.config["native"]["control_arm"]], PSNR)
    return [
        _ahead(psnr, rival, -criteria["psnr_below_best_baseline"]),
        _ahead(near, lpips, -criteria["lpips_above_best_baseline"]),
        _ahead(psnr, control, criteria["psnr_above_control"]),
    ]


def _top(source: Aggregates, column: str, arms: Iterable[str], metric: Metric) -> float | None:
    """Return the best mean among `arms`, None unless every one of them was measured."""
    cells = _cells(source, column, arms, metric.name)
    if not cells or None in cells:
        return None
    return (min if metric.lower else max)(cell.mean for cell in cells if cell)


def _ahead(own: float | None, rival: float | None, margin: float) -> bool | None:
    return None if own is None or rival is None else own - rival >= margin


def at_least(outcomes: Sequence[bool | None], required: int) -> bool | None:
    """Say whether at least `required` outcomes hold; None when the unknown ones decide."""
    if sum(outcome is True for outcome in outcomes) >= required:
        return True
    return False if sum(outcome is not False for outcome in outcomes) < required else None


def all_of(outcomes: Sequence[bool | None]) -> bool | None:
    """Say whether all outcomes hold; None when the unknown ones decide."""
    return at_least(outcomes, len(outcomes))


def _verdict(outcome: bool | None) -> str:
    return {True: "met", False: "not met", None: "not measured"}[outcome]


def _count(outcomes: Sequence[bool | None]) -> str:
    known = [outcome for outcome in outcomes if outcome is not None]
    partial = " measured" if len(known) < len(outcomes) else ""
    return f" ({sum(known)}/{len(known)}{partial})" if known else ""


def latency_ratio(source: Aggregates, column: str) -> float | None:
    """Return the main arm's time over the slowest baseline's on one set, None if not measured."""
    metric = Metric("inference_ms", "", 0)  # the higher is the slower
    own = _top(source, column, [source.main_arm.arm], metric)
    slowest = _top(source, column, source.baselines, metric)
    return None if own is None or slowest is None else own / slowest


def _latency_verdict(source: Aggregates, bound: float) -> str:
    if source.conditions.native and source.conditions.native.shared_gpu:
        return "not judged (shared GPU)"
    ratios = [latency_ratio(source, column) for column in source.evaluate]
    verdict = _verdict(all_of([None if r is None else r <= bound for r in ratios]))
    texts = [f"{ratio:.3f}×" for ratio in ratios if ratio is not None]
    if len(set(texts)) > 1:
        return f"{verdict} ({', '.join(texts)})"
    where = f" on all {len(texts)}" if len(texts) == len(ratios) > 1 else ""
    return f"{verdict} ({texts[0]}{where})" if texts else verdict


# --- the log-space ablation ---------------------------------------------------------------------

ABLATION_ORDER = ("reference", "control", "log")


@table("locality")
def locality(source: Aggregates) -> Float:
    """Locality tests, PSNR and LPIPS of the log-space ablation's arms (Table 9)."""
    run = [source.arms[n] for n in source.config["native"]["arms"] if n in source.arms]
    arms = [arm for arm in run if arm.diagnostic in ABLATION_ORDER]
    arms.sort(key=lambda arm: (ABLATION_ORDER.index(arm.diagnostic), arm.in_benchmark))
    if not {arm.arm for arm in arms} & {*source.frame("ablation")["arm"]}:
        raise UserError(f"{source.path('ablation')} has no rows of the ablation; evaluate first.")
    control = next((arm for arm in arms if arm.diagnostic == "control"), None)
    caption = paragraph(
        "T1–T4 counts the locality tests that an arm meets, from statistics averaged over seeds",
        f"PSNR on the validation images; Δ is an arm minus {control.name}, from unrounded means"
        if control
        else None,
        _criteria_text(source),
        captions.missing({a.short: [source.cell("ablation", a.arm, "psnr")] for a in arms}),
        *run_notes(source.conditions, (Scope.LOCALITY, Scope.ABLATION), perceptual=True),
    )
    header = ["Arm", "T1–T4", "whole-image PSNR (dB)", "Δ PSNR", "Δ LPIPS", "Criteria result"]
    lines = [_locality_line(source, arm) for arm in arms]
    return Float("locality", caption, list("lllrrl"), [header], [lines], size="small", separation=3)


def _locality_line(source: Aggregates, arm: Arm) -> Line:
    psnr = value(source.cell("ablation", arm.arm, "psnr"), 3, spread=False)
    if arm.diagnostic == "control":
        return [f"**{arm.name}**", "n/a", psnr, "n/a", "n/a", "n/a"]
    deltas = {m: source.mean("ablation", arm.arm, f"delta_{m}") for m in ("psnr", "lpips")}
    gap, lpips = signed(deltas["psnr"], 3), signed(deltas["lpips"], 3)
    if arm.diagnostic == "reference":
        return [arm.name, "n/a", psnr, gap, "n/a", "n/a"]
    met = source.mean("locality", arm.arm, "tests_met")
    count = DASH if met is None else f"{round(met)}/4"
    return [arm.name, count, psnr, gap, lpips, _criteria_result(source, arm.arm)]


def _criteria_result(source: Aggregates, arm: str) -> str:
    flags = {test: source.mean("locality", arm, f"{test}_met") for test in diagnostic.TESTS}
    margins = source.config["diagnostics"]["margins"]
    found = diagnostic.criteria(
        {test: None if flag is None else bool(flag) for test, flag in flags.items()},
        {metric: source.mean("ablation", arm, f"delta_{metric}") for metric in margins},
        margins,
    )
    if found.a is False and found.b is False:
        return "neither criterion met"
    return f"A {_verdict(found.a)}, B {_verdict(found.b)}"


def _criteria_text(source: Aggregates) -> str:
    margins = source.config["diagnostics"]["margins"]
    texture, mixed, edge = (signed(margins[f"psnr_{r}"], 2) for r in ("texture", "mixed", "edge"))
    return (
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ {texture} dB or on mixed "
        f"patches ≥ {mixed} dB or LPIPS ≤ {signed(margins['lpips'], 3)}, with PSNR on edges ≥ "
        f"{edge} dB, all against the control"
    )


# --- helpers ------------------------------------------------------------------------------------


def _cells(
    source: Aggregates, column: str, arms: Iterable[str], metric: str
) -> list[Summary | None]:
    return [source.cell("native", column, arm, metric) for arm in arms]


def _by_arm(arms: Iterable[Arm], columns: Sequence[Column]) -> dict[str, list[Summary | None]]:
    rows = zip(*columns, strict=True)
    return {arm.short: list(row) for arm, row in zip(arms, rows, strict=True)}


def _alpha(source: Aggregates) -> float:
    return source.config["native"]["significance"]


def _shorts(arms: Iterable[Arm]) -> list[str]:
    return [arm.short for arm in arms]


def _label(source: Aggregates, arm: str) -> str:
    name = source.arms[arm].name
    return f"**{name}** (main)" if arm == source.main_arm.arm else name


def _parameters(source: Aggregates, arm: str) -> str:
    found = (source.mean("native", column, arm, "params") for column in source.evaluate)
    count = next((count for count in found if count is not None), None)
    return DASH if count is None else f"{round(count):,}"
