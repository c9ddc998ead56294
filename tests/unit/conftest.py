"""Fixtures of several unit tests: results, untrained runs, a photograph."""

from collections.abc import Callable
from pathlib import Path

import made
import pytest
from PIL import Image

from gblsr_repro import config
from results import Results


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """A results folder without numbers, for the paper's configuration."""
    return Results(tmp_path)


@pytest.fixture
def settings() -> config.Config:
    """The paper's configuration with small models, for a test to change."""
    return config.merge(config.load(), made.SMALL)


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Path]:
    """Write a small run of an arm or a method into a folder; return the folder."""
    small = {"features": 16, "hidden": 16, "modes": 6}
    settings = config.merge(config.load(), {"native": {"model": small}, "asr": {"model": made.ASR}})

    def write(folder: Path, name: str, **more: object) -> Path:
        return made.run(folder, name, settings, **({"spread": 0.1} | more))

    return write


@pytest.fixture(scope="session")
def native_run(make_run, tmp_path_factory) -> Path:
    """A run of the main arm, whose weights file says nothing of itself."""
    return make_run(tmp_path_factory.mktemp("runs") / "scalar", "gblsr_scalar", told=False)


@pytest.fixture(scope="session")
def superres_run(make_run, tmp_path_factory) -> Callable[[str], Path]:
    """Runs of super-resolution by method, written when they are asked for."""
    folder = tmp_path_factory.mktemp("superres")
    return lambda method: make_run(folder / method, method)


@pytest.fixture
def photo_file(tmp_path) -> Path:
    """A photograph of 45 x 70 pixels."""
    Image.fromarray(made.noise(45, 70, 3)).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"
