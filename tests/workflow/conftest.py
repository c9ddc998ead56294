"""Fixtures that run Snakemake as a user would."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from finished_run import Finished
from planning import Ended, run

Snakemake = Callable[..., Ended]


@pytest.fixture
def snakemake(repository: Path, tmp_path: Path) -> Snakemake:
    """Run Snakemake with results and resources in a temporary folder."""

    def run_there(*words: object, configfile: object = None, **config: object) -> Ended:
        places = {name: tmp_path / name for name in ("results", "resources")}
        pairs = [f"{key}={value}" for key, value in {**places, **config}.items()]
        files = ["--configfile", configfile] if configfile else []
        line = [*files, "--cores", 1, "--nolock", *words]
        return run(repository, "snakemake", *line, "--config", *pairs)

    return run_there


@pytest.fixture
def plan(snakemake: Snakemake) -> Callable[..., str]:
    """Plan what Snakemake would run; return what it said."""

    def dry_run(*targets: str, **options: object) -> str:
        done = snakemake("--dry-run", *targets, **options)
        assert done.status == 0, done.said
        return done.said

    return dry_run


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
