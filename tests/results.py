"""A results folder with numbers: made up from the names of what is measured, or the paper's own.

`Results` is such a folder under construction. Its rows stay in memory, for a test to change, until
`read` writes the folder and opens it as the package does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from conditions import merge_provenance, record_demo, write_provenance
from PIL import Image

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.provenance.conditions import RunConditions
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.schemas import KEYS, RUN_FOLDERS, list_columns
from gblsr_repro.analysis.subjects import ARMS, SETS, TIMED
from gblsr_repro.config import load, read_arms, read_methods
from gblsr_repro.evaluation.fields import BandwidthFields
from gblsr_repro.files import write_csv
from gblsr_repro.reporting.items import select_items
from gblsr_repro.reporting.layout import Table
from gblsr_repro.reporting.tables import build

LOCALITY = {  # t1, t1_peak, t1_p99, t2, t3, t4, var_within, global_mean, global_std
    "gblsr_full_linear": (0.0127, 0.013, 0.040, 0.9844, 0.0086, 0.73, 1.07e-4, 0.7345, 0.0121),
    "gblsr_bandwidth_linear": (0.0114, 0.011, 0.038, 0.99, 0.0081, 0.79, 0.9e-4, 0.74, 0.011),
    "gblsr_bandwidth": (0.0100, 0.010, 0.03, 0.995, 0.006, 0.60, 3.2e-5, 0.55, 0.007),
    "gblsr_full": (0.0101, 0.010, 0.03, 0.992, 0.007, 0.66, 3.7e-5, 0.56, 0.007),
}
STATISTICS = (
    "t1", "t1_peak", "t1_p99", "t2", "t3", "t4", "var_within", "global_mean", "global_std"
)  # fmt: skip
VARYING = ("t1", "t1_peak", "t1_p99", "global_std")
"""The statistics that grow with the variation of the bandwidth, as does the root of a variance."""
ABLATION = {  # PSNR, LPIPS
    "gblsr_fixed": (19.472, 0.60),
    "gblsr_scalar": (21.568, 0.62),
    "gblsr_bandwidth": (21.477, 0.662),
    "gblsr_full": (21.802, 0.689),
}

Numbers = Mapping[str, tuple[float, float]]
"""Means and standard deviations by metric."""


class Results:
    """A results folder under construction: rows by aggregate, and what its runs recorded."""

    def __init__(self, root: Path, seeds: int = 3) -> None:
        self.root, self.folder = root, root / "aggregates"
        self.seeds = seeds
        self.config = load()
        self.config["seeds"] = list(range(seeds))
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.recorded: Iterable[RunConditions] = ()

    # --- rows ---

    def add(self, name: str, mean: float, std: float = math.nan, **keys: object) -> None:
        """Add a number over seeds to an aggregate; one seed has no deviation."""
        std = math.nan if self.seeds == 1 else std
        row = {**dict.fromkeys(KEYS, ""), **keys, "mean": mean, "std": std, "n": self.seeds}
        self.rows.setdefault(name, []).append(row)

    def add_native(
        self,
        number: Callable[[str, int, int], Numbers],
        arms: Sequence[str] = ARMS,
        columns: Sequence[str] = SETS,
    ) -> None:
        """Add `number(arm, its place, place of the column)` for every arm and column."""
        for k, column in enumerate(columns):
            for place, arm in enumerate(arms):
                for metric, (mean, std) in number(arm, place, k).items():
                    self.add("native", mean, std, dataset=column, arm=arm, metric=metric)

    def set_native(
        self,
        changes: Mapping[tuple[str, str, str], tuple[float, float]] | None = None,
        drop: Collection[str] = (),
        **which: Sequence[str],
    ) -> None:
        """Let the main arm win everything, but for `changes`; `drop` are arms and metrics."""
        self.rows["native"] = []
        self.add_native(_let_the_main_arm_win, **which)
        kept = [row for row in self.rows["native"] if not {row["arm"], row["metric"]} & {*drop}]
        for row in kept:
            key = row["dataset"], row["arm"], row["metric"]
            row["mean"], row["std"] = (changes or {}).get(key, (row["mean"], row["std"]))
        self.rows["native"] = kept

    def set_budget(self, **counts: int) -> None:
        """Set the parameters of all arms, with other `counts` by arm; 0 leaves an arm out."""
        listed = dict.fromkeys(ARMS, 1_000_000) | {"gblsr_scalar": 989_955} | counts
        self.rows["budget"] = [
            {"arm": arm, "metric": "parameters", "mean": count}
            for arm, count in listed.items()
            if count
        ]

    def add_quality(
        self,
        methods: Iterable[str],
        psnr: Callable[[int, float], float] = lambda place, scale: 30.0 + place,
        scales: Sequence[float] = (2, 3, 4),
        columns: Iterable[str] = ("set5", "set14", "b100", "urban100"),
    ) -> None:
        """Add `psnr(place of the method, scale)` of methods, by default 1 dB above one another."""
        for column in columns:
            for place, method in enumerate(methods):
                for scale in scales:
                    keys = {"dataset": column, "method": method, "scale": scale}
                    self.add("asr_quality", psnr(place, scale), 0.1, metric="psnr_y", **keys)
                    self.add("asr_quality", 0.9, 0.001, metric="ssim_y", **keys)

    def add_times(self, milliseconds: Mapping[str, float], clock: str = "paper") -> None:
        """Add times of methods on three sets, as multiples of the ms on the first, and memory."""
        for method, ms in milliseconds.items():
            for k, column in enumerate(TIMED, start=1):
                keys = {"dataset": column, "method": method, "scale": "4", "clock": clock}
                self.add("asr_latency", ms * k, 0.004 * ms, metric="mean_ms", **keys)
                self.add("asr_latency", 1000.0 * ms, 0.1, metric="peak_memory_mib", **keys)

    def add_runs(self, subjects: Iterable[str], seconds: float, seeds: int = 1) -> None:
        """Add runs of arms or methods that were trained here, each a second longer."""
        for subject in subjects:
            for seed in range(seeds):
                row = {"arm": subject, "seed": seed, "steps": 40, "parameters": 12}
                row |= {"wall_seconds": seconds + seed, "steps_per_second": 20.0}
                row |= {"peak_memory_mib": 512.0, "device": "Some CPU"}
                self.add_run(**row)

    def set_runs(self, imported: Collection[str] = ()) -> None:
        """Set one run of every arm and method of the configuration, trained here or imported."""
        self.rows["runs"], self.rows["asr_runs"] = [], []
        subjects = (*self.config["native"]["arms"], *self.config["asr"]["methods"])
        self.add_runs([name for name in subjects if name not in imported], seconds=50.0)
        for subject in imported:
            self.add_run(arm=subject, seed=0, released_by="the authors")

    def add_run(self, **row: Any) -> None:
        """Add a run of an arm or a method."""
        benchmark = "asr" if row["arm"] in read_methods() else "native"
        self.rows.setdefault(RUN_FOLDERS[benchmark], []).append({"benchmark": benchmark, **row})

    def add_locality(self, scale: float = 1.0) -> None:
        """Add the statistics of the diagnostic, the bandwidth varying `scale` times the usual."""
        for arm, values in LOCALITY.items():
            found = dict(zip(STATISTICS, values, strict=True))
            found |= {name: scale * found[name] for name in VARYING}
            found["var_within"] *= scale**2
            found["var_across"] = found["var_within"] * (1 / found["t4"] - 1)
            for name, value in found.items():
                self.add("locality", value, 0.01 * value, arm=arm, statistic=name)
        self._decide("locality", aggregate.apply_locality_tests)

    def _decide(self, name: str, decide: Callable[..., Iterable[dict[str, Any]]]) -> None:
        """Add what the package decides from the means of an aggregate."""
        for row in decide(pd.DataFrame(self.rows[name]), self.config):
            self.rows[name].append(dict.fromkeys(KEYS, "") | row | {"std": math.nan})

    def add_diagnostics(self, scale: float) -> None:
        """Add locality and ablation, and fields whose bandwidth varies `scale` times the usual."""
        self.add_locality(scale)
        self.add_ablation()
        self.write_fields(0.013 * scale)

    def add_ablation(self) -> None:
        """Add the numbers of the log-space ablation, and their gaps to the control."""
        for arm, numbers in ABLATION.items():
            for place, (metric, std) in enumerate((("psnr", 0.2), ("lpips", 0.01))):
                mean = numbers[place]
                self.add("ablation", mean, std, arm=arm, metric=metric)
                if arm != "gblsr_scalar":
                    gap = round(mean - ABLATION["gblsr_scalar"][place], 3)
                    self.add("ablation", gap, 0.01, arm=arm, metric=f"delta_{metric}")

    def set_gaps(self, gaps: Mapping[str, float], tests_met: int = 0) -> None:
        """Set the gaps of GB-LSR-Full in the ablation, and how many tests of locality it meets."""
        self.rows["ablation"], self.rows["locality"] = [], []
        numbers = {"gblsr_scalar": 21.5, "gblsr_full": 21.8}
        for arm, psnr in numbers.items():
            self.add("ablation", psnr, 0.1, arm=arm, metric="psnr")
        for metric, gap in gaps.items():
            self.add("ablation", gap, 0.1, arm="gblsr_full", metric=f"delta_{metric}")
        for name, flag in {"tests_met": tests_met, "criterion_a": int(tests_met == 4)}.items():
            self.add("locality", flag, arm="gblsr_full", statistic=name)
        self._decide("ablation", aggregate.decide_criterion_b)

    # --- files beside the aggregates ---

    def write_fields(self, spread: float = 0.013) -> None:
        """Write fields (images, rows, columns) whose CoV lies around `spread`."""
        random = np.random.default_rng(7)
        for arm in (name for name, row in read_arms().items() if row.diagnostic == "linear"):
            for seed in self.config["seeds"]:
                size = spread * random.lognormal(0, 0.35, (64, 1, 1))
                bandwidth = 0.73 * (1 + size * random.standard_normal((64, 8, 8)))
                blank = np.zeros(bandwidth.shape, np.float32)
                names = [f"image{k}" for k in range(len(bandwidth))]
                path = self.root / "native" / "fields" / arm / f"seed{seed}.npz"
                path.parent.mkdir(parents=True, exist_ok=True)
                BandwidthFields(bandwidth, blank, blank.astype(np.int8), names).write(path)

    def write_exemplars(self) -> None:
        """Write small pictures where the evaluation leaves its reconstructions."""
        random = np.random.default_rng(3)
        for name in ("ground_truth", *ARMS):
            folder = self.root / "native" / "exemplars" / "seed0" / name
            folder.mkdir(parents=True, exist_ok=True)
            for column in self.config["native"]["data"]["evaluate"]:
                ramp = np.linspace(0, 200, 64)[None, :, None] + random.uniform(0, 55, (64, 64, 3))
                Image.fromarray(ramp.astype(np.uint8)).save(folder / f"{column}.png")

    # --- reading ---

    def write(self) -> Path:
        """Write all rows, and what was recorded; return the folder of aggregates."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.rows.items():
            known = ({key: value for key, value in row.items() if value == value} for row in rows)
            write_csv(self.folder / f"{name}.csv", list_columns(name), known)
        write_provenance(self.folder, self.recorded)
        return self.folder

    def read(self) -> Aggregates:
        """Write the folder and open it."""
        return Aggregates(self.write(), self.config)

    def hold(self) -> Aggregates:
        """Return the same without a folder."""
        run = Aggregates(Path("nowhere"), self.config, tables=self.rows)
        run.provenance = merge_provenance(*self.recorded)
        return run

    # --- tables ---

    def build(self, name: str) -> Table:
        """Build a table, the first of its name."""
        return self.build_all(name)[0]

    def build_all(self, name: str) -> list[Table]:
        """Build the tables of an item, beside the paper's where its name ends so."""
        item = select_items("table", self.config)[name.removesuffix(build.BESIDE_PAPER)]
        if name.endswith(build.BESIDE_PAPER):
            return build.build_beside_paper(self.read(), item)
        return build.build_tables(self.read(), item)

    def build_cells(self, name: str) -> dict[str, list[str]]:
        """Build a table; return its cells by the label of their row."""
        return {row[0]: list(row[1:]) for row in self.build(name).rows}

    def build_pairs(self, name: str) -> dict[str, tuple[list[str], list[str]]]:
        """Build a table beside the paper's; return published and measured cells by row."""
        lines = [list(row) for row in self.build(f"{name}_vs_paper").rows]
        return {
            above[0]: (above[2:], below[2:])
            for above, below in zip(lines[::2], lines[1::2], strict=True)
        }

    def build_clock_rows(self, name: str) -> dict[tuple[str, str], list[str]]:
        """Build a table beside the paper's; return its cells by row and kind of row."""
        cells, label = {}, ""
        for line in self.build(f"{name}_vs_paper").rows:
            label = line[0] or label
            cells[label, line[1]] = list(line[2:])
        return cells


