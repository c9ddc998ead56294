"""Compare the record of a run, perhaps of an older commit, with the row that it is imported as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..config import Arm, Config, Method, locate_row
from ..dependencies import find_model_classes, list_class_settings, select_defining_columns
from ..errors import UserError

TRAINING_COLUMNS = ("methods.recipe",)  # columns about the training, not the model


def check_record(
    record: Mapping[str, Any], row: Arm | Method, seed: int, config: Config, place: str
) -> None:
    """Raise `UserError` if a run's record disagrees with the row, or is of another seed.

    Compared are the columns of the row that define the model, as far as the record has them, and
    the settings of the model that its classes read now. The name of the row may be another.
    """
    benchmark, subject, name = locate_row(row)
    if subject not in record:
        raise UserError(f"{place} is a run of the other benchmark than {name}; name another run.")
    if record.get("seed") != seed:
        raise UserError(
            f"{place} is a run of seed {record.get('seed')}, not {seed}; import it as that."
        )
    identity = record.get("identity") or {}
    wanted = {k: v for k, v in select_defining_columns(row).items() if k not in TRAINING_COLUMNS}
    pairs = [(column, identity.get(column, value), value) for column, value in wanted.items()]
    sections = record.get("config") or {}
    model = sections.get("model", {})
    for setting in list_class_settings(find_model_classes(row)):
        value = config[benchmark]["model"][setting]
        pairs.append((f"{benchmark}.model.{setting}", model.get(setting, value), value))
    if isinstance(row, Method):
        value = config[benchmark]["training"]["scale_range"]
        training = sections.get("training", {})
        pairs.append(("asr.training.scale_range", training.get("scale_range", value), value))
    for what, here, there in pairs:
        if here != there:
            raise UserError(
                f"{place} was made with {what} = {here!r}, but {name} has {there!r}; import it as "
                "the row that it is of, or with the config that it was trained with."
            )
