"""The paper's own numbers as the aggregates of a run under its conditions.

What the paper rounds is moved within its rounding so that all that it computes comes out as
printed, and what it does not print but a claim needs is made up to fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gblsr_repro.analysis.paper_aggregates import read_paper_aggregates
from gblsr_repro.analysis.provenance import Provenance
from gblsr_repro.analysis.reader import Aggregates, Table
from gblsr_repro.analysis.schemas import SCHEMAS
from gblsr_repro.analysis.subjects import ARMS, ASR_SETS, SCALES, SETS, TIMED, TRAINED_SCALES
from gblsr_repro.config import load, read_arms, read_methods
from gblsr_repro.files import write_csv

UNROUNDED = {  # the displayed means of Table 4 differ by a digit from what the paper computes
    ("kodak", "gblsr_scalar", "psnr"): 22.3116,
    ("kodak", "lte", "psnr"): 19.4764,
    ("set14", "gblsr_scalar", "psnr"): 20.7763,
    ("set14", "lte", "psnr"): 17.1876,
    ("set14", "gblsr_fixed", "psnr"): 18.1476,
    ("kodak", "gblsr_scalar", "lpips"): 0.64166,
    ("kodak", "liif", "lpips"): 0.77944,
    ("kodak", "gblsr_full", "lpips"): 0.71622,
}
LOOK = {  # of reconstructions: PSNR on texture patches, steps across borders over others
    "gblsr_fixed": (17.6, 5.3),
    "gblsr_scalar": (19.2, 3.3),
    "gblsr_full": (19.1, 4.1),
}
EDGES = {"gblsr_fixed": 16.0, "gblsr_scalar": 19.0, "gblsr_full": 18.9}  # PSNR, of the others 15
LOCALITY = {  # t1, t1_peak, t1_p99, t2, t3, t4, var_within, global_mean, global_std
    "gblsr_full_linear": (0.0127, 0.013, 0.040, 0.9844, 0.0086, 0.73, 1.07e-4, 0.7345, 0.0121),
    "gblsr_bandwidth_linear": (0.0114, 0.011, 0.038, 0.99, 0.0081, 0.79, 0.9e-4, 0.74, 0.011),
    "gblsr_bandwidth": (0.0100, 0.010, 0.03, 0.995, 0.006, 0.60, 3.2e-5, 0.55, 0.007),
    "gblsr_full": (0.0101, 0.010, 0.03, 0.992, 0.007, 0.66, 3.7e-5, 0.56, 0.007),
}
STATISTICS = (
    "t1", "t1_peak", "t1_p99", "t2", "t3", "t4", "var_within", "global_mean", "global_std"
)  # fmt: skip
MS = {  # by timed set: LIIF-RDN, LTE-RDN, LTE-SwinIR, base, noLE, nf96+noLE, nf48+noLE
    "set14": (37.6741, 41.8442, 88.8815, 27.2041, 15.3464, 18.0127, 15.9836),
    "b100": (29.2153, 28.68, 61.9285, 20.0, 13.6496, 15.2808, 11.7509),
    "urban100": (127.4198, 145.5331, 292.314, 85.9424, 41.6461, 44.8407, 50.4949),
}
TIMED_METHODS = ("liif_rdn", "lte_rdn", "lte_swinir", "gblsr_asr", "gblsr_asr_nole",
                 "gblsr_asr_nf96_nole", "gblsr_asr_nf48_nole")  # fmt: skip
REPEATS = {  # printed spreads in percent, and one for all other times
    "gblsr_asr": (0.14, 0.12, 0.09),
    "gblsr_asr_nole": (0.04, 0.35, 0.05),
    "gblsr_asr_nf96_nole": (0.17, 0.09, 0.45),
}
PEAKS = {  # peak memory on Urban100, and what is saved on average of the three sets, in percent
    "gblsr_asr": (43763.6, 0.0),
    "gblsr_asr_nole": (28213.8, 35.34),
    "gblsr_asr_nf96_nole": (30145.2, 30.57),
    "gblsr_asr_nf48_nole": (27261.7, 37.24),
}
SHIFTS = {  # PSNR-Y over base: in distribution, at other scales, lowest cell and where, x4 cells
    "gblsr_asr_nole": (-0.0059, -0.0090, ("set5", "2", -0.0312), (-0.020, -0.001)),
    "gblsr_asr_nf96_nole": (0.0078, 0.0052, ("set5", "3", -0.0250), (0.004, 0.0)),
    "gblsr_asr_nf48_nole": (-0.0419, -0.0376, ("b100", "2", -0.0798), (-0.05, -0.07)),
}
PARAMETERS = {"gblsr_asr": 22_023_873, "gblsr_asr_nole": 22_023_873,
              "gblsr_asr_nf96_nole": 24_927_393, "gblsr_asr_nf48_nole": 20_610_513}  # fmt: skip
STRUCTURE = {
    "liif_rdn": 22_320_835, "lte_rdn": 22_467_779, "lte_swinir": 12_527_655,
    "highest_mode_weight": 0.982, "coordinate_stretch": 1.0323,
    "multiply_adds_gblsr_scalar": 912.0, "multiply_adds_liif": 924_672.0,
    "multiply_adds_lte": 230_144.0, "multiply_adds_wire": 165_120.0,
    "multiply_adds_at_twice_the_side": 1.0, "multiply_adds_at_twice_the_modes": 3.895,
}  # fmt: skip


def published_run() -> Aggregates:
    """Return aggregates of a run of which every claim that can be measured is reproduced."""
    paper = read_paper_aggregates(load())
    run = Aggregates(paper.folder / "nowhere", load())
    run.provenance = Provenance.paper()
    run.tables = {
        "native": _native(paper),
        "ablation": _ablation(paper),
        "locality": [
            _row("locality", arm, statistic, mean=value, std=0.01 * value, n=3)
            for arm, values in LOCALITY.items()
            for statistic, value in zip(STATISTICS, values, strict=True)
        ]
        + [
            _row("locality", arm, flag, mean=0.0)
            for arm in LOCALITY
            for flag in ("tests_met", "criterion_a")
        ],
        "asr_quality": _asr_quality(paper),
        "asr_latency": _asr_latency(),
        "runs": [_run(arm, seed, 77.0) for arm in read_arms() for seed in range(3)],
        "asr_runs": [
            _run(method, seed, 128_500.0) for method in read_methods() for seed in range(3)
        ],
        "structure": [*paper.table("structure")]
        + [{"name": name, "value": float(value)} for name, value in STRUCTURE.items()],
    }
    return run


def write_published_run(folder: Path) -> None:
    """Write the aggregates of `published_run`."""
    run = published_run()
    for name, rows in run.tables.items():
        columns = SCHEMAS[name].header if SCHEMAS[name].keys else SCHEMAS[name].columns
        present = ({key: x for key, x in row.items() if x == x} for row in rows)  # no NaN
        write_csv(folder / f"{name}.csv", columns, [[r.get(c) for c in columns] for r in present])
    counts = {arm: cell.mean for (_, arm, name), cell in run.cells("native").items()
              if name == "params"}  # fmt: skip
    write_csv(folder / "budget.csv", SCHEMAS["budget"].columns, counts.items())


def _row(kind: str, *key: str, mean: float, std: float = float("nan"), n: float = 3) -> dict:
    named = dict(zip(SCHEMAS[kind].keys, key, strict=True))
    return {**named, "mean": mean, "std": std, "n": n}


def _run(subject: str, seed: int, seconds: float) -> dict[str, Any]:
    row = {"arm": subject, "seed": seed, "wall_seconds": seconds, "bandwidth": 0.88}
    return row | {"parameters": PARAMETERS.get(subject)}


def _native(paper: Aggregates) -> Table:
    rows = []
    for key, cell in paper.cells("native").items():
        std = 0.001 * cell.mean if key[-1] == "inference_ms" else cell.std
        rows.append(_row("native", *key, mean=UNROUNDED.get(key, cell.mean), std=std))
    for column in SETS:
        for arm, (texture, border) in LOOK.items():
            rows.append(_row("native", column, arm, "psnr_texture", mean=texture, std=0.1))
            rows.append(_row("native", column, arm, "border_step", mean=border, std=0.1))
        for arm in ARMS:
            mean = EDGES.get(arm, 15.0)
            rows.append(_row("native", column, arm, "psnr_edge", mean=mean, std=0.1))
    return rows


def _ablation(paper: Aggregates) -> Table:
    rows = []
    spreads = {"psnr": 0.2, "criterion_b": float("nan")}
    for key, cell in paper.cells("ablation").items():
        rows.append(_row("ablation", *key, mean=cell.mean, std=spreads.get(key[1], 0.01)))
    for arm in ("gblsr_bandwidth", "gblsr_full"):
        for region, gain in (("texture", -0.05), ("mixed", -0.1), ("edge", -0.1)):
            rows.append(_row("ablation", arm, f"delta_psnr_{region}", mean=gain, std=0.02))
    return rows


def _asr_quality(paper: Aggregates) -> Table:
    kept = {key: cell for key, cell in paper.cells("asr_quality").items() if key[1] not in SHIFTS}
    rows = [_row("asr_quality", *key, mean=c.mean, std=c.std) for key, c in kept.items()]
    for variant, (trained, others, (worst_set, worst_scale, worst), at_x4) in SHIFTS.items():
        shifts = {(worst_set, worst_scale): worst}
        shifts |= {(name, "4"): x for name, x in zip(("set14", "urban100"), at_x4, strict=True)}
        cells = [(column, scale) for column in ASR_SETS for scale in SCALES]
        inside = [cell for cell in cells if cell[1] in TRAINED_SCALES]
        rest = (len(inside) * trained - sum(shifts.values())) / (len(inside) - len(shifts))
        for column, scale in cells:
            usual = rest if scale in TRAINED_SCALES else others
            base = kept[column, "gblsr_asr", scale, "psnr_y"].mean
            mean = base + shifts.get((column, scale), usual)
            rows.append(_row("asr_quality", column, variant, scale, "psnr_y", mean=mean, std=0.003))
    return rows


def _asr_latency() -> Table:
    rows = []
    for place, column in enumerate(TIMED):
        for method, ms in zip(TIMED_METHODS, MS[column], strict=True):
            percent = REPEATS.get(method, (0.1, 0.1, 0.1))[place]
            std = 0.999 * percent / 100 * ms
            for clock, share in (("paper", 1.0), ("ours", 0.5)):
                key = (column, method, "4", clock)
                rows.append(_row("asr_latency", *key, "mean_ms", mean=share * ms, std=share * std))
        for method, (urban100, saved) in PEAKS.items():
            own = 1 - urban100 / PEAKS["gblsr_asr"][0]
            other = (3 * saved / 100 - own) / 2
            peak = urban100 if column == "urban100" else 10_000 * (1 - other)
            key = (column, method, "4", "paper", "peak_memory_mib")
            rows.append(_row("asr_latency", *key, mean=peak, std=0.0))
    return rows
