"""Check rules between settings, and names against their tables, beyond the schema's types."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import UserError
from ..wording import shorten
from .addresses import SEED, parse_address
from .tables import (
    ARMS,
    DATASETS,
    METHODS,
    Config,
    find_repository_root,
    get_setting,
    list_arms,
    list_methods,
    list_named_datasets,
    merge,
    read_arms,
    read_base,
    read_datasets,
    read_methods,
    require_names,
)

MULTIPLES = {
    "native.data.image_size": "native.model.patch",
    "native.model.features": "native.model.norm_groups",
    "native.training.batch_size": "native.training.accumulate",
    "asr.model.swinir_embed": "asr.model.swinir_heads",
}


def check_config(config: Config) -> None:
    """Raise `UserError` about the first problem of a `config` that fits the schema."""
    for check in CHECKS:
        for problem in check(config):
            raise UserError(f"Config: {problem}")


def _check_names(config: Config) -> Iterator[str]:
    """Check that what settings name is a row of a table or an entry of another setting.

    Columns that an overlay drops still exist, since it cannot drop the settings of its columns.
    """
    base = read_base()
    columns, asr_columns = (
        get_setting(merge(base, config), name) for name in ("native.data.evaluate", "asr.evaluate")
    )
    native, asr = config["native"], config["asr"]
    list_arms(config)
    for setting, names in list_named_datasets(config).items():
        require_names(names, read_datasets(), setting, DATASETS)
    arms, methods = read_arms(), read_methods()
    timed = {**asr["evaluate"], **read_datasets()}
    for names, known, setting, place in (
        ([native["main_arm"]], arms, "native.main_arm", ARMS),
        ([native["control_arm"]], arms, "native.control_arm", ARMS),
        (native["training"]["pixels"], arms, "native.training.pixels", ARMS),
        (native["data"]["exemplars"], columns, "native.data.exemplars", "native.data.evaluate"),
        ([asr["base_method"]], methods, "asr.base_method", METHODS),
        (asr["exemplars"], read_datasets(), "asr.exemplars", DATASETS),
        (asr["shave_extra"], asr_columns, "asr.shave_extra", "asr.evaluate"),
        (asr["timing"]["datasets"], timed, "asr.timing.datasets", f"asr.evaluate or {DATASETS}"),
        (asr["trained_scales"], asr["scales"], "asr.trained_scales", "asr.scales"),
        (config["released"], {**arms, **methods}, "released", f"{ARMS} or {METHODS}"),
    ):
        require_names(names, known, setting, place)
    for row in list_methods(config).values():
        setting = f"the recipe of {row.method} in {METHODS}"
        require_names([row.recipe], asr["training"]["recipes"], setting, "asr.training.recipes")
    for name in arms.keys() & methods.keys():
        yield f"{ARMS} and {METHODS} both have a row {name!r}; rename one."
    required = native["criteria"]["datasets_required"]
    if required > len(columns):
        yield (
            f"native.criteria.datasets_required is {required}, but must be at most the number of "
            f"columns of native.data.evaluate, {len(columns)}."
        )


def _check_released(config: Config) -> Iterator[str]:
    """Check that released weights have addresses, and are of the seeds of the run."""
    count = len(config["seeds"])
    for name, address in config["released"].items():
        try:
            parse_address(address.replace(SEED, "0"))
        except UserError as error:
            yield f"released: {error}"
        if {*"{}"} & {*address.replace(SEED, "")}:
            yield (
                f"released: {shorten(address)} has braces, which Snakemake takes for a wildcard; "
                f"rename the folder or file (only {SEED} stands for something)."
            )
        if count > 1 and SEED not in address:
            yield (
                f"released names one run of {name}, but seeds has {count}; set it to the seed of "
                f"that run, or write {SEED} where the addresses differ by it."
            )


def _check_sizes(config: Config) -> Iterator[str]:
    """Check that sizes are multiples of one another."""
    for whole, part in MULTIPLES.items():
        size, divisor = get_setting(config, whole), get_setting(config, part)
        if size % divisor:
            yield f"{whole} is {size}, but must be a multiple of {part}, {divisor}; change one."


def _check_training_sets(config: Config) -> Iterator[str]:
    """Check that no images are both trained on and evaluated, nor evaluated twice."""
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
    evaluated = named["asr.evaluate"]
    for name in evaluated:
        if evaluated.count(name) > 1:
            yield f"asr.evaluate names {name!r} for two columns; leave one of them out."


def _check_results(config: Config) -> Iterator[str]:
    """Check that the results folder replaces no file of the checkout."""
    checkout = Path(os.path.realpath(find_repository_root()))
    results = Path(os.path.realpath(config["results"]))
    if results.is_relative_to(checkout) and not results.is_relative_to(checkout / "results"):
        yield (
            f"results is {shorten(config['results'])}, but in the checkout only {checkout}/results "
            "is for results; name that folder, one in it, or one outside the checkout."
        )


CHECKS = (
    _check_results,
    _check_names,
    _check_released,
    _check_training_sets,
    _check_sizes,
)
