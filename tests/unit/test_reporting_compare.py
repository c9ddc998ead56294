"""One comparison with the paper: every setting has its place, and all that tells it agrees."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import figure_aggregates as made_up
import pytest

from gblsr_repro.config import arms, items, load
from gblsr_repro.config.model import leaves
from gblsr_repro.files import write_json
from gblsr_repro.reporting import claims, record, report
from gblsr_repro.reporting.captions import caption
from gblsr_repro.reporting.compare import Scope, compare, place_of, settings
from gblsr_repro.reporting.conditions import Conditions, ImageSet, of_paper
from gblsr_repro.reporting.documents import render_markdown
from gblsr_repro.reporting.items import note
from gblsr_repro.reporting.verdicts import Verdict

PAPER = of_paper()


def with_half(half: str, **changes: Any) -> Conditions:
    return replace(PAPER, **{half: replace(PAPER.half(half), **changes)})


def with_setting(half: str, name: str, *values: Any) -> Conditions:
    return with_half(half, settings={**PAPER.half(half).settings, name: list(values)})


def images(dataset: str, title: str, have: int, of: int, stands_in_for: str = "") -> list[ImageSet]:
    return [ImageSet(dataset, title, have, of, have == of, stands_in_for or None)]


# What is changed, in what words it is told, and for which numbers.
NATIVE = {Scope.QUALITY, Scope.LOCALITY, Scope.ABLATION, Scope.LATENCY, Scope.COST}
TRAINED = NATIVE - {Scope.LATENCY}
MEASURED = TRAINED - {Scope.COST}
CHANGES = {
    "nothing": (PAPER, "", set()),
    "preset": (replace(PAPER, preset="demo"), "preset demo", set(Scope)),
    "image size": (
        with_setting("native", "native.data.image_size", 64), "images of 64 pixels", NATIVE),
    "network": (
        with_setting("native", "native.model.modes", 8), "other network settings (modes)", NATIVE),
    "steps": (with_setting("native", "native.training.steps", 200), "200 steps", TRAINED),
    "several steps": (
        with_setting("native", "native.training.steps", 200, 2000), "200 to 2,000 steps", TRAINED),
    "unknown steps": (
        with_setting("native", "native.training.steps"), "steps not recorded", TRAINED),
    "batch": (with_setting("native", "native.training.batch_size", 4), "batches of 4", TRAINED),
    "learning rate": (
        with_setting("native", "native.training.betas", [0.9, 0.999]),
        "other training settings (betas of Adam)", TRAINED),
    "pixels of an arm": (
        with_setting("native", "native.training.pixels", {"liif": 8192}),
        "other training settings (pixels in the loss of LIIF)", TRAINED),
    "pixels of several arms": (
        with_setting("native", "native.training.pixels", {}, {"liif": 8192, "lte": 9}, {"wire": 9}),
        "other training settings (pixels in the loss of LIIF, LTE and WIRE)", TRAINED),
    "metric": (
        with_setting("native", "native.metrics.ssim_window", 7),
        "other measuring settings (ssim window)", MEASURED),
    "seeds": (
        with_half("native", seeds={arm: [0, 1] for arm in PAPER.native.seeds}),
        "seeds 0, 1", NATIVE),
    "training images": (
        with_half("native", train=images("bsds500", "BSDS500", 5, 5, "div2k_train")),
        "trained on BSDS500 in place of DIV2K", MEASURED),
    "one training set": (
        with_half("native", train=images("dtd", "DTD", 5, 5)), "trained on DTD", MEASURED),
    "partial set": (
        with_half("native", evaluate={
            **PAPER.native.evaluate, "urban100": images("urban100", "Urban100", 30, 100)}),
        "urban100: 30 of 100 images of Urban100", {Scope.QUALITY}),
    "validation images": (
        with_half("native", validation=images("dtd", "DTD", 3, 9)),
        "validation: 3 of 9 images of DTD", {Scope.LOCALITY, Scope.ABLATION}),
    "thresholds": (
        with_setting("native", "diagnostics.thresholds.t1_cov_median", 0.01),
        "other diagnostic settings (t1 cov median)", {Scope.LOCALITY}),
    "diagnosed images": (
        with_setting("native", "diagnostics.images", 9), "other diagnostic settings (images)",
        {Scope.LOCALITY, Scope.ABLATION}),
    "passes": (
        with_setting("native", "latency.passes", 3), "other timing settings (passes)",
        {Scope.LATENCY}),
    "device": (
        with_half("native", timed_on=["NVIDIA H200 NVL"]), "timed on NVIDIA H200 NVL",
        {Scope.LATENCY}),
    "device of training": (
        with_half("native", devices=["Some CPU"]), "trained on Some CPU", {Scope.COST}),
    "shared GPU": (
        with_half("native", shared_gpu=["liif"]), "timed on a shared GPU", {Scope.LATENCY}),
    "timed images": (
        with_setting("asr", "asr.timing.size_divisor", 4), "timed images 4 times smaller",
        {Scope.ASR_LATENCY}),
    "tile": (
        with_setting("asr", "asr.tile_pixels", 9), "other timing settings (tile pixels)",
        {Scope.ASR_LATENCY}),
    "recipe": (
        with_setting("asr", "asr.training.recipes", {"rdn": {"batch_size": 2}}),
        "other training settings (batch size)", {Scope.ASR_QUALITY, Scope.ASR_COST}),
    "shave": (
        with_setting("asr", "asr.shave_extra", {}),
        "other measuring settings (shave extra div2kval)", {Scope.ASR_QUALITY}),
}  # fmt: skip


def test_every_setting_has_its_row_and_every_row_is_needed() -> None:
    places = {name: place_of(name) for name in leaves()}
    assert [name for name, row in places.items() if row is None] == []
    assert {row.setting for row in places.values()} == {*settings()}
    for row in settings().values():
        scopes = {Scope(scope) for scope in row.scopes.split()}
        assert scopes if row.kind not in ("recorded", "exempt") else len(row.why.split()) > 3


def test_every_setting_that_concerns_a_number_is_recorded() -> None:
    for name in leaves():
        if place_of(name).scopes:
            halves = [half for half in ("native", "asr") if name in PAPER.half(half).settings]
            assert halves, name


@pytest.mark.parametrize("change", CHANGES)
def test_scopes(change: str) -> None:
    run, words, scopes = CHANGES[change]
    for scope in Scope:
        found = [d.short for d in compare(run, scope)]
        assert found == ([words] if scope in scopes else []), scope


def test_only_the_subjects_and_columns_of_a_number_count() -> None:
    run = with_half("native", seeds={"liif": [0], "lte": [0, 1, 2]})
    assert not compare(run, Scope.QUALITY, ["lte"])
    assert [d.short for d in compare(run, Scope.QUALITY, ["liif"])] == ["seed 0"]
    assert [d.short for d in compare(run, Scope.QUALITY)] == ["seed 0 (LIIF)"]
    fewer = CHANGES["pixels of an arm"][0]
    assert not compare(fewer, Scope.QUALITY, ["lte"])
    assert compare(fewer, Scope.QUALITY, ["liif"])
    partial = CHANGES["partial set"][0]
    assert not compare(partial, Scope.QUALITY, columns=["kodak"])
    shared = CHANGES["shared GPU"][0]
    assert not compare(shared, Scope.LATENCY, ["wire"])


def test_a_run_without_records_differs_in_all_but_structure() -> None:
    for scope in Scope:
        found = [d.short for d in compare(Conditions("paper"), scope)]
        assert found == ([] if scope is Scope.STRUCTURE else ["conditions not recorded"])


def test_blank_images_do_not_keep_a_time_from_being_judged() -> None:
    gone = with_half("asr", evaluate={}, sizes_only=True)
    (blank,) = compare(gone, Scope.ASR_LATENCY)
    assert blank.short.startswith("timed on blank images")
    assert not blank.blocks_verdict


# --- all that tells it --------------------------------------------------------------------------

SHOWN = ("per_dataset", "logspace_loctests", "logspace_metrics", "infcost", "asr_psnr_vs_scale",
           "asr_quality_latency_x4")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Aggregates with numbers of every scope."""
    made = made_up.Aggregates(tmp_path_factory.mktemp("run") / "results")
    made.paper("native", "asr_quality")
    made.locality()
    made.ablation()
    made.latency()
    made.runs([*arms(), *made.config["asr"]["methods"]])
    made.write()
    return made.root


