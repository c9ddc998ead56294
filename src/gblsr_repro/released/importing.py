"""Import released weights as a run folder for all later stages, without training."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from .. import runtime
from ..config import (
    Arm,
    Config,
    Method,
    find_row,
    get_address,
    is_imported,
    locate_row,
    parse_address,
)
from ..dependencies import RELEASED, identify_run, update_identity
from ..errors import UserError
from ..files import write_csv, write_json
from ..metadata import METADATA_FILE
from ..models.asr.model import NORMALIZED, ASRModel
from ..models.base import Model, count_parameters
from ..models.native import NativeModel
from ..progress import log
from ..training.loop import LOG_COLUMNS
from ..weights import write_weights
from .folder import check_replaced_run, find_weights
from .hub import download
from .known import TABLE, KnownFile, find_known_file, list_known_files
from .names import rename_tensors
from .reading import Checkpoint, read_checkpoint

# What of a run's identity its model is made by, as its names begin.
OF_MODEL = ("arms.", "methods.encoder", "methods.decoder", "methods.options", "native.model.",
            "asr.model.", "asr.training.scale_range")  # fmt: skip
LONGEST_LIST = 300  # characters of torch's list of tensors that do not fit


def import_run(
    address: str,
    row: Arm | Method | None,
    seed: int,
    output: Path,
    config: Config,
    colors: str | None = None,
    overwrite: bool = False,
) -> None:
    """Import a file, a folder or a hub address as a run of an arm or a method into `output`.

    Writes weights.safetensors, log.csv with one row and at last run.json. Without `row` it is the
    one in config/released.tsv; `colors` is the range that a super-resolution network takes, by
    default that of the known files of the row. Raises `UserError` for files that cannot be read,
    weights that do not fit the row, runs of this project that are of another or of another seed,
    where row or colors are not known, and if `output` has another run and not `overwrite`.
    """
    hub = parse_address(address)
    file, revision = download(hub) if hub else (find_weights(Path(address).expanduser()), None)
    checkpoint = read_checkpoint(file)
    known = find_known_file(address, checkpoint.file, checkpoint.sha256)
    if row is None:
        if known is None:
            raise UserError(
                f"{checkpoint.file} is none of the files in {TABLE}; name the row that it is of "
                "with --as."
            )
        row = find_row(known.row)
    model_class = NativeModel if isinstance(row, Arm) else ASRModel
    model, name = model_class.assemble(row, config), locate_row(row)[2]
    load_tensors(model, checkpoint, name)
    if checkpoint.metadata:
        check_own_run(checkpoint, row, seed, config)
    colors = choose_colors(checkpoint, row, known, colors)
    if not overwrite:
        check_replaced_run(output, row, seed)
    if not is_imported(row, config) or get_address(name, seed, config) != address:
        config = config | {"released": config["released"] | {name: address}}
    origin = describe_release(checkpoint, known, address, revision)
    facts = describe_run(row, model, seed, config, colors, origin)
    write_imported_run(output, model, facts)
    log.info("%s: imported as %s, seed %d", address, name, seed)


def load_tensors(model: Model, checkpoint: Checkpoint, row: str) -> None:
    """Load tensors into a model; `UserError` unless all are there, float32, finite, none besides.

    Those of a run of this project have its names, others the published ones.
    """
    place = checkpoint.file
    tensors = checkpoint.tensors
    if not checkpoint.metadata:
        tensors = rename_tensors(tensors, model)
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise UserError(f"{place} holds {name!r} as {kind}, not float32; get the original.")
    try:
        model.load_state_dict(tensors, strict=True)
    except RuntimeError as error:
        _, _, listed = str(error).rstrip(". ").partition(":")
        misfits = textwrap.shorten(listed, LONGEST_LIST, placeholder=" ...")
        raise UserError(
            f"{place} does not hold the weights of {row} ({misfits}); import it as the row that it "
            "is of, at the sizes that it was trained with."
        ) from error
    for name, tensor in model.state_dict().items():
        if not tensor.isfinite().all():
            raise UserError(f"{place} holds values for {name!r} that are not finite; get it again.")


def check_own_run(checkpoint: Checkpoint, row: Arm | Method, seed: int, config: Config) -> None:
    """Raise `UserError` where a run of this project is of another seed, or its model another."""
    place, metadata, name = checkpoint.file, checkpoint.metadata, locate_row(row)[2]
    identity = update_identity(metadata.get("identity") or {})
    for field, value in identify_run(row, config).items():
        if field.startswith(OF_MODEL) and identity.get(field, value) != value:
            raise UserError(
                f"{place} says {field} = {identity[field]!r}, but {name} has {value!r}; import it "
                "as the row that it is of."
            )
    if metadata["seed"] != seed:
        raise UserError(
            f"{place} says seed = {metadata['seed']}, not {seed}; import it with --seed "
            f"{metadata['seed']}, or set seeds to [{metadata['seed']}] in the config that names it."
        )


def choose_colors(
    checkpoint: Checkpoint, row: Arm | Method, known: KnownFile | None, asked: str | None
) -> str | None:
    """Choose the range of colors of a super-resolution network; None for an arm.

    It is that which is asked for, else that of the run or of the known file; of another file that
    of the known files of its row. Raises `UserError` where there are none.
    """
    if isinstance(row, Arm):
        if asked:
            raise UserError("An arm always takes colors in [0, 1]; leave --colors out.")
        return None
    if asked or checkpoint.metadata:
        return asked or checkpoint.metadata.get("colors", NORMALIZED)
    rows = [known] if known else list_known_files(row.method)
    if not rows:
        raise UserError(
            f"{checkpoint.file} does not say whether it takes colors in [0, 1] or in [-1, 1]; say "
            f"--colors unit or --colors normalized, or give it a row in {TABLE}."
        )
    return rows[0].colors


def describe_release(
    checkpoint: Checkpoint, known: KnownFile | None, address: str, revision: str | None
) -> dict[str, Any]:
    """Describe released weights for run.json: who released them, address, file, checksum.

    Weights that had been imported before keep the description of that import.
    """
    metadata = checkpoint.metadata
    if RELEASED in metadata:
        return {**metadata[RELEASED], "address": address}
    return {
        "by": known.by if known else "this project" if metadata else "others",
        "license": known.license if known else None,
        "address": address,
        "revision": revision,
        "file": checkpoint.file.name,
        "sha256": checkpoint.sha256,
        **({"identity": metadata.get("identity"), "git": metadata.get("git")} if metadata else {}),
    }


def describe_run(
    row: Arm | Method,
    model: Model,
    seed: int,
    config: Config,
    colors: str | None,
    origin: dict[str, Any],
) -> dict[str, Any]:
    """Describe an imported run for its metadata: what its model is built from, and its origin."""
    benchmark, subject, name = locate_row(row)
    sections = {"model": config[benchmark]["model"]}
    if isinstance(row, Method):
        sections["training"] = {"scale_range": config[benchmark]["training"]["scale_range"]}
    return {
        subject: name,
        "seed": seed,
        "parameters": count_parameters(model),
        **({"colors": colors} if colors else {}),
        "config": sections,
        "identity": identify_run(row, config),
        RELEASED: origin,
    }


def write_imported_run(output: Path, model: Model, facts: dict[str, Any]) -> None:
    """Write the weights, a log with one row and, at last, the metadata of an imported run.

    The metadata has no time, memory or device, since nothing was trained.
    """
    (output / METADATA_FILE).unlink(missing_ok=True)
    weights_sha256 = write_weights(output, model, facts)
    write_csv(output / "log.csv", LOG_COLUMNS, [{"bandwidth": model.get_bandwidth()}])
    written = {
        **facts,
        "git": runtime.describe_commit(),
        "versions": runtime.list_versions(),
        "imported": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights_sha256": weights_sha256,
    }
    write_json(output / METADATA_FILE, written)
