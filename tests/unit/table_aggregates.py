"""Aggregates for tests of tables, and the tables that are built of them."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from synthetic_runs import write_provenance

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.provenance.recorded import Recorded, read_paper
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.config import load
from gblsr_repro.reporting.layout import Table
from gblsr_repro.reporting.tables import build

ARMS = ("global_fourier_mlp", "gblsr_fixed", "gblsr_scalar", "gblsr_full", "liif", "lte", "wire")
SETS = ("kodak", "set14", "urban100")
MISSING = math.nan
Rows = Iterable[Sequence[Any]]


class TableFolder:
    """A folder of aggregates, and the tables that a configuration builds of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = load()
        root.mkdir(parents=True)

    def write(self, name: str, rows: Rows) -> None:
        """Write an aggregate, in place of an earlier one."""
        with (self.root / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([SCHEMAS[name].header, *rows])

    def write_native(self, rows: Rows | None = None) -> None:
        """Write the native aggregate, by default that in which the main arm wins everything."""
        self.write("native", list_native_rows() if rows is None else rows)

    def write_runs(self, imported: Collection[str] = ()) -> None:
        """Write one run of every arm and method of the configuration, trained or imported."""
        for benchmark, name, key in (("native", "runs", "arms"), ("asr", "asr_runs", "methods")):
            subjects = self.config[benchmark][key]
            rows = [
                [benchmark, s, 0, "", 1, "", "", "", "", "", 0.5, "the authors"]
                if s in imported
                else [benchmark, s, 0, 9, 1, 50, 1, 1, "Some CPU", "", "", ""]
                for s in subjects
            ]
            self.write(name, rows)

    def write_ablation(self, deltas: Mapping[str, float], tests_met: int = 0) -> None:
        """Write the log-space ablation: the gaps of one arm, and how many tests it meets."""
        rows = [["gblsr_scalar", "psnr", 21.5, 0.1, 3], ["gblsr_full", "psnr", 21.8, 0.1, 3]]
        rows += [["gblsr_full", f"delta_{name}", v, 0.1, 3] for name, v in deltas.items()]
        flags = {"tests_met": tests_met, "criterion_a": int(tests_met == 4)}
        self.write("locality", [["gblsr_full", name, flag, "", 3] for name, flag in flags.items()])
        frame = pd.DataFrame(rows, columns=SCHEMAS["ablation"].header)
        self.write("ablation", [*rows, *aggregate.decide_criterion_b(frame, load())])

    def write_budget(self, **counts: int) -> None:
        """Write the parameters of all arms, with other `counts` by arm; 0 leaves an arm out."""
        listed = dict.fromkeys(ARMS, 1_000_000) | {"gblsr_scalar": 989_955} | counts
        present = {arm: count for arm, count in listed.items() if count}
        self.write("budget", present.items())

    def write_provenance(self, *recorded: Recorded) -> None:
        """Write what runs recorded."""
        write_provenance(self.root, recorded)

    def build(self, name: str) -> Table:
        """Build a table, the first of its name."""
        return build.list_builders(self.config)[name](Aggregates(self.root, self.config))[0]

    def build_cells(self, name: str) -> dict[str, list[str]]:
        """Build a table; return its cells by the label of their row."""
        return {row.cells[0]: list(row.cells[1:]) for row in self.build(name).rows}

    def build_pairs(self, name: str) -> dict[str, tuple[list[str], list[str]]]:
        """Build a table beside the paper's; return published and measured cells by row."""
        lines = [list(row.cells) for row in self.build(f"{name}_vs_paper").rows]
        return {
            above[0]: (above[2:], below[2:])
            for above, below in zip(lines[::2], lines[1::2], strict=True)
        }

    def build_clock_rows(self, name: str) -> dict[tuple[str, str], list[str]]:
        """Build a table beside the paper's; return its cells by row and kind of row."""
        cells, label = {}, ""
        for line in (row.cells for row in self.build(f"{name}_vs_paper").rows):
            label = line[0] or label
            cells[label, line[1]] = list(line[2:])
        return cells


def list_native_rows(
    changes: Mapping[tuple[str, str, str], tuple[float, float]] | None = None,
    arms: Sequence[str] = ARMS,
    sets: Sequence[str] = SETS,
    drop: Collection[str] = (),
    seeds: int = 3,
) -> Iterator[list[Any]]:
    """List rows in which the main arm wins everything clearly.

    `changes` are other means and deviations, `drop` arms and metrics to leave out.
    """
    for dataset in sets:
        for i, arm in enumerate(arms):
            main = arm == "gblsr_scalar"
            cells = {
                "psnr": (30.0 if main else 20.0 + i, 0.1),
                "ssim": (0.9 if main else 0.5 + i / 100, 0.001),
                "lpips": (0.2 if main else 0.6 + i / 100, 0.001),
                "edge_lpips": (0.1 if main else 0.3 + i / 100, 0.001),
                "lse": (3.0 if main else 4.0 + i / 10, 0.01),
                "inference_ms": (1.0 if main else 5.0, 0.01),
                "params": (989_955 if main else 1_000_000 + i, 0.0),
            }
            for metric, cell in cells.items():
                if arm not in drop and metric not in drop:
                    mean, std = (changes or {}).get((dataset, arm, metric), cell)
                    yield [dataset, arm, metric, mean, std if seeds > 1 else "", seeds]


def list_quality_rows(
    methods: Sequence[str], scales: Sequence[float] = (2, 3, 4)
) -> Iterator[list[Any]]:
    """List the quality of super-resolution methods, each 1 dB above the one before."""
    for i, method in enumerate(methods):
        for dataset in ("set5", "set14", "b100", "urban100"):
            for scale in scales:
                yield [dataset, method, scale, "psnr_y", 30 + i, 0.1, 3]
                yield [dataset, method, scale, "ssim_y", 0.9, 0.001, 3]


def list_timing_rows(times: Mapping[str, float], clock: str = "paper") -> Iterator[list[Any]]:
    """List times of methods on three sets, as multiples of the ms on the first, and memory."""
    for method, milliseconds in times.items():
        for k, dataset in enumerate(("set14", "b100", "urban100"), start=1):
            place = [dataset, method, 4, clock]
            yield [*place, "mean_ms", milliseconds * k, 0.1, 2]
            yield [*place, "peak_memory_mib", 1000.0 * milliseconds, 0.1, 2]


def change_recorded(**values: Any) -> Recorded:
    """Return what the paper's native run would record, with other `values`."""
    return replace(read_paper("native"), **values)
