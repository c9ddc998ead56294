"""The name of a precision sets all that it stands for, and a record says so."""

import subprocess

import pytest
import torch

from gblsr_repro import runtime

CPU = torch.device("cpu")
FLAGS = ("precision", "cudnn_tf32", "matmul_tf32", "deterministic")


@pytest.fixture(autouse=True)
def _put_back():
    yield
    runtime.set_precision(runtime.DEFAULT)
    torch.set_flush_denormal(False)


@pytest.mark.parametrize(
    ("precision", "flags"),
    [
        ("default", ("default", True, False, False)),
        ("strict", ("strict", False, False, True)),
        ("bf16", ("bf16", True, False, False)),
    ],
)
def test_every_precision_sets_and_records_all_flags(monkeypatch, precision, flags):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    for before in runtime.PRECISIONS:  # whatever was set earlier in the process
        runtime.prepare_device("cpu", precision=before)
        device = runtime.prepare_device("cpu", precision=precision)
        assert device == CPU
        assert (
            torch.backends.cudnn.allow_tf32,
            torch.backends.cuda.matmul.allow_tf32,
            torch.are_deterministic_algorithms_enabled(),
        ) == flags[1:]
        assert (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic) == (False,) * 2
        record = runtime.describe_device(device)
        assert tuple(record[name] for name in FLAGS) == flags


def test_denormal_numbers_are_zero_on_the_cpu():
    torch.set_flush_denormal(False)
    tiny = torch.full((4,), 1e-30)
    assert (tiny * 1e-10).all()
    runtime.prepare_device("cpu")
    assert not (tiny * 1e-10).any()


def test_peak_memory_is_in_mebibytes_and_the_free_one_has_what_torch_keeps(monkeypatch):
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda *_: 5 * 2**20)
    assert runtime.measure_peak_memory_mib(torch.device("cuda")) == 5.0
    answers = {"memory_reserved": 30, "memory_allocated": 10, "mem_get_info": (500, 900)}
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    assert runtime.measure_free_memory(torch.device("cuda")) == 520  # what torch holds is free, too
    resident = runtime.measure_peak_memory_mib(CPU)
    assert 50 < resident < 2**20  # of this process, neither kilobytes nor bytes


def test_a_checkout_of_another_user_is_told_once(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(runtime, "__file__", str(tmp_path / "src/gblsr_repro/runtime.py"))
    assert runtime.describe_commit() == {"commit": None, "modified": None}
    assert caplog.messages == []  # no checkout
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "src/gblsr_repro").mkdir(parents=True)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert runtime.describe_commit() == {"commit": None, "modified": None}
    [message] = caplog.messages
    assert f"run git config --global --add safe.directory {tmp_path}" in message


def test_code_in_a_checkout_of_something_else_has_no_commit(tmp_path, monkeypatch):
    """As a package in the environment of a project of the user's, which ignores it."""
    code = tmp_path / "venv/gblsr_repro/runtime.py"
    code.parent.mkdir(parents=True)
    code.touch()
    monkeypatch.setattr(runtime, "__file__", str(code))
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "theirs"], check=True)
    assert runtime.describe_commit() == {"commit": None, "modified": None}
    subprocess.run([*git, "add", code], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "ours"], check=True)
    assert runtime.describe_commit()["commit"]
