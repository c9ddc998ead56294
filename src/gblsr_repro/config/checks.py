"""What types cannot say: settings that are impossible together, each told in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from .tables import (
    Config,
    arms,
    datasets,
    guess,
    methods,
    named_datasets,
    read_yaml,
    repository_root,
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
    check_rows(config)
    check_images(config)
    check_timing(config)
    check_columns(config)
    check_sizes(config)
    check_ranges(config)
    check_scales(config)


def check_rows(config: Config) -> None:
    """Refuse arms and methods that their tables lack, and a method without its recipe."""
    native, asr = config["native"], config["asr"]
    selected_arms(config)
    for name in ("main_arm", "control_arm"):
        select(arms(), [native[name]], f"native.{name}", "config/arms.tsv")
    select(methods(), [asr["base_method"]], "asr.base_method", "config/methods.tsv")
    recipes = asr["training"]["recipes"]
    for row in selected_methods(config).values():
        if row.recipe not in recipes:
            raise UserError(
                f"Config: asr.training.recipes lacks {row.recipe!r}, the recipe of {row.method} in "
                f"config/methods.tsv; add it or correct the table: {guess(row.recipe, recipes)}"
            )


def check_images(config: Config) -> None:
    """Refuse a data set that holds no images, where images are needed."""
    table, columns = datasets(), config["asr"]["evaluate"]
    timed = [columns.get(name, name) for name in config["asr"]["timing"]["datasets"]]
    for setting, names in (named_datasets(config) | {"asr.timing.datasets": timed}).items():
        for name in names:
            if name in table and table[name].images == "0":
                raise UserError(
                    f"Config: {setting} names {name!r}, which holds no images; name another data "
                    "set of config/datasets.tsv."
                )


def check_timing(config: Config) -> None:
    """Refuse timed sets that are neither columns nor data sets."""
    known = {**config["asr"]["evaluate"], **datasets()}
    for name in config["asr"]["timing"]["datasets"]:
        if name not in known:
            raise UserError(
                f"Config: asr.timing.datasets names {name!r}, which is neither a column of "
                f"asr.evaluate nor a data set of config/datasets.tsv; {guess(name, known)}"
            )


def check_columns(config: Config) -> None:
    """Refuse settings for columns that do not exist, and a column without its exemplar.

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
                raise UserError(
                    f"Config: {setting} names {name!r}, which is no column of {table}; "
                    f"{guess(name, _at(config, table))}"
                )
    data = config["native"]["data"]
    for column in data["evaluate"]:
        if column not in data["exemplars"]:
            raise UserError(
                f"Config: native.data.exemplars lacks the column {column!r}; add the name of the "
                "image that the qualitative figure shows of it."
            )
    required = config["native"]["criteria"]["datasets_required"]
    most = len(known["native.data.evaluate"])
    if required > most:
        raise UserError(
            f"Config: native.criteria.datasets_required is {required}, but must be at most the "
            f"number of columns of native.data.evaluate, {most}."
        )


def check_sizes(config: Config) -> None:
    """Refuse a patch that is no power of two, and sizes that do not divide one another."""
    patch = config["native"]["model"]["patch"]
    if patch < 2 or patch & (patch - 1):
        raise UserError(
            f"Config: native.model.patch is {patch}, but must be a power of two, at least 2."
        )
    for whole, part in MULTIPLES.items():
        size, divisor = _at(config, whole), _at(config, part)
        if size % divisor:
            raise UserError(
                f"Config: {whole} is {size}, but must be a multiple of {part}, {divisor}; change "
                "one of them."
            )


def check_ranges(config: Config) -> None:
    """Refuse ranges that do not rise."""
    for setting in RANGES:
        low, high = _at(config, setting)
        if low >= high:
            raise UserError(
                f"Config: {setting} is [{low:g}, {high:g}], but must rise from low to high."
            )


def check_scales(config: Config) -> None:
    """Refuse a trained scale that is not evaluated."""
    scales = config["asr"]["scales"]
    for scale in config["asr"]["trained_scales"]:
        if scale not in scales:
            raise UserError(
                f"Config: asr.trained_scales names {scale:g}, which asr.scales lacks; add it there "
                "or remove it here."
            )


def _at(config: Mapping[str, Any], setting: str) -> Any:
    """Return the value of a dotted setting; None when it is not there."""
    value: Any = config
    for key in setting.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
