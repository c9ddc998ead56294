"""The tables of the native benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..config import Arm, protocol
from ..errors import UserError
from ..evaluation import locality as diagnostic
from . import captions
from .aggregates import NATIVE_TIMES, Aggregates
from .captions import paragraph, run_notes
from .compare import Scope
from .layout import DASH, Cell, Float, Line, Span, signed, size_for, table, value
from .statistics import Summary, best, bold, pooled_p, ties

Column = list[Summary | None]


@dataclass(frozen=True)
class Metric:
    """A column of numbers: metric of the aggregates, heading, decimals, and which way is better."""

    name: str
    heading: str
    digits: int
    lower: bool


PSNR = Metric("psnr", "PSNR (dB)", 3, lower=False)
LPIPS = Metric("lpips", "LPIPS", 4, lower=True)
QUALITY = (
    PSNR,
    Metric("ssim", "SSIM", 4, lower=False),
    LPIPS,
    Metric("edge_lpips", "edge-LPIPS", 4, lower=True),
)
LSE = Metric("lse", "LSE ↓", 3, lower=True)


def main(source: Aggregates, column: str) -> Float:
    """All arms on one evaluation set: quality with spread, time per image, parameters (Tables 1-3).

    Raises `UserError` when the aggregates have no row of this set.
    """
    if column not in set(source.frame("native")["dataset"]):
        raise UserError(f"{source.path('native')} has no rows for {column!r}; evaluate it first.")
    arms = source.benchmark
    quality = [_column(source, column, arms, metric) for metric in QUALITY]
    strong = [_bold(source, cells, m) for cells, m in zip(quality, QUALITY, strict=True)]
    times = _column(source, column, arms, NATIVE_TIMES[source.clock])
    lines: list[Line] = []
    for i, (name, arm) in enumerate(arms.items()):
        marked = [
            value(cells[i], metric.digits, stress[i])
            for cells, metric, stress in zip(quality, QUALITY, strong, strict=True)
        ]
        milliseconds = Summary(times[i].mean) if times[i] else None
        count = _parameters(source, name)
        lines.append([_arm_label(source, name, arm), *marked, value(milliseconds, 2), count])
    rows = {arm.short: [cells[i] for cells in quality] for i, arm in enumerate(arms.values())}
    title = source.title("native", column)
    caption = paragraph(
        f"Native reconstruction on {title}",
        captions.over_seeds(rows),
        _bold_rule(source, quality) + "; the bold name is the main arm",
        "Column inf ms: time to reconstruct one image at batch size 1, by the plain path",
        captions.not_canonical(_baselines(arms)),
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.QUALITY, Scope.LATENCY), [column], perceptual=True),
    )
    header = ["Arm", *(m.heading for m in QUALITY), "inf ms", "#params"]
    return Float(
                f"main-{column}", caption, list("lrrrrrr"), [header], [lines], separation=3,
                timed=(5,),
            )  # fmt: skip


@table("lse")
def lse(source: Aggregates) -> Float:
    """Local spectrum error beside PSNR for the arms of the family, all sets (Table 10)."""
    arms = {n: a for n, a in source.benchmark.items() if a.group == "family"}
    datasets = source.evaluate
    pairs = [(column, metric) for column in datasets for metric in (LSE, PSNR)]
    cells = [_column(source, column, arms, metric) for column, metric in pairs]
    if all(cell is None for column in cells[::2] for cell in column):
        raise UserError(f"{source.path('native')} has no LSE of the GB-LSR arms; evaluate first.")
    strong = [_bold(source, c, metric) for c, (_, metric) in zip(cells, pairs, strict=True)]
    lines = [
        [
            _arm_label(source, name, arm),
            *(
                value(column[i], metric.digits, stress[i])
                for column, (_, metric), stress in zip(cells, pairs, strong, strict=True)
            ),
        ]
        for i, (name, arm) in enumerate(arms.items())
    ]
    rows = {arm.short: [column[i] for column in cells] for i, arm in enumerate(arms.values())}
    caption = paragraph(
        "Local spectrum error (LSE) beside PSNR in the GB-LSR family",
        captions.over_seeds(rows),
        _bold_rule(source, cells),
        "A lower LSE means a spectrum closer to the original's; it does not always go with a "
        "higher PSNR",
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.QUALITY,)),
    )
    titles: Line = ["", *(Span(source.title("native", column), 2) for column in datasets)]
    header: Line = ["Arm", *(["LSE ↓", "PSNR (dB) ↑"] * len(datasets))]
    rules = [(2 + 2 * k, 3 + 2 * k) for k in range(len(datasets))]
    columns = ["l", *["r"] * len(pairs)]
    return Float(
                "lse", caption, columns, [titles, header], [lines], rules,
                separation=3, sideways=len(datasets) > 3,
            )  # fmt: skip


@table("winners")
def winners(source: Aggregates) -> Float:
    """Best arm and best baseline of every set, and the main arm's gap to the latter (Table 4)."""
    arms = source.benchmark
    baselines = source.baselines
    lines: list[Line] = []
    for column in source.evaluate:
        line: list[Cell] = [source.title("native", column)]
        for metric in (PSNR, LPIPS):
            overall = _best(source, column, arms, metric)
            rival = _best(source, column, baselines, metric)
            line += [overall, rival, _gap(source, column, baselines, metric)]
        if any(cell != DASH for cell in line[1:]):
            lines.append(line)
    if not lines:
        raise UserError(f"{source.path('native')} has no PSNR or LPIPS to compare; evaluate first.")
    caption = paragraph(
        "Best arm per data set, and the main arm's gap to the best baseline",
        f"“any” is over {plural_arms(len(arms))}, “baseline” over "
        + captions.listed(_baselines(arms), "and")
        if baselines
        else None,
        captions.missing(
            {
                a.short: [source.cell("native", c, n, PSNR.name) for c in source.evaluate]
                for n, a in arms.items()
            }
        ),
        "≈ joins arms that the pooled two-sided t-test at "
        f"{100 * source.config['native']['significance']:g}% does not tell apart, the best first "
        "(three or more are counted); its mean is in brackets",
        f"Δ is {_main(source).name} minus the best baseline, from unrounded means; bold where the "
        "main arm is better beyond that test",
        *run_notes(source.conditions, (Scope.QUALITY,), perceptual=True),
    )
    header = ["Dataset"]
    for metric in (PSNR, LPIPS):
        short = metric.name.upper()
        header += [f"best {short} (any)", f"best {short} (baseline)", f"Δ {short}"]
    return Float(
        "winners",
        caption,
        list("lllrllr"),
        [header],
        [lines],
        size=size_for([source.title("native", c) for c in source.evaluate]),
        separation=3,
    )


