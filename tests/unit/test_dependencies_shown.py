"""What is shown of a run is said to depend on all files of the config that are read to make it."""

import subprocess
import sys
from pathlib import Path

import pytest
from made_up_runs import build_paper_run

from gblsr_repro.dependencies import collect_dependencies
from gblsr_repro.files import write_json

CONFIG = Path(__file__).resolve().parents[2] / "config"
BASE = {"config/config.yaml", "config/paper/protocol.yaml"}  # every overlay lies over them
NOTING = f"""
import sys
def note(event, arguments):
    if event == "open" and str(arguments[0]).startswith("{CONFIG}/"):
        print("config" + str(arguments[0]).removeprefix("{CONFIG}"), file=sys.stderr)
sys.addaudithook(note)
from gblsr_repro import cli
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A run with the paper's numbers, with the images and fields that figures show."""
    run = build_paper_run(tmp_path_factory.mktemp("run"))
    run.write_exemplars()
    run.write_fields()
    run.write()
    write_json(run.root / "config.json", run.config)
    return run


@pytest.mark.parametrize(("command", "rule"), [("items", "report"), ("claims", "claims")])
def test_a_job_reads_the_tables_that_it_is_said_to_depend_on(published, command, rule, tmp_path):
    """What is read when modules are imported, too: in a process of its own."""
    places = ["--aggregates", published.folder, "--output", tmp_path]
    words = [command, "--config", published.root / "config.json", *places]
    done = subprocess.run(
        [sys.executable, "-c", NOTING, *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    read = {line for line in done.stderr.splitlines() if line.startswith("config/")}
    assert "config/arms.tsv" in read
    assert read - BASE <= {*collect_dependencies(rule, None, published.config)}
