"""The command for a borrowed GPU, tried on the CPU: order, time, stops, and torch alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import made
import pytest

from gblsr_repro import cli
from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.operations import borrowed
from gblsr_repro.reporting import kinds

HIDDEN = ("lpips", "matplotlib", "pandas", "psutil", "pydantic", "requests", "safetensors", "scipy",
          "skimage", "snakemake", "textalloc", "torchvision", "tqdm", "yaml")  # fmt: skip


@pytest.fixture
def place(config, arrays, tmp_path, monkeypatch):
    """A results folder with the workflow's arrays, and its settings: one arm, method and seed."""
    config["native"]["arms"], config["asr"]["methods"] = ["gblsr_scalar"], ["gblsr_asr"]
    config["seeds"] = [0]
    results = tmp_path / "results"
    shutil.copytree(arrays, results / "native" / "arrays")
    configuration.write_resolved(config, results / "config.yaml")
    monkeypatch.setenv("PYTHONPATH", str(borrowed.PACKAGE))
    monkeypatch.setenv(borrowed.find_backbone.__globals__["BACKBONE_VARIABLE"], "")
    return results


def command(place, minutes, more=""):
    """The command's words, without the readings: a row of the arms table each takes a minute."""
    code = (
        "import sys\nfrom gblsr_repro import cli\nfrom gblsr_repro.operations import borrowed\n"
        f"borrowed.READING = 'none'\n{more}\nsys.exit(cli.main(sys.argv[1:]))"
    )
    settings = place / "config.json"
    return [sys.executable, "-c", code, "record-gpu", "--device", "cpu", "--minutes", str(minutes),
            "--config", str(settings)]  # fmt: skip


def titles(config, tmp_path):
    return [task.title for task in borrowed.tasks(config, tmp_path, "a GPU", lpips=False)]


def test_what_is_worth_most_comes_first(tmp_path):
    config = configuration.load()
    found = titles(config, tmp_path)
    seven = [name for name, arm in configuration.selected_arms(config).items() if arm.in_benchmark]
    nine = config["asr"]["methods"]
    assert found[:16] == [f"time {name}/seed0" for name in (*seven, *nine)]
    assert found[16] == "regions"
    pairs = [f"{verb} {name}/seed{seed}" for seed in range(3) for name in seven
             for verb in ("train", "evaluate")]  # fmt: skip
    assert found[17 : 17 + 42] == pairs
    assert found.index("train lte_nearest/seed0") > found.index("time wire/seed2")
    assert found[-27:] == [f"time {name}/seed{seed}" for seed in range(3) for name in nine]


def test_the_readings_that_are_run_are_those_of_the_overlay(repository, tmp_path):
    overlay = configuration.read_yaml(repository / "config" / "readings.yaml")["native"]["arms"]
    trained = {t.split()[1] for t in titles(configuration.load(), tmp_path) if t.startswith("tr")}
    assert {f"{arm}/seed0" for arm in overlay} <= trained
    assert all(f"{name}/seed0" in trained for name, arm in configuration.arms().items()
               if arm.group == configuration.READING)  # fmt: skip


