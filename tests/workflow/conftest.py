"""Fixtures that run Snakemake as a user would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Snakemake = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def snakemake(repository: Path, tmp_path: Path) -> Snakemake:
    """Run Snakemake with results and resources in a temporary folder; return what it said."""

    def run(
        *arguments: str, configfile: str | None = None, cwd: Path = repository, **config: object
    ) -> subprocess.CompletedProcess[str]:
        folders = {"results": tmp_path / "results", "resources": tmp_path / "resources"}
        pairs = [f"{key}={value}" for key, value in {**folders, **config}.items()]
        files = ["--configfile", configfile] if configfile else []
        environment = {k: v for k, v in os.environ.items() if k != "GBLSR_LPIPS_BACKBONE"}
        command = [sys.executable, "-m", "snakemake", "--snakefile", repository / "Snakefile"]
        return subprocess.run(
            [*command, "--nolock", *files, *arguments, "--config", *pairs],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )

    return run
