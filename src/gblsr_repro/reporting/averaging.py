"""From per-image rows and run records to means, standard deviations and counts over seeds.

Each maker yields the values of one kind of aggregate (see `kinds`) from the files under the
results folder, for every seed the mean over the images of a set; `write` makes of them mean and
sample standard deviation over the seeds found. Seeds that were not run are not guessed: `n` says
how many there are. What nobody measured has no row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pandas as pd

from ..config import Config, guess, protocol, selected_arms
from ..errors import UserError
from ..evaluation import locality as diagnostic
from ..files import read_json, write_csv
from . import kinds
from .aggregates import BICUBIC, NATIVE_TIMES, Aggregates, numbers, read_rows
from .kinds import KINDS, NATIVE, VALUES, Fields, scale_key
from .provenance import writing

NATIVE_METRICS = ("psnr", "ssim", "lpips", "edge_lpips", "lse")
ASR_METRICS = ("psnr_y", "ssim_y")
LATENCY_METRICS = ("mean_ms", "median_ms", "p90_ms", "p95_ms", "peak_memory_mib")
RUN_NUMBERS = ("steps", "parameters", "wall_seconds", "steps_per_second", "peak_memory_mib")

Measured = Iterator[tuple[Any, ...]]  # the key of a number, then its value for one seed
Found = Callable[..., Iterator[tuple[Fields, Path]]]  # `kinds.found` for one kind of one run


# --- files of one seed ----------------------------------------------------------------------------


def read_images(path: Path, metrics: Sequence[str]) -> pd.DataFrame:
    """Read per-image rows by image: `metrics` and whatever else was measured, NaN where not.

    Raises `UserError` naming the file when a column is missing, an image is there twice, a cell is
    no number, or there are no rows.
    """
    table = read_rows(path, ("image", *metrics), ["image"])
    if not table:
        raise UserError(f"{path} has no rows; delete it and evaluate again.")
    numbers(table, [column for column in table[0] if column != "image"], ["image"], path)
    return pd.DataFrame(table).set_index("image")


def read_latency(path: Path) -> pd.Series:
    """Read one run's timing rows; return values by (dataset, clock, metric).

    Times are means over the images of a set, the peak memory is the highest of any image.
    """
    places = ["dataset", "image", "clock"]
    table = read_rows(path, (*places, *LATENCY_METRICS), places)
    numbers(table, LATENCY_METRICS, ["image"], path)
    how = {metric: "max" if metric == "peak_memory_mib" else "mean" for metric in LATENCY_METRICS}
    of_set = pd.DataFrame(table).groupby(["dataset", "clock"], sort=False)
    return of_set.agg(how).stack().dropna()


def image_means(
    files: Iterable[tuple[Fields, Path]], metrics: Sequence[str]
) -> Iterator[tuple[Fields, str, float]]:
    """Yield a file's fields, metric and its mean over images, of all that was measured in `files`.

    They must be of the same images, else means do not compare: `UserError` names the two files.
    """
    first: tuple[Path, set[str]] | None = None
    for fields, path in files:
        images = read_images(path, metrics)
        first = first or (path, {*images.index})
        if first[1] != {*images.index}:
            raise UserError(
                f"{path} holds other images than {first[0]}; delete both and evaluate again."
            )
        for metric, mean in images.mean().dropna().items():
            yield fields, str(metric), mean


# --- over seeds -----------------------------------------------------------------------------------


def over_seeds(kind: str, measured: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the rows of a kind from one value per key and seed."""
    keys = list(KINDS[kind].keys)
    frame = pd.DataFrame(measured, columns=[*keys, "value"])
    values = frame.astype({"value": float}).groupby(keys, sort=False)["value"]
    made = values.agg(mean="mean", std="std", n="count", first="first", distinct="nunique")
    same = made["distinct"] == 1  # then the value itself, and no spread at all
    made["mean"] = made["mean"].mask(same, made["first"])
    made["std"] = made["std"].mask(same & (made["n"] > 1), 0.0)
    return made[list(VALUES)].reset_index()


