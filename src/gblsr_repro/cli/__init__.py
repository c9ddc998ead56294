"""The command line: commands.tsv lists the commands and `arguments` what they take.

The function that a command names (see `commands`), and what takes long to import (torch, pandas,
matplotlib), is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from .. import __version__
from ..errors import StopRequested, UserError, build_syntax_error, explain_memory_shortage
from ..progress import set_up_logging
from .commands import COMMANDS, run_command

TERMINAL = "GBLSR_TERMINAL"  # an environment variable: the number of a file that is the terminal

GROUPS = {
    "native": "Native reconstruction: arms, one run per seed.",
    "asr": "Arbitrary-scale super-resolution: methods, one run per seed.",
}


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; `command` of the parsed options is the command."""
    parser = argparse.ArgumentParser(
        prog="gblsr-repro",
        description="Run single steps of the reproduction, or its models on your own images.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    groups = {"": parser.add_subparsers(title="commands", metavar="COMMAND", required=True)}
    for command in COMMANDS:
        group, _, name = command.command.rpartition(" ")
        if group not in groups:
            text = GROUPS[group]
            parent = groups[""].add_parser(group, help=text, description=text)
            groups[group] = parent.add_subparsers(title="verbs", metavar="VERB", required=True)
        parser_of_command = groups[group].add_parser(
            name, help=command.text, description=command.text
        )
        parser_of_command.set_defaults(command=command)
        exclusive = None
        for argument in command.list_arguments():
            taker: argparse._ActionsContainer = parser_of_command
            if argument.exclusive:
                taker = exclusive = exclusive or parser_of_command.add_mutually_exclusive_group()
            taker.add_argument(*argument.names, **argument.settings)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    0: finished; 2: a mistake of the user, described in one sentence; 75: stopped by a signal with
    the state saved, so that the same command resumes from it.
    """
    set_up_logging()
    options = vars(build_parser().parse_args(arguments))
    command = options.pop("command")
    signal.signal(signal.SIGTERM, _stop)
    try:
        with explain_memory_shortage("The computation of this command"):
            run_command(command, options)
        sys.stdout.flush()  # at the end of the process it would fail without a reason
    except UserError as error:
        return _explain(error, 2)
    except StopRequested as stop:
        return _explain(stop, 75)
    except SyntaxError as error:  # in a module of the package that the command imports
        return _explain(build_syntax_error(error), 2)
    except ModuleNotFoundError as error:
        return _explain(
            f"{sys.executable} lacks the package {error.name!r}; use the environment in which "
            "gblsr-repro is installed, or Snakemake's `--software-deployment-method conda`.",
            2,
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _explain(
            f"{error.filename or 'A file'} cannot be read or written ({error.strerror or error}); "
            "solve that and run the same command again.",
            2,
        )
    except KeyboardInterrupt:
        return _explain("interrupted; the same command resumes the work.", 130)
    return 0


def _explain(reason: object, status: int) -> int:
    """Print why a command ends, and return its exit status.

    A job of the workflow prints into its log. Where that fails, as on a full disk, it prints to the
    terminal, which the workflow leaves open for it.
    """
    sentence = f"gblsr-repro: {reason}\n"
    try:
        sys.stderr.write(sentence)
        sys.stderr.flush()
    except OSError:
        if TERMINAL in os.environ:
            os.write(int(os.environ[TERMINAL]), sentence.encode())
        # Else Python tries again at the end to write what is left, and has a status of its own.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
    return status


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Handle SIGTERM: end the command as an interruption does, so that it says so."""
    raise KeyboardInterrupt
