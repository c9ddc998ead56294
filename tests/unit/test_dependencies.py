"""The dependencies that are collected for jobs are what these read and run."""

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import made
import numpy as np
import published_weights as published
import pytest
import torch
import your_own
from watched import Watched

from gblsr_repro import config as configuration
from gblsr_repro import dependencies, inference, runs
from gblsr_repro.data import standardize, superres
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.dependencies import code, collect
from gblsr_repro.dependencies.code import PACKAGE, is_carrier, list_files
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import (
    asr,
    asr_latency,
    asr_scores,
    exemplars,
    metrics,
    native,
    native_fields,
    native_latency,
    regions,
)
from gblsr_repro.models import base, gblsr
from gblsr_repro.models import native as native_models
from gblsr_repro.models.asr import model as asr_models
from gblsr_repro.released import importing
from gblsr_repro.training import run_record
from gblsr_repro.training import runs as training

FLAT = your_own.FILES["src/flat.py"]
ARMS, METHODS = configuration.read_arms(), configuration.read_methods()
TINY = {
    "native": {
        "data": {
            "image_size": 64,
            "train": ["demo_photos"],
            "evaluate": {"kodak": "demo_kodak", "set14": None, "urban100": None},
            "exemplars": {"kodak": "rocket"},
        },
        "training": {"steps": 2, "batch_size": 2, "pixels": {"wire": 64}},
        "metrics": {"region_patches": 16},
    },
    "asr": {
        "train": ["demo_photos"],
        "evaluate": {"set14": "demo_set5"}
        | dict.fromkeys(("set5", "b100", "urban100", "div2kval")),
        "scales": [4],
        "trained_scales": [4],
        "shave_extra": {"div2kval": 0},
        "timing": {"datasets": ["set14"], "images_per_set": 1, "size_divisor": 4},
        "training": {"steps": 2, "lr_patch": 8, "queries": 32, "validation_images": 1,
                     "recipes": {"rdn": {"batch_size": 2}, "swinir": {"batch_size": 2}}},
    },
    "latency": {"warmup": 0, "passes": 1, "images_per_set": 1},
    "diagnostics": {"images": 2},
}  # fmt: skip

# --- what is looked up ----------------------------------------------------------------------------

# How and where a job works, and which of its files it is about: no other result comes of that.
PLACES = {"device", "threads", "resources", "results", "mirror", "accept_partial"}
WHICH = {"native.data.evaluate", "asr.evaluate", "asr.scales", "asr.timing.datasets"}
CURVE = {"asr.evaluate", "asr.downsampling", "asr.shave_extra", "asr.tile_pixels"}
# The rules whose output a rule reads: it runs again with them.
ABOVE = {
    "regions": ["standardize"],
    "train": ["standardize"],
    "evaluate": ["train", "regions"],
    "evaluate_validation": ["train", "regions"],
    "exemplars": ["train", "evaluate"],  # `evaluate` has the same arithmetic
    "fields": ["train", "regions"],
    "latency": ["standardize"],
    "asr_train_run": ["asr_standardize"],
    "asr_evaluate": ["asr_train_run"],
}
ALLOWED = {
    "asr_train_run": CURVE,
    "asr_evaluate": {"asr.tile_pixels"},  # changes memory, not values
}


# Weights that jobs import, by the rule that does.
IMPORTS = {
    "gblsr_scalar": "import_arm",
    "global_fourier_mlp": "import_arm",
    "gblsr_asr_nf48": "import_method",
    "lte_edsr": "import_method",
}


class Lazy:
    """Stands for the settings of metrics: looks up what it is asked for, and no more."""

    def __init__(self, config: Watched) -> None:
        self.config = config

    def __getattr__(self, name: str) -> object:
        section = "model" if name == "patch" else "metrics"
        return self.config["native"][section][name]


