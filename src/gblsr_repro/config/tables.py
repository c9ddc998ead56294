"""The tables beside the config: one typed row per arm, method, data set, table and figure."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ..errors import UserError
from ..files import read_csv, read_json

Config = dict[str, Any]
Row = TypeVar("Row")


def find_repository_root(start: Path | None = None) -> Path:
    """Return the checkout's top folder, found upwards from `start` (default: here, then the code).

    Raises `UserError` when neither lies inside a checkout of this project.
    """
    return _search_root(start or Path.cwd())


@cache
def _search_root(start: Path) -> Path:
    starts = [start, Path(__file__).resolve().parent]
    for folder in (f for s in starts for f in (s, *s.parents)):
        if (folder / "Snakefile").is_file() and (folder / "config" / "arms.tsv").is_file():
            return folder
    raise UserError(
        "This is not inside a gblsr-repro checkout; change into one, or name the config with "
        "--config."
    )


def read_yaml(path: Path | str) -> Config:
    """Read one YAML map; `UserError` names the file, line and column of a mistake.

    A .json file, as the workflow leaves one of the settings it ran with, needs no PyYAML.
    """
    if Path(path).suffix == ".json":
        return read_json(path)
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError(
            f"{path} is YAML, which needs the packages pyyaml and pydantic; install them, or name "
            "with --config the config.json that the workflow left beside its results."
        ) from error
    try:
        # In C, which reads ten times as fast: PyYAML's wheels have it.
        value = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
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

    `encoder` and `decoder` name classes of `gblsr_repro.models.asr`; `options` is a list of
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

    `kind` is archive, files, file or package (see `gblsr_repro.data.datasets`); `images` the
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
    license: str
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


_read_table_once = cache(read_table)  # a process sees each of these tables as it first found it


def read_arms() -> dict[str, Arm]:
    """Return the arms table by arm."""
    return dict(_read_table_once(find_repository_root() / "config" / "arms.tsv", Arm, "arm"))


def read_methods() -> dict[str, Method]:
    """Return the table of super-resolution methods by method."""
    return dict(
        _read_table_once(find_repository_root() / "config" / "methods.tsv", Method, "method")
    )


def read_datasets() -> dict[str, Dataset]:
    """Return the table of data sets by data set."""
    return dict(
        _read_table_once(find_repository_root() / "config" / "datasets.tsv", Dataset, "dataset")
    )


def list_short_names(benchmark: str) -> dict[str, str]:
    """Return how captions call the arms ("native") or the methods ("asr") of a benchmark."""
    if benchmark == "native":
        return {name: arm.short for name, arm in read_arms().items()}
    return {name: method.name for name, method in read_methods().items()}


def get_dataset_title(name: str) -> str:
    """Return the title of a data set; a name that config/datasets.tsv lacks stands for itself."""
    row = read_datasets().get(name)
    return row.title if row else name


def read_assets() -> list[dict[str, str]]:
    """Return the code and architectures that the project uses or follows, a row each."""
    return read_csv(find_repository_root() / "config" / "assets.tsv", "\t")


def list_sized_datasets() -> set[str]:
    """Return the data sets whose image sizes config/sizes.tsv knows."""
    return {
        row["dataset"] for row in read_csv(find_repository_root() / "config" / "sizes.tsv", "\t")
    }


def find_arm(name: str) -> Arm:
    """Return the arm of that name; `UserError` when the arms table has no such row."""
    return _find_row(read_arms(), name, "arm", "config/arms.tsv")


def find_method(name: str) -> Method:
    """Return the super-resolution method of that name; `UserError` when there is no such row."""
    return _find_row(read_methods(), name, "method", "config/methods.tsv")


def find_dataset(name: str) -> Dataset:
    """Return the data set of that name; `UserError` when there is no such row."""
    return _find_row(read_datasets(), name, "data set", "config/datasets.tsv")


def locate_row(row: Arm | Method) -> tuple[str, str, str]:
    """Return the benchmark that a row is of, the kind of its runs (arm or method), and its key."""
    return ("native", "arm", row.arm) if isinstance(row, Arm) else ("asr", "method", row.method)


def _find_row(table: Mapping[str, Row], name: str, kind: str, file: str) -> Row:
    if name not in table:
        raise UserError(f"{file} has no {kind} {name!r}; {suggest(name, table)}")
    return table[name]


def suggest(name: str, known: Iterable[str]) -> str:
    """Return how a sentence about an unknown name ends: with the one meant, or all there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names) or 'none'}."


