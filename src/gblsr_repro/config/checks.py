"""Check rules between settings, and names against their tables, beyond the schema's types."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import UserError
from ..wording import shorten
from .addresses import SEED, parse_address
from .cells import suggest
from .tables import (
    Config,
    find_repository_root,
    find_row,
    get_setting,
    list_arms,
    list_datasets,
    list_methods,
    list_named_datasets,
    merge,
    read_arms,
    read_datasets,
    read_methods,
    read_yaml,
    select_rows,
)

MULTIPLES = {
    "native.data.image_size": "native.model.patch",
    "native.model.features": "native.model.norm_groups",
    "native.training.batch_size": "native.training.accumulate",
    "asr.model.swinir_embed": "asr.model.swinir_heads",
}
RANGES = ("native.model.bandwidth_range", "native.model.order_range", "asr.training.scale_range")
PROJECT_FOLDERS = (
    ".ci", ".git", ".github", "benchmarks", "config", "docs", "envs", "profiles", "resources",
    "slurm", "src", "tests", "workflow",
)  # fmt: skip
SYSTEM_FOLDERS = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
)  # fmt: skip
SHARED_FOLDERS = ("/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var")
OTHER_RESULTS = "name another folder, such as results/mine."
# Settings by table column, and the setting that lists the columns.
BY_COLUMN = {
    "native.data.exemplars": "native.data.evaluate",
    "asr.shave_extra": "asr.evaluate",
}


def check_config(config: Config) -> None:
    """Raise `UserError` about the first problem of a `config` that fits the schema."""
    for check in CHECKS:
        for problem in check(config):
            raise UserError(f"Config: {problem}")


def _check_rows(config: Config) -> Iterator[str]:
    """Check that the tables have the arms and methods, and that every method has its recipe."""
    native, asr = config["native"], config["asr"]
    list_arms(config)
    list_datasets(config)
    for name in ("main_arm", "control_arm"):
        select_rows(read_arms(), [native[name]], f"native.{name}", "config/arms.tsv")
    select_rows(
        read_arms(), native["training"]["pixels"], "native.training.pixels", "config/arms.tsv"
    )
    select_rows(read_methods(), [asr["base_method"]], "asr.base_method", "config/methods.tsv")
    for name in read_arms().keys() & read_methods().keys():
        yield f"config/arms.tsv and config/methods.tsv both have a row {name!r}; rename one."
    recipes = asr["training"]["recipes"]
    for row in list_methods(config).values():
        if row.recipe not in recipes:
            yield (
                f"asr.training.recipes lacks {row.recipe!r}, the recipe of {row.method} in "
                f"config/methods.tsv; add it or correct the table: {suggest(row.recipe, recipes)}"
            )


def _check_released(config: Config) -> Iterator[str]:
    """Check that released weights are of known rows, at addresses, and of the seeds of the run."""
    count = len(config["seeds"])
    for name, address in config["released"].items():
        try:
            find_row(name)
            parse_address(address.replace(SEED, "0"))
        except UserError as error:
            yield f"released: {error}"
        if count > 1 and SEED not in address:
            yield (
                f"released names one run of {name}, but seeds has {count}; set it to the seed of "
                f"that run, or write {SEED} where the addresses differ by it."
            )


def _check_timing(config: Config) -> Iterator[str]:
    """Check that timed sets are columns or data sets."""
    names = {**config["asr"]["evaluate"], **read_datasets()}
    for name in config["asr"]["timing"]["datasets"]:
        if name not in names:
            yield (
                f"asr.timing.datasets names {name!r}, which is neither a column of asr.evaluate "
                f"nor a data set of config/datasets.tsv; {suggest(name, names)}"
            )


def _check_columns(config: Config) -> Iterator[str]:
    """Check that settings by column name existing columns, and that these are enough.

    Columns of config/config.yaml still exist when an overlay drops them, since an overlay cannot
    drop the settings of its columns.
    """
    base = read_yaml(find_repository_root() / "config" / "config.yaml")
    columns = {table: get_setting(merge(base, config), table) for table in BY_COLUMN.values()}
    for setting, table in BY_COLUMN.items():
        for name in get_setting(config, setting):
            if name not in columns[table]:
                suggestion = suggest(name, get_setting(config, table))
                yield f"{setting} names {name!r}, which is no column of {table}; {suggestion}"
    evaluated = list(config["asr"]["evaluate"].values())
    for dataset in evaluated:
        if evaluated.count(dataset) > 1:
            yield f"asr.evaluate names {dataset!r} for two columns; leave one of them out."
    required = config["native"]["criteria"]["datasets_required"]
    most = len(columns["native.data.evaluate"])
    if required > most:
        yield (
            f"native.criteria.datasets_required is {required}, but must be at most the number of "
            f"columns of native.data.evaluate, {most}."
        )


def _check_sizes(config: Config) -> Iterator[str]:
    """Check that sizes are multiples of one another."""
    for whole, part in MULTIPLES.items():
        size, divisor = get_setting(config, whole), get_setting(config, part)
        if size % divisor:
            yield f"{whole} is {size}, but must be a multiple of {part}, {divisor}; change one."


def _check_ranges(config: Config) -> Iterator[str]:
    """Check that ranges rise."""
    for setting in RANGES:
        low, high = get_setting(config, setting)
        if low >= high:
            yield f"{setting} is [{low:g}, {high:g}], but must rise; write the lower first."


def _check_scales(config: Config) -> Iterator[str]:
    """Check that trained scales are evaluated."""
    for scale in config["asr"]["trained_scales"]:
        if scale not in config["asr"]["scales"]:
            yield (
                f"asr.trained_scales names {scale:g}, which asr.scales lacks; add it to asr.scales "
                "or remove it from asr.trained_scales."
            )


def _check_training_sets(config: Config) -> Iterator[str]:
    """Check that no images are both trained on and evaluated."""
    named, table = list_named_datasets(config), read_datasets()
    for benchmark in ("native.data", "asr"):
        trained = {table[name].files: name for name in named[f"{benchmark}.train"]}
        for name in named[f"{benchmark}.evaluate"]:
            if table[name].files in trained:
                yield (
                    f"{benchmark}.evaluate names {name!r}, whose images are those of "
                    f"{trained[table[name].files]!r} in {benchmark}.train; evaluate other images "
                    "than those of the training."
                )


def _check_results(config: Config) -> Iterator[str]:
    """Check that the results folder is no file and holds nothing but results."""
    name, root = config["results"], find_repository_root()
    results = Path(os.path.realpath(name))
    if os.path.lexists(results) and not os.path.isdir(results):
        yield f"results is {shorten(name)}, which is a file or a broken link; name a folder."
    below = (root, Path.cwd(), os.path.expanduser("~"), sys.prefix, *SHARED_FOLDERS)
    if any(Path(os.path.realpath(folder)).is_relative_to(results) for folder in below):
        yield f"results is {shorten(name)}, which has more in it than results; {OTHER_RESULTS}"
    for folder in PROJECT_FOLDERS:
        if results.is_relative_to(root / folder):
            yield f"results is {shorten(name)}, a folder of the project itself; {OTHER_RESULTS}"
    others = (sys.prefix, *SYSTEM_FOLDERS, config["resources"])
    for folder in map(os.path.realpath, others):
        # A container may have the checkout in /usr/src.
        if results.is_relative_to(folder) and not Path.cwd().is_relative_to(folder):
            yield f"results is {shorten(name)}, which is kept for other files; {OTHER_RESULTS}"


CHECKS = (
    _check_results,
    _check_rows,
    _check_released,
    _check_training_sets,
    _check_timing,
    _check_columns,
    _check_sizes,
    _check_ranges,
    _check_scales,
)
