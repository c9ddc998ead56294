"""Synthetic runs for tests of what is shown: the paper's, a demo's, a sparse and a wide one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from PIL import Image
from published_run import LOCALITY

from gblsr_repro.analysis.paper_aggregates import read_paper_aggregates
from gblsr_repro.analysis.provenance import Provenance
from gblsr_repro.analysis.provenance.recorded import ImageSet, Recorded, read_paper
from gblsr_repro.analysis.provenance.writing import build_provenance
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.config import load, read_arms, read_methods
from gblsr_repro.evaluation.fields import Fields
from gblsr_repro.files import write_csv, write_json

PAPER = (read_paper("native"), read_paper("asr"))

ABLATION = {  # PSNR, LPIPS
    "gblsr_fixed": (19.472, 0.60),
    "gblsr_scalar": (21.568, 0.62),
    "gblsr_bandwidth": (21.477, 0.662),
    "gblsr_full": (21.802, 0.689),
}
TIMES = {  # ms per image on Urban100 x4
    "liif_rdn": 127.42,
    "lte_rdn": 145.53,
    "lte_swinir": 292.31,
    "gblsr_asr": 85.94,
    "gblsr_asr_nole": 41.65,
    "gblsr_asr_nf96_nole": 44.84,
}


class SyntheticRun:
    """A results folder under construction: rows by aggregate, written by `write`."""

    def __init__(self, root: Path, seeds: int = 3) -> None:
        self.root = root
        self.seeds = seeds
        self.config = load()
        self.config["seeds"] = list(range(seeds))
        self.rows: dict[str, list[dict]] = {}
        self.recorded: Iterable[Recorded] = ()

    def add(self, name: str, mean: float, std: float | None = None, **keys: object) -> None:
        """Add a number over seeds to an aggregate."""
        spread = None if self.seeds == 1 or std is None or math.isnan(std) else std
        row = {**keys, "mean": mean, "std": spread, "n": self.seeds}
        self.rows.setdefault(name, []).append(row)

    def add_published(self, *names: str) -> None:
        """Add the published values of aggregates."""
        for name in names:
            for key, cell in read_paper_aggregates(load()).cells(name).items():
                keys = dict(zip(SCHEMAS[name].keys, key, strict=True))
                self.add(name, cell.mean, cell.std, **keys)

    def add_runs(self, names: Iterable[str], seconds: float = 90.0, **columns: object) -> None:
        """Add one run of each arm or method and seed."""
        for name in names:
            benchmark = "asr" if name in read_methods() else "native"
            rows = self.rows.setdefault("runs" if benchmark == "native" else "asr_runs", [])
            for seed in self.config["seeds"]:
                row = {"benchmark": benchmark, "arm": name, "seed": seed, "steps": 40}
                row |= {"wall_seconds": seconds + seed, "steps_per_second": 20.0}
                row |= {"parameters": 12, "peak_memory_mib": 512.0, "device": "Some CPU"}
                rows.append(row | columns)

    def add_locality(self, scale: float = 1.0) -> None:
        """Add the statistics of the locality diagnostic, `scale` times the usual bandwidth."""
        limits = self.config["diagnostics"]["thresholds"]
        for arm, (t1, _, _, t2, t3, t4, within, _, _) in LOCALITY.items():
            t1, within = t1 * scale, within * scale**2
            across = within * (1 / t4 - 1)
            met = (
                t1 >= limits["t1_cov_median"],
                t2 < limits["t2_fraction_collapsed"],
                t3 >= limits["t3_region_gap"],
                t4 >= limits["t4_within_fraction"] and within >= limits["t4_within_variance"],
            )
            statistics = {"t1": t1, "t2": t2, "t3": t3, "t4": t4}
            statistics |= {"var_within": within, "var_across": across}
            for name, value in statistics.items():
                self.add("locality", value, 0.08 * value, arm=arm, statistic=name)
            for k, flag in enumerate(met, start=1):
                self.add("locality", int(flag), 0.0, arm=arm, statistic=f"t{k}_met")
            self.add("locality", sum(met), 0.0, arm=arm, statistic="tests_met")

    def add_ablation(self) -> None:
        """Add the numbers of the log-space ablation."""
        for arm, (psnr, perceptual) in ABLATION.items():
            self.add("ablation", psnr, 0.15, arm=arm, metric="psnr")
            self.add("ablation", perceptual, 0.009, arm=arm, metric="lpips")
            if arm != "gblsr_scalar":
                psnr_gap, lpips_gap = np.subtract(ABLATION[arm], ABLATION["gblsr_scalar"])
                self.add("ablation", psnr_gap, 0.2, arm=arm, metric="delta_psnr")
                self.add("ablation", lpips_gap, 0.01, arm=arm, metric="delta_lpips")

    def add_latency(self, factor: float = 1.0, times: dict[str, float] = TIMES) -> None:
        """Add the times of super-resolution methods on two sets, `factor` times the usual."""
        for method, value in times.items():
            keys = {"method": method, "scale": "4", "clock": "paper", "metric": "mean_ms"}
            for dataset, share in {"set14": 0.3, "urban100": 1.0}.items():
                mean = factor * share * value
                self.add("asr_latency", mean, 0.004 * mean, dataset=dataset, **keys)

    def write_fields(self, spread: float = 0.013) -> None:
        """Write fields (images, rows, columns) whose CoV lies around `spread`."""
        random = np.random.default_rng(7)
        for arm in (name for name, row in read_arms().items() if row.diagnostic == "linear"):
            folder = self.root / "native" / "fields" / arm
            folder.mkdir(parents=True, exist_ok=True)
            for seed in self.config["seeds"]:
                size = spread * random.lognormal(0, 0.35, (64, 1, 1))
                bandwidth = 0.73 * (1 + size * random.standard_normal((64, 8, 8)))
                blank = np.zeros(bandwidth.shape, np.float32)
                names = [f"image{k}" for k in range(len(bandwidth))]
                Fields(bandwidth, blank, blank.astype(np.int8), names).write(
                    folder / f"seed{seed}.npz"
                )

    def write_exemplars(self) -> None:
        """Write small pictures where the evaluation leaves its reconstructions."""
        random = np.random.default_rng(3)
        for name in ("ground_truth", *_list_main_arms()):
            folder = self.root / "native" / "exemplars" / "seed0" / name
            folder.mkdir(parents=True, exist_ok=True)
            for column in self.config["native"]["data"]["evaluate"]:
                ramp = np.linspace(0, 200, 64)[None, :, None] + random.uniform(0, 55, (64, 64, 3))
                Image.fromarray(ramp.astype(np.uint8)).save(folder / f"{column}.png")

    def write(self) -> Path:
        """Write all rows; return the folder of aggregates."""
        folder = self.root / "aggregates"
        for name, rows in self.rows.items():
            write_csv(folder / f"{name}.csv", SCHEMAS[name].header, rows)
        write_provenance(folder, self.recorded)
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def write_provenance(folder: Path, recorded: Iterable[Recorded]) -> None:
    """Write what the aggregate step leaves of what runs recorded, a file for each."""
    for run in recorded:
        write_json(folder / f"provenance_{run.benchmark}.json", asdict(build_provenance(run)))


def merge_provenance(*recorded: Recorded) -> Provenance:
    """Return the provenance of what runs recorded."""
    provenance = Provenance()
    for run in recorded:
        provenance = provenance.merge(build_provenance(run))
    return provenance


def record_demo(seeds: int) -> list[Recorded]:
    """Return what runs of the demo record: stand-ins, few steps, a slow CPU."""
    device = "AMD EPYC 7763 64-Core Processor"
    return [
        replace(
            paper,
            preset="demo",
            settings={**paper.settings, f"{paper.benchmark}.training.steps": [40]},
            seeds={subject: list(range(seeds)) for subject in paper.seeds},
            timed_seeds={subject: list(range(seeds)) for subject in paper.seeds},
            train=[_build_stand_in("dtd")],
            validation=[_build_stand_in("dtd")],
            evaluate={column: [_build_stand_in(column)] for column in paper.evaluate},
            devices=[device],
            timed_on=[device],
        )
        for paper in PAPER
    ]


def _build_stand_in(name: str) -> ImageSet:
    return ImageSet(f"demo_{name}", f"{name} stand-in", 2, 2, True, name)


def build_paper_run(root: Path) -> SyntheticRun:
    """Build a run with everything, at the paper's numbers and conditions."""
    run = SyntheticRun(root)
    run.add_published("native", "asr_quality")
    gaps = {"gblsr_asr_nole": -0.006, "gblsr_asr_nf96_nole": 0.007}
    grid = [row for row in run.rows["asr_quality"] if row["method"] not in gaps]
    run.rows["asr_quality"] = grid  # the paper prints two cells of the variants alone
    for method, gap in gaps.items():
        for row in [r for r in run.rows["asr_quality"] if r["method"] == "gblsr_asr"]:
            keys = {k: row[k] for k in ("dataset", "scale", "metric")}
            run.add("asr_quality", row["mean"] + gap, row["std"], method=method, **keys)
    run.add_locality()
    run.add_ablation()
    run.add_latency()
    run.write_fields()
    run.write_exemplars()
    run.recorded = PAPER
    return run


