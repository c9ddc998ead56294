"""What the weights of a run follow from: its row and settings, whatever its seed.

The same answer decides when a run is trained again, what its record and its saved states say, and
whether its weights may be loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import UserError
from .tables import Arm, Config, Dataset, Method

# The columns of a row that decide what is made; the others say how it is shown.
DEFINING = {
    Arm: ("arms", ("decoder", "options")),
    Method: ("methods", ("encoder", "decoder", "options", "recipe")),
    Dataset: ("datasets", ("kind", "files", "images", "checksum")),
}
# Training settings that change how a run is watched, not what it computes.
WATCHING = (
    "log_every",
    "checkpoint_every",
    "validate_every",
    "validation_images",
    "validation_scale",
)
TRAINING_ARRAY = tuple(
    f"native.data.{name}"
    for name in ("image_size", "train", "data_seed", "crop_seed_stride", "holdout_fraction")
)
ENCODERS = ("rdn", "swinir")

Identity = dict[str, Any]


def run_identity(row: Arm | Method, config: Config) -> Identity:
    """Return the defining columns and the settings that a run's weights follow from, by name."""
    settings = chosen(config, run_settings(row, config))
    return definition(row) | {name: v for name, v in settings.items() if not watches(name)}


def run_settings(row: Arm | Method, config: Config) -> tuple[str, ...]:
    """Return the settings that training a row looks up: its identity's, and those that watch."""
    if isinstance(row, Arm):
        half, made_of, own = "native", (*TRAINING_ARRAY, "native.model"), f"pixels.{row.arm}"
    else:
        half, made_of, own = "asr", ("asr.train", *model_of(row, config)), f"recipes.{row.recipe}"
    training = (name for name in within(config, f"{half}.training") if name not in MAPS)
    return (*made_of, *training, f"{half}.training.{own}")


def definition(row: Any) -> Identity:
    """Return the defining columns of a row, by name."""
    table, columns = DEFINING[type(row)]
    return {f"{table}.{k}": v for k, v in asdict(row).items() if k in columns}


def model_of(method: Method, config: Config) -> tuple[str, ...]:
    """Return the settings of a method's model: all but those of the other encoders."""
    others = tuple(f"asr.model.{name}_" for name in ENCODERS if name != method.encoder)
    return tuple(name for name in within(config, "asr.model") if not name.startswith(others))


def watches(name: str) -> bool:
    """Say whether a setting changes only how a run is watched."""
    section, _, setting = name.rpartition(".")
    return section.endswith(".training") and setting in WATCHING


def check_identity(place: Path | str, record: Mapping[str, Any], wanted: Identity) -> None:
    """Raise `UserError` unless the run that `record` describes agrees with all of `wanted`."""
    trained = record.get("identity")
    if trained is None:
        raise UserError(f"{place} does not say what its weights follow from; train this run again.")
    for name, value in wanted.items():
        if trained.get(name) != value:
            table, _, _ = name.partition(".")
            says = f"config/{table}.tsv" if table in ("arms", "methods") else "the config"
            raise UserError(
                f"{place} was trained with {name} = {trained.get(name)}, but {says} says {value}; "
                "train again or use what it was trained with."
            )


# --- settings by their dotted names ---------------------------------------------------------------

# The settings that are maps: by column, by arm, or by recipe.
MAPS = (
    "native.data.evaluate",
    "native.data.exemplars",
    "native.training.pixels",
    "asr.evaluate",
    "asr.shave_extra",
    "asr.training.recipes",
)


def within(config: Config, name: str) -> tuple[str, ...]:
    """Return the settings in a section of a config, or a setting itself; a map is one."""
    section = _at(config, name)
    if not isinstance(section, Mapping) or name in MAPS:
        return (name,)
    return tuple(leaf for key in section for leaf in within(config, f"{name}.{key}"))


def chosen(config: Config, names: Iterable[str]) -> Identity:
    """Return the named settings by their dotted names; a section stands for all in it.

    Of a map, single entries can be named (`asr.evaluate.set5`); those that are not there are left
    out.
    """
    found: Identity = {}
    for name in names:
        leaf, _, key = name.rpartition(".")
        if leaf in MAPS:
            entries = {k: v for k, v in _at(config, leaf).items() if k == key}
            found[leaf] = found.get(leaf, {}) | entries
        else:
            found |= {leaf: _at(config, leaf) for leaf in within(config, name)}
    return found


def _at(config: Config, name: str) -> Any:
    value: Any = config
    for key in name.split("."):
        value = value[key]
    return value