def plural_arms(count: int) -> str:
    """Return "all seven arms" and the like."""
    return f"all {captions.spelled(count)} arms"


def _best(source: Aggregates, column: str, arms: Mapping[str, Arm], metric: Metric) -> str:
    cells = _column(source, column, arms, metric)
    equal = ties(cells, metric.lower, metric.digits, source.config["native"]["significance"])
    if not equal:
        return DASH
    shorts = [list(arms.values())[i].short for i in equal]
    # Wide spreads can tie all arms; the main tables have their names in bold.
    names = " ≈ ".join(shorts if len(shorts) < 3 else (shorts[0], f"{len(shorts) - 1} others"))
    return f"{names} ({value(_mean(cells[equal[0]]), metric.digits)})"


def _gap(source: Aggregates, column: str, baselines: Mapping[str, Arm], metric: Metric) -> str:
    own = source.cell("native", column, source.config["native"]["main_arm"], metric.name)
    cells = _column(source, column, baselines, metric)
    top = best(cells, metric.lower)
    rival = None if top is None else cells[top]
    if own is None or rival is None:
        return DASH
    text = signed(own.mean - rival.mean, metric.digits)
    better = own.mean < rival.mean if metric.lower else own.mean > rival.mean
    alpha = source.config["native"]["significance"]
    told = own.has_spread and rival.has_spread and pooled_p(own, rival) < alpha
    return f"**{text}**" if better and told else text


def _toy_sizes(source: Aggregates) -> str | None:
    """Return a sentence on sizes that are not the paper's."""
    own, paper = source.config["native"]["model"], protocol()["native"]["model"]
    told = [
        f"{name.replace('_', ' ')} {value} (paper: {paper[name]})"
        for name, value in own.items()
        if value != paper[name]
    ]
    return f"Counted at this run's sizes, not the paper's: {', '.join(told)}" if told else None


