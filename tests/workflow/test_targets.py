"""Every target can be asked for, listed, and planned without running or touching anything."""

import os
import re
import shutil

import pytest
import yaml
from planning import BLOCK, list_jobs, run

from gblsr_repro import config
from gblsr_repro.analysis import schemas
from gblsr_repro.reporting.items import group_items

SETTINGS = config.load()
ARRAYS = ("train", *SETTINGS["native"]["data"]["evaluate"])
STANDARDIZED = {f"standardize_{name}" for name in ARRAYS}
TARGETS = {"all", "claims", "report", "pdf",
           "native", "native_claims", "native_report", "native_timing",
           "asr", "asr_claims", "asr_report", "asr_train", "asr_eval", "asr_timing", "bicubic",
           "regions", "asr_standardize",
           *(f"aggregate_{job}" for job in schemas.JOBS),
           *(f"show_{group}" for group in group_items(SETTINGS)),
           *STANDARDIZED,
           *config.read_items()}  # fmt: skip
# What a cluster's nodes are given to do, and what of it takes a GPU.
ON_DEVICE = {"train", "evaluate", "evaluate_validation", "exemplars", "latency", "fields",
             "asr_train_run", "asr_evaluate", "asr_exemplars", "asr_latency"}  # fmt: skip
SCHEDULED = ON_DEVICE | {*STANDARDIZED, "regions", "asr_standardize", "bicubic"}


def test_every_target_is_listed_with_what_it_makes(repository):
    said = run(repository, "snakemake", "--list-target-rules")
    assert {*re.findall(r"^(\w+) \(.{12,}", said, re.MULTILINE)} == TARGETS


def test_no_target_means_all_whose_jobs_say_what_they_need(plan, tmp_path):
    """A GPU is asked for; nothing is written. Of a job Snakemake keeps nothing but its log."""
    said = plan("--printshellcmds", device="auto")
    assert list(tmp_path.iterdir()) == []
    blocks = dict(BLOCK.findall(said))
    for facts in (r"runtime=\d", r"mem_mb=\d"):
        assert {rule for rule, body in blocks.items() if re.search(facts, body)} == SCHEDULED
    assert {rule for rule, body in blocks.items() if "gpu=1" in body} == ON_DEVICE
    assert "report" in blocks
    commands = re.findall(r"^Shell command: (python .*)$", said, re.M)
    assert len(commands) > 100
    assert all(re.search(r" > \S+/logs/\S+ 2>&1$", command) for command in commands), commands


# What Python runs first: it refuses what the package may not import.
REFUSING = """
import builtins
heavy = {"torch", "numpy", "pandas", "safetensors", "PIL", "filelock", "matplotlib", "scipy"}
take = builtins.__import__
def refuse(name, globals=None, *rest, **named):
    importing = (globals or {}).get("__name__", "")
    if name.partition(".")[0] in heavy and importing.startswith("gblsr_repro"):
        raise ImportError(f"{importing} imported {name}")
    return take(name, globals, *rest, **named)
builtins.__import__ = refuse
"""


def test_planning_imports_neither_torch_nor_numpy_nor_pandas(repository, tmp_path):
    """So that a Snakemake in an environment of its own, with pydantic beside it, can plan."""
    (tmp_path / "sitecustomize.py").write_text(REFUSING)
    folders = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    words = ["--cores", 1, "--dry-run", "all"]
    run(repository, "snakemake", *words, PYTHONPATH=folders.strip(os.pathsep))


@pytest.mark.parametrize(
    ("target", "needed", "absent"),
    [
        ("main_kodak", "train latency show_native", "fields exemplars evaluate_validation"),
        ("fairness", "show_structure", "train fetch"),  # parameters are counted
        ("asr_eval", "asr_train_run bicubic", "train latency asr_latency"),
        ("asr_timing", "asr_latency", "train asr_train_run latency"),
        ("native_timing", "latency", "train asr_train_run asr_latency"),
        ("native_report", "native_claims aggregate_native show_native fields", "asr_train_run"),
    ],
)
def test_a_target_makes_what_it_needs_and_no_more(plan, target, needed, absent):
    rules = {rule for rule, _ in list_jobs(plan(target))}
    assert {*needed.split()} <= rules
    assert not rules & {*absent.split()}


def test_what_a_config_has_no_arms_of_is_neither_aggregated_nor_shown(plan, tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"native": {"arms": ["liif", "lte"]}}))
    rules = {rule for rule, _ in list_jobs(plan("native_report", configfile=overlay))}
    assert {"native_claims", "aggregate_native", "show_native"} <= rules
    assert not rules & {"aggregate_diagnostics", "show_diagnostics", "fields"}


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"native": {"training": {"stpes": 3}}}, "native.training.stpes is unknown; did you mean"),
        ({"mirror": "/nowhere"}, "The mirror folder /nowhere does not exist; correct `mirror` in"),
    ],
)
def test_a_mistake_in_the_config_is_one_sentence_before_anything_runs(
    plan, tmp_path, overlay, sentence
):
    """All others: tests/unit/test_config.py and test_bad_values.py."""
    path = tmp_path / "overlay.yaml"
    path.write_text(yaml.safe_dump(overlay))
    said = plan("native", configfile=path, fails=True)
    assert sentence in said
    assert "Traceback" not in said
    assert not (tmp_path / "results").exists()


def test_images_of_a_data_set_that_no_table_has_are_no_target(plan, tmp_path):
    said = plan(tmp_path / "results" / "sources" / "kodk.csv", fails=True)
    assert "No rule to produce" in said
    assert "Traceback" not in said


def test_slurm_without_its_commands_is_one_sentence_before_any_job(repository, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "which"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    profiles = ["--profile", repository / "slurm"]
    profiles += ["--workflow-profile", repository / "profiles" / "default"]
    target = "results/demo/native/arrays/kodak.npy"
    files = ["--snakefile", repository / "Snakefile"]
    files += ["--configfile", repository / "config" / "demo.yaml"]
    words = [*profiles, *files, "--", target]
    said = run(tmp_path, "snakemake", *words, fails=True, PATH=tmp_path / "bin")
    assert "sbatch and squeue not found on this host; submit from" in said
    assert "Failed: " not in said
    assert not list(tmp_path.glob("results/demo/sources/*"))
