"""What is made again when something changes: the plan of the real workflow, on a finished demo.

A row is a change and the jobs that it asks for, all of those that measure, train or read images.
What only averages and shows takes seconds: of that a row says what must be among it. There is a row
for every rule, table, folder of code and kind of setting; that each job's list of settings is what
it reads is tested in tests/unit/test_dependencies.py, that versions are raised when numbers move in
tests/protocol/test_versions.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import made
import pytest
from finished_run import Finished, list_inputs

from gblsr_repro import config
from gblsr_repro.analysis import schemas
from gblsr_repro.reporting.items import group_items

pytestmark = pytest.mark.slow

# --- the jobs of the demo, by rule and subject ----------------------------------------------------

Jobs = set[tuple[str, str]]

DEMO = config.load([Path(__file__).resolve().parents[2] / "config" / "demo.yaml"])
OWN = Finished.own
ABLATED = {"gblsr_fixed", "gblsr_scalar", "gblsr_full", "gblsr_bandwidth"}
ADAPTIVE = {"gblsr_full", "gblsr_bandwidth", "gblsr_full_linear", "gblsr_bandwidth_linear"}
SPECTRAL = ABLATED | ADAPTIVE
SHOWN = {
    "gblsr_fixed", "gblsr_scalar", "gblsr_full", "liif", "lte", "wire", "global_fourier_mlp", OWN
}  # fmt: skip
ARMS = SPECTRAL | SHOWN
METHODS = {*DEMO["asr"]["methods"]}
RDN = METHODS - {"lte_swinir"}
COLUMNS = {"kodak", "set14", "urban100"}


def each(rule: str, names: Iterable[str]) -> Jobs:
    return {(rule, name) for name in names}


def standardized(names: Iterable[str]) -> Jobs:
    return {(f"standardize_{name}", "") for name in names}


MEASURED = each("evaluate", SHOWN) | each("evaluate_validation", ABLATED)
FIELDS = {("fields", "")}
DRAWN = {("exemplars", "")}
ENLARGED = {("asr_exemplars", "")}
TIMED = each("latency", SHOWN)
BICUBIC = {("bicubic", "")}
ASR_MEASURED = each("asr_evaluate", METHODS) | BICUBIC
ASR_TIMED = each("asr_latency", METHODS)


def below(arms: Iterable[str]) -> Jobs:
    """What follows from the weights of arms."""
    own = {job for job in MEASURED if job[1] in set(arms)}
    fields = FIELDS if ADAPTIVE & {*arms} else set()
    return own | fields | (DRAWN if SHOWN & {*arms} else set())


def trained(arms: Iterable[str]) -> Jobs:
    return each("train", arms) | below(arms)


def asr_trained(methods: Iterable[str]) -> Jobs:
    return each("asr_train_run", methods) | each("asr_evaluate", methods) | ENLARGED


def timed(names: Iterable[str]) -> Jobs:
    return {job for job in TIMED | ASR_TIMED if job[1] in set(names)}


NATIVE = standardized({*COLUMNS, "train"}) | {("regions", "")} | trained(ARMS) | TIMED
ASR = {("asr_standardize", "")} | asr_trained(METHODS)
NOTHING: Jobs = set()
COSTLY = {rule for rule, _ in NATIVE | ASR | ASR_MEASURED | ASR_TIMED}
COSTLY |= {"fetch", "import_arm", "import_method", "standardize_mine"}
SEEN = {"claims", "report"}  # of nearly everything
AGGREGATED = {f"aggregate_{job}" for job in schemas.JOBS}

# --- changes --------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A change and what it asks for: all costly jobs, and some rules or subjects of cheap ones."""

    change: str
    does: Callable
    costly: Jobs
    cheap: set[str] | None = None


def setting(name: str, value: object, costly: Jobs, cheap: set[str] | None = None) -> Row:
    """A row about one setting; without `cheap` claims and the page are made again with it."""
    return Row(
        f"{name}: {value}",
        lambda _: made.nested({name: value}),
        costly,
        SEEN if cheap is None else cheap,
    )


