"""The command line starts fast, and on every system."""

import inspect
import os
import subprocess
import sys

import pytest
from PIL import Image

from gblsr_repro.cli import build_parser, main
from gblsr_repro.cli.commands import COMMANDS, find_function


def test_help_imports_nothing_that_takes_long():
    code = (
        "import sys\nfrom gblsr_repro import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: sys.exit(not {'torch', 'pandas'}.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.command)
def test_the_options_of_a_command_are_the_parameters_of_its_function(command):
    """Else its job ends with a traceback, and no type checker sees that it will."""
    options = build_parser().parse_args([*command.command.split(), *fill_in(command)])
    del options.command
    inspect.signature(find_function(command.function)).bind(**vars(options))


def fill_in(command):
    """The words that a command requires."""
    for argument in command.list_arguments():
        if not argument.names[0].startswith("-"):
            yield "1"
        elif argument.settings.get("required"):
            yield from (argument.names[0], "1")


@pytest.mark.parametrize(
    "words", ["upscale a.png b.png -o -", "export run - --scale 2", "report --output -"]
)
def test_a_hyphen_names_no_output(words, capsys):
    with pytest.raises(SystemExit):
        main(words.split())
    assert "does not write to standard output; name a file" in capsys.readouterr().err


# As on Windows. psutil needs `resource` on Linux and not there.
WITHOUT_POSIX = """
import psutil, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
del signal.SIGUSR1
from gblsr_repro.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_photographs_need_no_posix(superres_run, photo_file, tmp_path):
    model = str(superres_run("gblsr_asr"))
    arguments = ["upscale", str(photo_file), "-o", "big.png", "--model", model]
    command = [sys.executable, "-c", WITHOUT_POSIX, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Image.open(tmp_path / "big.png").size == (140, 90)
    assert [path.name for path in tmp_path.glob("*big*")] == ["big.png"]
    assert not list(tmp_path.glob("*.unfinished"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("fetch nothing", "config/datasets.tsv has no data set 'nothing'"),
        ("plan", "A file cannot be read or written (No space left on device)"),
    ],
)
def test_a_job_whose_log_is_full_says_why_on_the_terminal(words, sentence):
    """As under the workflow, which gives it a file that is still the terminal."""
    command = f"exec 3>&2; {sys.executable} -P -m gblsr_repro {words} > /dev/full 2>&1"
    environment = os.environ | {"GBLSR_TERMINAL": "3", "PYTHONUNBUFFERED": ""}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True)
    assert done.stderr.startswith(f"gblsr-repro: {sentence}")
    assert done.returncode == 2


@pytest.mark.parametrize("seed", ["-1", str(2**32), "9" * 5000, "one", "1.0"])
def test_a_seed_that_no_generator_takes_is_refused(seed, capsys):
    words = ["native", "train", "--arm", "liif", "--array", "a", "--output", "b", "--state", "c"]
    with pytest.raises(SystemExit) as stopped:
        main([*words, f"--seed={seed}"])
    assert stopped.value.code == 2
    assert "a seed is a whole number from 0 to 4294967295, not" in capsys.readouterr().err