TOLD = ("nothing", "preset", "network", "unknown steps", "partial set", "validation images",
        "thresholds", "passes", "device", "shared GPU", "timed images")  # fmt: skip


@pytest.mark.parametrize("change", TOLD)
def test_claims_captions_notes_page_and_record_say_the_same(
    change: str, folder: Path, tmp_path: Path
) -> None:
    run, words, scopes = CHANGES[change]
    write_json(folder / "aggregates" / "conditions.json", asdict(run))
    judged = claims.evaluate(folder / "aggregates", load())
    told = {scope: state for (scope, _), (_, _, state) in
            zip(claims.SCOPE_TITLES.items(), judged.scopes(), strict=True)}  # fmt: skip
    for scope in set(Scope) - {Scope.STRUCTURE}:
        results = [r for r in judged.results if r.claim.scope == scope and r.measured]
        assert results, scope
        said = [r for r in results if words and words in (*r.differences, r.why)]
        assert bool(said) == (scope in scopes), scope
        for result in said:
            assert result.verdict in (Verdict.DIFFERENT, Verdict.NOT_JUDGED)
        if words and scope in scopes and change not in ("partial set", "shared GPU"):
            assert told[scope] == words  # those are about single claims
    for item in (items()[name] for name in SHOWN):
        of_figure = bool(scopes & {*item.scopes.split()})
        assert note(run, item) == ([words] if of_figure else [])
        assert (words in caption(item, run)) == (of_figure or not words)
    page = render_markdown(record.page(folder, "today", load(), judged))
    assert words in page
    html = report.page(folder, folder, load())
    assert words in html
    if not words:
        assert "Unlike in the paper" not in page + html
