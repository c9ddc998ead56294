"""Compare what a config.json, a checkpoint or a run.json says of weights with a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..config import Arm, Config, Method, locate_row
from ..dependencies import identify_run, update_identity
from ..errors import UserError
from ..models import gblsr
from ..models.asr.local_spectral import GBLSR
from ..models.base import Model
from .reading import Checkpoint

OTHER_MAPS = ("data", "optimizer")  # of the training, with fields of the same names
DEEPEST = 4  # maps within maps that are read
# The authors' bandwidth_mode and adapt_order, by which their package builds an arm.
MODES: dict[type, tuple[str, bool]] = {
    gblsr.FixedDecoder: ("fixed_midpoint", False),
    gblsr.ScalarDecoder: ("global_scalar", False),
    gblsr.BandwidthDecoder: ("local_logspace", False),
    gblsr.FullDecoder: ("local_logspace", True),
    gblsr.BandwidthLinearDecoder: ("local_linear", False),
    gblsr.FullLinearDecoder: ("local_linear", True),
    gblsr.FixedOrderDecoder: ("fixed_midpoint", True),
    gblsr.ScalarOrderDecoder: ("global_scalar", True),
}
OF_TRAINING = ("seed", "trained_steps", "total_steps", "epoch", "git_commit", "experiment_id")


def flatten(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested maps into their plain fields; of fields with one name the outer one counts.

    Releases nest their fields differently.
    """
    fields: dict[str, Any] = {}
    level = [facts]
    for _ in range(DEEPEST):
        below: list[Mapping[str, Any]] = []
        for name, value in [item for section in level for item in section.items()]:
            plain = value.item() if isinstance(value, np.generic) else value
            if plain is None or isinstance(plain, str | int | float):
                fields.setdefault(name, plain)
            elif isinstance(value, Mapping) and name not in OTHER_MAPS:
                below.append(value)
        level = below
    return fields


def select_training_facts(checkpoint: Checkpoint) -> dict[str, Any]:
    """Select the fields about the training of the weights, for a run's record."""
    fields = flatten(checkpoint.record or checkpoint.facts)
    return {name: fields[name] for name in OF_TRAINING if isinstance(fields.get(name), int | str)}


def check_facts(
    checkpoint: Checkpoint, row: Arm | Method, model: Model, seed: int, config: Config
) -> None:
    """Raise `UserError` where a release, or the record of a run, contradicts a row or a seed."""
    place, name = checkpoint.file, locate_row(row)[2]
    if checkpoint.record:
        said = update_identity(checkpoint.record.get("identity") or {})
        wanted = select_identity(row, config)
    else:
        said, wanted = flatten(checkpoint.facts), describe_row(row, model, config)
        if said.get("bandwidth_mode", "") is None:  # the authors' trainer then derives it
            adapts = said.get("adapt_bandwidth", True)
            said["bandwidth_mode"] = "local_linear" if adapts else "fixed_midpoint"
    for field, value in wanted.items():
        if field in said and said[field] != value:
            raise UserError(
                f"{place} says {field} = {said[field]!r}, but {name} has {value!r}; import it as "
                "the row that it is of."
            )
    trained = select_training_facts(checkpoint).get("seed", seed)
    if trained != seed:
        raise UserError(
            f"{place} says seed = {trained}, not {seed}; import it with --seed {trained}, or set "
            f"seeds to [{trained}] in the config that names it."
        )


def describe_row(row: Arm | Method, model: Model, config: Config) -> dict[str, Any]:
    """Describe a row by those fields of the authors' configurations that shapes do not tell."""
    if isinstance(model.decoder, GBLSR):
        return {"local_ensemble": row.options.get("local_ensemble") != "no"}
    if type(model.decoder) not in MODES:
        return {}
    mode, adapts = MODES[type(model.decoder)]
    fields: dict[str, Any] = {"bandwidth_mode": mode, "adapt_order": adapts, "family": "fourier"}
    for field, setting in (("s_e", "bandwidth_range"), ("p_soft", "order_range")):
        fields[f"{field}_lo"], fields[f"{field}_hi"] = config["native"]["model"][setting]
    return fields


def select_identity(row: Arm | Method, config: Config) -> dict[str, Any]:
    """Select what defines the model of a row of what its runs depend on: columns and settings."""
    benchmark, _, _ = locate_row(row)
    defining = ("arms.", "methods.encoder", "methods.decoder", "methods.options",
                f"{benchmark}.model.", "asr.training.scale_range")  # fmt: skip
    return {k: v for k, v in identify_run(row, config).items() if k.startswith(defining)}
