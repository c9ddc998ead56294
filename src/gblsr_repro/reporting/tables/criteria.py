"""The tables of criteria: the paper's gates, and the log-space ablation with its locality tests."""

from __future__ import annotations

from ...analysis.criteria import COST, QUALITY, QUALITY_PARTS, Outcome
from ...analysis.provenance import SHARED_GPU, Scope
from ...analysis.reader import Aggregates
from ...analysis.schemas import ABLATION
from ...config import Arm
from .. import captions
from ..items import item
from ..layout import Cells, Row, Table, format_difference, format_number, format_summary


@item
def gates(source: Aggregates) -> list[Table]:
    """Make Table 5: the quality and inference-cost criteria, met or not.

    "not measured" stands where the absent numbers could still change the outcome.
    """
    outcomes = source.criteria
    control = source.arms[source.config["native"]["control_arm"]]
    criteria = source.config["native"]["criteria"]
    labels = dict(
        zip(
            QUALITY_PARTS,
            (
                f"at most {criteria['psnr_below_best_baseline']:g} dB below best baseline PSNR",
                f"at most {criteria['lpips_above_best_baseline']:g} above best baseline LPIPS",
                f"baseline gap ≥ {criteria['psnr_above_control']:g} dB vs {control.name}",
            ),
            strict=True,
        )
    )
    rows = [
        Row(
            part,
            [label, "quality sub-condition", _verdict(outcomes[part].met) + _count(outcomes[part])],
        )
        for part, label in labels.items()
    ]
    quality, cost = outcomes[QUALITY], outcomes[COST]
    definition = (
        f"all three sub-conditions on ≥ {quality.required}/{len(quality.by_dataset)} datasets"
    )
    bound = f"≤ {criteria['latency_ratio']:g}× slowest baseline's inference time on every dataset"
    rows += [
        Row(QUALITY, ["Quality criterion composite", definition, _verdict(quality.met)]),
        Row(COST, ["Inference-cost criterion", bound, _describe_cost(source, cost)]),
    ]
    header = ["Criterion / sub-condition", "Definition", "Result"]
    return [Table("gates", ["p{5.8cm}", "p{6.6cm}", "l"], [header], [rows], separation=3)]


def _verdict(met: bool | None) -> str:
    return {True: "met", False: "not met", None: "not measured"}[met]


def _count(outcome: Outcome) -> str:
    known = [met for met in outcome.by_dataset.values() if met is not None]
    partial = " measured" if len(known) < len(outcome.by_dataset) else ""
    return f" ({sum(known)}/{len(known)}{partial})" if known else ""


def _describe_cost(source: Aggregates, cost: Outcome) -> str:
    if any(d.short == SHARED_GPU for d in source.provenance.find_differences([Scope.LATENCY])):
        return "not judged (shared GPU)"
    verdict = _verdict(cost.met)
    texts = [f"{ratio:.3f}×" for ratio in cost.values.values()]
    if len(set(texts)) > 1:
        return f"{verdict} ({', '.join(texts)})"
    where = f" on all {len(texts)}" if len(texts) == len(cost.by_dataset) > 1 else ""
    return f"{verdict} ({texts[0]}{where})" if texts else verdict


# --- the log-space ablation ---------------------------------------------------------------------


@item
def locality(source: Aggregates) -> list[Table]:
    """Make Table 9: locality tests, PSNR and LPIPS of the log-space ablation's arms."""
    run = [source.arms[name] for name in source.config["native"]["arms"] if name in source.arms]
    arms = [arm for arm in run if arm.diagnostic in ABLATION]
    arms.sort(key=lambda arm: (ABLATION.index(arm.diagnostic), arm.in_benchmark))
    found = source.frame("ablation")
    source.require(
        found[found["arm"].isin([arm.arm for arm in arms])], "ablation", "arm of the ablation"
    )
    margins = source.config["diagnostics"]["margins"]
    texture, mixed, edge = (
        format_difference(margins[f"psnr_{region}"], 2) for region in ("texture", "mixed", "edge")
    )
    notes = [
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ {texture} dB or on mixed "
        f"patches ≥ {mixed} dB or LPIPS ≤ {format_difference(margins['lpips'], 3)}, with PSNR on "
        f"edges ≥ {edge} dB, all against the control",
        captions.missing({arm.short: [source.cell("ablation", arm.arm, "psnr")] for arm in arms}),
    ]
    header = ["Arm", "T1–T4", "whole-image PSNR (dB)", "Δ PSNR", "Δ LPIPS", "Criteria result"]
    rows = [Row(arm.arm, _ablation_cells(source, arm)) for arm in arms]
    return [Table("locality", list("lllrrl"), [header], [rows], notes, size="small", separation=3)]


def _ablation_cells(source: Aggregates, arm: Arm) -> Cells:
    psnr = format_summary(source.cell("ablation", arm.arm, "psnr"), 3, spread=False)
    if arm.diagnostic == "control":
        return [f"**{arm.name}**", "n/a", psnr, "n/a", "n/a", "n/a"]
    gap = format_difference(source.mean("ablation", arm.arm, "delta_psnr"), 3)
    if arm.diagnostic == "reference":
        return [arm.name, "n/a", psnr, gap, "n/a", "n/a"]
    return [
        arm.name,
        format_number(source.mean("locality", arm.arm, "tests_met"), "{:.0f}/4"),
        psnr,
        gap,
        format_difference(source.mean("ablation", arm.arm, "delta_lpips"), 3),
        _describe_criteria(source, arm),
    ]


def _describe_criteria(source: Aggregates, arm: Arm) -> str:
    """Return the outcome of criteria A and B for an arm, in words."""
    first = source.cell("locality", arm.arm, "criterion_a")
    second = source.cell("ablation", arm.arm, "criterion_b")
    met = [bool(cell.mean) if cell.measured else None for cell in (first, second)]
    if met == [False, False]:
        return "neither criterion met"
    return f"A {_verdict(met[0])}, B {_verdict(met[1])}"