@contextmanager
def ran_files(found: set[str]):
    """Note the modules of the package whose code runs in the block."""

    def note(frame, event, _):
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def modules(files: set[str]) -> set[str]:
    inside = (Path(file) for file in files if file.startswith(str(PACKAGE)))
    return {file.relative_to(PACKAGE).with_suffix("").as_posix() for file in inside}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A tiny config, its images, arrays and a run of each benchmark."""
    root = tmp_path_factory.mktemp("tiny")
    small = configuration.merge(made.SMALL, TINY)
    settings = configuration.merge(configuration.load(), small | {"resources": str(root / "data")})
    settings = configuration.validate(settings)
    for name in ("demo_photos", "demo_kodak", "demo_set5"):
        fetch_dataset(name, settings)
    arrays = root / "arrays"
    for name in ("train", "validation", "kodak"):
        standardize.standardize_images(name, settings, arrays / f"{name}.npy")
    superres.pack_training_sets(settings, root / "asr.npy")
    validation = arrays / "validation.npy"
    regions.write_thresholds(settings, validation, arrays / "validation_regions.json")
    for name in ("gblsr_full", "gblsr_asr"):
        made.run(root / name, name, settings, spread=0.1)
    for name in IMPORTS:
        tensors = published.weights(name, settings).theirs
        published.write_checkpoint(root / "released" / f"{name}.pth", name, tensors)
    return root, settings


def imported(config, root, output, name):
    """Import weights by their published names; of a GB-LSR-ASR with the range of its colors."""
    path = root / "released" / f"{name}.pth"
    dict.__setitem__(config, "released", {name: str(path)})
    colors = "unit" if name.startswith("gblsr_asr") else None
    row = configuration.find_row(name)
    importing.import_run(str(path), row, 0, output / "run", config, colors)


ARM, METHOD = ARMS["gblsr_full"], METHODS["gblsr_asr"]
JOBS = {
    "standardize train": lambda c, r, o: standardize.standardize_images("train", c, o / "a.npy"),
    "standardize kodak": lambda c, r, o: standardize.standardize_images("kodak", c, o / "a.npy"),
    "regions": lambda c, r, o: regions.write_thresholds(
        c, r / "arrays/validation.npy", o / "a.json"),
    **{
        f"train {name}": lambda c, r, o, arm=ARMS[name]: training.train_arm(
            c, arm, 0, r / "arrays/train.npy", o / "run", o / "state.pt")
        for name in ("gblsr_fixed", "gblsr_scalar", "gblsr_full", "liif", "lte", "wire",
                     "global_fourier_mlp")
    },
    "evaluate": lambda c, r, o: native.evaluate_run(
        c, ARM, 0, r / "gblsr_full", r / "arrays", o, o / "state", ["kodak"]),
    "evaluate_validation": lambda c, r, o: native.evaluate_run(
        c, ARM, 0, r / "gblsr_full", r / "arrays", o, o / "state", ["validation"]),
    "exemplars": lambda c, r, o: exemplars.write_exemplars(
        c, [r / "gblsr_full"], r / "arrays", o),
    "fields": lambda c, r, o: native_fields.write_fields(
        c, [r / "gblsr_full"], r / "arrays/validation.npy",
        r / "arrays/validation_regions.json", o),
    **{
        f"latency {name}": lambda c, r, o, arm=ARMS[name]: native_latency.time_arm(
            c, arm, 0, r / "arrays", o, o / "state")
        for name in ("gblsr_full", "wire")
    },
    "asr_standardize": lambda c, r, o: superres.pack_training_sets(c, o / "a.npy"),
    **{
        f"asr_train_run {name}": lambda c, r, o, m=METHODS[name]: training.train_method(
            c, m, 0, r / "asr.npy", o / "run", o / "state.pt")
        for name in ("gblsr_asr_nf48_nole", "liif_rdn", "lte_swinir")
    },
    **{
        f"{IMPORTS[name]} {name}": lambda c, r, o, n=name: imported(c, r, o, n) for name in IMPORTS
    },
    "asr_evaluate": lambda c, r, o: asr.evaluate_run(
        c, METHOD, 0, r / "gblsr_asr", o, o / "state"),
    "asr_bicubic": lambda c, r, o: asr_scores.evaluate_bicubic(c, "demo_set5", o, o / "state"),
    **{
        f"asr_latency {name}": lambda c, r, o, m=METHODS[name]: asr_latency.time_method(
            c, m, 0, o, o / "state")
        for name in ("gblsr_asr", "lte_swinir")
    },
}  # fmt: skip


@pytest.fixture
def watched(tiny, monkeypatch):
    """The tiny config, watched, but where a job asks what it depends on or writes its record."""
    _, settings = tiny
    seen: set[str] = set()

    def unwatched(function):
        def call(*args, **named):
            before = set(seen)
            try:
                return function(*args, **named)
            finally:
                seen.clear()
                seen.update(before)

        return call

    for module in (native, native_latency, asr_scores, asr_latency):
        monkeypatch.setattr(module, "collect_dependencies", unwatched(module.collect_dependencies))
    for name in ("identify_run", "write_run"):
        monkeypatch.setattr(run_record, name, unwatched(getattr(run_record, name)))
    monkeypatch.setattr(importing, "write_run", unwatched(importing.write_run))
    monkeypatch.setattr(runs, "identify_run", unwatched(runs.identify_run))
    monkeypatch.setattr(metrics.MetricSettings, "from_config", Lazy)
    return Watched(settings, seen)


@pytest.mark.parametrize("job", JOBS)
def test_a_job_reads_and_runs_what_its_output_is_said_to_follow_from(tiny, watched, job, tmp_path):
    root, settings = tiny
    rule, _, name = job.partition(" ")
    row = ARMS.get(name) or METHODS.get(name) or name or None
    ran: set[str] = set()
    with ran_files(ran):
        JOBS[job](watched, root, tmp_path)

    rules = [rule]
    for each in rules:
        rules += ABOVE.get(each, [])
    of_run = METHOD if rule.startswith("asr") else ARM
    followed: set[str] = set()
    said: set[Path] = set()
    for each in rules:
        subject = {"train": of_run, "asr_train_run": of_run, "standardize": "train"}.get(each)
        subject = row if each == rule else subject
        followed |= set(collect.collect_dependencies(each, subject or "set14", settings))
        classes = ()
        if isinstance(subject, configuration.Arm | configuration.Method):
            classes = collect.find_model_classes(subject)
        said |= list_files(collect.find_rule(each, subject).code, classes)
    watching = {name for name in watched.seen if collect.is_monitoring(name)}
    allowed = PLACES | WHICH | watching | ALLOWED.get(rule, set())
    if rule.endswith("latency"):  # no time depends on initial values
        initial = {name for cls in collect.find_model_classes(row) for name in cls.INITIAL}
        allowed |= {f"{configuration.locate_row(row)[0]}.model.{name}" for name in initial}
    assert watched.seen - followed - allowed == set()
    followed_modules = modules({str(path) for path in said})
    recording = {"training/run_record", "training/runs", "training/validation", "weights"}
    curve = {"evaluation/asr", "evaluation/asr_scores", "evaluation/luma"}
    unsaid = {
        module
        for module in modules(ran) - followed_modules - recording - curve
        if not is_carrier(PACKAGE / f"{module}.py")
    }
    assert unsaid == set()


# --- the classes of models ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ARMS, *METHODS])
def test_a_class_reads_the_settings_that_it_names(name, monkeypatch):
    """It is given no others; that it names none too many is seen here."""
    row = ARMS.get(name) or METHODS[name]
    read: dict[type, set[str]] = {}

    def noting(part, section, place):
        seen = read.setdefault(part, set())
        return Watched(base.select_class_settings(part, section, place), seen)

    for module in (native_models, asr_models):
        monkeypatch.setattr(module, "select_class_settings", noting)
    made.model(name, configuration.merge(configuration.load(), made.SMALL))
    options = dict(pair.split("=") for pair in row.options.split())
    for part, seen in read.items():
        instead = {"rdn_features"} if "nf" in options else set()
        of_the_model = {"features", "largest_scale"} if name in METHODS else set()
        assert {*part.SETTINGS} - instead == seen - of_the_model


@pytest.mark.parametrize("name", ["gblsr_asr_nf48", "liif"])
def test_wrong_options_are_refused_while_planning(name):
    row = {**ARMS, **METHODS}[name]
    wrong = replace(row, options=f"{row.options} wide=yes")
    for rule in ("train", "latency") if name in ARMS else ("asr_train_run", "asr_latency"):
        with pytest.raises(UserError, match="no option 'wide'"):
            collect.collect_dependencies(rule, wrong, configuration.load())


def test_a_class_that_names_a_setting_that_is_not_there_is_one_sentence(monkeypatch):
    fixed = gblsr.FixedDecoder
    monkeypatch.setattr(fixed, "SETTINGS", (*fixed.SETTINGS, "hiden"))
    with pytest.raises(UserError, match=r"FixedDecoder names the setting 'hiden' .* mean 'hidden'"):
        collect.collect_dependencies("train", ARMS["gblsr_fixed"], configuration.load())


def test_modules_beside_a_class_of_ones_own_count_wherever_it_lies(tmp_path, monkeypatch):
    package = tmp_path / "mine"
    package.mkdir()
    texts = {"__init__": "", "helper": "", "flat": f"from . import helper\n{FLAT}"}
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    arm = replace(ARMS["gblsr_fixed"], decoder="mine.flat:FlatDecoder")
    files = list_files((), native_models.find_classes(arm))
    assert {package / "flat.py", package / "helper.py"} <= files
    (package / ".#flat.py").symlink_to("someone@host.1234")  # an editor's lock
    monkeypatch.setattr(code, "PACKAGE", tmp_path)
    assert {package / f"{name}.py" for name in texts} <= list_files(("mine",))


# --- what a run says ------------------------------------------------------------------------------


def test_a_run_of_other_code_is_not_evaluated(tiny, tmp_path, monkeypatch):
    root, settings = tiny
    told = made.record(root / "gblsr_full" / "run.json")["identity"]
    assert told == dependencies.identify_run(ARM, settings)
    monkeypatch.setattr(collect, "digest_code", lambda *_: "another")
    with pytest.raises(UserError, match="was trained by other code than the current one; train it"):
        native.evaluate_run(
            settings, ARM, 0, root / "gblsr_full", root / "arrays", tmp_path, tmp_path
        )


def test_images_made_from_the_code_of_a_run_of_other_code_come_with_a_warning(
    tiny, monkeypatch, caplog
):
    root, _ = tiny
    inference.load_native(root / "gblsr_full", torch.device("cpu"))
    assert "other code" not in caplog.text
    monkeypatch.setattr(collect, "digest_code", lambda *_: "another")
    model = inference.load_native(root / "gblsr_full", torch.device("cpu"))
    assert "was trained by other code than there is now" in caplog.text
    assert np.isfinite(sum(float(p.detach().sum()) for p in model.parameters()))
