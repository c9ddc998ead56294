"""Run Snakemake and gblsr-repro many times without importing torch and Snakemake each time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", re.MULTILINE)
WILDCARDS = re.compile(r"    wildcards: (.*)\n")
ABOUT = ("arm", "method", "row", "array", "dataset")

Jobs = set[tuple[str, str]]


class Ended(NamedTuple):
    """How a command ended: its exit status, and what it wrote to both of its streams."""

    status: int
    said: str


def run_alone(folder: Path, *words: object, **environment: object) -> Ended:
    """Run Snakemake in a folder, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *map(str, words)],
        cwd=folder,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return Ended(done.returncode, done.stdout)


class Planner:
    """A process in a checkout that runs each command in a fork of itself (see planner.py)."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("planner.py")],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: object) -> Ended:
        """Run a command line of `snakemake` or `gblsr-repro`."""
        print(json.dumps([str(word) for word in words]), file=self.process.stdin, flush=True)
        return Ended(*json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def list_jobs(said: str) -> Jobs:
    """List the jobs of a dry run: their rule, and what they are about with a seed other than 0."""
    return {(rule, _find_subject(body)) for rule, body in BLOCK.findall(said)}


def _find_subject(body: str) -> str:
    line = WILDCARDS.search(body)
    wildcards = dict(pair.split("=") for pair in line[1].split(", ")) if line else {}
    name = next((value for key, value in wildcards.items() if key in ABOUT), "")
    return name if wildcards.get("seed", "0") == "0" else f"{name}/{wildcards['seed']}"
