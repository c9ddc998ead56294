"""What the numbers of a results folder were measured under: data, settings, seeds, devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from ..config import (
    Config,
    chosen,
    datasets,
    paper_device,
    protocol,
    selected_arms,
    selected_methods,
    within,
)
from ..files import read_json, write_json
from .kinds import scale_key

HALVES = ("native", "asr")
Json = Mapping[str, Any]


@dataclass(frozen=True)
class ImageSet:
    """A data set as a job read it; `stands_in_for` names the one it replaces, if any."""

    dataset: str
    title: str
    images: int
    expected: int | None = None
    complete: bool = False
    stands_in_for: str | None = None


@dataclass(frozen=True)
class Half:
    """One benchmark of a run. What is not known is empty.

    `settings` holds the values that its runs had, by dotted name; `seeds` those trained, by arm or
    method; `evaluate` the image sets by column; `devices` and `timed_on` the names of devices;
    `shared_gpu` the arms or methods of which a time was taken while others used the GPU;
    `sizes_only` says whether images were timed blank; `without_lpips` why there is no LPIPS.
    """

    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: Mapping[str, Sequence[int]] = field(default_factory=dict)
    train: Sequence[ImageSet] = ()
    validation: Sequence[ImageSet] = ()
    evaluate: Mapping[str, Sequence[ImageSet]] = field(default_factory=dict)
    devices: Sequence[str] = ()
    timed_on: Sequence[str] = ()
    shared_gpu: Sequence[str] = ()
    sizes_only: bool = False
    without_lpips: str = ""

    @property
    def all_seeds(self) -> list[int]:
        """Every seed that any arm or method was trained with."""
        return sorted({seed for seeds in self.seeds.values() for seed in seeds})


@dataclass(frozen=True)
class Conditions:
    """Conditions of a run, or of the paper; a half that was not run is None."""

    preset: str = ""
    native: Half | None = None
    asr: Half | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)

    def half(self, name: str) -> Half | None:
        """Return the half of that name."""
        return self.native if name == "native" else self.asr

    @classmethod
    def read(cls, aggregates: Path) -> Conditions:
        """Merge the conditions*.json files of an aggregates folder; empty when there is none."""
        merged: dict[str, Any] = {}
        for path in sorted(aggregates.glob("conditions*.json")):
            merged |= read_json(path)
        halves = {name: _half(merged.pop(name)) for name in HALVES if name in merged}
        return cls(**{k: v for k, v in merged.items() if k in {f.name for f in fields(cls)}},
                   **halves)  # fmt: skip


def _half(record: Json) -> Half:
    known = {f.name for f in fields(Half)}
    values = {key: value for key, value in record.items() if key in known}
    for key in ("train", "validation"):
        values[key] = _image_sets(values.get(key, ()))
    values["evaluate"] = {c: _image_sets(r) for c, r in values.get("evaluate", {}).items()}
    return Half(**values)


def _image_sets(records: Iterable[Json]) -> list[ImageSet]:
    known = {f.name for f in fields(ImageSet)}
    return [ImageSet(**{k: v for k, v in r.items() if k in known}) for r in records]


def write(results: Path, config: Config, output: Path, halves: Iterable[str] = HALVES) -> None:
    """Write the conditions of the named halves, from the records under `results`, as JSON."""
    record = asdict(collect(results, config, halves))
    for half in HALVES:
        record[half] = {k: v for k, v in (record[half] or {}).items() if v}
    write_json(output, {key: value for key, value in record.items() if value})


def collect(results: Path, config: Config, halves: Iterable[str] = HALVES) -> Conditions:
    """Gather the conditions of the named halves; native are the arms of the main tables.

    A half without runs, timings and scores is None. Where runs differ, versions and git hold their
    distinct values, joined by commas.
    """
    makers = {"native": _native, "asr": _asr}
    found: dict[str, Half | None] = {}
    runs: list[Json] = []
    for half in halves:
        found[half], records = makers[half](results, config)
        runs += records
    versions, git = (_joined(run.get(key) or {} for run in runs) for key in ("versions", "git"))
    return Conditions(config["preset"], versions=versions, git=git, **found)


def _native(results: Path, config: Config) -> tuple[Half | None, list[Json]]:
    root = results / "native"
    arms = [name for name, arm in selected_arms(config).items() if arm.in_benchmark]
    runs = _runs(root / "runs", arms, config)
    timings = _records(root / "latency", arms, config, "seed{seed}.json")
    if not runs and not timings:
        return None, []
    columns = config["native"]["data"]["evaluate"]
    made = (root / "arrays" / f"{name}.json" for name in ("train", "validation", *columns))
    arrays = {p.stem: _image_sets(read_json(p)["datasets"]) for p in made if p.is_file()}
    scores = [
        record
        for column in columns
        for record in _records(root / "metrics", arms, config, f"seed{{seed}}/{column}.json")
    ]
    half = Half(
        settings=_settings(config, "native", runs),
        seeds=_seeds(runs),
        train=arrays.get("train", ()),
        validation=arrays.get("validation", ()),
        evaluate={column: arrays[column] for column in columns if column in arrays},
        devices=_devices(run.get("device") or {} for run in runs),
        timed_on=_devices(timings),
        shared_gpu=_on_shared_gpus(timings),
        # One arm without LPIPS leaves a dash somewhere, so its reason is the one to tell.
        without_lpips=next(filter(None, map(_without_lpips, scores)), ""),
    )
    return half, runs


def _without_lpips(record: Json) -> str:
    told = record.get("lpips") or {"measured": True}
    return "" if told.get("measured") else told.get("reason") or "the reason is not recorded"


def _asr(results: Path, config: Config) -> tuple[Half | None, list[Json]]:
    root = results / "asr"
    methods = list(selected_methods(config))
    runs = _runs(root / "runs", methods, config)
    timings = _records(root / "latency", methods, config, "seed{seed}.json")
    scored = {c: _scored(root / "metrics", methods, config, c) for c in config["asr"]["evaluate"]}
    if not runs and not timings and not any(scored.values()):
        return None, []
    train = root / "arrays" / "train.json"
    half = Half(
        settings=_settings(config, "asr", runs),
        seeds=_seeds(runs),
        train=_image_sets(read_json(train)["datasets"]) if train.is_file() else (),
        evaluate={column: found for column, found in scored.items() if found},
        devices=_devices(run.get("device") or {} for run in runs),
        timed_on=_devices(timings),
        shared_gpu=_on_shared_gpus(timings),
        sizes_only=any(timing.get("sizes_only") for timing in timings),
    )
    return half, runs


def _scored(folder: Path, methods: Iterable[str], config: Config, column: str) -> list[ImageSet]:
    """Return the data sets behind a column, from the first record of a scored scale.

    The bicubic row is scored on the same images, without training.
    """
    for scale in map(scale_key, config["asr"]["scales"]):
        name = f"{column}_x{scale}.json"
        bicubic = folder / "bicubic" / name
        if bicubic.is_file():
            return _image_sets(read_json(bicubic)["datasets"])
        for side in _records(folder, methods, config, f"seed{{seed}}/{name}"):
            return _image_sets(side["datasets"])
    return []


def _settings(config: Config, half: str, runs: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the values of the settings of a half: those of its runs, else those of the config.

    Training that did not happen has none.
    """
    sections = (half, "latency", "diagnostics")
    wanted = [name for section in sections for name in within(config, section)]
    training = f"{half}.training."
    found = {k: [v] for k, v in chosen(config, wanted).items() if not k.startswith(training)}
    if not runs:
        return found
    trained = [run.get("identity") or {} for run in runs]
    for name in wanted:
        if name.startswith((f"{half}.model.", training)) or any(name in run for run in trained):
            found[name] = _distinct(run[name] for run in trained if name in run)
            # A run that does not say what it follows from makes all of that unknown.
            found[name] = found[name] if all(trained) else []
    return found


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _seeds(runs: Iterable[Json]) -> dict[str, list[int]]:
    trained: dict[str, list[int]] = {}
    for run in runs:
        trained.setdefault(run["name"], []).append(run["seed"])
    return trained


