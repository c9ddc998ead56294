"""The dependencies that are collected for jobs are what these read."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import made
import pytest
import tiny_jobs
import torch
import your_own
from tiny_jobs import ARM, ARMS, METHOD, METHODS
from watched import Watched

from gblsr_repro import config as configuration
from gblsr_repro import dependencies, inference, preflight, runs
from gblsr_repro.dependencies import collect, versions
from gblsr_repro.dependencies.rules import INITIAL, RULES
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation import asr, latency, metrics, native
from gblsr_repro.models import base
from gblsr_repro.released import importing
from gblsr_repro.training import runs as training

FLAT = your_own.FILES["src/flat.py"]
ROWS = ARMS | METHODS

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
    "asr_exemplars": ["asr_train_run"],
}
# What is trained on is looked up to refuse it among what is evaluated.
TRAINED = {"native.data.train", "asr.train"}
ALLOWED = {
    "standardize": TRAINED,
    "asr_standardize": TRAINED,
    "asr_train_run": CURVE,
    "asr_evaluate": TRAINED | {"asr.tile_pixels"},  # changes memory, not values
    "asr_exemplars": {"asr.tile_pixels", "asr.trained_scales"},  # the latter names the files
}


class Lazy:
    """Stands for the settings of metrics: looks up what it is asked for, and no more."""

    def __init__(self, config: Watched) -> None:
        self.config = config

    def __getattr__(self, name: str) -> object:
        section = "model" if name == "patch" else "metrics"
        return self.config["native"][section][name]


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

    for module in (native, asr, latency):
        monkeypatch.setattr(module, "collect_dependencies", unwatched(module.collect_dependencies))
    for name in ("identify_run", "write_run"):
        monkeypatch.setattr(training, name, unwatched(getattr(training, name)))
    monkeypatch.setattr(importing, "write_imported_run", unwatched(importing.write_imported_run))
    monkeypatch.setattr(runs, "identify_run", unwatched(runs.identify_run))
    monkeypatch.setattr(metrics.MetricConstants, "from_config", Lazy)
    return Watched(settings, seen)


@pytest.mark.parametrize("job", tiny_jobs.JOBS)
def test_a_job_reads_the_settings_that_its_output_is_said_to_follow_from(
    tiny, watched, job, tmp_path
):
    root, settings = tiny
    rule, row = job.partition(" ")[0], tiny_jobs.find_subject(job)
    tiny_jobs.JOBS[job](watched, root, tmp_path)
    rules = [rule]
    for each in rules:
        rules += ABOVE.get(each, [])
    of_run = METHOD if rule.startswith("asr") else ARM
    followed: set[str] = set()
    for each in rules:
        subject = {"train": of_run, "asr_train_run": of_run, "standardize": "train"}.get(each)
        subject = row if each == rule else subject
        followed |= set(collect.collect_dependencies(each, subject or "set14", settings))
    watching = {name for name in watched.seen if collect.is_monitoring(name)}
    allowed = PLACES | WHICH | watching | ALLOWED.get(rule, set())
    if "borders" in followed:
        followed |= {"asr.shave_extra"}
    if rule.endswith("latency"):  # no time depends on initial values
        allowed |= {*INITIAL}
    assert watched.seen - followed - allowed == set()


@pytest.mark.parametrize(
    ("rule", "subject"),
    [("asr_evaluate", None), ("asr_bicubic", None), ("asr_latency", METHODS["liif_rdn"])],
)
def test_an_evaluation_set_less_measures_no_other_again(rule, subject):
    paper = configuration.load()
    asked = collect.collect_dependencies(rule, subject, paper)
    for column in paper["asr"]["evaluate"]:
        timed = [name for name in paper["asr"]["timing"]["datasets"] if name != column]
        less = made.nested({f"asr.evaluate.{column}": None, "asr.timing.datasets": timed})
        fewer = configuration.complete(configuration.merge(paper, less))
        assert column not in fewer["asr"]["evaluate"]
        assert collect.collect_dependencies(rule, subject, fewer) == asked


# --- the classes of models ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ARMS, *METHODS])
def test_a_class_reads_the_settings_that_it_names(name, monkeypatch):
    """It is given no others; that it names none too many is seen here, and that planning agrees."""
    row = ARMS.get(name) or METHODS[name]
    read: list[tuple[set[str], set[str]]] = []

    def noting(_, settings):
        read.append(({*settings}, set()))
        return Watched(settings, read[-1][1])

    monkeypatch.setattr(base, "NamedSettings", noting)
    model = made.model(name, configuration.merge(configuration.load(), made.SMALL))
    for named, seen in read:
        instead = {"rdn_features"} if "nf" in row.options else set()
        of_the_model = {"features", "largest_scale"} if name in METHODS else set()
        assert named - instead == seen - of_the_model
    for text, part in zip(dependencies.list_classes(row), model.children(), strict=True):
        assert versions.read_class_settings(text) == part.SETTINGS
        assert text.partition(":")[0] in versions.MODEL_VERSIONS


def write_flat(folder, text):
    (folder / "flat.py").write_text(text)
    return made.changed(ARMS["gblsr_fixed"], decoder="flat:FlatDecoder")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FLAT.replace('"patch")', '"hiden")'), r"names the setting 'hiden' .* mean 'hidden'"),
        (FLAT.replace("SETTINGS", "SETINGS"), r"FlatDecoder must list the settings that it reads"),
        (FLAT.replace('("features", "patch")', "NAMES"), r"line 12: SETTINGS must list names in"),
        (FLAT.replace(', "patch")', ")"), r"SETTINGS must list names in .* or \(\"patch\",\)"),
        (FLAT.replace("class Flat", "class Even"), r"no class 'FlatDecoder'.* 'EvenDecoder'"),
    ],
)
def test_check_refuses_a_class_that_does_not_say_what_it_reads(
    tmp_path, monkeypatch, text, sentence
):
    monkeypatch.syspath_prepend(tmp_path)
    versions.read_class_settings.cache_clear()
    arms = {"flat": write_flat(tmp_path, text)}
    monkeypatch.setattr(preflight, "list_arms", lambda config: arms)
    few = {"native": {"arms": ["gblsr_scalar"]}, "asr": {"methods": ["gblsr_asr"]}}
    with pytest.raises(UserError, match=sentence):
        preflight.check(configuration.merge(configuration.load(), few))


def test_a_module_that_is_nowhere_is_one_sentence_while_planning():
    arm = made.changed(ARMS["gblsr_fixed"], decoder="mine.flat:FlatDecoder")
    with pytest.raises(UserError, match=r"module 'mine.flat', .* not found; correct the name"):
        collect.collect_dependencies("train", arm, configuration.load())


def test_a_class_of_ones_own_counts_by_its_file(tmp_path, monkeypatch):
    """Also in a package, which is not imported: this one cannot be."""
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("import nothing_of_this_name\n")
    (package / "flat.py").write_text(FLAT)
    monkeypatch.syspath_prepend(tmp_path)
    arm = made.changed(ARMS["gblsr_fixed"], decoder="mine.flat:FlatDecoder")
    told = collect.collect_dependencies("train", arm, configuration.load())
    digest = hashlib.sha256(FLAT.encode()).hexdigest()
    assert told["models"] == {"gblsr_repro.models.encoder": 1, "mine.flat": digest}


# --- what a run says ------------------------------------------------------------------------------


@pytest.fixture
def raised(monkeypatch):
    """Raise the version of the training of arms."""

    def by_one():
        rule = RULES["train"]
        monkeypatch.setitem(RULES, "train", replace(rule, version=rule.version + 1))

    return by_one


def test_a_run_of_another_version_is_not_evaluated(tiny, tmp_path, raised):
    root, settings = tiny
    told = made.record(root / "gblsr_full" / "run.json")["identity"]
    assert told == dependencies.identify_run(ARM, settings)
    raised()
    with pytest.raises(UserError, match=r"was trained by another version of the code .*; train it"):
        native.evaluate_run(
            settings, ARM, 0, root / "gblsr_full", root / "arrays", tmp_path, tmp_path
        )


def test_images_made_from_a_run_of_another_version_come_with_a_warning(tiny, raised, caplog):
    root, _ = tiny
    inference.load_native(root / "gblsr_full", torch.device("cpu"))
    assert "another version" not in caplog.text
    raised()
    inference.load_native(root / "gblsr_full", torch.device("cpu"))
    assert "was trained by another version of the code than there is now" in caplog.text


# --- what earlier releases stored -----------------------------------------------------------------

STORED = json.loads(Path(__file__).with_name("stored_dependencies.json").read_text())


@pytest.mark.parametrize("stored", STORED, ids=lambda s: " ".join(map(str, [*s.values()][:3])))
def test_an_upgrade_asks_again_only_for_what_has_a_new_version(stored, repository):
    """What the demo's jobs depended on in a release; a raised version is the one difference."""
    files = [repository / "config" / name for name in ("config.yaml", "demo.yaml")]
    subject = ROWS.get(stored["subject"], stored["subject"])
    settings = configuration.load(files)
    now = dependencies.collect_dependencies(stored["rule"], subject, settings)
    now = json.loads(json.dumps(now))
    then = dependencies.update_identity(stored["depends_on"])
    for name in ("version", "models"):
        now.pop(name, None)
        then.pop(name, None)
    assert now == then


def test_runs_of_the_release_without_versions_have_the_first(repository):
    files = [repository / "config" / name for name in ("config.yaml", "demo.yaml")]
    for stored in (each for each in STORED if each["release"] == "0.3.0"):
        then = dependencies.update_identity(stored["depends_on"])
        now = dependencies.identify_run(ROWS[stored["subject"]], configuration.load(files))
        assert then["version"] == 1
        assert then["models"].keys() == now["models"].keys()


def test_rows_count_as_the_texts_that_runs_of_earlier_versions_recorded():
    """However their cells are typed: a run of another identity would be trained again."""
    dtd = dependencies.identify_row(configuration.read_datasets()["dtd"])
    assert dtd == {
        "datasets.kind": "archive",
        "datasets.files": "dtd/dtd/images/*/*.jpg @dtd/dtd/labels/train1.txt",
        "datasets.images": "1880",
    }
    method = dependencies.identify_row(METHODS["gblsr_asr_nf48_nole"])
    assert method["methods.options"] == "local_ensemble=no nf=48"
    assert collect.digest_image_sizes(configuration.load_protocol()) == (
        "614d65c320f960b7ae05fcb42168021f5508275214c6ed38524629e899f6c961"
    )
