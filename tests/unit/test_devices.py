"""The GPUs of a machine are named, checked, and shared out to jobs, one each."""

import os
import sys
import tempfile
from functools import partial
from types import SimpleNamespace
from unittest import mock

import made
import pytest
import torch

from gblsr_repro import devices, runtime
from gblsr_repro.errors import UserError


class Waits(Exception):
    """A job waits for a GPU."""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """Pretend an nvidia-smi that lists so many GPUs."""
    for name in (devices.VISIBLE, devices.SLURM_JOB):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(devices, "time", SimpleNamespace(sleep=mock.Mock(side_effect=Waits)))
    return partial(made.nvidia_smi, tmp_path)


@pytest.fixture
def take(monkeypatch):
    """Take a GPU as a new process does, and hold it; return what it may see afterwards."""
    held = []

    def reserve(**environment):
        with monkeypatch.context() as patch:
            held.append([])
            patch.setattr(devices, "_locks", held[-1])
            for name, value in environment.items():
                patch.setenv(name, value)
            devices.reserve_gpu()
            return os.environ.pop(devices.VISIBLE, None)

    yield reserve
    held.clear()


def test_what_a_scheduler_gave_is_used_without_waiting(smi, take):
    """One each, also after a kill: tests/workflow/test_gpus.py."""
    smi(4)
    given = {devices.VISIBLE: "2", devices.SLURM_JOB: "7"}
    assert [take(**given) for _ in range(2)] == ["2", "2"]
    # What somebody named may be in use; of several the free one is taken.
    assert take(**{devices.VISIBLE: "2"}) == "2"
    with pytest.raises(Waits):
        take(**{devices.VISIBLE: "2"})
    several = {devices.VISIBLE: "1,2"}
    assert take(**several) == "1"
    with pytest.raises(Waits):
        take(**several)
    assert take() == "0"


def test_slurm_jobs_of_several_gpus_do_not_wait_for_each_other(smi, take):
    """Each may number the GPUs that it was given from 0."""
    smi(2)
    gpus = {devices.VISIBLE: "0,1"}
    for job in ("7", "8"):
        assert [take(**gpus, SLURM_JOB_ID=job) for _ in range(2)] == ["0", "1"]
        with pytest.raises(Waits):
            take(**gpus, SLURM_JOB_ID=job)


def test_without_gpus_nothing_is_touched(smi, take, monkeypatch, tmp_path):
    smi(2)
    assert take(**{devices.VISIBLE: "-1"}) == "-1"
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    assert take() is None
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (" 1,0 ,", ["1", "0"]),
        ("GPU-8f3a,MIG-GPU-8f3a/1/2", ["GPU-8f3a", "MIG-GPU-8f3a/1/2"]),
        ("", []),
        (None, ["0", "1", "2"]),
    ],
)
def test_what_is_visible_is_passed_on_as_it_is_named(smi, take, monkeypatch, named, expected):
    smi(3)
    if named is not None:
        monkeypatch.setenv(devices.VISIBLE, named)
    assert devices.list_visible_gpus() == expected
    environment = {} if named is None else {devices.VISIBLE: named}
    assert [take(**environment) for _ in expected] == expected


# --- a GPU that torch cannot use ----------------------------------------------------------------


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Pretend the device file of a GPU that torch cannot use."""
    monkeypatch.delenv(devices.VISIBLE, raising=False)
    (tmp_path / "nvidia0").touch()
    (tmp_path / "nvidiactl").touch()
    monkeypatch.setattr(devices, "DEVICES", tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return tmp_path


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("The NVIDIA driver is too old (found version 12080). Please"), "12080"),
        (None, "it does not say why"),
    ],
)
def test_a_gpu_that_torch_cannot_use_is_an_error_with_torchs_reason(node, monkeypatch, error, told):
    monkeypatch.setattr(torch.cuda, "init", mock.Mock(side_effect=error))
    for device in ("auto", "cuda"):
        with pytest.raises(UserError, match="set device: cpu") as refusal:
            runtime.prepare_device(device)
        assert f"torch {torch.__version__}" in str(refusal.value)
        assert told in str(refusal.value)
        assert str(refusal.value).count(". ") == 0


def test_a_gpu_that_is_hidden_or_not_ours_is_done_without(node, monkeypatch):
    assert runtime.prepare_device("cpu").type == "cpu"
    monkeypatch.setenv(devices.VISIBLE, "")
    assert runtime.prepare_device("auto").type == "cpu"
    with pytest.raises(UserError, match="no CUDA GPU is visible"):
        runtime.prepare_device("cuda")
    monkeypatch.delenv(devices.VISIBLE)
    (node / "nvidia0").unlink()
    (node / "nvidia0").mkdir()  # cannot be opened, as in a job that was given no GPU
    assert runtime.prepare_device("auto").type == "cpu"


@pytest.mark.parametrize(
    ("listed", "shared"), [("", None), ("4711\n", False), ("4711\n4712\n", True)]
)
def test_sharing_is_told_from_the_list_of_processes(monkeypatch, listed, shared):
    monkeypatch.setattr(devices, "_ask_nvidia_smi", lambda *_: listed)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="0")
    )
    assert devices.is_gpu_shared(torch.device("cuda")) is shared