def _let_the_main_arm_win(arm: str, place: int, _: int) -> Numbers:
    """Return numbers of a main arm that wins everything clearly, and of the others by place."""
    main = arm == "gblsr_scalar"
    return {
        "psnr": (30.0 if main else 20.0 + place, 0.1),
        "ssim": (0.9 if main else 0.5 + place / 100, 0.001),
        "lpips": (0.2 if main else 0.6 + place / 100, 0.001),
        "edge_lpips": (0.1 if main else 0.3 + place / 100, 0.001),
        "lse": (3.0 if main else 4.0 + place / 10, 0.01),
        "inference_ms": (1.0 if main else 5.0, 0.01),
        "params": (989_955 if main else 1_000_000 + place, 0.0),
    }


# --- whole runs -----------------------------------------------------------------------------------


def build_demo_run(root: Path, seeds: int = 2) -> Results:
    """Build a run as a demo is: near-equal poor numbers, stand-ins, a slow CPU."""
    run = Results(root, seeds)
    random = np.random.default_rng(11)
    run.config["native"]["data"]["evaluate"] = {column: f"demo_{column}" for column in SETS}
    run.add_native(
        lambda arm, *_: {
            "psnr": (11.5 + random.uniform(-0.4, 0.4), 0.05),
            "ssim": (0.2 + random.uniform(-0.02, 0.02), 0.005),
            "lpips": (0.6 + random.uniform(-0.1, 0.1), 0.01),
            "edge_lpips": (0.6 + random.uniform(-0.1, 0.1), 0.01),
            "inference_ms": (90.0 if arm == "liif" else 9.0 + random.uniform(0, 4), 0.4),
            "params": (989_955, 0.0),
        }
    )
    asr = run.config["asr"]
    run.add_quality(
        ["bicubic", *read_methods()],
        lambda place, scale: 30 - 1.3 * scale - (12 + 0.3 * place if place else 0),
        asr["scales"],
        asr["evaluate"],
    )
    run.add_times({name: 0.4 + 0.03 * place for place, name in enumerate(read_methods())})
    run.add_diagnostics(1e-2)
    run.write_exemplars()
    run.recorded = record_demo(seeds)
    return run