def test_every_task_makes_what_the_tables_are_made_from(tmp_path):
    config = configuration.load()
    made = {word for task in borrowed.tasks(config, tmp_path, "a GPU", lpips=False)
            for word in task.command}  # fmt: skip
    for name in ("native", "readings", "runs", "conditions_native"):
        for file in map(tmp_path.joinpath, kinds.inputs(name, config)):
            beside = file.with_suffix(".csv")  # a record lies beside its rows
            if "gblsr_bandwidth" not in str(file) and "_linear" not in str(file):
                assert {str(file.parent), str(beside)} & made, file


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Hide from every Python that is started what it lacks that has torch, numpy and Pillow."""
    code = f"import sys\nsys.modules.update(dict.fromkeys({HIDDEN}))\n"
    (tmp_path / "sitecustomize.py").write_text(code)
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        yield patch


@pytest.mark.slow
def test_torch_alone_makes_the_files_of_the_workflows_jobs(place, bare, tmp_path, config):
    told = subprocess.run(
        [sys.executable, "-m", "gblsr_repro", "plan"], capture_output=True, text=True
    )
    assert told.returncode == 2
    assert "is YAML, which needs the packages pyyaml and pydantic" in told.stderr
    done = subprocess.run(command(place, 10), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "LPIPS is left out: the package lpips is not installed" in done.stderr
    assert done.stdout.startswith("done: time gblsr_scalar/seed0, time gblsr_asr/seed0, ")
    bare.undo()

    run, there = "gblsr_scalar/seed0", tmp_path / "there"
    words = ["--config", str(place / "record-gpu.json"), "--arm", "gblsr_scalar", "--seed", "0"]
    paths = {name: there / name / run for name in ("runs", "metrics", "exemplars")}
    arrays = place / "native" / "arrays"
    train = ["--array", arrays / "train.npy", "--output", paths["runs"]]
    evaluate = ["--run", paths["runs"], "--arrays", arrays, "--output", paths["metrics"]]
    for verb, options in (
        ("train", [*train, "--state", there / "state.pt"]),
        ("evaluate", [*evaluate, "--exemplars", paths["exemplars"]]),
    ):
        assert not cli.main(["native", verb, *words, *map(str, options)])
    for name, path in paths.items():
        here = place / "native" / name / run
        assert {p.name for p in here.iterdir()} == {p.name for p in path.iterdir()}
        for file in ("weights.safetensors", "kodak.csv", "validation.csv", "kodak.png"):
            if (path / file).is_file():
                assert (here / file).read_bytes() == (path / file).read_bytes()
    assert made.rows(place / "native" / "metrics" / run / "kodak.csv")[0]["lpips"] == ""
    timed = made.rows(place / "asr" / "latency" / "gblsr_asr" / "seed0.csv")
    assert {row["clock"] for row in timed} == {"paper", "ours"}

    before = {path: path.stat().st_mtime_ns for path in place.rglob("*.csv")}
    again = subprocess.run(command(place, 10), capture_output=True, text=True)
    assert again.stdout.startswith("done before: time gblsr_scalar/seed0, time gblsr_asr/seed0")
    assert before == {path: path.stat().st_mtime_ns for path in place.rglob("*.csv")}


@pytest.mark.slow
def test_a_stopped_one_goes_on_where_it_was(place, config):
    """At whatever moment: here twice in the middle of a training of which no state is due."""
    config["native"]["training"] |= {"steps": 800, "checkpoint_every": 5000, "log_every": 400}
    configuration.write_resolved(config, place / "config.yaml")
    state = place / "native" / "state" / "gblsr_scalar" / "seed0.pt"
    words = command(place, 10, more="borrowed._Jobs._is_timed = lambda *_: True")

    def progress():
        path = state.with_suffix(".json")
        return json.loads(path.read_text()) if path.is_file() else {"running": False, "saved": 0}

    saved = 0
    for number in (signal.SIGTERM, signal.SIGKILL):
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while not progress()["running"]:
            assert child.poll() is None
            time.sleep(0.1)
        time.sleep(0.5)
        os.kill(child.pid, number)
        said = child.communicate()[0].decode()
        if number == signal.SIGTERM:
            assert child.returncode == 75
            assert "stopped before the end: train gblsr_scalar/seed0\n" in said
        while progress()["running"]:  # the training outlives a killed command to save its state
            time.sleep(0.1)
        assert progress()["saved"] > saved
        saved = progress()["saved"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    record = made.record(place / "native" / "runs" / "gblsr_scalar/seed0/run.json")
    assert (record["resumed"], record["steps"]) == (2, 800)


def task(tmp_path, code, **facts):
    words = (sys.executable, "-c", code, "train")
    return borrowed.Task("a task", words, tmp_path / "log", (), lambda: False, **facts)


@pytest.mark.parametrize(
    ("code", "facts", "outcome"),
    [
        ("", {}, "done"),
        ("import time; time.sleep(60)", {}, borrowed.STOPPED),
        ("", {"share": 0.0}, "not begun"),
        ("import sys; print('alas'); sys.exit(2)", {}, "failed (alas; see {log})"),
    ],
)
def test_a_task_takes_no_more_time_than_there_is(tmp_path, code, facts, outcome):
    began = time.monotonic()
    found = borrowed._outcome(task(tmp_path, code, **facts), began, 2.0, None)
    assert found == outcome.format(log=tmp_path / "log")
    assert time.monotonic() - began < 10


def test_without_a_gpu_it_says_so_and_does_nothing(config):
    with pytest.raises(UserError, match="run this on a machine with a CUDA GPU, or with --device"):
        borrowed.run(config, 1.0, "cuda")
    assert not Path(config["results"]).exists()


@pytest.mark.parametrize(
    ("here", "kind", "there", "clocks", "done"),
    [
        ("cuda", "cuda", "this", ["paper", "ours", "graph"], True),
        ("cuda", "cuda", "this", ["paper", "ours"], False),
        ("cuda", "cuda", "another", ["paper", "ours", "graph"], False),
        ("cuda", "cpu", "another", ["paper", "ours"], False),
        ("cpu", "cpu", "this", ["paper", "ours"], True),
        ("cpu", "cpu", "another", ["paper", "ours"], False),
        ("cpu", "cuda", "another", ["paper", "ours", "graph"], True),
    ],
)
def test_times_are_taken_once_and_a_gpus_are_kept(place, config, here, kind, there, clocks, done):
    rows_of = place / "native" / "latency" / "gblsr_scalar" / "seed0.csv"
    rows_of.parent.mkdir(parents=True)
    rows_of.touch()
    record = config["latency"] | {"device": {"name": there, "type": kind}, "clocks": clocks}
    rows_of.with_suffix(".json").write_text(json.dumps(record))
    first = borrowed.tasks(config | {"device": here}, place, "this", lpips=False)[0]
    assert first.done() is done
