"""What types cannot say: settings that are impossible together, each told in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import UserError
from .addresses import SEED, parse_address
from .tables import (
    Config,
    arms,
    datasets,
    guess,
    methods,
    named_datasets,
    read_yaml,
    repository_root,
    row_named,
    select,
    selected_arms,
    selected_methods,
)

MULTIPLES = {
    "native.data.image_size": "native.model.patch",
    "native.model.features": "native.model.norm_groups",
    "native.training.batch_size": "native.training.accumulate",
    "asr.model.swinir_embed": "asr.model.swinir_heads",
}
RANGES = ("native.model.bandwidth_range", "native.model.order_range", "asr.training.scale_range")
# What is set by table column, and the table that has the columns.
BY_COLUMN = {
    "native.data.exemplars": "native.data.evaluate",
    "asr.shave_extra": "asr.evaluate",
}


def check(config: Config) -> None:
    """Raise `UserError` about the first impossible setting of a `config` that fits the model."""
    for kind in (_rows, _released, _images, _timing, _columns, _sizes, _ranges, _scales):
        for problem in kind(config):
            raise UserError(f"Config: {problem}")


def _rows(config: Config) -> Iterator[str]:
    """Tell of arms and methods that their tables lack, and of a method without its recipe."""
    native, asr = config["native"], config["asr"]
    selected_arms(config)
    for name in ("main_arm", "control_arm"):
        select(arms(), [native[name]], f"native.{name}", "config/arms.tsv")
    select(arms(), native["training"]["pixels"], "native.training.pixels", "config/arms.tsv")
    select(methods(), [asr["base_method"]], "asr.base_method", "config/methods.tsv")
    recipes = asr["training"]["recipes"]
    for row in selected_methods(config).values():
        if row.recipe not in recipes:
            yield (
                f"asr.training.recipes lacks {row.recipe!r}, the recipe of {row.method} in "
                f"config/methods.tsv; add it or correct the table: {guess(row.recipe, recipes)}"
            )


def _released(config: Config) -> Iterator[str]:
    """Tell of released weights for no row, of a malformed address, and of one for several seeds."""
    count = len(config["seeds"])
    for name, address in config["released"].items():
        try:
            row_named(name)
            parse_address(address.replace(SEED, "0"))
        except UserError as error:
            yield f"released: {error}"
        if count > 1 and SEED not in address:
            yield (
                f"released names one run of {name}, but seeds has {count}; set it to the seed of "
                f"that run, or write {SEED} where the addresses differ by it."
            )


def _images(config: Config) -> Iterator[str]:
    """Tell of a data set that holds no images, where images are needed."""
    table, columns = datasets(), config["asr"]["evaluate"]
    timed = [columns.get(name, name) for name in config["asr"]["timing"]["datasets"]]
    for setting, names in (named_datasets(config) | {"asr.timing.datasets": timed}).items():
        for name in names:
            if name in table and table[name].images == "0":
                yield (
                    f"{setting} names {name!r}, which holds no images; name another data set of "
                    "config/datasets.tsv."
                )


def _timing(config: Config) -> Iterator[str]:
    """Tell of timed sets that are neither columns nor data sets."""
    known = {**config["asr"]["evaluate"], **datasets()}
    for name in config["asr"]["timing"]["datasets"]:
        if name not in known:
            yield (
                f"asr.timing.datasets names {name!r}, which is neither a column of asr.evaluate "
                f"nor a data set of config/datasets.tsv; {guess(name, known)}"
            )


def _columns(config: Config) -> Iterator[str]:
    """Tell of settings for columns that do not exist, and of a column without its exemplar.

    Columns of config/config.yaml still count as there when an overlay drops them, since it cannot
    drop what is set for them.
    """
    base = read_yaml(repository_root() / "config" / "config.yaml")
    known = {
        table: {**(_at(base, table) or {}), **_at(config, table)} for table in BY_COLUMN.values()
    }
    for setting, table in BY_COLUMN.items():
        for name in _at(config, setting):
            if name not in known[table]:
                close = guess(name, _at(config, table))
                yield f"{setting} names {name!r}, which is no column of {table}; {close}"
    data = config["native"]["data"]
    for column in data["evaluate"]:
        if column not in data["exemplars"]:
            yield (
                f"native.data.exemplars lacks the column {column!r}; add the name of the image "
                "that the qualitative figure shows of it."
            )
    shown = list(config["asr"]["evaluate"].values())
    for dataset in shown:
        if shown.count(dataset) > 1:
            yield f"asr.evaluate names {dataset!r} for two columns; leave one of them out."
    required = config["native"]["criteria"]["datasets_required"]
    most = len(known["native.data.evaluate"])
    if required > most:
        yield (
            f"native.criteria.datasets_required is {required}, but must be at most the number of "
            f"columns of native.data.evaluate, {most}."
        )


def _sizes(config: Config) -> Iterator[str]:
    """Tell of a patch that is no power of two, and of sizes that do not divide one another."""
    patch = config["native"]["model"]["patch"]
    if patch < 2 or patch & (patch - 1):
        yield f"native.model.patch is {patch}, but must be a power of two, at least 2."
    for whole, part in MULTIPLES.items():
        size, divisor = _at(config, whole), _at(config, part)
        if size % divisor:
            yield f"{whole} is {size}, but must be a multiple of {part}, {divisor}; change one."


def _ranges(config: Config) -> Iterator[str]:
    """Tell of ranges that do not rise."""
    for setting in RANGES:
        low, high = _at(config, setting)
        if low >= high:
            yield f"{setting} is [{low:g}, {high:g}], but must rise from low to high."


def _scales(config: Config) -> Iterator[str]:
    """Tell of a trained scale that is not evaluated."""
    for scale in config["asr"]["trained_scales"]:
        if scale not in config["asr"]["scales"]:
            yield (
                f"asr.trained_scales names {scale:g}, which asr.scales lacks; add it there or "
                "remove it here."
            )


def _at(config: Mapping[str, Any], setting: str) -> Any:
    """Return the value of a dotted setting; None when it is not there."""
    value: Any = config
    for key in setting.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
