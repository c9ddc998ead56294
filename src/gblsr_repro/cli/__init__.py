"""The command line: `jobs` and `released` have what rules call, `reports` and `images` the rest.

Every command is two functions: `_add_...` declares its arguments, the one below it runs it on the
parsed options, and has the command's help as its docstring. What takes long to import is imported
by the function that runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import StopRequested, UserError, memory_told
from ..progress import setup_logging
from . import images, jobs, released, reports


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with every command; the parsed options hold its function as `execute`."""
    parser = argparse.ArgumentParser(
        prog="gblsr-repro", description="Run single steps of the GB-LSR reproduction."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (jobs, released, reports, images):
        module.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    0: done; 2: a user's mistake, told in one sentence; 75: stopped by a signal with the state
    saved, so that running the same command again goes on.
    """
    setup_logging()
    options = make_parser().parse_args(arguments)
    try:
        with memory_told("What this command computes"):
            options.execute(options)
    except UserError as error:
        print(f"gblsr-repro: {error}", file=sys.stderr)
        return 2
    except StopRequested as stop:
        print(f"gblsr-repro: {stop}", file=sys.stderr)
        return 75
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(
            f"gblsr-repro: {error.filename or 'A file'} cannot be read or written "
            f"({error.strerror or error}); mend that and run the same command again.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("gblsr-repro: interrupted; the same command goes on from there.", file=sys.stderr)
        return 130
    return 0