def _runs(folder: Path, names: Iterable[str], config: Config) -> list[Json]:
    found = []
    for name in names:
        for seed in config["seeds"]:
            path = folder / name / f"seed{seed}" / "run.json"
            if path.is_file():
                found.append(read_json(path) | {"name": name, "seed": seed})
    return found


def _records(folder: Path, names: Iterable[str], config: Config, pattern: str) -> list[Json]:
    paths = (
        folder / name / pattern.format(seed=seed) for name in names for seed in config["seeds"]
    )
    return [read_json(path) for path in paths if path.is_file()]


def _devices(records: Iterable[Json]) -> list[str]:
    """Return the names of the devices, each once, from device records or records of one."""
    names = ((r.get("device") or r).get("name") for r in records)
    return _distinct(name for name in names if name)


def _on_shared_gpus(timings: Iterable[Json]) -> list[str]:
    """Return the arms or methods of which a timing was taken while others used the GPU."""
    names = (t.get("arm") or t.get("method") for t in timings if t.get("gpu_shared"))
    return _distinct(name for name in names if name)


def _joined(maps: Iterable[Json]) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for record in maps:
        for key, value in record.items():
            if value is not None and value not in values.setdefault(key, []):
                values[key].append(value)
    return {k: v[0] if len(v) == 1 else ", ".join(map(str, v)) for k, v in values.items() if v}


# --- the paper's ----------------------------------------------------------------------------------


@cache
def of_paper() -> Conditions:
    """Return what the paper's numbers were measured under.

    The settings are those of config/paper/protocol.yaml, the images those of config/datasets.tsv.
    """
    config = protocol()
    device = paper_device()
    native, asr = config["native"]["data"], config["asr"]
    halves = {}
    for name, data, subjects in (("native", native, "arms"), ("asr", asr, "methods")):
        halves[name] = Half(
            settings=_settings(config, name, ())
            | {k: [v] for k, v in chosen(config, [f"{name}.training"]).items()},
            seeds=dict.fromkeys(config[name][subjects], config["seeds"]),
            train=_published(data["train"]),
            validation=_published(data["train"]) if name == "native" else (),
            evaluate={column: _published([row]) for column, row in data["evaluate"].items()},
            devices=[device],
            timed_on=[device],
        )
    return Conditions(config["preset"], **halves)


def _published(names: Iterable[str]) -> list[ImageSet]:
    rows = [datasets()[name] for name in names]
    return [ImageSet(r.dataset, r.title, int(r.images), int(r.images), True) for r in rows]
