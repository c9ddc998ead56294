"""One comparison with the paper: every setting has its place, and all that tells it agrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import made
import pytest

from gblsr_repro.analysis.provenance.conditions import SCOPES, RunMetadata
from gblsr_repro.analysis.provenance.differences import Effect, Provenance
from gblsr_repro.analysis.provenance.settings import (
    collect_settings,
    find_setting,
    read_settings,
)
from gblsr_repro.config import Scope, find_row, load, read_methods
from gblsr_repro.dependencies import identify_run, list_settings
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_json
from results import Results

Change = Callable[[Results], None]


def build(*changes: Change) -> Results:
    """Build the metadata of the paper's runs, but for some changes."""
    run = Results(Path("nowhere")).record()
    for change in changes:
        change(run)
    return run


def change(files: str, **entries: Any) -> Change:
    return lambda run: run.change(files, **entries)


def set_images(array: str, dataset: str, title: str, have: int, of: int, **facts: Any) -> Change:
    sets = [made.image_set(dataset, title, have, of, **facts)]
    return change(f"*/arrays/{array}.json", datasets=sets)


def set_setting(name: str, *values: Any, of: Sequence[str] = ()) -> Change:
    return lambda run: run.set_setting(name, *values, of=of)


def forget(*files: str) -> Change:
    return lambda run: run.forget(*files)


RECIPE = load()["asr"]["training"]["recipes"]["rdn"]
RDN = [name for name, row in read_methods().items() if row.recipe == "rdn"]
OF_NATIVE = {Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION, Scope.LATENCY, Scope.COST}
TRAINED = OF_NATIVE - {Scope.LATENCY}
MEASURED = TRAINED - {Scope.COST}
OF_LIIF = "native/latency/liif/*"
CHANGES = {  # by the sentence about a change: what is changed, and the numbers that it concerns
    "": (change("nothing"), set()),
    "steps: 200 (paper: 2,000)": (set_setting("native.training.steps", 200, 2000), TRAINED),
    "steps of LIIF and LTE: 200 (paper: 2,000)": (
        set_setting("native.training.steps", 200, of=["liif", "lte"]),
        {Scope.QUALITY, Scope.COST},
    ),
    "steps: not set (paper: 2,000)": (set_setting("native.training.steps"), TRAINED),
    "parts of a batch: 8 (paper: 1)": (set_setting("native.training.accumulate", 8), {Scope.COST}),
    "ssim window: 7 (paper: 11)": (
        set_setting("native.metrics.ssim_window", 7), {Scope.QUALITY, Scope.ABLATION}),
    "region patches: 9 (paper: 1,024)": (
        set_setting("native.metrics.region_patches", 9), MEASURED),
    "psnr edge: -1.0 (paper: -0.2)": (
        set_setting("diagnostics.margins.psnr_edge", -1.0), {Scope.ABLATION}),
    "recipe rdn batch size: 2 (paper: 16)": (
        set_setting("asr.training.recipes", {"rdn": {**RECIPE, "batch_size": 2}}, of=RDN),
        {Scope.ASR_QUALITY, Scope.ASR_COST}),
    "pixels shaved beyond the scale on div2kval: not set (paper: 6)": (
        set_setting("asr.shave_extra", {}), {Scope.ASR_QUALITY}),
    "seeds: 0, 1 (paper: 0, 1, 2)": (forget("native/runs/*/seed2/*"), TRAINED),
    "seeds: 0 (paper: 0, 1, 2)": (forget("native/latency/*/seed[12]/*"), {Scope.LATENCY}),
    "trained on BSDS500 in place of DIV2K": (
        set_images("train", "bsds500", "BSDS500", 5, 5, stands_in_for="div2k_train"),
        MEASURED | {Scope.ASR_QUALITY}),
    "trained on DTD": (
        set_images("train", "dtd", "DTD", 5, 5), MEASURED | {Scope.ASR_QUALITY}),
    "validated on 3 of 9 images of DTD": (
        set_images("validation", "dtd", "DTD", 3, 9), {Scope.LOCALITY, Scope.ABLATION}),
    "urban100: 30 of 100 images of Urban100": (
        set_images("urban100", "urban100", "Urban100", 30, 100), {Scope.QUALITY}),
    "kodak: Set5": (
        set_images("kodak", "set5", "Set5", 5, 5), {Scope.QUALITY}),
    "kodak: other pixels in b and a": (
        set_images("kodak", "kodak", "Kodak", 24, 24, other_pixels=["b", "a"]), {Scope.QUALITY}),
    "set5: 3 of 5 images of Set5": (
        change("asr/metrics/bicubic/set5_x2.json",
               datasets=[made.image_set("set5", "Set5", 3, 5)]), {Scope.ASR_QUALITY}),
    "set14: images not recorded": (forget("native/arrays/set14.json"), {Scope.QUALITY}),
    "passes: 3 (paper: 50)": (
        set_setting("latency.passes", 3), {Scope.LATENCY, Scope.ASR_LATENCY}),
    "timed on: NVIDIA H200 NVL (paper: NVIDIA H200)": (
        change("native/latency/*", device={"name": "NVIDIA H200 NVL"}), {Scope.LATENCY}),
    "timed on: not recorded (paper: NVIDIA H200)": (
        change(OF_LIIF, device=None), {Scope.LATENCY}),
    "timed on a shared GPU, and so not judged": (
        change(OF_LIIF, gpu_shared=True), {Scope.LATENCY}),
}  # fmt: skip


