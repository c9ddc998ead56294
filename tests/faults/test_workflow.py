"""The workflow killed, started twice, and without room: what it makes in the end is the same."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress

import made
import pytest
from faulty import kill_session, outcome, unfinished

from gblsr_repro import cli, config
from gblsr_repro.data.standardize import standardize_images
from gblsr_repro.files import compute_sha256

pytestmark = pytest.mark.slow

RUN = "native/runs/gblsr_scalar/seed0/run.json"
TARGET = f"results/tiny/{RUN}"


def undisturbed(workflow, folder):
    """Make the training array and the run anew, without Snakemake; return the run's folder."""
    resolved = folder / "config.yaml"
    settings = config.load([workflow.results / "config.yaml"])
    settings["resources"] = str(workflow.folder / "resources")
    config.write_resolved(settings, resolved)
    standardize_images("train", settings, folder / "train.npy")
    made = workflow.results / "native" / "arrays" / "train.npy"
    assert compute_sha256(folder / "train.npy") == compute_sha256(made)
    command = [
        "native", "train", "--config", resolved, "--arm", "gblsr_scalar", "--seed", 0,
        "--array", made, "--output", folder / "run", "--state", folder / "state.pt",
    ]  # fmt: skip
    assert cli.main([str(word) for word in command]) == 0
    return folder / "run"


def end(jobs):
    for job in jobs:
        with suppress(ProcessLookupError):
            job.terminate()
    for job in jobs:
        job.wait(60)


def test_killed_at_random_moments(workflow, repeats, chance, tmp_path):
    """By turns all at once, as in a power cut, and Snakemake alone, whose jobs live on."""
    kills = 0
    while kills < repeats:
        process = workflow.start("--", TARGET)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=chance.uniform(2, 12))
        if process.returncode is not None:  # it was faster: start over
            assert process.returncode == 0, workflow.said[-3000:]
            shutil.rmtree(workflow.results)
            continue
        if kills % 2:
            process.kill()
            process.wait()
            end(workflow.jobs())
        kill_session(process)
        kills += 1
        workflow.unlock()
    workflow.run("--", TARGET)
    assert unfinished(workflow.results) == []
    assert outcome((workflow.results / RUN).parent) == outcome(undisturbed(workflow, tmp_path))


def start_training(workflow):
    """Start a training of 200 steps; return Snakemake's process once a state is saved."""
    workflow.overlay(native={"training": {"steps": 200}})
    for name in ("runs", "state"):
        shutil.rmtree(workflow.results / "native" / name, ignore_errors=True)
    process = workflow.start("--", TARGET)
    while not (workflow.results / "native" / "state" / "gblsr_scalar" / "seed0.pt").exists():
        assert process.poll() is None, workflow.said[-3000:]
        time.sleep(0.01)
    return process


def test_sigterm_to_all_ends_the_training_with_its_state_saved(workflow):
    process = start_training(workflow)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(60) != 0
    end(workflow.jobs())
    assert not (workflow.results / RUN).exists()
    workflow.run("--", TARGET)  # no lock was left
    assert made.record(workflow.results / RUN)["resumed"] == 1


def test_two_at_once(workflow, tmp_path):
    """A second workflow is refused; so is, after a kill, a second job beside one that lives on."""
    first = start_training(workflow)
    (job,) = (j for j in workflow.jobs() if "train" in j.cmdline())
    job.send_signal(signal.SIGSTOP)
    said = workflow.run("--", TARGET, fails=True)
    assert "Directory cannot be locked" in said
    assert "Traceback" not in said

    first.kill()
    first.wait()
    workflow.run("--unlock")
    said = workflow.run("--", TARGET, fails=True)
    assert "gblsr-repro: gblsr_scalar seed 0 is being trained by another process; wait" in said
    assert "Traceback" not in said

    job.send_signal(signal.SIGCONT)
    end([job])
    workflow.run("--", TARGET)
    assert made.record(workflow.results / RUN)["resumed"] == 1
    assert outcome((workflow.results / RUN).parent) == outcome(undisturbed(workflow, tmp_path))


def test_a_training_that_fails_after_a_change_is_trained_by_the_same_command(workflow):
    """Though Snakemake deletes its run, and what was made from the run before is there."""
    workflow.overlay(native={"arms": ["gblsr_scalar"]}, seeds=[0])
    target = "results/tiny/aggregates/runs.csv"
    workflow.run("--", target)
    workflow.overlay(native={"arms": ["gblsr_scalar"], "training": {"steps": 5}}, seeds=[0])
    in_the_way = workflow.results / "native" / "state" / "gblsr_scalar" / "seed0.pt"
    in_the_way.mkdir(parents=True)
    workflow.run("--", target, fails=True)
    in_the_way.rmdir()
    workflow.run("--", target)
    assert "\nnative,gblsr_scalar,0,5," in (workflow.folder / target).read_text()
    assert "Nothing to be done" in workflow.run("--dry-run", "--", target)


def test_no_room_and_no_right_to_write(workflow, disk, tmp_path):
    """Results on a disk that is read-only, then full, then has room."""
    workflow.run("--", "results/tiny/native/arrays/train.npy")
    shutil.copytree(workflow.results, disk.folder / "results")
    shutil.rmtree(disk.folder / "results" / "native" / "runs", ignore_errors=True)
    workflow.overlay(results=str(disk.folder / "results"))
    target = str(disk.folder / "results" / RUN)

    disk.remount("ro")
    said = workflow.run("--", target, fails=True)
    assert "config.yaml: Read-only file system; free some space or make the folder" in said
    disk.remount("rw")
    for room in (0, 24, 200):  # with little not even the log can be written
        disk.leave(room)
        said = workflow.run("--", target, fails=True)
        assert "Cannot write" in said
        assert "No space left on device" in said
        assert "Traceback" not in said
        disk.free()
    assert not list((disk.folder / "results").rglob("weights.safetensors"))
    workflow.run("--", target)
    workflow.results = disk.folder / "results"
    assert outcome((disk.folder / "results" / RUN).parent) == outcome(
        undisturbed(workflow, tmp_path)
    )