def build_demo_run(root: Path, seeds: int = 2) -> SyntheticRun:
    """Build a run as a demo is: near-equal poor numbers, no LPIPS, stand-ins, a slow CPU."""
    run = SyntheticRun(root, seeds)
    random = np.random.default_rng(11)
    evaluate = {"kodak": "demo_kodak", "set14": "demo_set14", "urban100": "demo_urban100"}
    run.config["native"]["data"]["evaluate"] = evaluate
    for arm in _list_main_arms():
        milliseconds = 90.0 if arm == "liif" else 9.0 + random.uniform(0, 4)
        for dataset in evaluate:
            keys = {"dataset": dataset, "arm": arm}
            run.add("native", 11.5 + random.uniform(-0.4, 0.4), 0.05, metric="psnr", **keys)
            run.add("native", 0.2 + random.uniform(-0.02, 0.02), 0.005, metric="ssim", **keys)
            for metric in ("lpips", "edge_lpips"):
                run.add("native", 0.6 + random.uniform(-0.1, 0.1), 0.01, metric=metric, **keys)
            run.add("native", milliseconds, 0.4, metric="inference_ms", **keys)
            run.add("native", 989955, 0.0, metric="params", **keys)
    for number, method in enumerate(["bicubic", *read_methods()]):
        for dataset in run.config["asr"]["evaluate"]:
            for scale in run.config["asr"]["scales"]:
                value = 30 - 1.3 * scale - (0 if method == "bicubic" else 12 + 0.3 * number)
                keys = {"dataset": dataset, "method": method, "scale": scale}
                std = None if method == "bicubic" else 0.2
                run.add("asr_quality", value, std, metric="psnr_y", **keys)
    run.add_locality(scale=1e-2)
    run.add_ablation()
    run.add_latency(0.01, {name: 40.0 + 3 * k for k, name in enumerate(read_methods())})
    run.write_fields(1.2e-4)
    run.write_exemplars()
    run.recorded = record_demo(seeds)
    return run


