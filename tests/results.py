"""A finished run that nobody trained: made up from the keys of its numbers, for tests to change.

`Results` is the run of a configuration, at first the paper's. `fill` gives numbers to aggregates,
`record` metadata to its runs, those of the paper. Both stay in memory, for a test to change, until
`read` writes the folder as the workflow leaves it and opens it as the package does; `hold` opens
the same without a folder. Runs that are ready: `made_up_runs`; files of single jobs: `job_files`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import made
import numpy as np
import pandas as pd
from job_files import find_benchmark
from PIL import Image

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.provenance.comparison import compare_all
from gblsr_repro.analysis.provenance.conditions import SCOPES
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.analysis.schemas import (
    KEYS,
    RUN_AGGREGATES,
    RUN_FILE,
    SCHEMAS,
    expand_pattern,
    list_columns,
)
from gblsr_repro.analysis.subjects import ARMS, SETS, TIMED
from gblsr_repro.config import (
    find_row,
    list_items,
    load,
    read_arms,
    read_datasets,
    read_paper_device,
)
from gblsr_repro.dependencies import identify_run
from gblsr_repro.evaluation import BICUBIC, NEAREST, TRUTH
from gblsr_repro.evaluation.fields import BandwidthFields
from gblsr_repro.files import write_csv, write_json
from gblsr_repro.metadata import Images
from gblsr_repro.reporting.items import select_items
from gblsr_repro.reporting.layout import Table
from gblsr_repro.reporting.tables import build

WINNING = {  # of the main arm, of the first other arm, more of each next one, deviation
    "psnr": (30.0, 20.0, 1.0, 0.1),
    "ssim": (0.9, 0.5, 0.01, 0.001),
    "lpips": (0.2, 0.6, 0.01, 0.001),
    "edge_lpips": (0.1, 0.3, 0.01, 0.001),
    "lse": (3.0, 4.0, 0.1, 0.01),
    "inference_ms": (1.0, 5.0, 0.0, 0.01),
    "params": (989_955, 1_000_000, 1, 0.0),
}
STATISTICS = (
    "t1", "t1_peak", "t1_p99", "t2", "t3", "t4", "var_within", "global_mean", "global_std"
)  # fmt: skip
LOCALITY = {
    "gblsr_full_linear": (0.0127, 0.013, 0.040, 0.9844, 0.0086, 0.73, 1.07e-4, 0.7345, 0.0121),
    "gblsr_bandwidth_linear": (0.0114, 0.011, 0.038, 0.99, 0.0081, 0.79, 0.9e-4, 0.74, 0.011),
    "gblsr_bandwidth": (0.0100, 0.010, 0.03, 0.995, 0.006, 0.60, 3.2e-5, 0.55, 0.007),
    "gblsr_full": (0.0101, 0.010, 0.03, 0.992, 0.007, 0.66, 3.7e-5, 0.56, 0.007),
}
VARYING = ("t1", "t1_peak", "t1_p99", "global_std")
"""The statistics that grow with the variation of the bandwidth, as does the root of a variance."""
ABLATION = {  # PSNR, LPIPS
    "gblsr_fixed": (19.472, 0.60),
    "gblsr_scalar": (21.568, 0.62),
    "gblsr_bandwidth": (21.477, 0.662),
    "gblsr_full": (21.802, 0.689),
}

Number = float | tuple[float, float]
"""A mean, or a mean and its deviation over seeds."""


class Results:
    """A results folder under construction: rows by aggregate, and metadata of runs by file."""

    def __init__(self, root: Path, seeds: int = 3) -> None:
        self.root, self.folder = root, root / "aggregates"
        self.seeds = seeds
        self.config = load()
        self.config["seeds"] = list(range(seeds))
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.metadata: dict[str, dict[str, Any]] = {}

    # --- numbers ---

    def add(self, name: str, mean: float, std: float = math.nan, **keys: object) -> None:
        """Add a number over seeds to an aggregate; one seed has no deviation."""
        std = math.nan if self.seeds == 1 else std
        row = {**dict.fromkeys(KEYS, ""), **keys, "mean": mean, "std": std, "n": self.seeds}
        self.rows.setdefault(name, []).append(row)

    def fill(
        self, name: str, number: Callable[..., Number | None], **keys: Iterable[object]
    ) -> None:
        """Add to an aggregate what `number` gives for every combination of keys, but for None."""
        for values in itertools.product(*keys.values()):
            named = dict(zip(keys, values, strict=True))
            found = number(**named)
            if found is not None:
                self.add(name, *(found if isinstance(found, tuple) else (found,)), **named)

    def set_native(
        self,
        changes: Mapping[tuple[str, str, str], Number] | None = None,
        arms: Sequence[str] = ARMS,
        columns: Sequence[str] = SETS,
    ) -> None:
        """Let the main arm win everything, but for `changes` by data set, arm and metric."""
        self.rows["native"] = []

        def number(dataset: str, arm: str, metric: str) -> Number:
            main, others, more, std = WINNING[metric]
            usual = main if arm == "gblsr_scalar" else others + more * arms.index(arm)
            return (changes or {}).get((dataset, arm, metric), (usual, std))

        self.fill("native", number, dataset=columns, arm=arms, metric=WINNING)

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
        methods: Sequence[str],
        psnr: Callable[[int, float], float] = lambda place, scale: 30.0 + place,
        scales: Sequence[float] = (2, 3, 4),
        columns: Iterable[str] = ("set5", "set14", "b100", "urban100"),
    ) -> None:
        """Add `psnr(place of the method, scale)` of methods, by default 1 dB above one another."""

        def number(dataset: str, method: str, scale: float, metric: str) -> Number:
            place = methods.index(method)
            return (psnr(place, scale), 0.1) if metric == "psnr_y" else (0.9, 0.001)

        metrics = ("psnr_y", "ssim_y")
        keys = {"dataset": columns, "method": methods, "scale": scales, "metric": metrics}
        self.fill("asr_quality", number, **keys)

    def add_times(self, milliseconds: Mapping[str, float], clock: str = "paper") -> None:
        """Add times of methods on three sets, as multiples of the ms on the first, and memory."""

        def number(dataset: str, method: str, metric: str, **_: str) -> Number:
            ms = milliseconds[method]
            if metric == "mean_ms":
                return ms * (1 + TIMED.index(dataset)), 0.004 * ms
            return 1000.0 * ms, 0.1

        keys = {"scale": ["4"], "clock": [clock], "metric": ["mean_ms", "peak_memory_mib"]}
        self.fill("asr_latency", number, dataset=TIMED, method=milliseconds, **keys)

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
        benchmark = find_benchmark(row["arm"])
        self.rows.setdefault(RUN_AGGREGATES[benchmark], []).append({"benchmark": benchmark, **row})

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
        for arm, psnr in {"gblsr_scalar": 21.5, "gblsr_full": 21.8}.items():
            self.add("ablation", psnr, 0.1, arm=arm, metric="psnr")
        for metric, gap in gaps.items():
            self.add("ablation", gap, 0.1, arm="gblsr_full", metric=f"delta_{metric}")
        for name, flag in {"tests_met": tests_met, "criterion_a": int(tests_met == 4)}.items():
            self.add("locality", flag, arm="gblsr_full", statistic=name)
        self._decide("ablation", aggregate.decide_criterion_b)

    # --- metadata ---

    def record(self) -> Results:
        """Let all runs and timings of the configuration have recorded what the paper's would."""
        data = {"native": self.config["native"]["data"], "asr": self.config["asr"]}
        for benchmark, half in data.items():
            arrays = {column: [dataset] for column, dataset in half["evaluate"].items()}
            arrays["train"] = arrays["validation"] = half["train"]
            for array, datasets in arrays.items():
                sets = {"datasets": [*map(_build_whole_set, datasets)]}
                self.metadata[f"{benchmark}/arrays/{array}.json"] = sets
        for name, schema in ((name, SCHEMAS[name]) for name in SCOPES):
            for pattern in schema.inputs:
                for fields, file in expand_pattern(name, self.config, pattern):
                    array = f"{schema.benchmark}/arrays/{fields.get('dataset')}.json"
                    self.metadata[file] = self.metadata.get(array, {"datasets": []}).copy()
                    if pattern == RUN_FILE:
                        row = find_row(fields["subject"])
                        self.metadata[file]["identity"] = identify_run(row, self.config)
        self.change("*", device={"name": read_paper_device()})
        return self

    def change(self, files: str, **entries: Any) -> None:
        """Let the files of a pattern have recorded other entries."""
        for file in filter(lambda file: fnmatch(file, files), self.metadata):
            self.metadata[file].update(entries)

    def forget(self, *files: str) -> None:
        """Let the files of some patterns not exist."""
        for file in [*self.metadata]:
            if any(fnmatch(file, pattern) for pattern in files):
                del self.metadata[file]

    def set_setting(self, name: str, *values: Any, of: Collection[str] = ()) -> None:
        """Let what depends on a setting have another value, several in turn, or none recorded.

        With `of` the runs of these arms or methods alone.
        """
        runs = [
            self.metadata[file]
            for file in self.metadata
            if file.endswith("run.json") and (not of or file.split("/")[2] in of)
        ]
        for place, run in enumerate(run for run in runs if name in run["identity"]):
            left = {key: value for key, value in run["identity"].items() if key != name}
            run["identity"] = left | ({name: values[place % len(values)]} if values else {})
        if values and not of:
            *sections, last = name.split(".")
            section = self.config
            for each in sections:
                section = section[each]
            section[last] = values[0]

    def compare(self) -> Provenance:
        """Compare what was recorded with the paper."""
        return compare_all(self.metadata, self.config)

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
        columns = self.config["native"]["data"]["evaluate"]
        self._write_pictures("native", (TRUTH, *ARMS), columns)

    def write_enlarged(self) -> None:
        """Write pictures of super-resolution, larger than a page shows."""
        asr = self.config["asr"]
        files = [f"{dataset}_x{scale}" for dataset in asr["evaluate"].values() for scale in (4, 8)]
        self._write_pictures("asr", (TRUTH, NEAREST, BICUBIC, *asr["methods"]), files, 300)

    def _write_pictures(
        self, benchmark: str, subjects: Iterable[str], files: Iterable[str], size: int = 64
    ) -> None:
        random = np.random.default_rng(3)
        for name in subjects:
            folder = self.root / benchmark / "exemplars" / "seed0" / name
            folder.mkdir(parents=True, exist_ok=True)
            for file in files:
                coarse = random.integers(0, 256, (size // 4, size // 4, 3), dtype=np.uint8)
                picture = coarse.repeat(4, 0).repeat(4, 1)
                Image.fromarray(picture).save(folder / f"{file}.png")

    def write_scores(self, path: str, images: Sequence[str], *metrics: str) -> list[dict]:
        """Write scores of images, drawn from a seed, as an evaluation leaves them; return them."""
        random = np.random.default_rng(len(path))
        rows = [{"image": image} | {m: random.uniform(0, 40) for m in metrics} for image in images]
        write_csv(self.root / path, ("image", *metrics), rows)
        return rows

    # --- reading ---

    def write(self) -> Path:
        """Write all rows, and what was recorded; return the folder of aggregates."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.rows.items():
            known = ({key: value for key, value in row.items() if value == value} for row in rows)
            write_csv(self.folder / f"{name}.csv", list_columns(name), known)
        provenance = self.compare().model_dump(mode="json")
        write_json(self.folder / "provenance_native.json", provenance)
        return self.folder

    def read(self) -> Aggregates:
        """Write the folder and open it."""
        return Aggregates(self.write(), self.config)

    def hold(self) -> Aggregates:
        """Return the same without a folder."""
        run = Aggregates(Path("nowhere"), self.config, tables=self.rows)
        run.provenance = self.compare()
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

    def build_allowed(self, *aggregates: str) -> set[str]:
        """Build all tables of some aggregates that the configuration allows; return their names."""
        names = {
            name
            for name, item in list_items(self.config).items()
            if item.kind == "table" and item.needs and {*item.needs} <= {*aggregates}
        }
        assert all(self.build_all(name) for name in names)
        return names

    def build_cells(self, name: str) -> dict[str, list[str]]:
        """Build a table; return its cells by the label of their row."""
        return {row.cells[0]: list(row.cells[1:]) for row in self.build(name).rows}

    def build_beside_paper(self, name: str) -> dict[tuple[str, str], list[str]]:
        """Build a table beside the paper's; return its cells by row and kind of row."""
        cells, label = {}, ""
        for line in (row.cells for row in self.build(f"{name}_vs_paper").rows):
            label = line[0] or label
            cells[label, line[1]] = list(line[2:])
        return cells


def _build_whole_set(name: str) -> Images:
    row = read_datasets()[name]
    return made.image_set(name, row.title, row.images, row.images)