def edits(
    change: str,
    *made: tuple[str, str, str],
    costly: Jobs = NOTHING,
    cheap: set[str] | None = None,
) -> Row:
    """A row about files in which a text becomes another; without one a text is appended."""

    def does(finished):
        for file, old, new in made:
            finished.edit(file, old, new)

    return Row(change, does, costly, cheap if cheap is not None else SEEN if costly else set())


def edit(file: str, old: str, new: str, costly: Jobs, cheap: set[str] | None = None) -> Row:
    change = f"{file}: {old.strip()[:30]} -> {new.strip()[:30]}"
    return edits(change, (file, old, new), costly=costly, cheap=cheap)


def statement(file: str) -> tuple[str, str, str]:
    """An edit that appends a statement to a module of the package."""
    return f"src/gblsr_repro/{file}", "", "\n\nEDITED = True\n"


def code(file: str, costly: Jobs, cheap: set[str] | None = None) -> Row:
    return edits(f"{file}: a statement", statement(file), costly=costly, cheap=cheap)


def raised(file: str, place: str, costly: Jobs, cheap: set[str] = SEEN) -> Row:
    """A row about a version that becomes 2."""
    return edit(f"src/gblsr_repro/dependencies/{file}", f"{place}1", f"{place}2", costly, cheap)


def changed(file: str, content: str, costly: Jobs, cheap: set[str]) -> Row:
    """A row about a file of the results that was written over, or deleted."""

    def does(finished):
        path = finished.folder / "results/demo" / file
        finished.edited.setdefault(path, path.read_bytes())
        path.write_text(content) if content else path.unlink()

    return Row(f"{file} {'written over' if content else 'deleted'}", does, costly, cheap)


def touched(finished) -> None:
    for path in (finished.folder / "results/demo").rglob("*"):
        if path.suffix in (".npy", ".csv", ".safetensors"):
            os.utime(path)


def added(*names: str) -> dict:
    return {"native": {"arms": [*DEMO["native"]["arms"], OWN, *names]}}


LOOP = "src/gblsr_repro/training/loop.py"
METRICS = "native.metrics"
WATCHED = {
    "mirror": ".",
    "resources": "elsewhere",
    "accept_partial": ["demo_kodak"],
    "device": "cpu",
    "threads": 3,
    "cluster.minutes.training": 77,
    "cluster.gpu": {"gpu": 1, "gpu_model": "h200"},
    "native.training.log_every": 7,
    "native.training.checkpoint_every": 9,
    "asr.training.log_every": 7,
    "asr.training.checkpoint_every": 9,
    "asr.training.validate_every": 9,
    "asr.training.validation_images": 2,
    "asr.training.validation_scale": 2,
}
# What computes counts by its version: neither its text nor that of what carries and stores.
RUN_SCORES = " --seed {wildcards.seed} --array"
NO_PART = [
    ("workflow/rules/native.smk", RUN_SCORES, f" {RUN_SCORES}"),
    (LOOP, "trained before with the same settings", "trained already with the same settings"),
    *map(statement, ("data/superres.py", "evaluation/metrics.py", "released/importing.py")),
]

