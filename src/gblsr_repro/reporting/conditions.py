"""What the numbers of a results folder were measured under: data, steps, seeds, devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..config import WATCHING, Config, methods, protocol, selected_arms, selected_methods
from ..files import read_json, write_json
from .tidy import scale_key

Record = dict[str, Any]

HALVES = ("native", "asr")
# Training settings that are not compared: those that only watch or save memory, and the steps,
# which have a key of their own.
NOT_COMPARED = (*WATCHING, "accumulate", "steps")


def collect(results: Path, config: Config, halves: Iterable[str] = HALVES) -> Record:
    """Gather the conditions of the named halves from the records under `results`.

    Keys: preset, image_size, one map per half that has run records, versions and git (distinct
    values joined by commas where runs differ). Native are the arms of the main tables. A half
    without runs or timings is absent.
    """
    makers = {"native": _native, "asr": _asr}
    found: Record = {
        "preset": config["preset"],
        "image_size": config["native"]["data"]["image_size"],
    }
    runs: list[Record] = []
    for half in halves:
        record, records = makers[half](results, config)
        if record:
            found[half] = record
        runs += records
    if runs:
        found["versions"] = _joined(run.get("versions") or {} for run in runs)
        found["git"] = _joined(run.get("git") or {} for run in runs)
    return found


def write(results: Path, config: Config, output: Path, halves: Iterable[str] = HALVES) -> None:
    """Write the conditions of the named halves to `output` as JSON."""
    write_json(output, collect(results, config, halves))


def read(aggregates: Path) -> Record:
    """Merge the conditions*.json files of an aggregates folder; empty when there is none."""
    merged: Record = {}
    for path in sorted(aggregates.glob("conditions*.json")):
        merged |= read_json(path)
    return merged


def _native(results: Path, config: Config) -> tuple[Record, list[Record]]:
    root = results / "native"
    arms = [name for name, arm in selected_arms(config).items() if arm.in_benchmark]
    runs = _runs(root / "runs", arms, config)
    timings = _records(root / "latency", arms, config, "seed{seed}.json")
    if not runs and not timings:
        return {}, []
    columns = config["native"]["data"]["evaluate"]
    record = _of_runs(runs, "native") | {
        "train": _datasets(root / "arrays" / "train.json"),
        "validation": _datasets(root / "arrays" / "validation.json"),
        "evaluate": {c: _datasets(root / "arrays" / f"{c}.json") for c in columns},
        "latency_devices": _devices(timings),
        "latency_shared": _on_shared_gpus(timings),
        "changed_measuring": _changed_measuring(config, "native"),
        "changed_timing": _changed_timing(config),
    }
    lpips = [
        side["lpips"]
        for column in columns
        for side in _records(root / "metrics", arms, config, f"seed{{seed}}/{column}.json")
        if side.get("lpips")
    ]
    if lpips:
        # One arm without LPIPS leaves a dash somewhere, so its reason is the one to tell.
        record["lpips"] = next((r for r in lpips if not r.get("measured")), lpips[0])
    return _present(record), runs


def _asr(results: Path, config: Config) -> tuple[Record, list[Record]]:
    root = results / "asr"
    methods = selected_methods(config)
    runs = _runs(root / "runs", methods, config)
    timings = _records(root / "latency", methods, config, "seed{seed}.json")
    scored = {c: _scored(root / "metrics", methods, config, c) for c in config["asr"]["evaluate"]}
    if not runs and not timings and not any(scored.values()):
        return {}, []
    record = _of_runs(runs, "asr") | {
        "train": _datasets(root / "arrays" / "train.json"),
        "evaluate": scored,
        "latency_devices": _devices(timings),
        "latency_shared": _on_shared_gpus(timings),
        "changed_measuring": _changed_measuring(config, "asr"),
        "changed_timing": _changed_timing(config),
        "timed_sizes_only": any(t.get("sizes_only") for t in timings) if timings else None,
        "timed_size_divisor": _one_or_all(t.get("size_divisor") for t in timings),
    }
    return _present(record), runs


def _present(record: Record) -> Record:
    """Leave out what is not known."""
    columns = {c: v for c, v in record["evaluate"].items() if v}
    return {k: v for k, v in (record | {"evaluate": columns}).items() if v not in (None, [], {})}


def _scored(folder: Path, methods: Iterable[str], config: Config, column: str) -> list[Record]:
    """Return the data sets behind a column, from the first record of a scored scale.

    The bicubic row is scored on the same images, without training.
    """
    for scale in map(scale_key, config["asr"]["scales"]):
        name = f"{column}_x{scale}.json"
        bicubic = folder / "bicubic" / name
        if bicubic.is_file():
            return read_json(bicubic)["datasets"]
        for side in _records(folder, methods, config, f"seed{{seed}}/{name}"):
            return side["datasets"]
    return []


def _of_runs(runs: list[Record], half: str) -> Record:
    trained: dict[str, list[int]] = {}
    for run in runs:
        trained.setdefault(run["name"], []).append(run["seed"])
    return {
        "steps": _one_or_all(run.get("steps") for run in runs),
        "batch_size": _one_or_all(map(_batch_size, runs)),
        "seeds": sorted({run["seed"] for run in runs}),
        "arms" if half == "native" else "methods": trained,
        "devices": _devices(run.get("device") or {} for run in runs),
        "changed_model": _changed_model(runs, half),
        "changed_training": _changed_training(runs, half),
    }


def _changed_model(runs: list[Record], half: str) -> list[str]:
    """Return the model settings in which a run differs from the checkout's config/config.yaml."""
    paper = protocol()[half]["model"]
    models = [run.get("config", {}).get("model") or {} for run in runs]
    return sorted({key for model in models for key in model if model[key] != paper.get(key)})


