"""Compare what a config.json, a checkpoint or a run.json says of weights with a row.

Released ones have a config.json or fields in their checkpoint, runs of this project, perhaps of an
older commit, a record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..config import Arm, Config, Method, locate_row
from ..dependencies import identify_row, list_classes, read_class_settings
from ..models import adaptive_order, gblsr, native
from ..models.asr import model as asr
from ..models.asr.local_spectral import GBLSR

Facts = Mapping[str, Any]

OTHER_MAPS = ("data", "optimizer")  # of the training, with fields of the same names
DEEPEST = 8  # maps within maps that are read
# The authors' bandwidth_mode and adapt_order, which say what of the adaptivity head is trained.
SPECTRA = {
    gblsr.FixedDecoder: ("fixed_midpoint", False),
    gblsr.ScalarDecoder: ("global_scalar", False),
    gblsr.BandwidthDecoder: ("local_logspace", False),
    gblsr.FullDecoder: ("local_logspace", True),
    gblsr.BandwidthLinearDecoder: ("local_linear", False),
    gblsr.FullLinearDecoder: ("local_linear", True),
    adaptive_order.FixedOrderDecoder: ("fixed_midpoint", True),
    adaptive_order.ScalarOrderDecoder: ("global_scalar", True),
}
LOCAL = ("local_logspace", "local_linear")  # a bandwidth per patch
KEPT = ("seed", "trained_steps", "total_steps", "epoch", "git_commit", "experiment_id")
TRAINING_COLUMNS = ("methods.recipe",)  # of a row, not about the model


def flatten(facts: Facts) -> dict[str, Any]:
    """Flatten nested maps into one, without lists; of fields with one name the outer one counts."""
    fields: dict[str, Any] = {}
    level: list[Facts] = [facts]
    for _ in range(DEEPEST):
        below: list[Facts] = []
        for name, value in [item for section in level for item in section.items()]:
            plain = value.item() if isinstance(value, np.generic) else value
            if _is_field(plain):
                fields.setdefault(name, plain)
            elif isinstance(value, Mapping) and name not in OTHER_MAPS:
                below.append(value)
        level = below
    return fields


def _is_field(value: Any) -> bool:
    """Decide whether a value is a short plain one that JSON can hold."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= 64
    return value is None or (isinstance(value, str) and len(value) < 100)


def select_training_facts(facts: Facts) -> dict[str, Any]:
    """Select the plain fields about the training of the weights, for a run's record."""
    fields = flatten(facts)
    return {name: fields[name] for name in KEPT if fields.get(name) is not None}


def list_facts(facts: Facts) -> dict[str, Any]:
    """List the fields of a config.json and of a checkpoint that concern the model.

    Releases nest their fields differently, so all nested maps are read as one.
    """
    fields = flatten(facts)
    if fields.get("bandwidth_mode", "") is None:  # the authors' trainer then derives it
        fields["bandwidth_mode"] = (
            "local_linear" if fields.get("adapt_bandwidth", True) else "fixed_midpoint"
        )
    return fields


def compare_facts(facts: Facts, row: Arm | Method, config: Config) -> str | None:
    """Describe the first field of a release that disagrees with a row; None if none does.

    Fields that do not follow from a row, such as those of the training, are not compared.
    """
    fields = list_facts(facts)
    for name, value in describe_row(row, config).items():
        if name in fields and fields[name] != value:
            return f"it says {name} = {fields[name]!r}, but {locate_row(row)[2]} has {value!r}"
    return None


def describe_row(row: Arm | Method, config: Config) -> dict[str, Any]:
    """Describe a row by those fields of the authors' configurations that shapes do not tell."""
    if isinstance(row, Method):
        if asr.find_classes(row)[1] != GBLSR:
            return {}
        return {"local_ensemble": "local_ensemble=no" not in row.options.split()}
    _, decoder = native.find_classes(row)
    if decoder not in SPECTRA:
        return {}
    mode, adapts = SPECTRA[decoder]
    fields: dict[str, Any] = {"bandwidth_mode": mode, "adapt_order": adapts, "family": "fourier"}
    for field, setting in (("s_e", "bandwidth_range"), ("p_soft", "order_range")):
        fields[f"{field}_lo"], fields[f"{field}_hi"] = config["native"]["model"][setting]
    return fields


def compare_record(record: Facts, row: Arm | Method, config: Config) -> str | None:
    """Describe in what a run's record disagrees with a row first; None if it agrees.

    Compared are the columns of the row that define the model, as far as the record has them, and
    the settings of the model that its classes read now. The name of the row may be another.
    """
    benchmark, _, name = locate_row(row)
    identity = record.get("identity") or {}
    wanted = {k: v for k, v in identify_row(row).items() if k not in TRAINING_COLUMNS}
    columns = {k.partition(".")[2]: v for k, v in identity.items() if k in wanted}
    recorded = identify_row(replace(row, **columns))  # older records have the row as it was written
    pairs = [(column, recorded[column], value) for column, value in wanted.items()]
    sections = record.get("config") or {}
    model = sections.get("model", {})
    for setting in (name for each in list_classes(row) for name in read_class_settings(each)):
        value = config[benchmark]["model"][setting]
        pairs.append((f"{benchmark}.model.{setting}", model.get(setting, value), value))
    if isinstance(row, Method):
        value = config[benchmark]["training"]["scale_range"]
        training = sections.get("training", {})
        pairs.append(("asr.training.scale_range", training.get("scale_range", value), value))
    for what, here, there in pairs:
        if here != there:
            return f"it was made with {what} = {here!r}, but {name} has {there!r}"
    return None