ROWS = [
    Row("settings of places, machines, watching", lambda _: made.nested(WATCHED), NOTHING, set()),
    Row("files touched", touched, NOTHING, set()),
    edits("what is not code, or no part of a result", *NO_PART),
    # images
    edits("a title and a checksum of config/datasets.tsv",
          ("config/datasets.tsv", "demo_kodak\t", "demo_kodak\tof "),
          ("config/datasets.tsv", "rocket.jpg}\t2\t0\t", "rocket.jpg}\t2\t0\tsha256:" + 64 * "1"),
          cheap=SEEN),
    edit("config/datasets.tsv", "rocket.jpg}\t2", "rocket.jpg,cat.png}\t3",
         {("fetch", "demo_kodak"), ("standardize_kodak", "")} | each("evaluate", SHOWN) | TIMED
         | DRAWN),
    setting("native.data.train", ["demo_photos", "demo_textures"], NATIVE - TIMED
            - standardized(COLUMNS)),
    setting("asr.train", ["demo_photos"], ASR),
    # columns and scales
    setting("native.data.evaluate", {"kodak": "demo_set14"},
            standardized(["kodak"]) | each("evaluate", SHOWN) | TIMED | DRAWN),
    Row("a native column more", lambda _: {"native": {"data": {
        "evaluate": {"mine": "demo_set14"}, "exemplars": {"mine": "coffee"}}}},
        standardized(["mine"]) | each("evaluate", SHOWN) | TIMED | DRAWN, SEEN),
    setting("native.data.evaluate", {"urban100": None}, NOTHING),
    setting("native.data.exemplars", {"set14": "rocket"}, DRAWN),
    setting("asr.evaluate", {"set14": "demo_kodak"},
            each("asr_evaluate", METHODS) | BICUBIC | ENLARGED | ASR_TIMED),
    setting("asr.evaluate", {"set5": None}, NOTHING),
    setting("asr.exemplars", {"demo_set14": "camera"}, ENLARGED),
    # Its border of 6 pixels stands for itself; a set under another column has that one's.
    setting("asr.evaluate", {"other": "demo_div2k_valid", "div2kval": None},
            each("asr_evaluate", METHODS) | BICUBIC),
    setting("asr.scales", [2, 4], NOTHING),
    setting("asr.scales", [2, 4, 6, 8], ASR_MEASURED),
    setting("asr.timing.datasets", ["set14", "b100", "urban100", "set5"], ASR_TIMED),
    setting("asr.shave_extra", {"set5": 1},
            each("asr_evaluate", METHODS) | BICUBIC),
    setting("asr.downsampling", "pil", ASR_MEASURED | ASR_TIMED | ENLARGED),
    # models: who reads a setting
    setting("native.model.modes", 8, trained(SPECTRAL) | timed(SPECTRAL)),
    setting("native.model.wire_frequency", 1.0, trained(["wire"])),
    setting("asr.model.rdn_blocks", 2, asr_trained(RDN) | timed(RDN)),
    # trainings
    setting("native.training.pixels", {"liif": 9}, trained(["liif"])),
    setting("asr.training.steps", 7, asr_trained(METHODS)),
    setting("asr.training.recipes.rdn.batch_size", 3, asr_trained(RDN)),
    edit("config/arms.tsv", ":FullDecoder\t", ":FullLinearDecoder\t",
         trained(["gblsr_full"]) | timed(["gblsr_full"])),
    edit("config/arms.tsv", "GB-LSR-Full\t", "GB-LSR-Whole\t", NOTHING, SEEN),
    Row("an arm more", lambda _: added("gblsr_fixed_order"),
        each("train", ["gblsr_fixed_order"]), {"report"}),
    setting("native.arms", DEMO["native"]["arms"][:-1], NOTHING),
    setting("seeds", [0, 1], {
        (rule, f"{name}/1")
        for rule, name in trained(ARMS) | TIMED | asr_trained(METHODS) | ASR_TIMED
        if name or rule == "fields"
    }),
    # versions of rules and models
    edit("src/plain.py", '"""One color per patch."""', '"""A color."""',
         trained([OWN]) | timed([OWN])),
    code("models/liif.py", NOTHING, {"aggregate_structure"}),
    raised("rules.py", '"train": Rule(version=', trained(ARMS)),
    raised("rules.py", '"evaluate": Rule(("native.metrics",), version=', each("evaluate", SHOWN)),
    raised("versions.py", '"gblsr_repro.models.liif": ', trained(["liif"]) | timed(["liif"])),
    raised("versions.py", '"gblsr_repro.models.asr.rdn": ', asr_trained(RDN) | timed(RDN)),
    # weights that are imported: those on the hub are not looked at for a plan
    Row("a method more, imported", lambda _: {
            "asr": {"methods": [*DEMO["asr"]["methods"], "liif_edsr"]},
            "released": {"liif_edsr": "hf://authors/liif"}},
        each("import_method", ["liif_edsr"]) | each("asr_evaluate", ["liif_edsr"])
        | each("asr_latency", ["liif_edsr"]) | ENLARGED, SEEN),
    # what is measured
    setting(f"{METRICS}.ssim_sigma", 2.0, MEASURED),
    setting(f"{METRICS}.power_floor", 1e-6, MEASURED | FIELDS | {("regions", "")}),
    setting("diagnostics.images", 2, FIELDS | each("evaluate_validation", ABLATED)),
    setting("latency.passes", 2, TIMED | ASR_TIMED),
    # what is shown: seconds
    edits("files that no result depends on",
          ("config/sizes.tsv", "set14\t", "set15\t"),
          ("config/pixels.tsv", "kodim01.png\t", "kodim01.PNG\t"),
          ("config/stray.tsv", "", "a stray file"),
          ("envs/gblsr.yaml", "==2.4.6", "==2.4.7"), cheap=set()),
    setting("preset", "short", NOTHING, {"aggregate_native", "show_native", *SEEN}),
    # what was made, and is now another, or gone
    changed("claims.csv", "", NOTHING, SEEN),
    changed("native/runs/liif/seed0/weights.safetensors", "flipped", below(["liif"]), SEEN),
    changed("native/metrics/wire/seed0/kodak.csv", "flipped", NOTHING, {"aggregate_native", *SEEN}),
    changed("native/metrics/wire/seed0/kodak.csv", "", NOTHING, set()),
    changed("native/arrays/kodak.csv", "flipped", each("evaluate", SHOWN) | TIMED | DRAWN, SEEN),
    changed("sources/demo_set5.csv", "flipped",
            each("asr_evaluate", METHODS) | BICUBIC | ENLARGED, SEEN),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.change)
