"""Build the tables of criteria: the paper's gates, and the log-space ablation's locality tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from ...analysis.criteria import COMPOSITE, INFERENCE_COST, QUALITY_PARTS, Outcome, judge_criteria
from ...analysis.provenance.differences import SHARED_GPU
from ...analysis.reader import Aggregates
from ...analysis.schemas import ABLATION
from ...config import Scope
from ..layout import format_difference
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow, SheetValue

NOT_TESTED = "n/a"


def build_gates(source: Aggregates) -> list[Sheet]:
    """Build Table 5: the quality and inference-cost criteria, met or not.

    "not measured" stands where the absent numbers could still change the outcome.
    """
    outcomes = judge_criteria(source, source.config)
    control = source.arms[source.config["native"]["control_arm"]]
    criteria = source.config["native"]["criteria"]
    quality, cost = outcomes[COMPOSITE], outcomes[INFERENCE_COST]
    names = (
        f"at most {criteria['psnr_below_best_baseline']:g} dB below best baseline PSNR",
        f"at most {criteria['lpips_above_best_baseline']:g} above best baseline LPIPS",
        f"baseline gap ≥ {criteria['psnr_above_control']:g} dB vs {control.name}",
    )
    texts = {}
    for part, name in zip(QUALITY_PARTS, names, strict=True):
        outcome = outcomes[part]
        result = _format_outcome(outcome.met) + _format_count(outcome)
        texts[part] = name, "quality sub-condition", result
    texts[COMPOSITE] = (
        "Quality criterion composite",
        f"all three sub-conditions on ≥ {quality.required}/{len(quality.met_on)} datasets",
        _format_outcome(quality.met),
    )
    texts[INFERENCE_COST] = (
        "Inference-cost criterion",
        f"≤ {criteria['latency_ratio']:g}× slowest baseline's inference time on every dataset",
        _format_cost(source, cost),
    )
    columns = [
        SheetColumn("definition", "Definition", lambda gate: texts[gate][1], "p1.1"),
        SheetColumn("result", "Result", lambda gate: texts[gate][2], "l0.85"),
    ]
    rows = [SheetRow((gate,), name) for gate, (name, *_) in texts.items()]
    return [Sheet("gates", "p1.05", ["Criterion / sub-condition"], columns, [SheetGroup(rows)])]


def _format_outcome(met: bool | None) -> str:
    return {True: "met", False: "not met", None: "not measured"}[met]


def _format_count(outcome: Outcome) -> str:
    """Format on how many of the measured data sets a condition holds; empty without any."""
    measured = [met for met in outcome.met_on.values() if met is not None]
    partial = " measured" if len(measured) < len(outcome.met_on) else ""
    return f" ({sum(measured)}/{len(measured)}{partial})" if measured else ""


def _format_cost(source: Aggregates, cost: Outcome) -> str:
    """Format the outcome of the inference-cost criterion with the measured ratios."""
    if any(d.name == SHARED_GPU for d in source.provenance.find_differences([Scope.LATENCY])):
        return "not judged (shared GPU)"
    outcome = _format_outcome(cost.met)
    texts = [f"{ratio:.3f}×" for ratio in cost.values.values() if not math.isnan(ratio)]
    if len(set(texts)) > 1:
        return f"{outcome} ({', '.join(texts)})"
    where = f" on all {len(texts)}" if len(texts) == len(cost.met_on) > 1 else ""
    return f"{outcome} ({texts[0]}{where})" if texts else outcome


# --- the log-space ablation ---------------------------------------------------------------------


def build_locality(source: Aggregates) -> list[Sheet]:
    """Build Table 9: locality tests, PSNR and LPIPS of the log-space ablation's arms."""
    selected = (source.arms.get(name) for name in source.config["native"]["arms"])
    arms = [arm for arm in selected if arm is not None and arm.diagnostic in ABLATION]
    arms.sort(key=lambda arm: (ABLATION.index(arm.diagnostic), arm.in_benchmark))
    measured = {arm for arm, *_ in source.cells("ablation")}.intersection(arm.arm for arm in arms)
    source.require(measured, "ablation", "arm of the ablation")
    margins = source.config["diagnostics"]["margins"]
    texture, mixed, edge = (
        format_difference(margins[f"psnr_{region}"], 2) for region in ("texture", "mixed", "edge")
    )
    notes = [
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ {texture} dB or on mixed "
        f"patches ≥ {mixed} dB or LPIPS ≤ {format_difference(margins['lpips'], 3)}, with PSNR on "
        f"edges ≥ {edge} dB, all against the control",
    ]
    control = {arm.arm for arm in arms if arm.diagnostic == "control"}
    untested = control | {arm.arm for arm in arms if arm.diagnostic == "reference"}

    def read(aggregate: str, number: str, besides: Collection[str]) -> Callable[[str], SheetValue]:
        return lambda arm: NOT_TESTED if arm in besides else source.cell(aggregate, arm, number)

    def read_criteria(arm: str) -> str:
        return NOT_TESTED if arm in untested else _format_criteria(source, arm)

    # fmt: off
    columns = [
        SheetColumn("tests_met", "T1–T4", read("locality", "tests_met", untested), "l", unit="/4"),
        SheetColumn("psnr", "whole-image PSNR (dB)", read("ablation", "psnr", ()), "l", 3),
        SheetColumn("delta_psnr", "Δ PSNR", read("ablation", "delta_psnr", control),
                    digits=3, signed=True),
        SheetColumn("delta_lpips", "Δ LPIPS", read("ablation", "delta_lpips", untested),
                    digits=3, signed=True),
        SheetColumn("criteria", "Criteria result", read_criteria, "l1"),
    ]
    # fmt: on
    rows = [
        SheetRow((arm.arm,), f"**{arm.name}**" if arm.arm in control else arm.name) for arm in arms
    ]
    return [Sheet("locality", "l1", ["Arm"], columns, [SheetGroup(rows)], notes)]


def _format_criteria(source: Aggregates, arm: str) -> str:
    """Format the outcome of criteria A and B for an arm."""
    cells = [
        source.cell("locality", arm, "criterion_a"),
        source.cell("ablation", arm, "criterion_b"),
    ]
    met = [bool(cell.mean) if cell.measured else None for cell in cells]
    if met == [False, False]:
        return "neither criterion met"
    return f"A {_format_outcome(met[0])}, B {_format_outcome(met[1])}"
