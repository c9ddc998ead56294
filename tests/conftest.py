"""Fixtures shared by all tests."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from gblsr_repro.config import Config, load, merge
from gblsr_repro.data import fetch

SHARED_VARIABLE = "GBLSR_SHARED"

# Tests know what the CPU computes; they and all they start do so where there is a GPU as well.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the paper's numbers, real images and weights."""
    value = os.environ.get(SHARED_VARIABLE)
    if not value or not Path(value).is_dir():
        pytest.skip(f"needs the reference material: set {SHARED_VARIABLE} to its folder")
    return Path(value).resolve()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout's top folder."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def mirrored(shared: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """The checkout's overlay for a mirror, with the evaluation sets of both benchmarks fetched."""
    resources = tmp_path_factory.mktemp("resources")
    local = {"mirror": str(shared / "data"), "resources": str(resources)}
    found = load([repository / "config" / "mirror.yaml"])
    found = merge(found, local)
    asr = ("set5", "set14", "b100", "urban100")
    for dataset in {*found["native"]["data"]["evaluate"].values(), *asr}:
        fetch.fetch_dataset(dataset, found)
    return found


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Config]:
    """A folder with tiny images, arrays and runs for the jobs of `tiny_jobs`, and their config."""
    import tiny_jobs  # takes seconds, which few tests need

    folder = tmp_path_factory.mktemp("tiny")
    return folder, tiny_jobs.prepare(folder)


@pytest.fixture(scope="session")
def clone(repository: Path) -> Callable[[Path], Path]:
    """Copy the files that git would clone, with what is not yet committed, into a new folder."""

    def copy(folder: Path) -> Path:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=repository,
            capture_output=True,
            check=True,
        ).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if (repository / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(repository / name, folder / name)
        return folder

    return copy


@pytest.fixture
def checkout(clone: Callable[[Path], Path], tmp_path: Path) -> Path:
    """A fresh copy of the project."""
    return clone(tmp_path / "checkout")
