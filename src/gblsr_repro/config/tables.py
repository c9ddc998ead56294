"""Read the tables beside the config: a typed row per arm, method and data set."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationInfo, field_validator, model_validator

from ..errors import UserError
from ..validation import match
from ..wording import shorten, suggest
from .rows import (
    AnyRow,
    ClassName,
    FilePatterns,
    OptionCell,
    RowName,
    TableRow,
    Title,
    Words,
    read_table,
)
from .schema.types import Count, Text

Config = dict[str, Any]
ARMS, METHODS, DATASETS = "config/arms.tsv", "config/methods.tsv", "config/datasets.tsv"
ASSETS, SIZES = "config/assets.tsv", "config/sizes.tsv"
PROTOCOL = "paper/protocol.yaml"  # in config/


def find_repository_root() -> Path:
    """Find the top folder of the checkout that this code lies in, else of the current folder's.

    Raises `UserError` when neither lies inside a checkout of this project.
    """
    for start in (Path(__file__).resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / "Snakefile").is_file() and (folder / "config" / "arms.tsv").is_file():
                return folder
    raise UserError("This folder is not inside a gblsr-repro checkout; change into one.")


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> Config:
    """Merge `overlay` into `base` as Snakemake does: maps merge, everything else replaces."""
    merged = dict(base)
    for key, value in overlay.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = merge(old, value)
        merged[key] = value
    return merged


def get_setting(config: Config, name: str) -> Any:
    """Return the value of a setting by its dotted name."""
    value: Any = config
    for key in name.split("."):
        value = value[key]
    return value


class _StrictLoader(yaml.CSafeLoader):  # ten times as fast as the loader in Python
    """A YAML loader that refuses repeated keys, and numbers that YAML takes for others."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Construct a map; raise `yaml.YAMLError` where a key comes twice: YAML takes the last."""
        keys: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in keys:
                problem = f"the key {shorten(name)} comes twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            keys.add(name)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> float:
        """Construct a number; raise `yaml.YAMLError` for 010 and 1:30.5, to YAML 8 and 90.5."""
        is_integer = node.tag.endswith(":int")
        value = self.construct_yaml_int(node) if is_integer else self.construct_yaml_float(node)
        if ":" in node.value or re.match(r"[-+]?0[0-7_]", node.value):
            problem = f"{node.value} would be {value}; write the number without leading zeros or :"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return value


for kind in ("int", "float"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{kind}", _StrictLoader.construct_number)


def _collect_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Collect the pairs of a JSON map; raise `ValueError` where a key comes twice."""
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {shorten(key)} comes twice")
        values[key] = value
    return values


def read_yaml(path: Path | str) -> Config:
    """Read a YAML or .json map; `UserError` names the file, line and column of a mistake."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        if Path(path).suffix == ".json":
            # JSON writes 1e-05, to YAML a text.
            value = json.loads(text, object_pairs_hook=_collect_keys)
        else:
            value = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a safe loader)
    except FileNotFoundError as error:
        raise UserError(f"Config file {path} does not exist; check the name.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"Config file {path} is not UTF-8 text; save it as UTF-8.") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: no JSON, no such date
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).partition(";")[0]
        raise UserError(
            f"Config file {path} cannot be read{place}: {problem}; correct it."
        ) from error
    if not isinstance(value, dict):
        raise UserError(f"Config file {path} must contain a map of settings; correct it.")
    return value


def read_base() -> Config:
    """Read what overlays are laid over: the paper's settings, and config/config.yaml over them."""
    folder = find_repository_root() / "config"
    return merge(read_yaml(folder / PROTOCOL), read_yaml(folder / "config.yaml"))


# Groups of arms: a baseline, and (of methods, too) what is none of the paper's: one of your own, or
# what the authors' package builds besides. It has rows in tables and no part in comparisons.
BASELINE, OWN = "baseline", "own"


