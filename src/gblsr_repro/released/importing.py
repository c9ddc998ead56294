"""Import released weights as a run folder for all later stages, without training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import runtime
from ..config import Arm, Config, Method, get_address, is_imported, locate_row, parse_address
from ..dependencies import RELEASED, identify_run
from ..errors import UserError
from ..files import write_csv, write_json
from ..models.asr.local_spectral import GBLSR
from ..models.asr.model import NORMALIZED, ASRModel
from ..models.base import Model, count_parameters
from ..progress import log
from ..records import read_record
from ..runs import assemble_row
from ..training.loop import LOG_COLUMNS
from ..weights import write_weights
from .colors import Colors, decide_colors
from .facts import check_facts, check_record, keep_facts
from .folder import Files, find_files
from .hub import download
from .matching import check_match
from .names import OURS, Naming, find_naming, rename_all
from .reading import Checkpoint, read_checkpoint

STEPS = ("trained_steps", "total_steps")  # their names in releases


@dataclass(frozen=True)
class Origin:
    """Origin of weights: address and local files; for the hub also commit and license."""

    address: str
    files: Files
    revision: str | None = None
    license: str | None = None


def import_run(
    address: str,
    row: Arm | Method,
    seed: int,
    output: Path,
    config: Config,
    colors: str | None = None,
) -> None:
    """Import a file, a folder or a hub address as a run of an arm or a method into `output`.

    Writes weights.safetensors, log.csv with one row, for the last step, and at last run.json.
    `colors` is the range of colors of a GB-LSR-ASR network; by default it is measured unless it is
    recorded. Raises `UserError` if the weights do not fit the row, or `output` has a trained run.
    """
    name = locate_row(row)[2]
    record = read_record(output / "run.json") if (output / "run.json").is_file() else None
    if record is not None and RELEASED not in record:
        raise UserError(
            f"{output} holds a trained run, which would be lost; import into another folder."
        )
    if not is_imported(row, config) or get_address(name, seed, config) != address:
        config = config | {"released": config["released"] | {name: address}}
    origin = find_origin(address, config)
    checkpoint = read_checkpoint(origin.files)
    place = str(checkpoint.file)
    naming = OURS if checkpoint.record else find_naming(checkpoint.tensors, place)
    tensors = rename_all(checkpoint.tensors, naming, place)
    check_match(tensors, row, config, place)
    if checkpoint.record:
        check_record(checkpoint.record, row, seed, config, place)
    else:
        check_facts(checkpoint.facts, row, seed, config, place)
    model = assemble_row(row, config)
    model.load_state_dict(tensors)
    choice = choose_colors(model, checkpoint, colors, config, place)
    write_run(output, model, row, seed, config, describe(origin, checkpoint, naming), choice)
    log.info("%s: imported as %s, seed %d", place, name, seed)


def find_origin(address: str, config: Config) -> Origin:
    """Find the files at an address; download them from the hub."""
    hub = parse_address(address)
    if hub is None:
        return Origin(address, find_files(Path(address).expanduser()))
    folder = Path(config["resources"]).expanduser() / "released"
    files, revision, license = download(hub, folder)
    return Origin(address, files, revision, license)


def describe(origin: Origin, checkpoint: Checkpoint, naming: Naming) -> dict[str, Any]:
    """Describe released weights for a run's record: who released them, address, file, checksum.

    Weights that had been imported before keep the description of that import.
    """
    before = checkpoint.record.get(RELEASED)
    if before:
        return {**before, "address": origin.address}
    stored = keep_facts(checkpoint.record or checkpoint.facts)
    trained = {}
    if checkpoint.record:
        trained["identity"] = checkpoint.record.get("identity")
        stored["git_commit"] = (checkpoint.record.get("git") or {}).get("commit")
    return {
        "by": naming.by,
        "license": origin.license or naming.license,
        "address": origin.address,
        "revision": origin.revision,
        "file": checkpoint.file.name,
        "sha256": checkpoint.sha256,
        "says": stored,
        **trained,
    }


def choose_colors(
    model: Model, checkpoint: Checkpoint, asked: str | None, config: Config, place: str
) -> Colors | None:
    """Choose the range of colors of a super-resolution network; None for an arm.

    LIIF and LTE were published with normalized colors, and runs of this project record theirs. For
    GB-LSR-ASR it is measured unless the user chose it.
    """
    if not isinstance(model, ASRModel):
        if asked:
            raise UserError("An arm always takes colors in [0, 1]; leave --colors out.")
        return None
    if checkpoint.record:
        choice = Colors(checkpoint.record.get("colors", NORMALIZED), "the run's record")
    elif not isinstance(model.decoder, GBLSR):
        choice = Colors(NORMALIZED, "as published")
    else:
        choice = None
    if choice is not None:
        if asked not in (None, choice.range):
            raise UserError(
                f"{place} takes colors {choice.range} ({choice.by}); leave --colors out."
            )
        return choice
    if asked:
        return Colors(asked, "asked for")
    # On the CPU: it takes a minute, and the rule that imports requests no GPU.
    device = runtime.prepare_device("cpu", config["threads"])
    return decide_colors(runtime.prepare_for_inference(model, device), config, device, place)


def write_run(
    output: Path,
    model: Model,
    row: Arm | Method,
    seed: int,
    config: Config,
    origin: Mapping[str, Any],
    colors: Colors | None,
) -> None:
    """Write the weights, a log with one row and, at last, the record of an imported run.

    The record has no time, memory or device, since nothing was trained.
    """
    (output / "run.json").unlink(missing_ok=True)
    benchmark, subject, name = locate_row(row)
    sections = {"model": config[benchmark]["model"]}
    if isinstance(row, Method):
        sections["training"] = {"scale_range": config[benchmark]["training"]["scale_range"]}
    steps = next((origin["says"][key] for key in STEPS if key in origin["says"]), None)
    facts = {
        subject: name,
        "seed": seed,
        **({"steps": steps} if isinstance(steps, int) else {}),
        "parameters": count_parameters(model),
        **({"colors": colors.range, "colors_by": asdict(colors)} if colors else {}),
        "config": sections,
        "identity": identify_run(row, config),
        "released": dict(origin),
    }
    weights_sha256 = write_weights(output, model, facts)
    write_csv(
        output / "log.csv", LOG_COLUMNS, [{"step": steps, "bandwidth": model.get_bandwidth()}]
    )
    written = {
        **facts,
        "git": runtime.describe_commit(),
        "versions": runtime.list_versions(),
        "imported": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights_sha256": weights_sha256,
    }
    write_json(output / "run.json", written)
