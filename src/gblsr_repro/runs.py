"""Load trained runs of both benchmarks as models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch

from .config import OWN, Arm, Config, Method, find_arm, find_method, locate_row
from .dependencies import (
    MODELS,
    RELEASED,
    VERSION,
    identify_row,
    identify_run,
    list_run_versions,
    update_identity,
)
from .errors import UserError
from .metadata import METADATA_FILE, read_metadata
from .models.base import Model
from .progress import log
from .weights import read_weights

Loaded = TypeVar("Loaded", bound=Model)


def find_row_of_run(metadata: Mapping[str, Any]) -> Arm | Method:
    """Find the row of a run's arm or method: a bundled file contains it, else the tables have it.

    A bundled file may lack the columns that say how a row is shown.
    """
    if "row" in metadata:
        kind: type[Arm] | type[Method] = Arm if "arm" in metadata else Method
        name = metadata.get("arm") or metadata["method"]
        shown = {"name": name, "short": name, "group": OWN, "benchmark": False}
        return kind.model_validate(shown | {k: cell for k, cell in metadata["row"].items() if cell})
    return find_arm(metadata["arm"]) if "arm" in metadata else find_method(metadata["method"])


def load_matching_run(
    run: Path | str,
    model: type[Loaded],
    row: Arm | Method,
    seed: int,
    config: Config,
    device: torch.device,
) -> tuple[Loaded, dict[str, Any]]:
    """Load the run in a folder and its metadata; `UserError` unless it is of this row and seed."""
    metadata, (_, key, name) = read_metadata(Path(run) / METADATA_FILE), locate_row(row)
    recorded_name, recorded_seed = metadata.get(key), metadata.get("seed")
    if (recorded_name, recorded_seed) != (name, seed):
        raise UserError(
            f"{run} holds {recorded_name}, seed {recorded_seed}, not {name}, seed {seed}; name the "
            "right run."
        )
    return load_run(run, model, config, device), metadata


def load_run(
    path: Path | str,
    model: type[Loaded],
    config: Config | None = None,
    device: torch.device | None = None,
) -> Loaded:
    """Load a trained model from its run folder or a weights file, in eval mode on `device` (CPU).

    The model is built from the settings in the run's metadata. Raises `UserError` when the run is
    of the other benchmark, incomplete or damaged, or when the row of its arm or method changed
    since the training (a bundled file contains its row). With `config`, also when its settings or
    versions differ from those of the training, or it was imported instead of trained or the
    reverse; without, another version is logged as a warning.
    """
    metadata, weights = read_weights(path)
    if model.subject not in metadata:
        raise UserError(f"{path} holds no {model.benchmark} run; name the folder of one.")
    row = find_row_of_run(metadata)
    if "row" not in metadata:
        _compare_with_current(path, metadata, row, config)
    loaded: Any = model.assemble(row, config or {model.benchmark: metadata["config"]})
    if "colors" in metadata:
        loaded.colors = metadata["colors"]
    try:
        loaded.load_state_dict(weights)
    except RuntimeError as error:
        raise UserError(
            f"{path} holds weights that do not fit the model of its metadata; train this run again."
        ) from error
    loaded.name = metadata[model.subject]
    return loaded.eval().to(device or torch.device("cpu"))


def _compare_with_current(
    path: Path | str, metadata: Mapping[str, Any], row: Arm | Method, config: Config | None
) -> None:
    """Compare a run's metadata with what `config`, the tables and the code are now."""
    metadata = {**metadata, "identity": update_identity(metadata.get("identity") or {})}
    if config:
        # A run counts as trained where the config names no released weights for it.
        _check_identity(path, metadata, {RELEASED: None, **identify_run(row, config)})
        return
    _check_identity(path, metadata, identify_row(row))
    if not list_run_versions(row, metadata).items() <= metadata["identity"].items():
        log.warning("%s was trained by another version of the code than there is now.", path)


def _check_identity(
    place: Path | str, metadata: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    """Raise `UserError` unless the identity in a run's metadata agrees with `expected`."""
    identity = metadata["identity"]
    if not identity:
        raise UserError(
            f"{place} has no metadata of what it was trained with; train this run again."
        )
    past = "imported" if RELEASED in metadata else "trained"
    present = "import" if expected.get(RELEASED, RELEASED in metadata) else "train"
    for name, value in expected.items():
        if identity.get(name) == value:
            continue
        if name in (VERSION, MODELS):
            raise UserError(
                f"{place} was {past} by another version of the code ({name}: {identity.get(name)}, "
                f"now {value}); {present} it again or restore that version."
            )
        table, _, _ = name.partition(".")
        source = f"config/{table}.tsv" if table in ("arms", "methods") else "the config"
        raise UserError(
            f"{place} was {past} with {name} = {identity.get(name)}, but {source} has {value}; "
            f"{present} it again or restore that value."
        )