class Arm(TableRow):
    """A row of config/arms.tsv: one model of the native benchmark.

    `options` are those of the class `decoder`, by name; `benchmark` says whether the main tables
    have a row for it; `diagnostic` is its role in the locality diagnostic and the ablation;
    `fairness_rank` orders the fairness table.
    """

    arm: RowName
    decoder: ClassName
    options: OptionCell = Field(default_factory=dict)
    name: Title
    short: Title
    group: Literal["family", "control", "baseline", "ablation", "own"]
    benchmark: bool
    diagnostic: Literal["reference", "control", "log", "linear", ""] = ""
    fairness_rank: Count | None = None
    note: str = ""

    @model_validator(mode="after")
    def _check_diagnostic(self) -> Arm:
        """Refuse a second control or reference: gaps are to one."""
        if self.group == OWN and self.diagnostic in ("reference", "control"):
            raise ValueError("an arm of group own has log, linear or nothing as its diagnostic")
        return self

    @property
    def in_benchmark(self) -> bool:
        """Whether the main tables have a row for this arm."""
        return self.benchmark


class Method(TableRow):
    """A row of config/methods.tsv: one arbitrary-scale super-resolution method.

    `options` are those of the classes `encoder` and `decoder`, by name; `recipe` names a recipe of
    asr.training; `table` is the table of its row.
    """

    method: RowName
    encoder: ClassName
    decoder: ClassName
    options: OptionCell = Field(default_factory=dict)
    recipe: RowName
    name: Title
    group: Literal["baseline", "base", "variant", "own"]
    table: Literal["main", "appendix", ""] = ""
    note: str = ""


class Dataset(TableRow):
    """A row of config/datasets.tsv: one set of source files.

    `gblsr_repro.data.datasets` describes the columns.
    """

    dataset: RowName
    title: Title
    role: Literal["train", "evaluate"]
    kind: Literal["archive", "files", "package"]
    urls: Words = ()
    files: Annotated[FilePatterns, Field(min_length=1)]
    images: Count
    bytes: Annotated[int, Field(ge=0, validate_default=True)] = 0
    checksum: Annotated[
        str, match(r"^((sha256:[0-9a-f]{64})|(md5:[0-9a-f]{32}))?$", "write sha256:... or md5:...")
    ] = ""
    license: str = ""
    homepage: str = ""
    stands_in_for: str = ""
    note: str = ""

    @field_validator("bytes")
    @classmethod
    def _require_size(cls, size: int, others: ValidationInfo) -> int:
        """Refuse a download of no size: every file would be larger. Refuse a package of no name."""
        urls, is_package = others.data.get("urls"), others.data.get("kind") == "package"
        if urls and not is_package and not size:
            raise ValueError("must be the size of the download, since urls name one")
        if is_package and not urls:
            raise ValueError("needs the package's name under urls, since its kind is package")
        return size


class ImageSize(TableRow):
    """A row of config/sizes.tsv: width and height, in pixels, of one image of a data set."""

    dataset: RowName
    image: Text
    width: Count
    height: Count

    @property
    def place(self) -> str:
        """The data set and the image, which no other row has together."""
        return f"{self.dataset}/{self.image}"


class Asset(TableRow):
    """A row of config/assets.tsv: code, an architecture or weights, with license and address."""

    asset: RowName
    title: Text
    license: Text
    url: str = ""


_read_table_once = cache(read_table)  # a process reads these tables once


def read_arms() -> dict[str, Arm]:
    """Read the arms table, by arm."""
    return dict(_read_table_once(find_repository_root() / ARMS, Arm, "arm"))


def read_methods() -> dict[str, Method]:
    """Read the table of super-resolution methods, by method."""
    return dict(_read_table_once(find_repository_root() / METHODS, Method, "method"))


def read_datasets() -> dict[str, Dataset]:
    """Read the table of data sets, by data set."""
    return dict(_read_table_once(find_repository_root() / DATASETS, Dataset, "dataset"))


def list_short_names(benchmark: str) -> dict[str, str]:
    """List the short names of the arms ("native") or methods ("asr") of a benchmark, by row."""
    if benchmark == "native":
        return {name: arm.short for name, arm in read_arms().items()}
    return {name: method.name for name, method in read_methods().items()}