MAIN_TABLE = "build_main"  # the maker of the items that there is one of for every evaluation column


@dataclass(frozen=True)
class Item:
    """A row of config/items.tsv: one table or figure, of the paper or beside it.

    `maker` names the function of `gblsr_repro.reporting` that makes it, `part` what that is asked
    for where it makes several (an evaluation column, a benchmark).
    `benchmark` is native, asr or both; `paper` its number there, Extra where it has none; `needs`
    the aggregates it is made from; `about` what the config must have for it, where that is more
    than any arm or method (an arm's diagnostic or group, a method's group and table, a scale that
    is not trained); `compared` says whether it also comes as <item>_vs_paper, with the
    published values; `readings` names what it rests on of docs/readings.md; `scopes` the kinds of
    numbers it shows; `adds` what its caption tells of them: lpips, spread, baselines; `caption`
    what stands after its title.
    """

    item: str
    maker: str
    part: str
    kind: str
    benchmark: str
    paper: str
    needs: str
    about: str
    compared: str
    readings: str
    scopes: str
    adds: str
    title: str
    caption: str


def read_items() -> dict[str, Item]:
    """Return the paper's tables and figures by name."""
    return read_table(find_repository_root() / "config" / "items.tsv", Item, "item")


def list_items(config: Config) -> dict[str, Item]:
    """Return the tables and figures that the config makes.

    There is one main table per evaluation column, and no item about arms, methods, scales or timed
    sets that the config leaves out: what is drawn from the same aggregates is drawn by one job,
    which must not fail for one of them.
    """
    asr = config["asr"]
    there = {word for a in select_arms(config).values() for word in (a.diagnostic, a.group)}
    there |= {f"{method.group} {method.table}" for method in select_methods(config).values()}
    there |= {"untrained scale" for scale in asr["scales"] if scale not in asr["trained_scales"]}
    there |= {f"timed {c}" for c in asr["timing"]["datasets"] if c in asr["evaluate"]}
    table = {k: v for k, v in read_items().items() if not v.about or v.about in there}
    columns = config["native"]["data"]["evaluate"]
    made = {k: v for k, v in table.items() if v.maker != MAIN_TABLE or v.part in columns}
    pattern = next(row for row in table.values() if row.maker == MAIN_TABLE)
    for column in columns:
        row = read_datasets().get(columns[column])
        title = f"Native benchmark on {row.title if row else column}, every arm"
        extra = replace(
            pattern,
            item=f"main_{column}",
            part=column,
            paper="Extra",
            compared="no",
            readings="",
            title=title,
        )
        made.setdefault(extra.item, extra)
    return made


def select_rows(
    table: Mapping[str, Row], names: Collection[str], setting: str, file: str
) -> dict[str, Row]:
    """Return the named rows of a table in its order; `UserError` when one of them is not there."""
    for name in names:
        if name not in table:
            raise UserError(
                f"Config: {setting} names {name!r}, which {file} does not have; "
                f"{suggest(name, table)}"
            )
    return {name: row for name, row in table.items() if name in names}


def select_arms(config: Config) -> dict[str, Arm]:
    """Return the arms that the config runs, in the order of the arms table."""
    return select_rows(read_arms(), config["native"]["arms"], "native.arms", "config/arms.tsv")


def select_methods(config: Config) -> dict[str, Method]:
    """Return the super-resolution methods that the config runs, in the order of their table."""
    return select_rows(
        read_methods(), config["asr"]["methods"], "asr.methods", "config/methods.tsv"
    )


def list_named_datasets(config: Config) -> dict[str, list[str]]:
    """Return the names of the data sets whose images are used, by the setting that names them."""
    native, asr = config["native"]["data"], config["asr"]
    return {
        "native.data.train": native["train"],
        "native.data.evaluate": list(native["evaluate"].values()),
        "asr.train": asr["train"],
        "asr.evaluate": list(asr["evaluate"].values()),
    }


def select_datasets(config: Config) -> dict[str, Dataset]:
    """Return the data sets that the config names, in the order of their table."""
    named = list_named_datasets(config) | {"accept_partial": config["accept_partial"]}
    table = read_datasets()
    chosen: dict[str, Dataset] = {}
    for setting, names in named.items():
        chosen |= select_rows(table, names, setting, "config/datasets.tsv")
    return {name: row for name, row in table.items() if name in chosen}
