"""The configuration: overlays merged, checked against the schema, tables of arms and data sets."""

from __future__ import annotations

import copy
import csv
import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import yaml

from .errors import UserError
from .files import write_text

Config = dict[str, Any]
Row = TypeVar("Row")


def repository_root(start: Path | None = None) -> Path:
    """Return the checkout's top folder, found upwards from `start` (default: here, then the code).

    Raises `UserError` when neither lies inside a checkout of this project.
    """
    starts = [start or Path.cwd(), Path(__file__).resolve().parent]
    for folder in (f for s in starts for f in (s, *s.parents)):
        if (folder / "Snakefile").is_file() and (folder / "config" / "arms.tsv").is_file():
            return folder
    raise UserError(
        "This is not inside a gblsr-repro checkout; change into one, or name the config with "
        "--config."
    )


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> Config:
    """Lay `overlay` over `base` as Snakemake does: maps merge, everything else replaces."""
    merged = dict(base)
    for key, value in overlay.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(old, value) if both else value
    return merged


def read_yaml(path: Path | str) -> Config:
    """Read one YAML map; `UserError` names the file, line and column of a mistake."""
    try:
        value = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"Config file {path} does not exist; check the name.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        place = f" at line {where.line + 1}, column {where.column + 1}" if where else ""
        problem = getattr(error, "problem", None) or "it is not YAML text"
        raise UserError(f"Config file {path} cannot be read{place}: {problem}.") from error
    if not isinstance(value, dict):
        raise UserError(f"Config file {path} must hold a map of settings.")
    return value


def load(paths: Sequence[Path | str] = ()) -> Config:
    """Read config files, later ones laid over earlier ones, and check the result.

    With no paths the checkout's config/config.yaml is read. Raises `UserError`.
    """
    config: Config = {}
    for path in paths or [repository_root() / "config" / "config.yaml"]:
        config = merge(config, read_yaml(path))
    settle(config)
    return config


def settle(config: Config) -> None:
    """Drop table columns that an overlay sets to null, in place, and check the result.

    Maps merge, so null is how an overlay leaves out a column of native.data.evaluate or
    asr.evaluate. Raises `UserError`.
    """
    from .config_checks import check  # which reads this module's tables

    for path in (("native", "data"), ("asr",)):
        section: Any = config
        for key in path:
            section = section.get(key) if isinstance(section, Mapping) else None
        columns = section.get("evaluate") if isinstance(section, Mapping) else None
        if isinstance(columns, Mapping):
            section["evaluate"] = {k: v for k, v in columns.items() if v is not None}
    validate(config)
    check(config)


@cache
def schema() -> Config:
    """Return the JSON schema of the configuration."""
    text = resources.files(__package__).joinpath("schemas/config.schema.json").read_text()
    return json.loads(text)


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: Any, value: Any) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


# JSON schema takes 2.0 for an integer, and YAML writes .nan and .inf.
Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    ),
)


def validate(config: Config) -> None:
    """Raise `UserError` with one sentence about the first thing in `config` against the schema."""
    checker = Validator(schema())
    errors = sorted(checker.iter_errors(config), key=lambda e: (len(e.absolute_path), str(e.path)))
    if errors:
        raise UserError(_sentence(errors[0]))


def _sentence(error: jsonschema.ValidationError) -> str:
    place = ".".join(str(p) for p in error.absolute_path) or "the top level"
    if "propertyNames" in error.absolute_schema_path:
        place = f"a name in {place}"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = sorted({str(key) for key in error.instance} - set(known))[0]
        return f"Config: unknown setting {unknown!r} at {place}; {guess(unknown, known)}"
    if error.validator == "required":
        missing = error.message.split("'")[1]
        return f"Config: {place} lacks the setting {missing!r}; add it (see config/README.md)."
    return f"Config: {place} is {error.instance!r}, but {_expectation(error)}."


def _expectation(error: jsonschema.ValidationError) -> str:
    wanted = error.validator_value
    described = wanted if error.validator == "not" else error.schema
    if "description" in described:
        return described["description"]
    if error.validator == "type" and wanted == "number" and isinstance(error.instance, float):
        return "must be a finite number"
    if error.validator == "type":
        return f"must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    texts = {
        "enum": "must be one of {}",
        "minimum": "must be at least {}",
        "exclusiveMinimum": "must be more than {}",
        "maximum": "must be at most {}",
        "exclusiveMaximum": "must be less than {}",
        "minItems": "must have {} or more entries",
        "maxItems": "must have at most {} entries",
        "minProperties": "must have {} or more entries",
        "uniqueItems": "must not name an entry twice",
        "pattern": "must be a name without spaces and special characters",
    }
    return texts[str(error.validator)].format(wanted)


def resolve(config: Config, path: str) -> Path:
    """Return a path of the config: absolute as it is, relative ones from the checkout's top."""
    candidate = Path(path).expanduser()
    return candidate if candidate.is_absolute() else repository_root() / candidate