def list_setting_names() -> list[str]:
    settings = load()
    return [name for section in settings for name in list_settings(settings, section)]


def test_every_setting_is_compared_or_says_why_not() -> None:
    paper = build()
    runs = [RunMetadata(name, paper.metadata, paper.config) for name in SCOPES]
    compared = {name for run in runs for each in collect_settings(run) for name in each.published}
    settings = list_setting_names()
    assert [s for s in settings if s not in compared and not find_setting(s).why] == []
    assert {*read_settings()} <= {find_setting(name).setting for name in settings}
    for row in read_settings().values():
        assert row.scopes or row.words or len(row.why.split()) > 3


@pytest.mark.parametrize("sentence", CHANGES)
def test_one_sentence_tells_a_difference_of_the_numbers_that_it_concerns(sentence: str) -> None:
    change, scopes = CHANGES[sentence]
    found = build(change).compare()
    for scope in Scope:
        assert sentences(found, scope) == ([sentence] if scope in scopes else []), scope


def sentences(found: Provenance, *scopes: Scope, **of: Any) -> list[str]:
    return [each.sentence for each in found.find_differences(scopes, **of)]


def test_only_the_subjects_and_columns_of_a_number_count() -> None:
    found = build(
        forget("native/runs/liif/seed[12]/*"),
        change(OF_LIIF, gpu_shared=True),
        set_setting("native.model.modes", 12),  # which the control and the baselines lack
        set_setting("native.training.pixels", {"lte": 9}, of=["lte"]),
        set_images("urban100", "urban100", "Urban100", 30, 100),
    ).compare()
    of_liif = "seeds of LIIF: 0 (paper: 0, 1, 2)"
    modes, pixels = "modes: 12 (paper: 16)", "pixels in the loss of LTE: 9 (paper: not set)"
    kodak = {"columns": ["kodak"]}
    for arm, told in {"liif": of_liif, "gblsr_scalar": modes, "lte": pixels}.items():
        assert sentences(found, Scope.QUALITY, subjects=[arm], **kodak) == [told]
    assert len(sentences(found, Scope.QUALITY)) == 4
    assert sentences(found, Scope.LATENCY, subjects=["wire"]) == []
    assert len(sentences(found, Scope.LATENCY, subjects=["liif"])) == 1


# --- weights that were not trained here -----------------------------------------------------------


RELEASED = "scores of released weights, not their training"