def build_sparse_run(root: Path) -> SyntheticRun:
    """Build a run of one seed, two arms of which one lacks a data set, and one method."""
    run = SyntheticRun(root, 1)
    for arm, psnr in {"gblsr_scalar": 14.0, "wire": 12.0}.items():
        for dataset in ("kodak",) if arm == "wire" else ("kodak", "set14"):
            for metric, value in {"psnr": psnr, "ssim": 0.3, "lpips": 0.8}.items():
                run.add("native", value, dataset=dataset, arm=arm, metric=metric)
            run.add("native", 10.0, dataset=dataset, arm=arm, metric="inference_ms")
    for scale in (2, 4):
        keys = {"dataset": "urban100", "method": "gblsr_asr", "scale": scale}
        run.add("asr_quality", 20.0 - scale, metric="psnr_y", **keys)
    run.add_latency(1.0, {"gblsr_asr": 86.0})
    run.add("ablation", 14.0, arm="gblsr_scalar", metric="psnr")
    run.add("ablation", 0.8, arm="gblsr_scalar", metric="lpips")
    return run


def build_wide_run(root: Path) -> SyntheticRun:
    """Build a run with times over four decades, a high locality and large spreads."""
    run = SyntheticRun(root)
    for number, arm in enumerate(_list_main_arms()):
        for k, dataset in enumerate(run.config["native"]["data"]["evaluate"]):
            keys = {"dataset": dataset, "arm": arm}
            run.add("native", 8.0 + 5 * number + k, 2.5, metric="psnr", **keys)
            run.add("native", 0.1 + 0.12 * number, 0.08, metric="ssim", **keys)
            run.add("native", 0.02 + 0.14 * number, 0.05, metric="lpips", **keys)
            run.add("native", 0.01 + 0.1 * number, 0.05, metric="edge_lpips", **keys)
            run.add("native", 0.8 * 4.0**number, 0.1, metric="inference_ms", **keys)
    for number, method in enumerate(read_methods()):
        keys = {"dataset": "urban100", "method": method, "scale": 4}
        run.add("asr_quality", 20 + 0.001 * number, 0.4, metric="psnr_y", **keys)
    run.add_latency(
        1.0, {name: 2.0 * math.exp(number) for number, name in enumerate(read_methods())}
    )
    run.add_locality(scale=40.0)
    run.add_ablation()
    run.write_fields(0.6)
    return run


def _list_main_arms() -> list[str]:
    return [name for name, arm in read_arms().items() if arm.in_benchmark]
