"""Aggregate scores, timings and metadata of runs into means and standard deviations over seeds.

One function for every aggregate of `schemas` reads the files below the results folder. For numbers
over seeds it yields one value for every seed, such as the mean over the images of a data set;
`summarize_values` makes the mean, the sample standard deviation and the number of seeds of them.
What was not measured has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..config import Config, list_arms, list_methods, load_protocol
from ..dependencies import collect_dependencies, update_identity
from ..errors import UserError
from ..evaluation import locality as diagnostic
from ..files import write_text
from ..metadata import METADATA_FILE, read_metadata
from ..wording import format_commit, suggest
from . import schemas
from .metrics import NATIVE, SUPERRES, Metric
from .provenance.comparison import write_provenance
from .reader import BICUBIC, NATIVE_TIMES, convert_to_numbers, read_numbers, read_rows
from .schemas import (
    KEYS,
    LOG_FILE,
    RUN_AGGREGATES,
    RUN_COLUMNS,
    SCHEMAS,
    SUMMARY,
    PathFields,
    find_files,
    format_scale,
)

LATENCY_METRICS = ("mean_ms", "median_ms", "p90_ms", "p95_ms", "peak_memory_mib")
VALUE_COLUMNS = (*KEYS, "seed", "value")
EMPTY = dict.fromkeys((*KEYS, "seed"), "")
RUN_NUMBERS = ("steps", "parameters", "wall_seconds", "steps_per_second", "peak_memory_mib")

Values = Iterator[dict[str, Any]]
"""By column: the keys of a number, its seed and its value, or the row of a plain table."""
Files = Iterable[tuple[PathFields, Path]]
"""The files of one pattern, with the fields of their paths.