def mirror_of(config: Config) -> Path | None:
    """Return the folder that is used instead of downloads; `UserError` when it does not exist."""
    if config["mirror"] is None:
        return None
    root = resolve(config, config["mirror"])
    if not root.is_dir():
        raise UserError(f"The mirror folder {root} does not exist; correct `mirror` in the config.")
    return root


# --- tables: one row per arm, method, data set -----------------------------------------------


BASELINE, READING = "baseline", "reading"  # groups of arms: as the paper had it, or perhaps had it


@dataclass(frozen=True)
class Arm:
    """A row of config/arms.tsv: one model of the native benchmark.

    `decoder` names a class of `gblsr_repro.models`, `options` is what it is asked to choose, a list
    of key=value pairs; `group` is family, control, baseline, ablation or reading (a baseline as it
    may have been meant instead); `benchmark` says whether the main tables show it; `diagnostic` is
    its part in the locality diagnostic and the ablation (reference, control, log, linear or empty);
    `fairness_rank` orders the fairness table.
    """

    arm: str
    decoder: str
    options: str
    name: str
    short: str
    group: str
    benchmark: str
    diagnostic: str
    fairness_rank: str
    note: str

    @property
    def in_benchmark(self) -> bool:
        """Whether the main tables have a row for this arm."""
        return self.benchmark == "yes"


@dataclass(frozen=True)
class Method:
    """A row of config/methods.tsv: one arbitrary-scale super-resolution method.

    `encoder` and `decoder` name factories of `gblsr_repro.models.asr`; `options` is a list of
    key=value pairs for them (nf=48, local_ensemble=no); `recipe` is the training recipe in
    config asr.training; `group` is baseline, base or variant; `table` says where its row stands
    (main, appendix).
    """

    method: str
    encoder: str
    decoder: str
    options: str
    recipe: str
    name: str
    group: str
    table: str
    note: str


@dataclass(frozen=True)
class Dataset:
    """A row of config/datasets.tsv: one set of source files.

    `kind` is archive, files, file or package (see `gblsr_repro.data.sources`); `images` the
    number a complete copy holds; `stands_in_for` names the data set it replaces, if any.
    """

    dataset: str
    title: str
    role: str
    kind: str
    url: str
    files: str
    images: str
    bytes: str
    checksum: str
    licence: str
    homepage: str
    stands_in_for: str
    note: str


def read_table(path: Path | str, row: type[Row], key: str) -> dict[str, Row]:
    """Read a tab-separated table into one `row` per line, by its `key` column, in file order."""
    names = [f.name for f in fields(row)]  # type: ignore[arg-type]
    rows: dict[str, Row] = {}
    with Path(path).open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        if reader.fieldnames != names:
            raise UserError(f"{path}: the columns must be {', '.join(names)}, tab-separated.")
        for line in reader:
            if None in line or None in line.values():
                raise UserError(f"{path}, line {reader.line_num}: needs {len(names)} columns.")
            if line[key] in rows:
                raise UserError(f"{path}, line {reader.line_num}: {line[key]!r} is there twice.")
            rows[line[key]] = row(**line)
    return rows


def arms() -> dict[str, Arm]:
    """Return the arms table by arm."""
    return read_table(repository_root() / "config" / "arms.tsv", Arm, "arm")


def methods() -> dict[str, Method]:
    """Return the table of super-resolution methods by method."""
    return read_table(repository_root() / "config" / "methods.tsv", Method, "method")


def datasets() -> dict[str, Dataset]:
    """Return the table of data sets by data set."""
    return read_table(repository_root() / "config" / "datasets.tsv", Dataset, "dataset")


def sized_datasets() -> set[str]:
    """Return the data sets whose image sizes config/sizes.tsv knows."""
    with (repository_root() / "config" / "sizes.tsv").open(newline="", encoding="utf-8") as stream:
        return {row["dataset"] for row in csv.DictReader(stream, delimiter="\t")}


def arm_named(name: str) -> Arm:
    """Return the arm of that name; `UserError` when the arms table has no such row."""
    return _named(arms(), name, "arm", "config/arms.tsv")


def method_named(name: str) -> Method:
    """Return the super-resolution method of that name; `UserError` when there is no such row."""
    return _named(methods(), name, "method", "config/methods.tsv")


def _named(table: Mapping[str, Row], name: str, kind: str, file: str) -> Row:
    if name not in table:
        raise UserError(f"{file} has no {kind} {name!r}; {guess(name, table)}")
    return table[name]


