"""Run Snakemake and gblsr-repro as a user would, and read what a dry run says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", re.MULTILINE)
WILDCARDS = re.compile(r"    wildcards: (.*)\n")
ABOUT = ("arm", "method", "row", "dataset")

Jobs = set[tuple[str, str]]


def run(
    folder: Path, module: str, *words: object, fails: bool = False, **environment: object
) -> str:
    """Run `snakemake` or `gblsr_repro` in a folder, with the code that lies there.

    Return what it wrote to both of its streams. It must end well, or fail where that is asked for.
    """
    environment = {"PYTHONPATH": folder / "src"} | environment
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=folder,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert (done.returncode != 0) == fails, done.stdout[-4000:]
    return done.stdout


def list_jobs(said: str) -> Jobs:
    """List the jobs of a dry run: their rule, and what they are about with a seed other than 0."""
    return {(rule, _find_subject(body)) for rule, body in BLOCK.findall(said)}


def _find_subject(body: str) -> str:
    line = WILDCARDS.search(body)
    wildcards = dict(pair.split("=") for pair in line[1].split(", ")) if line else {}
    name = next((value for key, value in wildcards.items() if key in ABOUT), "")
    return name if wildcards.get("seed", "0") == "0" else f"{name}/{wildcards['seed']}"