# --- native -------------------------------------------------------------------------------------


def native(found: Found, config: Config) -> Measured:
    """Every metric of every evaluation set and arm.

    `inference_ms` is the mean over images of the mean time by the paper's clock, `ours_ms` that
    by the package's own (see `evaluation.latency`); `params` the number of trainable parameters.
    """
    for column in config["native"]["data"]["evaluate"]:
        for of, metric, mean in image_means(
            found(f"{kinds.SCORES}.csv", column=column), NATIVE_METRICS
        ):
            yield column, of["subject"], metric, mean
        for of, path in found(f"{kinds.TIMES}.csv", timed=column):
            times = read_latency(path)
            for clock, metric in NATIVE_TIMES.items():
                if (column, clock, "mean_ms") in times:
                    yield column, of["subject"], metric, times[column, clock, "mean_ms"]
        for of, path in found(kinds.RUN):
            yield column, of["subject"], "params", _field(read_json(path), "parameters", path)


def locality(found: Found, config: Config) -> pd.DataFrame:
    """Every statistic of the bandwidth fields of the per-patch arms.

    Tests are made on statistics averaged over seeds: t1_met to t4_met are 1 or 0 and tests_met
    their sum, without a spread. What could not be measured has no row.
    """
    measured, flags = [], []
    for arm, files in groupby(found(kinds.FIELDS), lambda file: file[0]["subject"]):
        seeds = diagnostic.summarize([path for _, path in files], config)
        measured += [
            (arm, name, seed[name]) for name in seeds[0] for seed in seeds if seed[name] is not None
        ]
        met = diagnostic.tests(diagnostic.average(seeds), config["diagnostics"]["thresholds"])
        told = {f"{t}_met": m for t, m in met.items()} | {
            "tests_met": diagnostic.tests_met(met),
            "criterion_a": diagnostic.all_of(met.values()),
        }
        flags += [(arm, n, int(f), None, len(seeds)) for n, f in told.items() if f is not None]
    made = over_seeds("locality", measured)
    return pd.concat([made, pd.DataFrame(flags, columns=made.columns)]) if flags else made


def ablation(found: Found, config: Config) -> pd.DataFrame:
    """The log-space ablation's arms on the validation images.

    PSNR, LPIPS and per-region PSNR, and delta_<metric>: arm minus control, seed by seed over the
    seeds that both have. criterion_b is 1 or 0, decided from the means over seeds, without a
    spread.
    """
    means = image_means(found(f"{kinds.SCORES}.csv", column="validation"), NATIVE_METRICS)
    values = {
        (of["subject"], of["seed"], metric): mean
        for of, metric, mean in means
        if metric in ("psnr", "lpips") or metric.startswith("psnr_")
    }
    measured = [(arm, metric, mean) for (arm, _, metric), mean in values.items()]
    control = [n for n, arm in selected_arms(config).items() if arm.diagnostic == "control"]
    for (arm, seed, metric), mean in values.items():
        for base in control if arm not in control else ():
            if (base, seed, metric) in values:
                measured.append((arm, f"delta_{metric}", mean - values[base, seed, metric]))
    made = over_seeds("ablation", measured)
    flags = [*decide_criterion_b(made, config)]
    return pd.concat([made, pd.DataFrame(flags, columns=made.columns)]) if flags else made


def decide_criterion_b(made: pd.DataFrame, config: Config) -> Iterator[tuple[Any, ...]]:
    """Yield a row that says whether each log-space arm meets criterion B, where that is known."""
    margins = config["diagnostics"]["margins"]
    for name, arm in selected_arms(config).items():
        own = made[made["arm"] == name].set_index("metric")
        if arm.diagnostic != "log" or own.empty:
            continue
        gaps = {m: float(own["mean"].get(f"delta_{m}", math.nan)) for m in margins}
        known = {m: None if math.isnan(gap) else gap for m, gap in gaps.items()}
        met = diagnostic.criteria({}, known, margins).b
        if met is not None:
            yield name, "criterion_b", int(met), None, int(own["n"].max())


