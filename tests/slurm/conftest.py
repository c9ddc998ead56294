"""A running Slurm and a fresh copy of the project for the tests that submit to it."""

import shutil
import subprocess
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
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A copy of the files that git would clone, with a reduced demo config beside them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=repository,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (repository / name).is_file():
            target = tmp_path / "checkout" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, target)
    (tmp_path / "checkout" / "reduced.yaml").write_text(yaml.safe_dump(REDUCED))
    return tmp_path / "checkout"