@table("fairness")
def fairness(source: Aggregates) -> Float:
    """Trainable parameters of every arm, the ratio to the main arm's, and its note (Table 8)."""
    counts = source.frame("budget").set_index("arm")["parameters"].to_dict()
    arms = {n: arm for n, arm in source.arms.items() if arm.in_benchmark and n in counts}
    if not arms:
        raise UserError(f"{source.path('budget')} has no arm of the main tables; make it again.")
    arms = dict(
        sorted(arms.items(), key=lambda item: int(item[1].fairness_rank or len(source.arms) + 1))
    )
    counts = {name: counts[name] for name in arms}
    anchor = source.config["native"]["main_arm"]
    base = counts.get(anchor)
    ratios = {name: n / base if n and base else None for name, n in counts.items()}
    lines: list[Line] = [
        [
            f"**{arm.name}** (F1 anchor)" if name == anchor else arm.name,
            _count_text(counts[name]),
            f"{ratios[name]:.3f}×" if ratios[name] else DASH,
            arm.note,
        ]
        for name, arm in arms.items()
    ]
    band = source.config["native"]["criteria"]["parameter_band"]
    outside = [arms[n].name for n, r in ratios.items() if r and not 1 / band <= r <= band]
    held = (
        f"{captions.listed(outside)} outside the band"
        if outside
        else "every arm with a ratio is inside the band"
    )
    caption = paragraph(
        "Parameter budget and what was changed to meet it",
        f"F1 asks for at most {band:g} times the trainable parameters of {_main(source).name}; "
        + held,
        _toy_sizes(source),
        "All arms share one encoder",
        captions.not_canonical(_baselines(arms)),
    )
    header = ["Arm", "#params", "ratio", "Decoder / notes"]
    return Float(
        "fairness",
        caption,
        ["l", "r", "r", "p{6.8cm}"],
        [header],
        [lines],
        size="small",
        ragged=True,
    )


# --- criteria -----------------------------------------------------------------------------------


@table("gates")
def gates(source: Aggregates) -> Float:
    """The quality and inference-cost criteria, met or not (Table 5).

    A criterion is decided from the sets that were measured; "not measured" stands where the
    absent numbers could still change it.
    """
    criteria = source.config["native"]["criteria"]
    datasets, required = source.evaluate, criteria["datasets_required"]
    control = source.arms[source.config["native"]["control_arm"]]
    below, above = criteria["psnr_below_best_baseline"], criteria["lpips_above_best_baseline"]
    gap, ratio = criteria["psnr_above_control"], criteria["latency_ratio"]
    held = [quality_conditions(source, column) for column in datasets]
    conditions = list(zip(*held, strict=True))
    composite = [all_of(row) for row in held]
    if all(outcome is None for outcomes in conditions for outcome in outcomes):
        raise UserError(f"{source.path('native')} has no numbers for the criteria; evaluate first.")
    part = "quality sub-condition"
    lines: list[Line] = [
        [f"at most {below:g} dB below best baseline PSNR", part],
        [f"at most {above:g} above best baseline LPIPS", part],
        [f"baseline gap ≥ {gap:g} dB vs {control.name}", part],
    ]
    lines = [
        [*line, _verdict(at_least(outcomes, required)) + _count(outcomes)]
        for line, outcomes in zip(lines, conditions, strict=True)
    ]
    lines += [
        [
            "Quality criterion composite",
            f"all {captions.spelled(len(conditions))} sub-conditions on "
            f"≥ {required}/{len(datasets)} datasets",
            _verdict(at_least(composite, required)),
        ],
        [
            "Inference-cost criterion",
            f"≤ {ratio:g}× slowest baseline's inference time on every dataset",
            _latency_verdict(source, [latency_ratio(source, column) for column in datasets], ratio),
        ],
    ]
    caption = paragraph(
        "The benchmark's two criteria",
        f"They judge {_main(source).name}; in brackets: data sets on which a condition holds",
        *run_notes(source.conditions, (Scope.QUALITY, Scope.LATENCY), perceptual=True),
    )
    header = ["Criterion / sub-condition", "Definition", "Result"]
    return Float(
                "gates", caption, ["p{5.8cm}", "p{6.6cm}", "l"], [header], [lines], separation=3
            )  # fmt: skip


