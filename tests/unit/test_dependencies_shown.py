"""What tables and figures are said to depend on is what is read to make them."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from paper_results import build_paper_run
from watched import Watched

from gblsr_repro import config as configuration
from gblsr_repro.analysis import schemas
from gblsr_repro.analysis.paper_aggregates import read_printed
from gblsr_repro.analysis.provenance.comparison import find_setting
from gblsr_repro.analysis.provenance.recorded import SCOPES
from gblsr_repro.config import tables
from gblsr_repro.dependencies import collect_dependencies, list_settings
from gblsr_repro.dependencies.rules import EXPERIMENT
from gblsr_repro.files import write_json
from gblsr_repro.reporting.groups import group_items
from gblsr_repro.reporting.writing import write_items

CONFIG = Path(__file__).resolve().parents[2] / "config"
GROUPS = group_items(configuration.load())
# Read to say which items there are, and to select of the paper's numbers those of what was run.
LISTED = {"released", "latency.clocks", "native.arms", "native.data.evaluate", "asr.methods",
          "asr.evaluate", "asr.scales", "asr.trained_scales", "asr.timing.datasets",
          "asr.timing.scale"}  # fmt: skip
# Of the first the rows of the items count; of the other nothing, which only completes the protocol.
BY_ROWS = {"items.tsv", "config.yaml"}
NOTING = f"""
import os, sys
def note(event, arguments):
    if event == "open" and str(arguments[0]).startswith("{CONFIG}/"):
        print(arguments[0])
sys.addaudithook(note)
from gblsr_repro import cli
sys.exit(cli.main(sys.argv[1:]))
"""
opened: set[str] = set()


def note_file(event, arguments):
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        path = Path(os.path.abspath(arguments[0]))
        if path.is_relative_to(CONFIG):
            opened.add(path.relative_to(CONFIG).as_posix())


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A run with the paper's numbers, with the images and fields that figures show."""
    sys.addaudithook(note_file)
    run = build_paper_run(tmp_path_factory.mktemp("run"))
    run.write_exemplars()
    run.write_fields()
    run.write()
    return run


@contextmanager
def watched(run, followed):
    """The run's config; beyond what is said nothing of it and of the tables may be read."""
    for cached in (tables._read_table_once, configuration.load_protocol, read_printed):
        cached.cache_clear()
    opened.clear()
    seen: set[str] = set()
    yield Watched(run.config, seen)
    assert seen - LISTED - {*followed} == set()
    assert {f"config/{name}" for name in opened - BY_ROWS} - {*followed} == set()


@pytest.mark.parametrize("group", GROUPS)
def test_items_are_made_from_the_settings_and_files_that_they_are_said_to_be(
    published, group, tmp_path
):
    followed = collect_dependencies("items", tuple(GROUPS[group]), published.config)
    names = [item.item for item in GROUPS[group]]
    with watched(published, followed) as config:
        written, _ = write_items(published.folder, tmp_path, config, names)
    assert {path.stem.removesuffix("_vs_paper") for path in written} == {*names}


def test_claims_are_judged_by_the_tables_that_they_are_said_to_be(published, tmp_path):
    """What is read when the modules of claims are imported, too: in a process of its own."""
    config = tmp_path / "config.json"
    write_json(config, published.config)
    command = ["claims", "--config", config, "--aggregates", published.folder, "--output", tmp_path]
    done = subprocess.run(
        [sys.executable, "-c", NOTING, *map(str, command)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    files = {Path(line).relative_to(CONFIG).as_posix() for line in done.stdout.split()}
    assert "paper/claims.tsv" in files
    followed = collect_dependencies("claims", None, published.config)
    assert {f"config/{name}" for name in files - BY_ROWS} - {*followed} == set()


@pytest.mark.parametrize("name", SCOPES)
def test_a_run_is_compared_with_the_paper_by_the_settings_that_its_aggregates_depend_on(name):
    config = configuration.load()
    (job,) = schemas.find_jobs([name])
    followed = collect_dependencies("aggregate", job, config)
    for setting in (leaf for part in EXPERIMENT for leaf in list_settings(config, part)):
        row = find_setting(setting)
        if row and {*row.scopes.split()} & {*SCOPES[name]}:
            assert setting in followed
