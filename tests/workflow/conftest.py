"""Fixtures that run Snakemake as a user would."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from finished_run import Finished
from planning import run

Snakemake = Callable[..., str]


@pytest.fixture
def snakemake(repository: Path, tmp_path: Path) -> Snakemake:
    """Run Snakemake, as `run` does, with results and resources in a temporary folder."""

    def run_there(
        *words: object, configfile: object = None, fails: bool = False, **config: object
    ) -> str:
        places = {name: tmp_path / name for name in ("results", "resources")}
        pairs = [f"{key}={value}" for key, value in {**places, **config}.items()]
        files = ["--configfile", configfile] if configfile else []
        line = [*files, "--cores", 1, "--nolock", *words]
        return run(repository, "snakemake", *line, "--config", *pairs, fails=fails)

    return run_there


@pytest.fixture
def plan(snakemake: Snakemake) -> Snakemake:
    """Plan what Snakemake would run; return what it said."""
    return partial(snakemake, "--dry-run")


@pytest.fixture(scope="session")
def _finished(clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Finished:
    ready = Finished(clone(tmp_path_factory.mktemp("finished") / "checkout"))
    ready.finish()
    assert ready.planned() == set()
    return ready


@pytest.fixture
def finished(_finished: Finished) -> Iterator[Finished]:
    """A checkout with a finished run, as it was before the edits of earlier tests."""
    yield _finished
    _finished.restore()
