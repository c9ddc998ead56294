"""Fixtures that run Snakemake as a user would."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from finished_run import Finished
from plain_logger import use_plain_logger

Snakemake = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def plain_profile(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default profile with Snakemake's own logger, whose text tests read."""
    folder = tmp_path_factory.mktemp("profile")
    shutil.copy(repository / "profiles/default/config.yaml", folder)
    use_plain_logger(folder / "config.yaml")
    return folder


@pytest.fixture
def snakemake(repository: Path, plain_profile: Path, tmp_path: Path) -> Snakemake:
    """Run Snakemake with results and resources in a temporary folder; return what it said."""

    def run(
        *arguments: str, configfile: str | None = None, cwd: Path = repository, **config: object
    ) -> subprocess.CompletedProcess[str]:
        folders = {"results": tmp_path / "results", "resources": tmp_path / "resources"}
        pairs = [f"{key}={value}" for key, value in {**folders, **config}.items()]
        files = ["--configfile", configfile] if configfile else []
        environment = {k: v for k, v in os.environ.items() if k != "GBLSR_LPIPS_BACKBONE"}
        command = [sys.executable, "-m", "snakemake", "--snakefile", repository / "Snakefile"]
        command += ["--workflow-profile", plain_profile]
        return subprocess.run(
            [*command, "--nolock", *files, *arguments, "--config", *pairs],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )

    return run


@pytest.fixture(scope="session")
def _finished(
    clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Finished]:
    made = Finished(clone(tmp_path_factory.mktemp("finished") / "checkout"))
    made.finish()
    assert made.planned() == set()
    yield made
    made.planner.stdin.close()
    made.planner.wait()


@pytest.fixture
def finished(_finished: Finished) -> Iterator[Finished]:
    """A checkout with a finished run, as it was before the edits of earlier tests."""
    yield _finished
    _finished.restore()
