"""Starting: nothing is imported that the command at hand does not need."""

import subprocess
import sys
from importlib import import_module
from inspect import signature

import pytest

from gblsr_repro.cli import parser
from gblsr_repro.cli.commands import COMMANDS

HEAVY = ("torch", "pandas", "jsonschema", "pydantic", "numpy", "scipy.stats", "matplotlib", "tqdm",
         "torch._dynamo")  # fmt: skip


def imported(code, *arguments):
    """Return the heavy modules that a fresh interpreter has after `code`."""
    script = f"import sys\n{code}\nprint('HELD', *(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("HELD")[2].split())


STEP = """
import torch
from gblsr_repro.training.optimizers import AdamW
p = torch.nn.Parameter(torch.ones(3))
o = AdamW([p], fused=True)
p.sum().backward(); torch.nn.utils.clip_grad_norm_([p], 1.0); o.step()
o.load_state_dict(o.state_dict()); o.zero_grad()
"""


def test_a_training_step_needs_no_compiler():
    assert "torch._dynamo" not in imported(STEP)


def test_help_needs_nothing():
    code = "from gblsr_repro import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass"
    assert imported(code) == set()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_calls_its_function_by_the_names_that_it_has(command):
    module, _, function = command.target.partition(":")
    does = getattr(import_module(f"gblsr_repro.{module}"), function)
    shared = {"config"} if command.configured else set()
    options = vars(parser().parse_args([*command.name.split(), *words(command)]))
    signature(does).bind(**dict.fromkeys(set(options) - {"command", "config"} | shared))


def words(command):
    """Return arguments that a command accepts: all that it has."""
    for option, facts in command.arguments:
        value = next(iter(facts.get("choices", ["1"])))
        if option.startswith("--"):
            yield option
        times = 4 if facts.get("nargs") == 4 else 1
        yield from [] if facts.get("action") else [value] * times


@pytest.mark.parametrize(
    "module",
    [
        "reporting.tables",
        "reporting.claims",
        "reporting.report",
        "operations.status",
        "cli.reporting",
    ],
)
def test_pages_of_numbers_need_no_network_of_neurons(module):
    held = imported(f"import gblsr_repro.{module}")
    drawn = {"matplotlib"} if module != "reporting.report" else set()
    assert not held & {"torch", "scipy.stats", *drawn}
