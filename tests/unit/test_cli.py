"""The command line starts fast, on every system, and says how far trainings are."""

import inspect
import os
import subprocess
import sys
import time

import pytest
from PIL import Image

from gblsr_repro.cli import build_parser, main
from gblsr_repro.cli.commands import COMMANDS, find_function
from gblsr_repro.config import load, write_resolved
from gblsr_repro.files import write_json


def test_help_imports_nothing_that_takes_long():
    code = (
        "import sys\nfrom gblsr_repro import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: sys.exit(not {'torch', 'pandas'}.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


DECLARED = [command for command in COMMANDS if isinstance(command.function, str)]


@pytest.mark.parametrize("command", DECLARED, ids=lambda command: command.name)
def test_the_options_of_a_command_are_the_parameters_of_its_function(command):
    """Else its job ends with a traceback, and no type checker sees that it will."""
    options = build_parser().parse_args([*command.name.split(), *fill_in(command)])
    del options.command
    inspect.signature(find_function(command.function)).bind(**vars(options))


def fill_in(command):
    """The words that a command requires."""
    for argument in command.arguments:
        if not argument.names[0].startswith("-"):
            yield "1"
        elif argument.settings.get("required"):
            yield from (argument.names[0], "1")


@pytest.mark.parametrize("seed", ["-1", str(2**32), "9" * 5000, "one", "1.0"])
def test_a_seed_that_no_generator_takes_is_refused(seed, capsys):
    words = ["native", "train", "--arm", "liif", "--array", "a", "--output", "b", "--state", "c"]
    with pytest.raises(SystemExit) as stopped:
        main([*words, f"--seed={seed}"])
    assert stopped.value.code == 2
    assert "a seed is a whole number from 0 to 4294967295, not" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["[]", '{"step": "1"}'])
def test_a_progress_file_that_is_none_is_one_sentence(content, tmp_path, capsys):
    config = tmp_path / "config.yaml"
    write_resolved(load() | {"results": str(tmp_path)}, config)
    path = tmp_path / "native" / "state" / "liif" / "seed1.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert main(["progress", "--config", str(config)]) == 2
    assert "seed1.json is damaged" in capsys.readouterr().err


@pytest.fixture
def progress(tmp_path, capsys):
    """Write what a training said of itself so many seconds ago; return the cells of its line."""
    config = tmp_path / "config.yaml"
    write_resolved(load() | {"results": str(tmp_path)}, config)

    def told(age, **facts):
        path = tmp_path / "native" / "state" / "liif" / "seed1.json"
        known = {"run": "liif seed 1", "step": 620, "saved": 500, "steps": 2000}
        write_json(path, known | {"steps_per_second": 8.0, "running": True} | facts)
        then = time.time() - age
        os.utime(path, (then, then))
        assert main(["progress", "--config", str(config)]) == 0
        cells = capsys.readouterr().out.splitlines()[-1].split("  ")
        return [cell.strip() for cell in cells if cell]

    return told


def test_a_training_shows_its_step_and_when_it_was_last_heard(progress):
    running = progress(7200)
    assert running == ["liif seed 1", "620", "2,000", "8", "2m52s", "2h00m ago"]
    assert progress(0, step=0, steps_per_second=None)[-3:-1] == ["unknown", "unknown"]
    stopped = progress(5, running=False)  # the step that it goes on from
    assert stopped == ["liif seed 1", "500", "2,000", "8", "3m08s", "stopped"]
    [line] = progress(5, step=2000, saved=2000, running=False)
    assert line.startswith("No training")


# As on Windows. psutil needs `resource` on Linux and not there.
WITHOUT_POSIX = """
import psutil, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
del signal.SIGUSR1
from gblsr_repro.cli import build_parser, main
from gblsr_repro.cli.commands import COMMANDS
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