def release(*subjects: str) -> Change:
    """Let weights of some arms or methods be of others, of seed 0."""

    def change(run: Results) -> None:
        run.config["released"] = dict.fromkeys(subjects, "hf://authors/released")
        for name in subjects:
            run.forget(f"*/runs/{name}/seed[12]/*")
            origin = {"by": "the authors", "license": "CC-BY-NC-4.0", "revision": "d196260"}
            identity = identify_run(find_row(name), run.config)
            run.change(f"*/runs/{name}/*", released=origin, identity=identity)

    return change


def test_released_weights_are_all_that_differs_where_nothing_is_trained() -> None:
    config = load()
    subjects = *config["native"]["arms"], *config["asr"]["methods"]
    found = build(release(*subjects), forget("*/arrays/train.json")).compare()
    for scope in (Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION, Scope.ASR_QUALITY):
        (difference,) = found.find_differences([scope])
        assert (difference.sentence, difference.effect) == (RELEASED, Effect.QUALIFIES)
    for scope in (Scope.LATENCY, Scope.ASR_LATENCY):
        assert found.find_differences([scope]) == []
    assert not {Scope.COST, Scope.ASR_COST} & {*found.scopes}
    assert ("imported", "LIIF, by the authors, CC-BY-NC-4.0, commit d196260") in found.remarks


def test_released_weights_are_told_apart_from_what_is_trained_beside_them() -> None:
    found = build(
        set_setting("asr.training.steps", 40),
        release("gblsr_asr"),
        set_images("train", "dtd", "DTD", 5, 5),
        forget("asr/runs/lte_rdn/seed2/*"),
    ).compare()
    assert sentences(found, Scope.ASR_QUALITY, subjects=["gblsr_asr"]) == [RELEASED]
    trained = ["steps: 40 (paper: 1,000,000)", "trained on DTD"]
    assert sentences(found, Scope.ASR_QUALITY, subjects=["liif_rdn"]) == trained
    seeds = "seeds of LTE-RDN: 0, 1 (paper: 0, 1, 2)"
    assert seeds in sentences(found, Scope.ASR_QUALITY, subjects=["lte_rdn"])
    assert not any("trained on" in each for each in sentences(found, Scope.ASR_COST))


def test_weights_of_an_earlier_version_are_compared_with_what_they_were_trained_with() -> None:
    run = build(set_setting("native.training.steps", 40))
    for each in (each for file, each in run.metadata.items() if file.startswith("native/runs/")):
        each["released"] = {"by": "this project", "identity": each["identity"]}
        each["identity"] = {"released": "an address"}
    found = sentences(run.compare(), Scope.QUALITY)
    assert found == ["weights of an earlier version, not trained here", "steps: 40 (paper: 2,000)"]


# --- what was not recorded, or stands in several files --------------------------------------------


def test_numbers_without_a_record_differ_in_all_and_are_passed_over_beside_others() -> None:
    found = build(forget("asr/*")).compare()
    assert sentences(found, Scope.QUALITY, Scope.ASR_QUALITY) == []
    (unknown,) = found.find_differences([Scope.ASR_QUALITY])
    assert (unknown.sentence, unknown.effect) == ("conditions not recorded", Effect.BLOCKS)


@pytest.mark.parametrize("method", ["*", "gblsr_asr"])
def test_blank_images_do_not_keep_a_time_from_being_judged(method: str) -> None:
    found = build(change(f"asr/latency/{method}/*", sizes_only=True, datasets=[])).compare()
    (blank,) = found.find_differences([Scope.ASR_LATENCY])
    assert blank.sentence.startswith("timed on blank images")
    assert blank.effect is Effect.NONE


def test_the_same_in_both_benchmarks_is_told_once() -> None:
    change, scopes = CHANGES["trained on DTD"]
    (images,) = build(change).compare().find_differences(list(Scope))
    assert {*images.scopes} == scopes


def test_a_file_of_another_form_is_one_sentence(tmp_path: Path) -> None:
    write_json(tmp_path / "provenance_native.json", {"preset": "paper", "native": {}})
    with pytest.raises(UserError, match="make the aggregates again"):
        Provenance.read(tmp_path.iterdir())