def _changed_training(runs: list[Record], half: str) -> list[str]:
    """Return the training settings in which a run differs from the checkout's config.yaml."""
    paper = protocol()[half]["training"]
    recipes = {name: method.recipe for name, method in methods().items()}
    changed = set()
    for run in runs:
        published = _flat(paper, (paper.get("recipes") or {}).get(recipes.get(run["name"])))
        own = _flat(run.get("config", {}).get("training"), run.get("recipe"))
        if run.get("precision"):
            own["precision"] = run["precision"]
        changed |= {key for key, value in own.items() if value != published.get(key)}
    return sorted(changed)


def _changed_measuring(config: Config, half: str) -> list[str]:
    """Return the settings of splits, crops and metrics that are not the paper's."""
    if half == "native":
        told = ("train", "evaluate", "exemplars", "image_size")
        own, paper = (
            {k: v for k, v in c["native"]["data"].items() if k not in told} | c["native"]["metrics"]
            for c in (config, protocol())
        )
    else:
        own, paper = (
            {"downsampling": c["asr"]["downsampling"]}
            | {f"shave_extra {k}": v for k, v in c["asr"]["shave_extra"].items()}
            for c in (config, protocol())
        )
    return _unequal(own, paper)


def _changed_timing(config: Config) -> list[str]:
    """Return the settings of the latency protocol that are not the paper's.

    Which clocks are timed changes none of them.
    """
    own, paper = ({**c["latency"], "clocks": None} for c in (config, protocol()))
    return _unequal(own, paper)


def _unequal(own: Mapping[str, Any], paper: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in {**own, **paper} if own.get(key) != paper.get(key))


def _flat(training: Mapping[str, Any] | None, recipe: Mapping[str, Any] | None) -> Record:
    """Return the settings to compare: those of all runs and those of a run's own recipe."""
    settings = {**(training or {}), **(recipe or {})}
    return {k: v for k, v in settings.items() if k not in (*NOT_COMPARED, "recipes")}


def _batch_size(run: Record) -> int | None:
    # Super-resolution has one recipe per encoder, the native benchmark one for all arms.
    return (run.get("recipe") or run.get("config", {}).get("training") or {}).get("batch_size")


def _runs(folder: Path, names: Iterable[str], config: Config) -> list[Record]:
    found = []
    for name in names:
        for seed in config["seeds"]:
            path = folder / name / f"seed{seed}" / "run.json"
            if path.is_file():
                found.append(read_json(path) | {"name": name, "seed": seed})
    return found


def _records(folder: Path, names: Iterable[str], config: Config, pattern: str) -> list[Record]:
    paths = (
        folder / name / pattern.format(seed=seed) for name in names for seed in config["seeds"]
    )
    return [read_json(path) for path in paths if path.is_file()]


def _datasets(path: Path) -> list[Record]:
    return read_json(path)["datasets"] if path.is_file() else []


def _devices(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the devices, each once, from device records or records of one."""
    names = [(r.get("device") or r).get("name") for r in records]
    return list(dict.fromkeys(name for name in names if name))


def _on_shared_gpus(timings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the arms or methods of which a timing was taken while others used the GPU."""
    names = [t.get("arm") or t.get("method") for t in timings if t.get("gpu_shared")]
    return list(dict.fromkeys(filter(None, names)))


def _one_or_all(values: Iterable[Any]) -> Any:
    distinct = sorted({value for value in values if value is not None})
    return distinct[0] if len(distinct) == 1 else distinct or None


def _joined(maps: Iterable[Mapping[str, Any]]) -> Record:
    values: dict[str, list[Any]] = {}
    for record in maps:
        for key, value in record.items():
            if value is not None and value not in values.setdefault(key, []):
                values[key].append(value)
    return {k: v[0] if len(v) == 1 else ", ".join(map(str, v)) for k, v in values.items() if v}
