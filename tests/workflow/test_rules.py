"""Habits that every rule keeps, read off the workflow files."""

import re
from pathlib import Path

import pytest

RULES = sorted((Path(__file__).resolve().parents[2] / "workflow" / "rules").glob("*.smk"))
# A rule of a loop goes by the name that the loop gives it.
RULE = r"^ *rule ?(\w*):\n(.*?)(?=^\S|\Z)"
NAMED = re.compile(r'name:\s+f?"(\w+)')
BODIES = {
    name or (NAMED.search(body) or [path.stem] * 2)[1]: body
    for path in RULES
    for name, body in re.findall(RULE, path.read_text(), re.M | re.S)
}
JOBS = {name: body for name, body in BODIES.items() if "shell:" in body}


def test_rules_were_found():
    assert {"fetch", "train", "evaluate", "latency", "tables_of_", "figures_of_"} <= set(JOBS)


@pytest.mark.parametrize("name", BODIES)
def test_docstring(name):
    assert re.match(r'\s+"""[A-Z].+"""', BODIES[name])


@pytest.mark.parametrize("name", JOBS)
def test_log_and_environment(name):
    for directive in ("log:", "conda:"):
        assert directive in JOBS[name]


@pytest.mark.parametrize("name", JOBS)
def test_scheduled_jobs_state_time_and_memory(name):
    body = JOBS[name]
    if "localrule: True" not in body:
        assert "mem_mb=" in body
        assert "runtime=" in body


@pytest.mark.parametrize("name", ["train", "evaluate", "latency", "asr_train_run", "asr_latency"])
def test_device_jobs_ask_for_a_gpu(name):
    assert "**GPU" in JOBS[name]


def test_only_fetch_downloads():
    for path in RULES:
        assert not re.search(r"https?://|storage\(|curl|wget", path.read_text()), path