def test_what_a_change_asks_for(finished, row):
    jobs = finished.planned(**(row.does(finished) or {}))
    costly = {job for job in jobs if job[0] in COSTLY}
    assert costly == row.costly
    assert {word for job in jobs for word in job} >= row.cheap
    if not (row.costly or row.cheap):
        assert jobs == NOTHING


def test_an_absolute_results_folder_is_the_relative_one(finished):
    """By another name Snakemake would not know what its files were made with."""
    absolute = str(finished.folder / "results/demo")
    assert finished.planned(results=absolute) == set()
    steps = {"native": {"training": {"steps": 7}}}
    assert finished.planned(results=absolute, **steps) == finished.planned(**steps) != set()


def test_inputs_are_the_same_before_and_after(finished):
    """So that nothing is planned again where Snakemake compares them, as in another's workflow."""
    said = finished.snakemake("--dry-run", "--forceall")
    assert list_inputs(said) == finished.planned_inputs


SHOW = {f"show_{group}" for group in group_items(DEMO)}
# What takes seconds: a change, and all that is made again.
CHEAP = [
    (setting("native.criteria.latency_ratio", 0.5, NOTHING), SHOW | SEEN),
    (edit("config/items.tsv", "All arms share one encoder", "Arms share one encoder", NOTHING),
     {"show_structure", "report"}),
    (edit("config/paper/native.csv", "22.3", "22.4", NOTHING), SHOW | SEEN),
    (code("analysis/claims/native.py", NOTHING),
     SHOW - {"show_config"} | {*AGGREGATED} | SEEN),
    (code("reporting/figures/locality.py", NOTHING), SHOW | {"report"}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "made"), CHEAP, ids=lambda value: getattr(value, "change", ""))
def test_what_is_cheap_is_made_where_it_shows(finished, row, made):
    jobs = finished.planned(**(row.does(finished) or {}))
    assert {rule for rule, _ in jobs} - {"all"} == made
