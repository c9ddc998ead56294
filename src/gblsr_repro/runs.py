"""Load trained runs of both benchmarks as models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import torch

from . import config as configuration
from . import dependencies
from .config import Arm, Config, Method, locate_row
from .dependencies import CODE_DIGEST, select_defining_columns
from .errors import UserError
from .files import read_json
from .models import native
from .models.asr import model as asr
from .models.asr.model import ASRModel
from .models.native import NativeModel
from .progress import log
from .weights import read_weights

Model = TypeVar("Model", NativeModel, ASRModel)


@dataclass(frozen=True)
class RunType:
    """How to recognize the runs of a benchmark and to rebuild their models.

    `benchmark` is a section of the config; `subject` is the key of a run's record that names the
    trained arm or method; `find_row` finds the row of an arm or method by name; `assemble` builds
    the untrained model of a row, a config and a record.
    """

    benchmark: str
    subject: str
    find_row: Callable[[str], Any]
    assemble: Callable[[Any, Config, Mapping[str, Any]], Any]


def _assemble_arm(row: Any, config: Config, record: Mapping[str, Any]) -> NativeModel:
    """Build an untrained arm; a record of a run changes nothing of it."""
    return native.assemble_model(row, config)


def _assemble_method(row: Any, config: Config, record: Mapping[str, Any]) -> ASRModel:
    """Build an untrained method with the range of colors in the run's record."""
    model = asr.assemble_model(row, config)
    model.colors = record.get("colors", asr.NORMALIZED)
    return model


RUN_TYPES: dict[type[torch.nn.Module], RunType] = {
    NativeModel: RunType("native", "arm", configuration.find_arm, _assemble_arm),
    ASRModel: RunType("asr", "method", configuration.find_method, _assemble_method),
}


def find_run_type(record: Mapping[str, Any]) -> RunType:
    """Find the type of run that a record describes."""
    return next(run_type for run_type in RUN_TYPES.values() if run_type.subject in record)


def load_matching_run(
    run: Path | str,
    model: type[Model],
    row: Arm | Method,
    seed: int,
    config: Config,
    device: torch.device,
) -> tuple[Model, dict[str, Any]]:
    """Load the run in a folder and its record; `UserError` unless it is of this row and seed."""
    record, (_, key, name) = read_json(Path(run) / "run.json"), locate_row(row)
    if not isinstance(record, dict):
        raise UserError(f"{run}/run.json is not the record of a run; train this run again.")
    recorded_name, recorded_seed = record.get(key), record.get("seed")
    if (recorded_name, recorded_seed) != (name, seed):
        raise UserError(
            f"{run} holds {recorded_name}, seed {recorded_seed}, not {name}, seed {seed}; name the "
            "right run."
        )
    return load_run(run, model, config, device), record


def load_run(
    path: Path | str,
    model: type[Model],
    config: Config | None = None,
    device: torch.device | None = None,
) -> Model:
    """Load a trained model from its run folder or a weights file, in eval mode on `device` (CPU).

    The model is built from the settings in the run's record. Raises `UserError` when the run is of
    the other benchmark, incomplete or damaged, or when the row of its arm or method changed since
    the training (a bundled file contains its row). With `config`, also when its settings or the
    code differ from those of the training, or it was imported instead of trained or the reverse;
    without, other code is logged as a warning.
    """
    run_type = RUN_TYPES[model]
    record, weights = read_weights(path)
    if run_type.subject not in record:
        raise UserError(f"{path} holds no {run_type.benchmark} run; name the folder of one.")
    if "row" in record:
        row = SimpleNamespace(**record["row"])
    else:
        row = run_type.find_row(record[run_type.subject])
        if config:
            identity = dependencies.identify_run(row, config)
            dependencies.check_origin(path, record, identity)
            dependencies.check_identity(path, record, identity)
        else:
            dependencies.check_identity(path, record, select_defining_columns(row))
            if dependencies.digest_run_code(row, record) != record["identity"].get(CODE_DIGEST):
                log.warning("%s was trained by other code than there is now.", path)
    loaded = run_type.assemble(row, config or {run_type.benchmark: record["config"]}, record)
    try:
        loaded.load_state_dict(weights)
    except RuntimeError as error:
        raise UserError(
            f"{path} holds weights that do not fit the model of its record; train this run again."
        ) from error
    loaded.name = record[run_type.subject]
    return loaded.eval().to(device or torch.device("cpu"))
