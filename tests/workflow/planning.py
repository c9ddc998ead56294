"""Run Snakemake and gblsr-repro as a user would, and read what a dry run says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", re.MULTILINE)
WILDCARDS = re.compile(r"    wildcards: (.*)\n")
ABOUT = ("arm", "method", "row", "dataset")

Jobs = set[tuple[str, str]]


class Ended(NamedTuple):
    """How a command ended: its exit status, and what it wrote to both of its streams."""

    status: int
    said: str


def run(folder: Path, module: str, *words: object, **environment: object) -> Ended:
    """Run `snakemake` or `gblsr_repro` in a folder, with the code that lies there."""
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
    return Ended(done.returncode, done.stdout)


def list_jobs(said: str) -> Jobs:
    """List the jobs of a dry run: their rule, and what they are about with a seed other than 0."""
    return {(rule, _find_subject(body)) for rule, body in BLOCK.findall(said)}


def _find_subject(body: str) -> str:
    line = WILDCARDS.search(body)
    wildcards = dict(pair.split("=") for pair in line[1].split(", ")) if line else {}
    name = next((value for key, value in wildcards.items() if key in ABOUT), "")
    return name if wildcards.get("seed", "0") == "0" else f"{name}/{wildcards['seed']}"
