"""What runs record of their conditions: the paper's, a demo's, and others with one changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import made

from gblsr_repro.analysis.provenance.conditions import (
    SCOPES,
    RunConditions,
    collect_settings,
    read_paper,
)
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.provenance.writing import build_provenance
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.config import find_row, load_protocol
from gblsr_repro.dependencies import identify_run
from gblsr_repro.files import write_json
from gblsr_repro.metadata import Images


def _record_papers_runs(benchmark: str) -> RunConditions:
    paper, protocol = read_paper(benchmark), load_protocol()
    names = [name for name in SCOPES if SCHEMAS[name].benchmark == benchmark]
    runs = [
        {"subject": subject, "identity": identify_run(find_row(subject), protocol)}
        for subject in paper.seeds
    ]
    return replace(
        paper,
        scopes=[scope for name in names for scope in SCOPES[name]],
        settings=collect_settings(names, runs, protocol),
        timed_seeds=paper.seeds,
        validation=paper.train if benchmark == "native" else (),
    )


PAPER = (_record_papers_runs("native"), _record_papers_runs("asr"))
"""What the paper's runs would record."""


def write_provenance(folder: Path, recorded: Iterable[RunConditions]) -> None:
    """Write what the aggregate step leaves of what runs recorded, a file for each."""
    for run in recorded:
        write_json(folder / f"provenance_{run.benchmark}.json", asdict(build_provenance(run)))


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


def record_demo(seeds: int) -> list[RunConditions]:
    """Return what runs of the demo record: stand-ins, few steps, a slow CPU."""
    device = ["AMD EPYC 7763 64-Core Processor"]
    stand_in = [_build_stand_in("dtd")]
    return [
        replace(
            set_setting(paper, f"{paper.benchmark}.training.steps", 40),
            preset="demo",
            seeds=(own := {subject: [*range(seeds)] for subject in paper.seeds}),
            timed_seeds=own,
            train=stand_in,
            validation=stand_in,
            evaluate={column: [_build_stand_in(column)] for column in paper.evaluate},
            devices=device,
            timed_on=device,
        )
        for paper in PAPER
    ]


def _build_stand_in(name: str) -> Images:
    return made.image_set(f"demo_{name}", f"{name} stand-in", 2, 2, stands_in_for=name)