def quality_conditions(source: Aggregates, column: str) -> list[bool | None]:
    """Return whether the three quality sub-conditions hold on one set; None: not measured.

    PSNR and LPIPS against the best baseline, PSNR against the control, in this order.
    """
    criteria = source.config["native"]["criteria"]
    own = {m.name: _mean_of(source, column, [_main_name(source)], m) for m in (PSNR, LPIPS)}
    rival = {m.name: _mean_of(source, column, source.baselines, m) for m in (PSNR, LPIPS)}
    control = _mean_of(source, column, [source.config["native"]["control_arm"]], PSNR)
    return [
        _at_least(own["psnr"], rival["psnr"], -criteria["psnr_below_best_baseline"]),
        _at_least(rival["lpips"], own["lpips"], -criteria["lpips_above_best_baseline"]),
        _at_least(own["psnr"], control, criteria["psnr_above_control"]),
    ]


def latency_ratio(source: Aggregates, column: str) -> float | None:
    """Return the main arm's time over the slowest baseline's on one set, None if not measured."""
    times = _column(source, column, source.baselines, "inference_ms")
    own = source.cell("native", column, _main_name(source), "inference_ms")
    if own is None or not times or any(t is None for t in times):
        return None
    return own.mean / max(t.mean for t in times if t is not None)


def at_least(outcomes: list[bool | None], required: int) -> bool | None:
    """Say whether at least `required` outcomes hold; None when the unknown ones decide."""
    certain = sum(outcome is True for outcome in outcomes)
    possible = sum(outcome is not False for outcome in outcomes)
    if certain >= required:
        return True
    return False if possible < required else None


def all_of(outcomes: list[bool | None]) -> bool | None:
    """Say whether all outcomes hold; None when the unknown ones decide."""
    return at_least(outcomes, len(outcomes))


def _at_least(own: float | None, rival: float | None, margin: float) -> bool | None:
    return None if own is None or rival is None else own - rival >= margin


def _verdict(outcome: bool | None) -> str:
    return {True: "met", False: "not met", None: "not measured"}[outcome]


def _count(outcomes: tuple[bool | None, ...]) -> str:
    known = [outcome for outcome in outcomes if outcome is not None]
    if not known:
        return ""
    partial = " measured" if len(known) < len(outcomes) else ""
    return f" ({sum(known)}/{len(known)}{partial})"


def _latency_verdict(source: Aggregates, ratios: list[float | None], bound: float) -> str:
    if source.conditions.native and source.conditions.native.shared_gpu:
        return "not judged (shared GPU)"
    known = [ratio for ratio in ratios if ratio is not None]
    verdict = _verdict(all_of([None if r is None else r <= bound for r in ratios]))
    if not known:
        return verdict
    texts = [f"{ratio:.3f}×" for ratio in known]
    if len(set(texts)) == 1:
        where = f" on all {len(texts)}" if len(texts) == len(ratios) > 1 else ""
        return f"{verdict} ({texts[0]}{where})"
    return f"{verdict} ({', '.join(texts)})"


# --- the log-space ablation ---------------------------------------------------------------------


@table("locality")
def locality(source: Aggregates) -> Float:
    """Locality tests, PSNR and LPIPS of the log-space ablation's arms (Table 9)."""
    run = [n for n in source.config["native"]["arms"] if n in source.arms]
    arms = {n: source.arms[n] for n in run if source.arms[n].diagnostic in ABLATION_ORDER}
    order = sorted(arms, key=lambda n: (ABLATION_ORDER.index(arms[n].diagnostic),
                                        arms[n].in_benchmark))  # fmt: skip
    if not {*arms} & {*source.frame("ablation")["arm"]}:
        raise UserError(f"{source.path('ablation')} has no rows of the ablation; evaluate first.")
    lines = [_locality_line(source, name, arms[name]) for name in order]
    rows = {arms[n].short: [source.cell("ablation", n, "psnr")] for n in order}
    control = next((a for a in arms.values() if a.diagnostic == "control"), None)
    caption = paragraph(
        "Log-space ablation of the per-patch bandwidth",
        "T1–T4 counts the locality tests that an arm meets, from statistics averaged over seeds",
        f"PSNR on the validation images; Δ is an arm minus {control.name}, from unrounded means"
        if control
        else None,
        _criteria_text(source),
        captions.missing(rows),
        *run_notes(source.conditions, (Scope.LOCALITY, Scope.ABLATION), perceptual=True),
    )
    header = [
        "Arm", "T1–T4", "whole-image PSNR (dB)", "Δ PSNR", "Δ LPIPS", "Criteria result",
    ]  # fmt: skip
    return Float("locality", caption, list("lllrrl"), [header], [lines], size="small", separation=3)


