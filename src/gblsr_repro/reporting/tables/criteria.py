"""Build the tables of criteria: the paper's gates, and the log-space ablation's locality tests."""

from __future__ import annotations

import math

from ...analysis.criteria import COMPOSITE, INFERENCE_COST, QUALITY_PARTS, Outcome, judge_criteria
from ...analysis.provenance.differences import SHARED_GPU, Scope
from ...analysis.reader import Aggregates
from ...analysis.schemas import ABLATION
from ...config import Arm
from ..captions import list_missing_rows
from ..layout import format_difference
from .sheet import Form, Sheet, SheetColumn, SheetGroup, SheetRow, SheetValue


def build_gates(source: Aggregates) -> list[Sheet]:
    """Build Table 5: the quality and inference-cost criteria, met or not.

    "not measured" stands where the absent numbers could still change the outcome.
    """
    outcomes = judge_criteria(source)
    control = source.arms[source.config["native"]["control_arm"]]
    criteria = source.config["native"]["criteria"]
    definitions = (
        f"at most {criteria['psnr_below_best_baseline']:g} dB below best baseline PSNR",
        f"at most {criteria['lpips_above_best_baseline']:g} above best baseline LPIPS",
        f"baseline gap ≥ {criteria['psnr_above_control']:g} dB vs {control.name}",
    )
    gates = []
    for part, definition in zip(QUALITY_PARTS, definitions, strict=True):
        result = _format_outcome(outcomes[part].met) + _format_count(outcomes[part])
        gates.append((part, definition, "quality sub-condition", result))
    quality, cost = outcomes[COMPOSITE], outcomes[INFERENCE_COST]
    composite = f"all three sub-conditions on ≥ {quality.required}/{len(quality.met_on)} datasets"
    bound = f"≤ {criteria['latency_ratio']:g}× slowest baseline's inference time on every dataset"
    result, cost_result = _format_outcome(quality.met), _format_cost(source, cost)
    gates += [
        (COMPOSITE, "Quality criterion composite", composite, result),
        (INFERENCE_COST, "Inference-cost criterion", bound, cost_result),
    ]
    rows = [
        SheetRow(key, name, {"definition": definition, "result": result})
        for key, name, definition, result in gates
    ]
    header = ["Criterion / sub-condition", "Definition", "Result"]
    columns = [SheetColumn("definition", "p1.1"), SheetColumn("result", "l0.85")]
    return [Sheet("gates", "p1.05", columns, [header], [SheetGroup(rows)])]


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
    frame = source.frame("ablation")
    measured = frame[frame["arm"].isin([arm.arm for arm in arms])]
    source.require(measured, "ablation", "arm of the ablation")
    margins = source.config["diagnostics"]["margins"]
    texture, mixed, edge = (
        format_difference(margins[f"psnr_{region}"], 2) for region in ("texture", "mixed", "edge")
    )
    psnr = {arm.short: [source.cell("ablation", arm.arm, "psnr")] for arm in arms}
    notes = [
        f"Criterion A: all tests met. Criterion B: PSNR on texture ≥ {texture} dB or on mixed "
        f"patches ≥ {mixed} dB or LPIPS ≤ {format_difference(margins['lpips'], 3)}, with PSNR on "
        f"edges ≥ {edge} dB, all against the control",
        list_missing_rows(psnr),
    ]
    header = ["Arm", "T1–T4", "whole-image PSNR (dB)", "Δ PSNR", "Δ LPIPS", "Criteria result"]
    rows = [
        SheetRow(
            arm.arm,
            f"**{arm.name}**" if arm.diagnostic == "control" else arm.name,
            _read_ablation(source, arm),
        )
        for arm in arms
    ]
    columns = [
        SheetColumn("tests_met", "l", Form(0, unit="/4")),
        SheetColumn("psnr", "l", Form(3)),
        SheetColumn("delta_psnr", form=Form(3, signed=True)),
        SheetColumn("delta_lpips", form=Form(3, signed=True)),
        SheetColumn("criteria", "l1"),
    ]
    return [Sheet("locality", "l1", columns, [header], [SheetGroup(rows)], notes)]


def _read_ablation(source: Aggregates, arm: Arm) -> dict[str, SheetValue]:
    """Read the cells of one arm of the ablation; control and reference are not tested."""
    numbers = {name: source.cell("ablation", arm.arm, name) for name in ("psnr", "delta_psnr")}
    if arm.diagnostic in ("control", "reference"):
        untested = dict.fromkeys(("tests_met", "delta_lpips", "criteria"), "n/a")
        is_control = arm.diagnostic == "control"
        return {**numbers, **untested, **({"delta_psnr": "n/a"} if is_control else {})}
    return {
        **numbers,
        "tests_met": source.cell("locality", arm.arm, "tests_met"),
        "delta_lpips": source.cell("ablation", arm.arm, "delta_lpips"),
        "criteria": _format_criteria(source, arm),
    }


def _format_criteria(source: Aggregates, arm: Arm) -> str:
    """Format the outcome of criteria A and B for an arm."""
    cells = [
        source.cell("locality", arm.arm, "criterion_a"),
        source.cell("ablation", arm.arm, "criterion_b"),
    ]
    met = [bool(cell.mean) if cell.measured else None for cell in cells]
    if met == [False, False]:
        return "neither criterion met"
    return f"A {_format_outcome(met[0])}, B {_format_outcome(met[1])}"
