"""Check the config.json or run.json of released weights against their row.

Released ones have a config.json, runs of this project, perhaps of an older commit, a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..config import Arm, Config, Method, locate_row
from ..dependencies import find_model_classes, list_class_settings, select_defining_columns
from ..errors import UserError
from ..models import fourier_mlp, gblsr, native
from ..models.asr import model as asr
from ..models.asr.local_spectral import GBLSR
from ..models.asr.rdn import RDN
from ..models.base import build_on_meta

Facts = Mapping[str, Any]

OTHER_MAPS = ("data", "optimizer")  # of the training, with fields of the same names
ARM_KINDS = ("local_spectral", "global_fourier_mlp")
BANDWIDTH_MODES = {
    gblsr.FixedDecoder: "fixed_midpoint",
    gblsr.ScalarDecoder: "global_scalar",
    gblsr.BandwidthDecoder: "local_logspace",
    gblsr.FullDecoder: "local_logspace",
    gblsr.BandwidthLinearDecoder: "local_linear",
    gblsr.FullLinearDecoder: "local_linear",
}
KEPT = ("seed", "trained_steps", "total_steps", "epoch", "git_commit", "experiment_id")
TRAINING_COLUMNS = ("methods.recipe",)  # of a row, not about the model


def flatten(facts: Facts) -> dict[str, Any]:
    """Flatten nested maps into one; of two fields with the same name the outer one counts."""
    fields: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, Mapping) and name not in OTHER_MAPS:
            fields = flatten(value) | fields
        else:
            fields[name] = value
    return fields


def keep_facts(facts: Facts) -> dict[str, Any]:
    """Select the plain fields about the training of the weights, for a run's record."""
    fields = flatten(facts)
    return {
        name: fields[name]
        for name in KEPT
        if isinstance(fields.get(name), str | int | float) and len(str(fields[name])) < 100
    }


def check_facts(facts: Facts, row: Arm | Method, seed: int, config: Config, place: str) -> None:
    """Raise `UserError` if a field of a config.json disagrees with the row or the seed.

    Releases nest their fields differently, so all nested maps are read as one. Fields that do not
    follow from a row, such as those of the training, are not compared.
    """
    fields = flatten(facts)
    if fields.get("bandwidth_mode", "") is None:  # the authors' trainer then derives it
        fields["bandwidth_mode"] = (
            "local_linear" if fields.get("adapt_bandwidth", True) else "fixed_midpoint"
        )
    wanted = {"seed": seed}
    wanted |= dict(
        _describe_arm(row, config) if isinstance(row, Arm) else _describe_method(row, config)
    )
    for name, value in wanted.items():
        if name in fields and fields[name] != value:
            if name == "arm" and fields[name] not in ARM_KINDS:
                continue  # the name of a run, and not of a kind of model
            target = "the run" if name == "seed" else locate_row(row)[2]
            raise UserError(
                f"{place} says {name} = {fields[name]!r}, but {target} to import has {value!r}; "
                "choose the row that fits with --as."
            )


def _describe_arm(arm: Arm, config: Config) -> Iterator[tuple[str, Any]]:
    """Yield the fields of the authors' RunConfig that follow from an arm."""
    model = config["native"]["model"]
    _, decoder = native.find_classes(arm)
    yield "d_feat", model["features"]
    yield "patch_size", model["patch"]
    if decoder is fourier_mlp.GlobalFourierMLP:
        yield "arm", "global_fourier_mlp"
        yield "n_global_freq", model["fourier_frequencies"]
        yield "decoder_hidden", model["hidden"]
        yield "decoder_layers", 3  # before the last one
    if decoder in BANDWIDTH_MODES:
        yield "arm", "local_spectral"
        yield "bandwidth_mode", BANDWIDTH_MODES[decoder]
        yield "adapt_order", issubclass(decoder, gblsr.FullDecoder)
        yield "family", "fourier"
        yield "p_max", model["modes"]
        for field, setting in (("s_e", "bandwidth_range"), ("p_soft", "order_range")):
            low, high = model[setting]
            yield f"{field}_lo", low
            yield f"{field}_hi", high


def _describe_method(method: Method, config: Config) -> Iterator[tuple[str, Any]]:
    """Yield the fields of the authors' encoder_cfg and decoder_cfg that follow from a method."""
    model = config["asr"]["model"]
    encoder, decoder = asr.find_classes(method)
    if encoder is not RDN or decoder is not GBLSR:
        return
    shapes = build_on_meta(lambda: asr.assemble_model(method, config))
    yield "num_features", shapes.encoder.features
    yield "growth_rate", model["rdn_growth"]
    yield "num_rdbs", model["rdn_blocks"]
    yield "num_layers_per_rdb", model["rdn_layers"]
    yield "kernel_size", 3
    yield "in_channels", 3
    yield "p_max", model["modes"]
    yield "local_ensemble", shapes.decoder.ensemble


# --- records of runs of this project --------------------------------------------------------------


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
            f"{place} is a run of seed {record.get('seed')}, not {seed}; give its own "
            "seed with --seed."
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
                f"{place} was made with {what} = {here!r}, but {name} has {there!r}; choose "
                "its row with --as, or the config that it was trained with by --config."
            )
