"""Trained runs of both benchmarks: read back as the model that they were trained to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import torch

from . import config as configuration
from .config import CODE_DIGEST, Arm, Config, Method, locate_row, select_defining_columns
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
    """How the runs of a benchmark, a section of the config, are told and made again.

    `subject` is the key of a record that names what was trained.
    """

    benchmark: str
    subject: str
    assemble: Callable[[Any, Config], Any]

    def find_row(self, name: str) -> Any:
        """Return the row of that name; `UserError` when the table has none."""
        return getattr(configuration, f"find_{self.subject}")(name)


RUN_TYPES: dict[type[torch.nn.Module], RunType] = {
    NativeModel: RunType("native", "arm", native.assemble_model),
    ASRModel: RunType("asr", "method", asr.assemble_model),
}


def find_run_type(record: Mapping[str, Any]) -> RunType:
    """Return the kind of run that a record is of."""
    return next(kind for kind in RUN_TYPES.values() if kind.subject in record)


def load_matching_run(
    run: Path | str,
    model: type[Model],
    row: Arm | Method,
    seed: int,
    config: Config,
    device: torch.device,
) -> tuple[Model, dict[str, Any]]:
    """Load the run in a folder, and its record; `UserError` unless it is of that row and seed."""
    record, (_, kind, name) = read_json(Path(run) / "run.json"), locate_row(row)
    if not isinstance(record, dict):
        raise UserError(f"{run}/run.json is not the record of a run; train this run again.")
    holds = record.get(kind), record.get("seed")
    if holds != (name, seed):
        raise UserError(
            f"{run} holds {holds[0]}, seed {holds[1]}, not {name}, seed {seed}; name the right run."
        )
    return load_run(run, model, config, device), record


def load_run(
    path: Path | str,
    model: type[Model],
    config: Config | None = None,
    device: torch.device | None = None,
) -> Model:
    """Load a trained model from its run folder or a weights file, in eval mode on `device` (CPU).

    It is built from the settings that the run records. Raises `UserError` when the run is of the
    other benchmark, incomplete or damaged, when it was trained from another row than its table has
    (a bundled file brings its own), or, where `config` is given, from other settings than those, or
    by other code. Without one, other code is a warning.
    """
    kind = RUN_TYPES[model]
    record, weights = read_weights(path)
    if kind.subject not in record:
        raise UserError(f"{path} holds no {kind.benchmark} run; name that of a trained one.")
    if "row" in record:
        row = SimpleNamespace(**record["row"])
    else:
        row = kind.find_row(record[kind.subject])
        identity = (
            configuration.identify_run(row, config) if config else select_defining_columns(row)
        )
        configuration.check_identity(path, record, identity)
        if not config and configuration.digest_training_code(row) != record["identity"].get(
            CODE_DIGEST
        ):
            log.warning("%s was trained by other code than there is now.", path)
    made = kind.assemble(row, config or {kind.benchmark: record["config"]})
    try:
        made.load_state_dict(weights)
    except RuntimeError as error:
        raise UserError(
            f"{path} holds the weights of another model than it says; train this run again."
        ) from error
    made.name = record[kind.subject]
    return made.eval().to(device or torch.device("cpu"))