def criteria(found: Found, config: Config) -> Measured:
    """Whether the main arm meets the paper's criteria, set by set and as a whole."""
    for _, path in found(NATIVE):
        for row in Aggregates(path.parent, config).decide_criteria():
            yield tuple(row.values())


def budget(found: Found, config: Config) -> Measured:
    """Trainable parameters of every arm that the config runs, untrained."""
    from ..models.native import parameter_counts

    yield from parameter_counts(config).items()


def structure(found: Found, config: Config) -> Measured:
    """What the code alone gives at the paper's structure, whatever was run."""
    from ..models.structure import measure

    yield from measure(protocol()).items()


# --- super-resolution ---------------------------------------------------------------------------


def asr_quality(found: Found, config: Config) -> Measured:
    """PSNR-Y and SSIM-Y of every method, set and scale, and of bicubic, which has no seeds."""
    for column in config["asr"]["evaluate"]:
        patterns = (f"{kinds.BICUBIC_GRID}.csv", f"{kinds.GRID}.csv")
        files = chain.from_iterable(found(pattern, column=column) for pattern in patterns)
        for of, metric, mean in image_means(files, ASR_METRICS):
            yield column, of.get("subject", BICUBIC), of["scale"], metric, mean


def asr_latency(found: Found, config: Config) -> Measured:
    """Times and peak memory of every method, set and clock."""
    scale = scale_key(config["asr"]["timing"]["scale"])
    for of, path in found(f"{kinds.TIMES}.csv"):
        for (_, clock, metric), value in read_latency(path).items():
            yield of["timed"], of["subject"], scale, clock, metric, value


# --- runs ---------------------------------------------------------------------------------------


def runs(found: Found, config: Config) -> Measured:
    """One row per training run, in the order of the arms or methods table."""
    for of, path in found(kinds.RUN):
        record, log = read_json(path), path.with_name("log.csv")
        measured = [_field(record, key, path) for key in RUN_NUMBERS]
        logged = read_rows(log, ("bandwidth",)) if log.is_file() else []
        told = (record.get("device") or {}).get("name"), record.get("finished")
        last = logged[-1]["bandwidth"] if logged else None
        yield of["half"], of["subject"], of["seed"], *measured, *told, last


def _field(record: Mapping[str, Any], key: str, path: Path) -> Any:
    value = record.get(key) if isinstance(record, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{path} has no number {key!r}; train this run again.")
    return value


# --- writing ------------------------------------------------------------------------------------

MAKERS: dict[str, Callable[[Found, Config], Measured | pd.DataFrame]] = {
    "native": native,
    "readings": native,
    "criteria": criteria,
    "budget": budget,
    "structure": structure,
    "runs": runs,
    "locality": locality,
    "ablation": ablation,
    "asr_quality": asr_quality,
    "asr_latency": asr_latency,
    "asr_runs": runs,
}


def write(kind: str, results: Path, config: Config, output: Path) -> None:
    """Make one aggregate of `KINDS` and write it to `output`. Raises `UserError`."""
    if kind not in KINDS:
        raise UserError(f"There is no aggregate {kind!r}; {guess(kind, KINDS)}")
    if kind not in MAKERS:
        writing.write(kind, results, config, output)
        return
    made = MAKERS[kind](partial(kinds.found, kind, results, config), config)
    if not isinstance(made, pd.DataFrame):
        plain = partial(pd.DataFrame, columns=KINDS[kind].columns, dtype=object)
        made = over_seeds(kind, made) if KINDS[kind].keys else plain(made)
    if made.empty:
        half = results / KINDS[kind].half
        raise UserError(f"Nothing to aggregate under {half}; {KINDS[kind].first} first.")
    cells = made.astype(object).where(made.notna(), None)
    write_csv(output, KINDS[kind].header, cells.itertuples(index=False, name=None))
