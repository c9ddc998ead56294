"""From per-image rows and run records to means, standard deviations and counts over seeds.

Each public function makes one aggregate from the files under the results folder {R}: first the
mean over the images of a set for every seed, then `Summary` over the seeds found. Seeds that were
not run are not guessed: `n` says how many there are. What nobody measured has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ..config import BASELINE, READING, Arm, Config, selected_arms, selected_methods
from ..errors import UserError
from ..evaluation import locality as diagnostic
from ..files import read_json, write_csv
from ..models.native import parameter_budgets
from .statistics import summarize
from .tidy import (
    BUDGET_COLUMNS,
    KEYS,
    NATIVE_TIMES,
    RUN_COLUMNS,
    VALUES,
    Key,
    number,
    read_rows,
    scale_key,
)

NATIVE_METRICS = ("psnr", "ssim", "lpips", "edge_lpips", "lse")
ASR_METRICS = ("psnr_y", "ssim_y")
LATENCY_METRICS = ("mean_ms", "median_ms", "p90_ms", "p95_ms", "peak_memory_mib")
RUN_NUMBERS = ("steps", "parameters", "wall_seconds", "steps_per_second", "peak_memory_mib")

Values = dict[Key, list[float]]
Rows = Iterator[list[Any]]


@dataclass(frozen=True)
class Images:
    """Per-image rows of one file: image names and the non-empty values of every metric."""

    path: Path
    names: tuple[str, ...]
    values: Mapping[str, list[float]]

    def means(self) -> dict[str, float]:
        """Return the mean over images of every metric that was measured."""
        return {metric: fmean(v) for metric, v in self.values.items() if v}


def read_images(path: Path, metrics: Sequence[str]) -> Images:
    """Read per-image rows: columns image, `metrics` and whatever else was measured.

    An empty cell is a value that was not measured. Raises `UserError` naming the file when a
    column is missing, an image is there twice, a cell is no number, or there are no rows.
    """
    rows = read_rows(path, ("image", *metrics))
    if not rows:
        raise UserError(f"{path} has no rows; delete it and evaluate again.")
    names = tuple(row["image"] for row in rows)
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise UserError(f"{path} lists the image {twice!r} twice; delete it and evaluate again.")
    columns = [column for column in rows[0] if column != "image"]
    cells = {
        column: [number(row[column], path, f"{column} of {row['image']}") for row in rows]
        for column in columns
    }
    return Images(path, names, {c: [v for v in cells[c] if v is not None] for c in columns})


class SameImages:
    """Checks that all files of one image set list the same images: else means do not compare."""

    def __init__(self) -> None:
        self.first: dict[str, Images] = {}

    def check(self, dataset: str, images: Images) -> None:
        """Raise `UserError` when `images` are others than those of an earlier file."""
        first = self.first.setdefault(dataset, images)
        if set(images.names) != set(first.names):
            raise UserError(
                f"{images.path} holds other images than {first.path}; delete both and evaluate "
                "again."
            )


def _rows(values: Values) -> Rows:
    for key, per_seed in values.items():
        summary = summarize(per_seed)
        same = len(set(per_seed)) == 1  # then the value itself, which may be a whole number
        yield [*key, per_seed[0] if same else summary.mean, summary.std, summary.n]


def _add(values: Values, key: Key, value: float) -> None:
    values.setdefault(key, []).append(value)


def _seed_files(folder: Path, seeds: Iterable[int], name: str) -> list[Path]:
    paths = [folder / f"seed{seed}" / name for seed in seeds]
    return [path for path in paths if path.is_file()]


def _something(rows: list[list[Any]], folder: Path, step: str) -> list[list[Any]]:
    if not rows:
        raise UserError(f"Nothing to aggregate under {folder}; {step} first.")
    return rows


# --- native -------------------------------------------------------------------------------------


def native(results: Path, config: Config) -> list[list[Any]]:
    """Rows of native.csv: every metric of every evaluation set and benchmark arm.

    `inference_ms` is the mean over images of the mean time by the paper's clock, `ours_ms` and
    `graph_ms` that by the package's own (see `evaluation.latency`); `params` the number of
    trainable parameters.
    """
    return _native_rows(results, config, lambda arm: arm.in_benchmark)


def readings(results: Path, config: Config) -> list[list[Any]]:
    """Rows of readings.csv: those of native.csv, of the baselines in all their readings."""
    return _native_rows(results, config, lambda arm: arm.group in (BASELINE, READING))


def _native_rows(results: Path, config: Config, wanted: Callable[[Arm], bool]) -> list[list[Any]]:
    root = results / "native"
    arms = [name for name, arm in selected_arms(config).items() if wanted(arm)]
    values: Values = {}
    same = SameImages()
    for column in config["native"]["data"]["evaluate"]:
        for arm in arms:
            for path in _seed_files(root / "metrics" / arm, config["seeds"], f"{column}.csv"):
                images = read_images(path, NATIVE_METRICS)
                same.check(column, images)
                for metric, mean in images.means().items():
                    _add(values, (column, arm, metric), mean)
            for path in _latency_files(root / "latency" / arm, config["seeds"]):
                times = read_latency(path)
                for clock, metric in NATIVE_TIMES.items():
                    if (column, clock, "mean_ms") in times:
                        _add(values, (column, arm, metric), times[column, clock, "mean_ms"])
            for path in _seed_files(root / "runs" / arm, config["seeds"], "run.json"):
                _add(values, (column, arm, "params"), _field(read_json(path), "parameters", path))
    return _something(list(_rows(values)), root, "train and evaluate an arm")


def _latency_files(folder: Path, seeds: Iterable[int]) -> list[Path]:
    paths = [folder / f"seed{seed}.csv" for seed in seeds]
    return [path for path in paths if path.is_file()]


def read_latency(path: Path) -> dict[Key, float]:
    """Read one run's timing rows; return values by (dataset, clock, metric).

    Times are means over the images of a set, the peak memory is the highest of any image.
    """
    rows = read_rows(path, ("dataset", "image", "clock", *LATENCY_METRICS))
    cells: Values = {}
    seen: set[Key] = set()
    for row in rows:
        place = (row["dataset"], row["image"], row["clock"])
        if place in seen:
            raise UserError(f"{path} times {' '.join(place)} twice; delete it and time again.")
        seen.add(place)
        for metric in LATENCY_METRICS:
            value = number(row[metric], path, f"{metric} of {row['image']}")
            if value is not None:
                _add(cells, (row["dataset"], row["clock"], metric), value)
    return {key: max(v) if key[-1] == "peak_memory_mib" else fmean(v) for key, v in cells.items()}


# --- diagnostics ----------------------------------------------------------------------------------


def locality(results: Path, config: Config) -> list[list[Any]]:
    """Rows of locality.csv: every statistic of the bandwidth fields of the per-patch arms.

    Tests are made on statistics averaged over seeds: t1_met to t4_met are 1 or 0 and tests_met
    their sum, without a spread. What could not be measured has no row.
    """
    root, rows = results / "native" / "fields", []
    for arm in _diagnosed(config, "log", "linear"):
        paths = [p for s in config["seeds"] if (p := root / arm / f"seed{s}.npz").is_file()]
        if not paths:
            continue
        seeds = diagnostic.summarize(paths, config)
        values = {(arm, name): [s[name] for s in seeds if s[name] is not None] for name in seeds[0]}
        rows += _rows({key: found for key, found in values.items() if found})
        met = diagnostic.tests(diagnostic.average(seeds), config["diagnostics"]["thresholds"])
        flags = {f"{test}_met": outcome for test, outcome in met.items()}
        flags["tests_met"] = diagnostic.tests_met(met)
        rows += [[arm, n, int(f), None, len(seeds)] for n, f in flags.items() if f is not None]
    return _something(rows, root, "run the fields step of a per-patch arm")


def ablation(results: Path, config: Config) -> list[list[Any]]:
    """Rows of ablation.csv: the log-space ablation's arms on the validation images.

    PSNR, LPIPS and per-region PSNR, and delta_<metric>: arm minus control, seed by seed over the
    seeds that both have.
    """
    root = results / "native" / "metrics"
    controls = _diagnosed(config, "control")
    same = SameImages()
    measured: dict[str, dict[int, dict[str, float]]] = {}
    for arm in _diagnosed(config, "reference", "control", "log"):
        for seed in config["seeds"]:
            for path in _seed_files(root / arm, [seed], "validation.csv"):
                images = read_images(path, NATIVE_METRICS)
                same.check("validation", images)
                measured.setdefault(arm, {})[seed] = _ablation_metrics(images)
    values: Values = {}
    for arm, seeds in measured.items():
        for means in seeds.values():
            for metric, mean in means.items():
                _add(values, (arm, metric), mean)
        for control in controls if arm not in controls else []:
            for seed, means in seeds.items():
                reference = measured.get(control, {}).get(seed, {})
                for metric in (m for m in means if m in reference):
                    _add(values, (arm, f"delta_{metric}"), means[metric] - reference[metric])
    return _something(list(_rows(values)), root, "evaluate the ablation's arms")


def _diagnosed(config: Config, *parts: str) -> list[str]:
    return [name for name, arm in selected_arms(config).items() if arm.diagnostic in parts]


def _ablation_metrics(images: Images) -> dict[str, float]:
    means = images.means()
    return {m: v for m, v in means.items() if m in ("psnr", "lpips") or m.startswith("psnr_")}


# --- super-resolution ---------------------------------------------------------------------------


def asr_quality(results: Path, config: Config) -> list[list[Any]]:
    """Rows of asr_quality.csv: PSNR-Y and SSIM-Y of every method, set and scale, and of bicubic."""
    root = results / "asr" / "metrics"
    values: Values = {}
    same = SameImages()
    for column in config["asr"]["evaluate"]:
        for method in ("bicubic", *selected_methods(config)):
            for scale in map(scale_key, config["asr"]["scales"]):
                name = f"{column}_x{scale}.csv"
                paths = (
                    [p for p in [root / method / name] if p.is_file()]
                    if method == "bicubic"  # nothing is trained, so there are no seeds
                    else _seed_files(root / method, config["seeds"], name)
                )
                for path in paths:
                    images = read_images(path, ASR_METRICS)
                    same.check(column, images)
                    for metric, mean in images.means().items():
                        _add(values, (column, method, scale, metric), mean)
    return _something(list(_rows(values)), root, "evaluate a method")


def asr_latency(results: Path, config: Config) -> list[list[Any]]:
    """Rows of asr_latency.csv: times and peak memory of every method, set and clock."""
    root = results / "asr" / "latency"
    scale = scale_key(config["asr"]["timing"]["scale"])
    values: Values = {}
    for method in selected_methods(config):
        for path in _latency_files(root / method, config["seeds"]):
            for (dataset, clock, metric), value in read_latency(path).items():
                _add(values, (dataset, method, scale, clock, metric), value)
    return _something(list(_rows(values)), root, "time a method")


# --- runs ---------------------------------------------------------------------------------------


def runs(results: Path, config: Config) -> list[list[Any]]:
    """Rows of runs.csv: one per native training run, in the order of the arms table."""
    return _run_rows(results, "native", selected_arms(config), config)


def budget(results: Path, config: Config) -> list[list[Any]]:
    """Rows of budget.csv: trainable parameters of every arm that the config runs, untrained."""
    return [[arm.arm, arm.parameters] for arm in parameter_budgets(config)]


def asr_runs(results: Path, config: Config) -> list[list[Any]]:
    """Rows of asr_runs.csv: one per super-resolution training run."""
    return _run_rows(results, "asr", selected_methods(config), config)


def _run_rows(
    results: Path, benchmark: str, names: Iterable[str], config: Config
) -> list[list[Any]]:
    root = results / benchmark / "runs"
    rows = [
        _run_row(benchmark, name, path)
        for name in names
        for path in _seed_files(root / name, config["seeds"], "run.json")
    ]
    return _something(rows, root, "train")


def _run_row(benchmark: str, name: str, path: Path) -> list[Any]:
    record = read_json(path)
    steps, parameters, *measured = (_field(record, key, path) for key in RUN_NUMBERS)
    device = record.get("device") or {}
    return [
        benchmark,
        name,
        path.parent.name.removeprefix("seed"),
        steps,
        parameters,
        *measured,
        device.get("name"),
        record.get("finished"),
    ]


def _field(record: Mapping[str, Any], key: str, path: Path) -> Any:
    value = record.get(key) if isinstance(record, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{path} has no number {key!r}; train this run again.")
    return value


# --- writing ------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Sequence[str], Callable[[Path, Config], Iterable[Sequence[Any]]]]] = {
    "native": ((*KEYS["native"], *VALUES), native),
    "readings": ((*KEYS["readings"], *VALUES), readings),
    "budget": (BUDGET_COLUMNS, budget),
    "runs": (RUN_COLUMNS, runs),
    "locality": ((*KEYS["locality"], *VALUES), locality),
    "ablation": ((*KEYS["ablation"], *VALUES), ablation),
    "asr_quality": ((*KEYS["asr_quality"], *VALUES), asr_quality),
    "asr_latency": ((*KEYS["asr_latency"], *VALUES), asr_latency),
    "asr_runs": (RUN_COLUMNS, asr_runs),
}


def write(kind: str, results: Path, config: Config, output: Path) -> None:
    """Make one aggregate of `KINDS` and write it to `output`. Raises `UserError`."""
    columns, make = KINDS[kind]
    write_csv(output, columns, make(results, config))
