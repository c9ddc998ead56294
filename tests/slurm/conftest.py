"""A running Slurm and a fresh copy of the project for the tests that submit to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from . import cluster

REDUCED = {
    "seeds": [0],
    "native": {"arms": ["gblsr_scalar", "liif"], "training": {"steps": 12, "checkpoint_every": 4}},
}


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a real one-node Slurm."""
    reason = cluster.missing()
    if reason:
        pytest.skip(reason)
    with cluster.slurm(tmp_path_factory.mktemp("slurm") / "node") as environment:
        yield environment


@pytest.fixture
def reduced(checkout: Path) -> Path:
    """A fresh copy of the project with a reduced demo config beside it."""
    return reduce(checkout)


def reduce(checkout: Path) -> Path:
    """Write a reduced demo config beside the checkout's own; return the checkout."""
    (checkout / "reduced.yaml").write_text(yaml.safe_dump(REDUCED))
    return checkout