A function of `AGGREGATORS` takes the files of each input of its schema, in their order.
"""


# --- files of one seed ----------------------------------------------------------------------------


def read_images(path: Path, metrics: Sequence[str]) -> pd.DataFrame:
    """Read the scores of every image: `metrics` and the other columns, NaN where not measured."""
    return read_numbers(path, ("image", *metrics), ["image"]).set_index("image")


def read_latency(path: Path) -> pd.Series:
    """Read the timings of one run: times in ms and memory in MiB by (dataset, clock, metric).

    Times are means over the images of a data set; the peak memory is the highest of any image.
    There are none where the memory sufficed for no clock.
    """
    keys = ["dataset", "image", "clock"]
    columns = [*keys, *LATENCY_METRICS]
    rows = pd.DataFrame(read_rows(path, columns, keys), columns=columns)
    table = convert_to_numbers(rows, path)
    how = {metric: "max" if metric == "peak_memory_mib" else "mean" for metric in LATENCY_METRICS}
    return table.groupby(["dataset", "clock"], sort=False).agg(how).stack().dropna()


def average_images(files: Files, metrics: Sequence[Metric]) -> Values:
    """Average every metric of every score file over its images.

    Raises `UserError` where two files of a data set hold other images: their means do not compare.
    """
    first: dict[str, tuple[Path, set[str]]] = {}
    for fields, path in files:
        images = read_images(path, [metric.name for metric in metrics])
        other, names = first.setdefault(fields.get("dataset", ""), (path, {*images.index}))
        if names != {*images.index}:
            raise UserError(
                f"{path} holds other images than {other}; delete both and evaluate again."
            )
        for metric, mean in images.mean().items():
            yield fields | {"metric": metric, "value": mean}


# --- over seeds -----------------------------------------------------------------------------------


def read_values(name: str, results: Path, config: Config) -> pd.DataFrame:
    """Read the numbers of an aggregate below `results`: `VALUE_COLUMNS`.

    The seed is empty for what has none, as bicubic.
    """
    values = [EMPTY | value for value in collect(name, results, config)]
    frame = pd.DataFrame(values, columns=[*VALUE_COLUMNS]).astype({"value": float})
    return frame.dropna(subset="value")


def summarize_values(name: str, values: pd.DataFrame, config: Config) -> pd.DataFrame:
    """Summarize the numbers of an aggregate over seeds, and decide what follows from the means."""
    if name == "ablation":
        values = pd.concat([values, subtract_control(values, config)])
    rows = summarize_seeds(values)
    decide = {"locality": apply_locality_tests, "ablation": decide_criterion_b}.get(name)
    decided = [EMPTY | row for row in decide(rows, config)] if decide else []
    return pd.concat([rows, pd.DataFrame(decided, columns=rows.columns)]) if decided else rows


def summarize_seeds(values: pd.DataFrame) -> pd.DataFrame:
    """Compute mean, sample standard deviation and count over the seeds of every number."""
    groups = values.groupby([*KEYS], sort=False)["value"]
    rows = groups.agg(mean="mean", std="std", n="count", first="first", distinct="nunique")
    # Equal values keep every bit: their mean is the value, their deviation exactly 0.
    equal = rows["distinct"] == 1
    rows["mean"] = rows["mean"].mask(equal, rows["first"])
    rows["std"] = rows["std"].mask(equal & (rows["n"] > 1), 0.0)
    return rows[[*SUMMARY]].reset_index()


# --- native benchmark -----------------------------------------------------------------------------


def aggregate_native(config: Config, runs: Files, timings: Files, scores: Files) -> Values:
    """Aggregate every metric of every evaluation column and arm.

    `inference_ms` is the mean over images of the mean time by the paper's clock, `fast_ms` that by
    the package's clock (see `evaluation.latency`); `params` the number of trainable parameters.
    """
    yield from average_images(scores, NATIVE)
    for fields, path in timings:
        times = read_latency(path)
        for clock, metric in NATIVE_TIMES.items():
            time = times.get((fields["dataset"], clock, "mean_ms"))
            yield fields | {"metric": metric, "value": time}
    for fields, path in runs:
        count = read_metadata(path).get("parameters")
        for column in config["native"]["data"]["evaluate"]:
            yield fields | {"dataset": column, "metric": "params", "value": count}


def aggregate_locality(config: Config, bandwidths: Files) -> Values:
    """Aggregate the statistics of the bandwidth fields of every per-patch arm (paper, A.2).

    `apply_locality_tests` adds the outcomes of the tests.
    """
    for fields, path in bandwidths:
        for name, value in diagnostic.compute_statistics_of_file(path, config).items():
            yield fields | {"statistic": name, "value": value}


def apply_locality_tests(rows: pd.DataFrame, config: Config) -> Values:
    """Apply the tests to statistics averaged over seeds.

    t1_met to t4_met are 1 or 0, tests_met is their sum, and criterion_a says whether all hold; none
    has a spread, and none stands where a statistic was not measured.
    """
    thresholds = config["diagnostics"]["thresholds"]
    for arm, own in rows.groupby("arm", sort=False):
        means = own.set_index("statistic")["mean"]
        met = diagnostic.apply_tests(
            {name: means.get(name) for name in (*diagnostic.TESTS, "var_within")}, thresholds
        )
        flags = {f"{test}_met": holds for test, holds in met.items()} | {
            "tests_met": diagnostic.count_tests_met(met),
            "criterion_a": diagnostic.are_all_met(met.values()),
        }
        for name, flag in flags.items():
            if flag is not None:
                yield {"arm": arm, "statistic": name, "mean": int(flag), "n": own["n"].max()}


def aggregate_ablation(config: Config, scores: Files) -> Values:
    """Aggregate the scores of the log-space ablation on the validation images (paper Table 9).

    PSNR, LPIPS and PSNR by region; `subtract_control` and `decide_criterion_b` add what follows.
    """
    for value in average_images(scores, NATIVE):
        if value["metric"] == "lpips" or value["metric"].startswith("psnr"):
            yield value


def subtract_control(values: pd.DataFrame, config: Config) -> pd.DataFrame:
    """Subtract the control arm from every other arm, seed by seed: delta_<metric>.

    A seed that only one of the two has is left out.
    """
    controls = [n for n, arm in list_arms(config).items() if arm.diagnostic == "control"]
    is_control = values["arm"].isin(controls)
    both = values[~is_control].merge(
        values[is_control], on=["metric", "seed"], suffixes=("", "_control")
    )
    both["metric"] = "delta_" + both["metric"]
    both["value"] -= both["value_control"]
    return both[[*values.columns]]


def decide_criterion_b(rows: pd.DataFrame, config: Config) -> Values:
    """Yield for every log-space arm whether it meets criterion B, where its gaps are known."""
    margins = config["diagnostics"]["margins"]
    for name, arm in list_arms(config).items():
        own = rows[rows["arm"] == name].set_index("metric")
        met = diagnostic.meets_criterion_b(
            {metric: own["mean"].get(f"delta_{metric}") for metric in margins}, margins
        )
        if arm.diagnostic == "log" and met is not None:
            yield {"arm": name, "metric": "criterion_b", "mean": int(met), "n": own["n"].max()}


def aggregate_budget(config: Config) -> Values:
    """Count the trainable parameters of every arm of the config; no run is needed."""
    # torch takes seconds to import, and the other aggregates do without.
    from ..models.native import count_arm_parameters

    for arm, count in count_arm_parameters(config).items():
        yield {"arm": arm, "metric": "parameters", "value": count}


def aggregate_structure(config: Config) -> Values:
    """Measure what the code alone gives at the paper's sizes, whatever was run."""
    from ..models.structure import measure_structure

    for name, value in measure_structure(load_protocol()).items():
        yield {"statistic": name, "value": value}


# --- super-resolution -----------------------------------------------------------------------------


def aggregate_asr_quality(config: Config, bicubic: Files, methods: Files) -> Values:
    """Aggregate PSNR-Y and SSIM-Y of every method, column and scale, and of bicubic (no seeds)."""
    for value in average_images([*bicubic, *methods], SUPERRES):
        yield {"method": BICUBIC} | value


