"""A running Slurm for the tests that submit to it."""

from collections.abc import Iterator

import pytest

from . import cluster


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a real one-node Slurm."""
    reason = cluster.missing()
    if reason:
        pytest.skip(reason)
    with cluster.slurm(tmp_path_factory.mktemp("slurm") / "node") as environment:
        yield environment
