"""What runs record of their conditions: the paper's, a demo's, and others with one changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import made

from gblsr_repro.analysis.provenance.comparison import build_provenance
from gblsr_repro.analysis.provenance.conditions import SCOPES, RunConditions
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.provenance.settings import collect_settings
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.config import find_row, load_protocol, read_datasets, read_paper_device
from gblsr_repro.dependencies import identify_run
from gblsr_repro.files import write_json
from gblsr_repro.metadata import Images


def _record_papers_runs(benchmark: str) -> RunConditions:
    protocol = load_protocol()
    data = protocol["native"]["data"] if benchmark == "native" else protocol["asr"]
    subjects = protocol["native"]["arms"] if benchmark == "native" else protocol["asr"]["methods"]
    names = [name for name in SCOPES if SCHEMAS[name].benchmark == benchmark]
    scopes = list(dict.fromkeys(scope for name in names for scope in SCOPES[name]))
    identities = {subject: identify_run(find_row(subject), protocol) for subject in subjects}
    runs = [
        {"subject": subject, "seed": seed, "identity": identity}
        for subject, identity in identities.items()
        for seed in protocol["seeds"]
    ]
    train = [_build_whole_set(name) for name in data["train"]]
    return RunConditions(
        benchmark=benchmark,
        scopes=scopes,
        settings=collect_settings(scopes, runs, runs, protocol),
        passes=(10, 50),
        seeds=dict.fromkeys(subjects, protocol["seeds"]),
        train=train,
        validation=train if benchmark == "native" else (),
        evaluate={column: [_build_whole_set(name)] for column, name in data["evaluate"].items()},
        devices=[read_paper_device()],
        timed_on=[read_paper_device()],
    )


def _build_whole_set(name: str) -> Images:
    row = read_datasets()[name]
    return made.image_set(name, row.title, row.images, row.images)


PAPER = (_record_papers_runs("native"), _record_papers_runs("asr"))
"""What the paper's runs would record."""


def write_provenance(folder: Path, recorded: Iterable[RunConditions]) -> None:
    """Write what the aggregate step leaves of what runs recorded, a file for each."""
    for run in recorded:
        write_json(
            folder / f"provenance_{run.benchmark}.json",
            build_provenance(run).model_dump(mode="json"),
        )


def merge_provenance(*recorded: RunConditions) -> Provenance:
    """Return the provenance of what runs recorded."""
    return Provenance.join(map(build_provenance, recorded))


def set_setting(
    run: RunConditions, name: str, *values: Any, of: Collection[str] = ()
) -> RunConditions:
    """Let runs that depend on a setting, by default all, have recorded others; none: nothing."""
    settings = []
    for each in run.settings:
        concerned = name in each.recorded and (not of or each.subject in of)
        left = {key: value for key, value in each.recorded.items() if key != name}
        changed = [{**left, name: value} for value in values] or [left]
        for recorded in changed if concerned else [each.recorded]:
            settings.append(replace(each, recorded=recorded))
    return replace(run, settings=settings)


def set_seeds(
    run: RunConditions, seeds: Mapping[str, Sequence[int]], timed: bool = False
) -> RunConditions:
    """Let some arms or methods have been trained, or timed, with other seeds."""
    settings = [
        replace(each, recorded={**each.recorded, "seeds": seeds[each.subject]})
        if each.subject in seeds and (each.scopes[0].measure == "latency") == timed
        else each
        for each in run.settings
    ]
    return replace(run, settings=settings, seeds={**run.seeds, **({} if timed else seeds)})


def record_demo(seeds: int) -> list[RunConditions]:
    """Return what runs of the demo record: stand-ins, few steps, a slow CPU."""
    device = ["AMD EPYC 7763 64-Core Processor"]
    stand_in = [_build_stand_in("dtd")]
    runs = []
    for paper in PAPER:
        own = {subject: [*range(seeds)] for subject in paper.seeds}
        run = set_setting(paper, f"{paper.benchmark}.training.steps", 40)
        runs.append(
            replace(
                set_seeds(set_seeds(run, own), own, timed=True),
                preset="demo",
                train=stand_in,
                validation=stand_in,
                evaluate={column: [_build_stand_in(column)] for column in paper.evaluate},
                devices=device,
                timed_on=device,
            )
        )
    return runs


def _build_stand_in(name: str) -> Images:
    return made.image_set(f"demo_{name}", f"{name} stand-in", 2, 2, stands_in_for=name)