def aggregate_asr_latency(config: Config, timings: Files) -> Values:
    """Aggregate times and peak memory of every method, timed column and clock."""
    scale = format_scale(config["asr"]["timing"]["scale"])
    for fields, path in timings:
        for (_, clock, metric), value in read_latency(path).items():
            yield fields | {"scale": scale, "clock": clock, "metric": metric, "value": value}


# --- runs -----------------------------------------------------------------------------------------


def aggregate_runs(config: Config, runs: Files, logs: Files) -> Values:
    """Collect one row for every run, in the order of the arms or methods table.

    Imported runs have no log and no times, and some no steps.
    """
    rows = {path.parent: read_rows(path, ("bandwidth",)) for _, path in logs}
    for fields, path in runs:
        metadata, logged = read_metadata(path), rows.get(path.parent)
        yield (
            fields
            | {key: metadata.get(key) for key in (*RUN_NUMBERS, "finished")}
            | {
                "arm": fields["subject"],
                "device": (metadata.get("device") or {}).get("name"),
                "bandwidth": logged[-1]["bandwidth"] if logged else None,
                "commit": format_commit(metadata.get("git") or {}),
                "released_by": (metadata.get("released") or {}).get("by"),
            }
        )


# --- writing --------------------------------------------------------------------------------------

AGGREGATORS: dict[str, Callable[..., Values]] = {
    "native": aggregate_native,
    "budget": aggregate_budget,
    "structure": aggregate_structure,
    "runs": aggregate_runs,
    "locality": aggregate_locality,
    "ablation": aggregate_ablation,
    "asr_quality": aggregate_asr_quality,
    "asr_latency": aggregate_asr_latency,
    "asr_runs": aggregate_runs,
}


def collect(name: str, results: Path, config: Config) -> Values:
    """Collect the values of an aggregate of `SCHEMAS` from the files below `results`."""
    patterns = SCHEMAS[name].inputs
    inputs = [[*find_files(name, results, config, pattern)] for pattern in patterns]
    for pattern, files in zip(patterns, inputs, strict=True):
        if pattern.endswith(".csv") and pattern != LOG_FILE:
            for fields, path in files:
                check_record(path, results, fields, config)
    return AGGREGATORS[name](config, *inputs)


def check_record(path: Path, results: Path, fields: PathFields, config: Config) -> None:
    """Raise `UserError` for scores or times of other settings, versions or weights.

    By the record beside them: Snakemake knows this of what it made, not of what was copied. A
    setting that an earlier version did not record is not compared.
    """
    benchmark, kind, *inside = path.relative_to(results).parts[:-1]
    rows: Mapping[str, Any] = list_arms(config) if benchmark == "native" else list_methods(config)
    rule, subject = {
        ("native", "metrics"): ("evaluate", None),
        ("native", "latency"): ("latency", rows.get(inside[0])),
        ("asr", "metrics"): ("asr_bicubic", fields.get("dataset")),
        ("asr", "latency"): ("asr_latency", rows.get(inside[0])),
    }[benchmark, kind]
    expected = collect_dependencies(rule, subject, config)
    run = results.joinpath(benchmark, "runs", *inside, METADATA_FILE)
    if run.is_file():
        expected["weights_sha256"] = read_metadata(run).get("weights_sha256")
    recorded = update_identity(read_metadata(path.with_suffix(".json")).get("depends_on", {}))
    for key, value in expected.items():
        if recorded.get(key, value) != value:
            raise UserError(
                f"{path} was measured with {key} = {recorded[key]}, but now it is {value}; "
                f"restore that, or delete {results / benchmark / kind} and run again."
            )


def write_all(names: Sequence[str], results: Path, config: Config, output: Path) -> None:
    """Compute aggregates of `SCHEMAS` and write them into the folder `output`.

    Raises `UserError` for an unknown name before the first is written, for an unfit file, and where
    there is nothing to aggregate.
    """
    for name in names:
        if name not in SCHEMAS:
            raise UserError(f"There is no aggregate {name!r}; {suggest(name, SCHEMAS)}")
    for name in names:
        path = output / Path(schemas.aggregate_path(name)).name
        if path.suffix == ".json":
            write_provenance(name, results, config, path)
            continue
        table = compute(name, results, config)
        if table.empty:
            inputs = " and ".join(SCHEMAS[name].inputs) or "arms in the config"
            raise UserError(f"Nothing to aggregate for {name}: {results} has no {inputs}.")
        unused = [key for key in schemas.KEYS if key in table and (table[key] == "").all()]
        text = table.drop(columns=unused).to_csv(index=False, lineterminator="\n")
        write_text(path, text)


def compute(name: str, results: Path, config: Config) -> pd.DataFrame:
    """Compute the rows of one aggregate from the files below `results`."""
    if name in RUN_AGGREGATES.values():
        rows = collect(name, results, config)
        return pd.DataFrame(rows, columns=[*RUN_COLUMNS], dtype=object)
    return summarize_values(name, read_values(name, results, config), config)
