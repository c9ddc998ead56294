"""What the fault tests share: small runs, a small disk, a copy of the project to run and kill."""

import multiprocessing
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import made
import pytest
from faulty import Disk, Workflow

from gblsr_repro import config
from gblsr_repro.training.runs import train_arm

REPEATS = "GBLSR_FAULT_REPEATS"
SEED = "GBLSR_FAULT_SEED"

STEPS = {"steps": 20, "batch_size": 2, "log_every": 4, "checkpoint_every": 1}


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Heed SIGINT, which a shell makes what it starts in the background ignore, jobs included."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repeats() -> int:
    """How many times to repeat a fault that comes at a random moment."""
    return int(os.environ.get(REPEATS, "2"))


@pytest.fixture
def chance() -> random.Random:
    """Moments and places of faults; another seed gives others."""
    return random.Random(int(os.environ.get(SEED, "0")))


@pytest.fixture(scope="session")
def processes() -> multiprocessing.context.ForkServerContext:
    """Starts Python functions in processes of their own, with the package already imported."""
    context = multiprocessing.get_context("forkserver")
    # torch imports its compiler with the first optimizer: seconds that every process would pay.
    context.set_forkserver_preload(
        ["gblsr_repro.training.runs", "gblsr_repro.data.download", "torch._dynamo"]
    )
    return context


# --- a training run of a fraction of a second ---------------------------------------------------


@pytest.fixture(scope="session")
def small_config() -> config.Config:
    small = config.merge(made.SMALL, {"native": {"training": STEPS}})
    return config.merge(config.load(), small)


@pytest.fixture(scope="session")
def array(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A standardized array of seeded noise with its index and record."""
    return made.array(tmp_path_factory.mktemp("array") / "train.npy", made.noise(7, 16, 16, 3))


Job = tuple[config.Config, config.Arm, int, Path, Path, Path]


@pytest.fixture(scope="session")
def job(small_config: config.Config, array: Path) -> Callable[[Path], Job]:
    """Return the arguments of `train_arm` for a run whose files are all under a folder."""

    def arguments(folder: Path) -> Job:
        arm = config.read_arms()["gblsr_full"]
        return small_config, arm, 1, array, folder / "run", folder / "state" / "seed1.pt"

    return arguments


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, job: Callable[[Path], Job]) -> Path:
    """The folder of the small run that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    train_arm(*job(folder))
    return folder / "run"


# --- a small disk ---------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk of 4 MB."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounted = Disk(folder, 4096)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("cannot mount a small disk here")
    try:
        yield mounted
    finally:
        mounted.remove()


# --- the whole workflow ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workflow(
    clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workflow]:
    """A copy of the project; its tests share what they have made so far. No job outlives them."""
    folder = clone(tmp_path_factory.mktemp("workflow") / "checkout")
    made = Workflow(folder)
    made.overlay()
    yield made
    for job in made.jobs():
        job.kill()
