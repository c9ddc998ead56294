"""One comparison with the paper: every setting has its place, and all that tells it agrees."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import made
import pytest
from made_up_runs import PAPER

from gblsr_repro.analysis.provenance.conditions import RunConditions
from gblsr_repro.analysis.provenance.differences import Effect, Provenance, Scope
from gblsr_repro.analysis.provenance.settings import (
    ComparedSettings,
    find_setting,
    read_settings,
)
from gblsr_repro.config import load, read_methods
from gblsr_repro.dependencies import list_settings
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_json
from gblsr_repro.metadata import Images, ReleasedOrigin
from results import merge_provenance, set_seeds, set_setting

NATIVE, ASR = PAPER
Run = tuple[RunConditions, RunConditions]


def with_native(**changes: Any) -> Run:
    return replace(NATIVE, **changes), ASR


def with_evaluated(**sets: Any) -> Run:
    return with_native(evaluate={**NATIVE.evaluate, **sets})


def with_setting(name: str, *values: Any, of: Collection[str] = ()) -> Run:
    return set_setting(NATIVE, name, *values, of=of), set_setting(ASR, name, *values, of=of)


def images(dataset: str, title: str, have: int, of: int, **more: Any) -> list[Images]:
    return [made.image_set(dataset, title, have, of, **more)]


RECIPE = load()["asr"]["training"]["recipes"]["rdn"]
RDN = [name for name, row in read_methods().items() if row.recipe == "rdn"]
OF_NATIVE = {Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION, Scope.LATENCY, Scope.COST}
TRAINED = OF_NATIVE - {Scope.LATENCY}
MEASURED = TRAINED - {Scope.COST}
CHANGES = {  # by the sentence about a change: what is changed, and the numbers that it concerns
    "": ((NATIVE, ASR), set()),
    "preset demo": ((replace(NATIVE, preset="demo"), replace(ASR, preset="demo")), set(Scope)),
    "steps: 200 (paper: 2,000)": (with_setting("native.training.steps", 200, 2000), TRAINED),
    "steps of LIIF and LTE: 200 (paper: 2,000)": (
        with_setting("native.training.steps", 200, of=["liif", "lte"]), TRAINED),
    "steps: not set (paper: 2,000)": (with_setting("native.training.steps"), TRAINED),
    "parts of a batch: 8 (paper: 1)": (
        with_setting("native.training.accumulate", 8), {Scope.COST}),
    "ssim window: 7 (paper: 11)": (
        with_setting("native.metrics.ssim_window", 7), {Scope.QUALITY, Scope.ABLATION}),
    "region patches: 9 (paper: 1,024)": (
        with_setting("native.metrics.region_patches", 9), MEASURED),
    "psnr edge: -1.0 (paper: -0.2)": (
        with_setting("diagnostics.margins.psnr_edge", -1.0), {Scope.ABLATION}),
    "wire frequency: 9.0 (paper: 10.0)": (
        with_setting("native.model.wire_frequency", 9.0), TRAINED),
    "pixels in the loss of LIIF: 8,192 (paper: not set)": (
        with_setting("native.training.pixels", {"liif": 8192}, of=["liif"]), TRAINED),
    "seeds: 0, 1 (paper: 0, 1, 2)": (
        (set_seeds(NATIVE, {arm: [0, 1] for arm in NATIVE.seeds}), ASR), TRAINED),
    "seeds: 0 (paper: 0, 1, 2)": (
        (set_seeds(NATIVE, {arm: [0] for arm in NATIVE.seeds}, timed=True), ASR),
        {Scope.LATENCY}),
    "trained on BSDS500 in place of DIV2K": (
        with_native(train=images("bsds500", "BSDS500", 5, 5, stands_in_for="div2k_train")),
        MEASURED),
    "trained on DTD": (with_native(train=images("dtd", "DTD", 5, 5)), MEASURED),
    "urban100: 30 of 100 images of Urban100": (
        with_evaluated(urban100=images("urban100", "Urban100", 30, 100)), {Scope.QUALITY}),
    "kodak: other pixels in b and a": (
        with_evaluated(kodak=images("kodak", "Kodak", 24, 24, other_pixels=["b", "a"])),
        {Scope.QUALITY}),
    "validated on 3 of 9 images of DTD": (
        with_native(validation=images("dtd", "DTD", 3, 9)), {Scope.LOCALITY, Scope.ABLATION}),
    "passes: 3 (paper: 50)": (
        with_setting("latency.passes", 3), {Scope.LATENCY, Scope.ASR_LATENCY}),
    "timed on: NVIDIA H200 NVL (paper: NVIDIA H200)": (
        with_native(timed_on=["NVIDIA H200 NVL"]), {Scope.LATENCY}),
    "timed on a shared GPU, and so not judged": (
        with_native(shared_gpu=["liif"]), {Scope.LATENCY}),
    "recipe rdn batch size: 2 (paper: 16)": (
        with_setting("asr.training.recipes", {"rdn": {**RECIPE, "batch_size": 2}}, of=RDN),
        {Scope.ASR_QUALITY, Scope.ASR_COST}),
    "pixels shaved beyond the scale on div2kval: not set (paper: 6)": (
        with_setting("asr.shave_extra", {}), {Scope.ASR_QUALITY}),
}  # fmt: skip


def list_setting_names() -> list[str]:
    settings = load()
    return [name for section in settings for name in list_settings(settings, section)]


def test_every_setting_is_compared_or_says_why_not() -> None:
    compared = {name for run in PAPER for each in run.settings for name in each.published}
    settings = list_setting_names()
    assert [s for s in settings if s not in compared and not find_setting(s).why] == []
    assert {*read_settings()} <= {find_setting(name).setting for name in settings}
    for row in read_settings().values():
        assert {Scope(scope) for scope in row.scopes} or row.words or len(row.why.split()) > 3


@pytest.mark.parametrize("sentence", CHANGES)
def test_one_sentence_tells_a_difference_of_the_numbers_that_it_concerns(sentence: str) -> None:
    run, scopes = CHANGES[sentence]
    for scope in Scope:
        assert sentences(run, scope) == ([sentence] if scope in scopes else []), scope


def sentences(run: Run, scope: Scope, **of: Any) -> list[str]:
    return [each.sentence for each in merge_provenance(*run).find_differences([scope], **of)]


def test_only_the_subjects_and_columns_of_a_number_count() -> None:
    run = set_seeds(NATIVE, {"liif": [0]}), ASR
    assert sentences(run, Scope.QUALITY, subjects=["lte"]) == []
    assert sentences(run, Scope.QUALITY, subjects=["liif"]) == ["seeds of LIIF: 0 (paper: 0, 1, 2)"]
    assert sentences(run, Scope.QUALITY) == ["seeds of LIIF: 0 (paper: 0, 1, 2)"]
    assert sentences(run, Scope.LATENCY) == []  # every seed was timed
    fewer = with_setting("native.training.pixels", {"liif": 8192}, of=["liif"])
    assert sentences(fewer, Scope.QUALITY, subjects=["lte"]) == []
    assert sentences(fewer, Scope.QUALITY, subjects=["liif"])
    modes = with_setting("native.model.modes", 12)  # which the control and the baselines lack
    assert sentences(modes, Scope.QUALITY, subjects=["liif"]) == []
    assert sentences(modes, Scope.QUALITY, subjects=["gblsr_scalar"]) == ["modes: 12 (paper: 16)"]
    partial = with_evaluated(urban100=images("urban100", "Urban100", 30, 100))
    assert sentences(partial, Scope.QUALITY, columns=["kodak"]) == []
    shared = with_native(shared_gpu=["liif"])
    assert sentences(shared, Scope.LATENCY, subjects=["wire"]) == []


def test_pixels_of_some_arms_concern_these_alone() -> None:
    own = set_setting(NATIVE, "native.training.learning_rate", 1.0)
    for arm, pixels in {"liif": 8192, "lte": 9, "wire": 9}.items():
        own = set_setting(own, "native.training.pixels", {arm: pixels}, of=[arm])
    run = own, ASR
    rate = "learning rate: 1.0 (paper: 0.0002)"
    assert sentences(run, Scope.QUALITY, subjects=["gblsr_scalar"]) == [rate]
    few = "pixels in the loss of LTE and WIRE: 9 (paper: not set)"
    assert sentences(run, Scope.QUALITY, subjects=["wire"]) == [rate, few]
    assert len(sentences(run, Scope.QUALITY)) == 3


def _leave_training_out(each: ComparedSettings) -> ComparedSettings:
    names = [name for name in each.published if ".training." not in name and name != "seeds"]
    left = {name: each.published[name] for name in names}
    return replace(each, published=left)


def released(run: RunConditions, *subjects: str) -> RunConditions:
    """A run whose weights of some arms or methods were released by others, of seed 0."""
    left = {name: seeds for name, seeds in run.seeds.items() if name not in subjects}
    return replace(
        run,
        preset="released",
        scopes=[s for s in run.scopes if left or s.measure != "cost"],
        seeds=left | {key: [0] for key in subjects},
        imported=dict.fromkeys(
            subjects, ReleasedOrigin(by="the authors of GB-LSR", license="CC-BY-NC-4.0")
        ),
        settings=[
            _leave_training_out(each) if each.subject in subjects else each for each in run.settings
        ],
        train=run.train if left else (),
        devices=run.devices if left else (),
    )


RELEASED = "scores of released weights, not their training"


def test_released_weights_are_all_that_differs_where_nothing_is_trained() -> None:
    run = merge_provenance(released(NATIVE, *NATIVE.seeds), released(ASR, *ASR.seeds))
    for scope in (Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION, Scope.ASR_QUALITY):
        (difference,) = run.find_differences([scope])
        assert (difference.sentence, difference.effect) == (RELEASED, Effect.QUALIFIES)
    for scope in (Scope.LATENCY, Scope.ASR_LATENCY):
        assert run.find_differences([scope]) == []
    assert not {Scope.COST, Scope.ASR_COST} & {*run.scopes}


def test_released_weights_are_told_apart_from_what_is_trained_beside_them() -> None:
    mixed = released(with_setting("asr.training.steps", 40)[1], "gblsr_asr")
    fewer = NATIVE, replace(mixed, train=images("dtd", "DTD", 5, 5))
    assert sentences(fewer, Scope.ASR_QUALITY, subjects=["gblsr_asr"]) == [RELEASED]
    trained = sentences(fewer, Scope.ASR_QUALITY, subjects=["liif_rdn"])
    assert trained == ["steps: 40 (paper: 1,000,000)", "trained on DTD"]
    other_seed = NATIVE, set_seeds(mixed, {"lte_rdn": [0, 1]})
    assert sentences(other_seed, Scope.ASR_QUALITY, subjects=["gblsr_asr"]) == [RELEASED]
    assert "seeds of LTE-RDN: 0, 1 (paper: 0, 1, 2)" in sentences(
        other_seed, Scope.ASR_QUALITY, subjects=["lte_rdn"]
    )


def test_weights_of_an_earlier_version_are_compared_with_what_they_were_trained_with() -> None:
    earlier = dict.fromkeys(NATIVE.seeds, ReleasedOrigin(by="this project", identity={}))
    run = with_setting("native.training.steps", 40)[0]
    found = sentences((replace(run, imported=earlier), ASR), Scope.QUALITY)
    assert found == ["weights of an earlier version, not trained here", "steps: 40 (paper: 2,000)"]


def test_a_run_without_records_differs_in_all() -> None:
    for scope in Scope:
        (found,) = Provenance().find_differences([scope])
        assert (found.sentence, found.effect) == ("conditions not recorded", Effect.BLOCKS)


def test_numbers_without_a_record_are_passed_over_beside_others() -> None:
    run = merge_provenance(NATIVE)
    assert run.find_differences([Scope.QUALITY, Scope.ASR_QUALITY]) == []
    assert run.find_differences([Scope.ASR_QUALITY])


def test_a_column_without_a_record_is_no_column_of_the_paper() -> None:
    run = with_evaluated(set14=())
    assert sentences(run, Scope.QUALITY, columns=["set14"]) == ["set14: images not recorded"]


def test_blank_images_do_not_keep_a_time_from_being_judged() -> None:
    gone = NATIVE, replace(ASR, evaluate={}, sizes_only=True)
    (blank,) = merge_provenance(*gone).find_differences([Scope.ASR_LATENCY])
    assert blank.sentence.startswith("timed on blank images")
    assert blank.effect is Effect.NONE


def test_the_same_in_both_benchmarks_is_told_once() -> None:
    run = merge_provenance(*CHANGES["preset demo"][0])
    (preset,) = run.find_differences(list(Scope))
    assert {*preset.scopes} == {*Scope}


def test_a_file_of_another_form_is_one_sentence(tmp_path: Path) -> None:
    write_json(tmp_path / "provenance_native.json", {"preset": "paper", "native": {}})
    with pytest.raises(UserError, match="make the aggregates again"):
        Provenance.read(tmp_path)