def get_dataset_title(name: str) -> str:
    """Return the title of a data set; the name itself if config/datasets.tsv lacks it."""
    row = read_datasets().get(name)
    return row.title if row else name


def read_assets() -> list[Asset]:
    """Read the table of the code, architectures and weights that the project uses or follows."""
    return list(_read_table_once(find_repository_root() / ASSETS, Asset, "asset").values())


def read_image_sizes() -> list[ImageSize]:
    """Read the sizes of images that are timed whether or not they were fetched."""
    return list(_read_table_once(find_repository_root() / SIZES, ImageSize, "place").values())


def find_arm(name: str) -> Arm:
    """Find the arm with a name; `UserError` if config/arms.tsv lacks it."""
    return _find_row(read_arms(), name, "arm", ARMS)


def find_method(name: str) -> Method:
    """Find the super-resolution method with a name; `UserError` if config/methods.tsv lacks it."""
    return _find_row(read_methods(), name, "method", METHODS)


def find_row(name: str) -> Arm | Method:
    """Find the arm or method with a name; `UserError` if neither table has it."""
    rows: dict[str, Arm | Method] = {**read_arms(), **read_methods()}
    return _find_row(rows, name, "arm or method", f"{ARMS} or {METHODS}")


def find_dataset(name: str) -> Dataset:
    """Find the data set with a name; `UserError` if config/datasets.tsv lacks it."""
    return _find_row(read_datasets(), name, "data set", DATASETS)


def locate_row(row: Arm | Method) -> tuple[str, str, str]:
    """Locate a row: its benchmark, the column that names it (arm or method), and its name."""
    return ("native", "arm", row.arm) if isinstance(row, Arm) else ("asr", "method", row.method)


def _find_row(table: Mapping[str, AnyRow], name: str, noun: str, file: str) -> AnyRow:
    """Find the row with a name; `UserError` if the table lacks it."""
    if name not in table:
        raise UserError(f"{file} has no {noun} {name!r}; {suggest(name, table)}")
    return table[name]


def require_names(names: Iterable[Any], known: Collection[Any], setting: str, place: str) -> None:
    """Raise `UserError` for the first name of a setting that is not among those of a place."""
    for name in names:
        if name not in known:
            suggestion = suggest(str(name), map(str, known))
            raise UserError(
                f"Config: {setting} names {name!r}, which is not in {place}; {suggestion}"
            )


def select_rows(
    table: Mapping[str, AnyRow], names: Collection[str], setting: str, file: str
) -> dict[str, AnyRow]:
    """Select rows of a table by name, in its order; `UserError` if it lacks one of them."""
    require_names(names, table, setting, file)
    return {name: row for name, row in table.items() if name in names}


def list_arms(config: Config) -> dict[str, Arm]:
    """List the arms that a config runs, in the order of the arms table."""
    return select_rows(read_arms(), config["native"]["arms"], "native.arms", ARMS)


def list_methods(config: Config) -> dict[str, Method]:
    """List the super-resolution methods that a config runs, in the order of their table."""
    return select_rows(read_methods(), config["asr"]["methods"], "asr.methods", METHODS)


def list_named_datasets(config: Config) -> dict[str, list[str]]:
    """List the names of data sets in a config, by the setting that has them."""
    native, asr = config["native"]["data"], config["asr"]
    return {
        "native.data.train": native["train"],
        "native.data.evaluate": list(native["evaluate"].values()),
        "asr.train": asr["train"],
        "asr.evaluate": list(asr["evaluate"].values()),
        "accept_partial": config["accept_partial"],
    }


def list_timed_datasets(config: Config) -> list[str]:
    """List the data sets that super-resolution times: of columns, or named themselves."""
    asr = config["asr"]
    names = (asr["evaluate"].get(name, name) for name in asr["timing"]["datasets"])
    return list(dict.fromkeys(names))