ABLATION_ORDER = ("reference", "control", "log")


def _locality_line(source: Aggregates, name: str, arm: Arm) -> Line:
    psnr = value(_mean(source.cell("ablation", name, "psnr")), 3)
    label = f"**{arm.name}**" if arm.diagnostic == "control" else arm.name
    if arm.diagnostic == "control":
        return [label, "n/a", psnr, "n/a", "n/a", "n/a"]
    deltas = {m: source.cell("ablation", name, f"delta_{m}") for m in ("psnr", "lpips")}
    gap = signed(deltas["psnr"].mean if deltas["psnr"] else None, 3)
    if arm.diagnostic == "reference":
        return [label, "n/a", psnr, gap, "n/a", "n/a"]
    met = source.cell("locality", name, "tests_met")
    count = DASH if met is None else f"{round(met.mean)}/4"
    lpips = signed(deltas["lpips"].mean if deltas["lpips"] else None, 3)
    return [label, count, psnr, gap, lpips, _criteria_result(source, name)]


def _criteria_result(source: Aggregates, arm: str) -> str:
    flags = {test: source.cell("locality", arm, f"{test}_met") for test in diagnostic.TESTS}
    margins = source.config["diagnostics"]["margins"]
    deltas = {metric: source.cell("ablation", arm, f"delta_{metric}") for metric in margins}
    found = diagnostic.criteria(
        {test: None if flag is None else bool(flag.mean) for test, flag in flags.items()},
        {metric: None if cell is None else cell.mean for metric, cell in deltas.items()},
        margins,
    )
    if found.a is False and found.b is False:
        return "neither criterion met"
    return f"A {_verdict(found.a)}, B {_verdict(found.b)}"


def _criteria_text(source: Aggregates) -> str:
    margins = source.config["diagnostics"]["margins"]
    return (
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ "
        f"{signed(margins['psnr_texture'], 2)} dB or on mixed patches ≥ "
        f"{signed(margins['psnr_mixed'], 2)} dB or LPIPS ≤ {signed(margins['lpips'], 3)}, with "
        f"PSNR on edges ≥ {signed(margins['psnr_edge'], 2)} dB, all against the control"
    )


# --- helpers ------------------------------------------------------------------------------------


def _column(source: Aggregates, column: str, arms: Iterable[str], metric: Metric | str) -> Column:
    name = metric.name if isinstance(metric, Metric) else metric
    return [source.cell("native", column, arm, name) for arm in arms]


def _bold(source: Aggregates, cells: Column, metric: Metric) -> list[bool]:
    return bold(cells, metric.lower, metric.digits, source.config["native"]["significance"])


def _bold_rule(source: Aggregates, columns: list[Column]) -> str:
    testable = any(sum(c is not None and c.has_spread for c in column) > 1 for column in columns)
    return captions.bold_rule(source.config["native"]["significance"], testable)


def _mean(cell: Summary | None) -> Summary | None:
    return None if cell is None else Summary(cell.mean)


def _mean_of(source: Aggregates, column: str, arms: Iterable[str], metric: Metric) -> float | None:
    """Return the best mean among `arms`, None unless every one of them was measured."""
    cells = _column(source, column, arms, metric)
    means = [cell.mean for cell in cells if cell is not None]
    if not means or len(means) < len(cells):
        return None
    return min(means) if metric.lower else max(means)


def _main_name(source: Aggregates) -> str:
    return source.config["native"]["main_arm"]


def _main(source: Aggregates) -> Arm:
    return source.arms[_main_name(source)]


def _baselines(arms: Mapping[str, Arm]) -> list[str]:
    return [arm.short for arm in arms.values() if arm.group == "baseline"]


def _arm_label(source: Aggregates, name: str, arm: Arm) -> str:
    return f"**{arm.name}** (main)" if name == _main_name(source) else arm.name


def _parameters(source: Aggregates, arm: str) -> str:
    found = (source.cell("native", column, arm, "params") for column in source.evaluate)
    return _count_text(next((cell.mean for cell in found if cell is not None), None))


def _count_text(count: float | None) -> str:
    return DASH if count is None else f"{round(count):,}"
