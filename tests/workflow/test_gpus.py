"""Jobs of a real workflow on a node of pretended GPUs: one each, whatever ends them."""

import os
from collections import defaultdict
from pathlib import Path

import made
import pytest
from planning import run

from gblsr_repro import devices

# The project's own resources and environment, with jobs that take a GPU and note from when to when.
SNAKEFILE = """
configfile: "{repository}/config/config.yaml"
include: "{repository}/workflow/rules/common.smk"

rule all:
    default_target: True
    input:
        expand("{folder}/{{n}}.txt", n=range({jobs})),

rule job:
    output:
        "{folder}/{{n}}.txt",
    resources:
        **GPU,
    shell:
        "python {folder}/job.py {folder}/log.txt {{wildcards.n}} && touch {{output}}"
"""

JOB = """
import os, signal, sys, time
from pathlib import Path
from gblsr_repro import devices
log, number = sys.argv[1:]
def note(what):
    with open(log, "a") as out:
        print(time.time(), number, os.environ["CUDA_VISIBLE_DEVICES"], what, file=out)
devices.reserve_gpu()
note("from")
time.sleep(1.0)
victim = Path(log).with_name("killed")
if number == "2" and not victim.exists():
    victim.touch()
    note("to")
    os.kill(os.getpid(), signal.SIGKILL)
note("to")
"""


@pytest.fixture
def node(tmp_path, repository, monkeypatch):
    """Run `jobs` jobs on a node of so many GPUs; return the intervals of use by GPU."""
    monkeypatch.delenv(devices.VISIBLE, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def use(gpus: int, jobs: int, *arguments: str) -> tuple[dict[str, list], str]:
        made.nvidia_smi(tmp_path, gpus)
        (tmp_path / "job.py").write_text(JOB)
        snakefile = tmp_path / "Snakefile"
        snakefile.write_text(SNAKEFILE.format(repository=repository, folder=tmp_path, jobs=jobs))
        words = ["--snakefile", snakefile, "--cores", 8, "--nolock", *arguments]
        words += ["--config", f"results={tmp_path}/results"]
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        said = run(tmp_path, "snakemake", *words, PATH=path)
        return intervals(tmp_path / "log.txt"), said

    return use


def intervals(log: Path) -> dict[str, list[tuple[float, float]]]:
    began, found = {}, defaultdict(list)
    for line in log.read_text().splitlines():
        at, number, gpu, what = line.split()
        if what == "from":
            began[number] = float(at)
        else:
            found[gpu].append((began[number], float(at)))
    return found


def most_at_once(spans: list[tuple[float, float]]) -> int:
    return max(sum(a <= begin < b for a, b in spans) for begin, _ in spans)


def test_no_two_jobs_share_a_gpu_and_all_are_used_also_after_a_kill(node):
    used, said = node(3, 8, "--resources", "gpu=3", "--retries", "1")
    assert "Execute 3 jobs" in said
    assert len(used) == 3
    assert sum(map(len, used.values())) == 9  # one was killed and came again
    assert {most_at_once(spans) for spans in used.values()} == {1}
    assert most_at_once([span for spans in used.values() for span in spans]) > 1


def test_jobs_that_are_more_than_the_gpus_wait_for_one(node):
    used, _ = node(2, 4, "--retries", "1")
    assert {most_at_once(spans) for spans in used.values()} == {1}
