"""Run command lines of Snakemake and gblsr-repro in the current folder, one a line.

Reads the words of a command line as a JSON list a line; writes its exit status and what it said.
What takes long to import and does not depend on a command is imported once: each command runs in a
fork of this process.
"""

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

import snakemake.cli

LIBRARIES = ("torch", "pandas", "pydantic", "yaml")
PROGRAMS = {"snakemake": "snakemake.cli", "gblsr-repro": "gblsr_repro.cli"}
PACKAGE = ("config.load", "analysis.schemas")


def said_by_a_fork(words: list[str]) -> tuple[int, str]:
    """Run a command line in a fork; return its exit status and what it said."""
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            status = 1
            try:
                status = importlib.import_module(PROGRAMS[words[0]]).main(words[1:]) or 0
            except SystemExit as end:
                if isinstance(end.code, str):
                    print(end.code, file=sys.stderr)
                else:
                    status = end.code or 0
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        out.seek(0)
        return os.waitstatus_to_exitcode(ended), out.read()


if __name__ == "__main__":
    sys.path.insert(0, str(Path("src").resolve()))
    for name in LIBRARIES:
        importlib.import_module(name)
    for name in PACKAGE:
        importlib.import_module(f"gblsr_repro.{name}")
    snakemake.cli.get_argument_parser()  # imports what is plugged in
    for line in sys.stdin:
        print(json.dumps(said_by_a_fork(json.loads(line))), flush=True)