def guess(name: str, known: Iterable[str]) -> str:
    """Return how a sentence about an unknown name ends: with the one meant, or all there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names) or 'none'}."


@dataclass(frozen=True)
class Item:
    """A row of config/items.tsv: one table or figure of the paper.

    `half` is native or asr; `paper` its number there; `needs` the aggregates it is made from;
    `compared` says whether it also comes as <item>_vs_paper, with the published values; `readings`
    names what it rests on of docs/readings.md.
    """

    item: str
    kind: str
    half: str
    paper: str
    needs: str
    compared: str
    readings: str
    title: str


def items() -> dict[str, Item]:
    """Return the paper's tables and figures by name."""
    return read_table(repository_root() / "config" / "items.tsv", Item, "item")


# Items about the bandwidth fields of one kind of per-patch arm (column `diagnostic` of the arms).
_ABOUT = {
    "cov_hist": "linear",
    "variance_decomp": "linear",
    "locality": "log",
    "logspace_metrics": "log",
    "logspace_loctests": "log",
}


def selected_items(config: Config) -> dict[str, Item]:
    """Return the tables and figures that the config makes.

    There is one main table per evaluation column, and no item about arms that do not run.
    """
    kinds = {arm.diagnostic for arm in selected_arms(config).values()}
    table = {k: v for k, v in items().items() if k not in _ABOUT or _ABOUT[k] in kinds}
    columns = config["native"]["data"]["evaluate"]
    mains = {f"main_{column}": column for column in columns}
    chosen = {k: v for k, v in table.items() if not k.startswith("main_") or k in mains}
    for name, column in mains.items():
        title = f"Native benchmark on {column}, every arm"
        chosen.setdefault(name, Item(name, "table", "native", "Extra", "native", "no", "", title))
    return chosen


def select(
    table: Mapping[str, Row], names: Sequence[str], setting: str, file: str
) -> dict[str, Row]:
    """Return the named rows of a table in its order; `UserError` when one of them is not there."""
    for name in names:
        if name not in table:
            raise UserError(
                f"Config: {setting} names {name!r}, which {file} does not have; "
                f"{guess(name, table)}"
            )
    return {name: row for name, row in table.items() if name in names}


def selected_arms(config: Config) -> dict[str, Arm]:
    """Return the arms that the config runs, in the order of the arms table."""
    return select(arms(), config["native"]["arms"], "native.arms", "config/arms.tsv")


def selected_methods(config: Config) -> dict[str, Method]:
    """Return the super-resolution methods that the config runs, in the order of their table."""
    return select(methods(), config["asr"]["methods"], "asr.methods", "config/methods.tsv")


def named_datasets(config: Config) -> dict[str, list[str]]:
    """Return the names of the data sets whose images are used, by the setting that names them."""
    native, asr = config["native"]["data"], config["asr"]
    return {
        "native.data.train": native["train"],
        "native.data.evaluate": list(native["evaluate"].values()),
        "asr.train": asr["train"],
        "asr.evaluate": list(asr["evaluate"].values()),
    }


def selected_datasets(config: Config) -> dict[str, Dataset]:
    """Return the data sets that the config names, in the order of their table."""
    named = named_datasets(config) | {"accept_partial": config["accept_partial"]}
    table = datasets()
    chosen: dict[str, Dataset] = {}
    for setting, names in named.items():
        chosen |= select(table, names, setting, "config/datasets.tsv")
    return {name: row for name, row in table.items() if name in chosen}


# Settings that change how a run is watched, not what it computes.
WATCHING = (
    "log_every",
    "checkpoint_every",
    "validate_every",
    "validation_images",
    "validation_scale",
)
ENCODERS = ("rdn", "swinir")


def native_run(config: Config) -> Config:
    """Return the settings that the weights of a native run follow from, beside arm and seed."""
    native = config["native"]
    training = {k: v for k, v in native["training"].items() if k not in WATCHING}
    return {"model": native["model"], "training": training}


def asr_run(config: Config, method: Method) -> Config:
    """Return the settings that the weights of a method's run follow from, beside the seed.

    Those of the other encoder and its recipe are left out.
    """
    section = config["asr"]
    others = tuple(f"{encoder}_" for encoder in ENCODERS if encoder != method.encoder)
    hidden = (*WATCHING, "recipes")
    return {
        "model": {k: v for k, v in section["model"].items() if not k.startswith(others)},
        "training": {k: v for k, v in section["training"].items() if k not in hidden},
        "recipe": section["training"]["recipes"][method.recipe],
    }


@cache
def _protocol() -> Config:
    return load([repository_root() / "config" / "paper" / "protocol.yaml"])


def protocol() -> Config:
    """Return the paper's settings, however config/config.yaml was edited."""
    return copy.deepcopy(_protocol())


def write_resolved(config: Config, path: Path | str) -> None:
    """Write the configuration as the jobs read it; leave a file with the same content alone."""
    text = yaml.safe_dump(json.loads(json.dumps(config)), sort_keys=False)
    if not Path(path).is_file() or Path(path).read_text(encoding="utf-8") != text:
        write_text(path, text)