def build_sparse_run(root: Path) -> Results:
    """Build a run of one seed, two arms of which one lacks a data set, and one method."""
    run = Results(root, 1)
    for arm, psnr, columns in (("gblsr_scalar", 14.0, SETS[:2]), ("wire", 12.0, SETS[:1])):
        numbers = {"psnr": psnr, "ssim": 0.3, "lpips": 0.8, "inference_ms": 10.0}
        found = {metric: (value, math.nan) for metric, value in numbers.items()}
        run.add_native(lambda *_, found=found: found, [arm], columns)
    run.add_quality(["gblsr_asr"], lambda _, scale: 20.0 - scale, (2, 4), ["urban100"])
    run.add_times({"gblsr_asr": 29.0})
    run.add("ablation", 14.0, arm="gblsr_scalar", metric="psnr")
    run.add("ablation", 0.8, arm="gblsr_scalar", metric="lpips")
    return run


def build_wide_run(root: Path) -> Results:
    """Build a run with times over four decades, a high locality and large spreads."""
    run = Results(root)
    run.add_native(
        lambda _, place, k: {
            "psnr": (8.0 + 5 * place + k, 2.5),
            "ssim": (0.1 + 0.12 * place, 0.08),
            "lpips": (0.02 + 0.14 * place, 0.05),
            "edge_lpips": (0.01 + 0.1 * place, 0.05),
            "inference_ms": (0.8 * 4.0**place, 0.1),
        }
    )
    run.add_quality(read_methods(), lambda place, _: 20 + 0.001 * place, [4], ["urban100"])
    run.add_times({name: 0.7 * math.exp(place) for place, name in enumerate(read_methods())})
    run.add_diagnostics(40.0)
    return run
