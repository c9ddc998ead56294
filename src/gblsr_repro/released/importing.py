"""Import released weights as a run folder for all later stages, without training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import runtime
from ..config import (
    Arm,
    Config,
    Method,
    find_repository_root,
    find_row,
    get_address,
    is_imported,
    locate_row,
    parse_address,
    read_table,
)
from ..config.cells import Checksum, Key, Label
from ..dependencies import RELEASED, identify_run
from ..errors import UserError
from ..files import write_csv, write_json
from ..models.asr.local_spectral import GBLSR
from ..models.asr.model import NORMALIZED, ASRModel
from ..models.base import Model, count_parameters
from ..models.rows import find_model
from ..progress import log
from ..records import read_record
from ..training.loop import LOG_COLUMNS
from ..weights import write_weights
from .colors import Colors, decide_colors
from .facts import select_training_facts
from .folder import Files, find_files
from .hub import NotInCache, check_sums, download
from .reading import Checkpoint, read_checkpoint
from .rows import Weights, check_row, choose_row, list_rows_alike, list_unsaid, name_tensors

STEPS = ("trained_steps", "total_steps")  # their names in releases


@dataclass(frozen=True)
class Origin:
    """Origin of weights: address and local files; for the hub also commit and license."""

    address: str
    files: Files
    revision: str | None = None
    license: str | None = None


@dataclass(frozen=True)
class ReleasedFile:
    """A row of config/released.tsv: a released file, and the arm or method that it is of."""

    file: Label
    sha256: Checksum
    row: Key
    what: Label


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

    Writes weights.safetensors, log.csv with one row, for the last step, and at last run.json.
    Without `row` it is the one that the weights are known to be of, or the only one that they fit.
    `colors` is the range of colors of a GB-LSR-ASR network; by default it is measured unless it is
    recorded. Raises `UserError` if the weights do not fit the row, or `output` has another run and
    not `overwrite`.
    """
    origin = find_origin(address)
    weights = read_origin(origin)
    known = recognize_file(weights.checkpoint)
    if row is None:
        row = find_row(known.row) if known else choose_row(weights, config)
    check_row(weights, row, seed, config)
    name = locate_row(row)[2]
    if not overwrite:
        check_output(output, row, seed)
    if not is_imported(row, config) or get_address(name, seed, config) != address:
        config = config | {"released": config["released"] | {name: address}}
    model = find_model(row).assemble(row, config)
    model.load_state_dict(weights.tensors)
    choice = choose_colors(model, weights.checkpoint, colors, config)
    described = describe_release(origin, weights, known)
    if known is None and not weights.checkpoint.record:
        described |= describe_choice(weights, row, config)
    write_run(output, model, row, seed, config, described, choice)
    log.info("%s: imported as %s, seed %d", weights.place, name, seed)


def check_before_import(row: Arm | Method, seed: int, run: Path, config: Config) -> list[Path]:
    """Check the weights that the config names for a run, as its import will, and list their files.

    Nothing is downloaded: of a hub address only what the hub's cache has is checked, and no files
    are listed. What the run was imported from with the same settings and code is not read again.
    Raises `UserError` as `import_run` does.
    """
    address = get_address(locate_row(row)[2], seed, config)
    try:
        origin = find_origin(address, cached=True)
    except NotInCache:
        check_output(run, row, seed)
        return []
    if not _is_current(run, row, seed, origin.files, config):
        check_row(read_origin(origin), row, seed, config)
        check_output(run, row, seed)
    return [] if origin.revision else origin.files.present


def _is_current(run: Path, row: Arm | Method, seed: int, files: Files, config: Config) -> bool:
    """Decide whether a run was imported from these files with the present settings and code."""
    written = run / "run.json"
    try:
        record = read_record(written)
    except UserError:
        return False
    if record.get("seed") != seed:
        return False
    newest = max(path.stat().st_mtime for path in files.present)
    same = record.get("identity") == identify_run(row, config)
    return same and newest <= written.stat().st_mtime


def check_output(output: Path, row: Arm | Method, seed: int) -> None:
    """Raise `UserError` if a folder has a trained run, or an import of another row or seed."""
    if not (output / "run.json").is_file():
        return
    record = read_record(output / "run.json")
    _, subject, name = locate_row(row)
    if RELEASED not in record:
        holds = "a trained run"
    elif (record.get(subject), record.get("seed")) != (name, seed):
        holds = f"{record.get('arm') or record.get('method')}, seed {record.get('seed')}"
    else:
        return
    raise UserError(
        f"{output} holds {holds}, which an import would replace; name another folder, delete that "
        "run, or replace it by `gblsr-repro import` with --overwrite."
    )


def find_origin(address: str, cached: bool = False) -> Origin:
    """Find the files at an address; download them from the hub unless its cache alone counts."""
    hub = parse_address(address)
    if hub is None:
        return Origin(address, find_files(Path(address).expanduser()))
    return Origin(address, *download(hub, cached))


def read_origin(origin: Origin) -> Weights:
    """Read the weights of an origin, by our names."""
    if origin.revision:
        check_sums(origin.files)
    return name_tensors(read_checkpoint(origin.files))


def recognize_file(checkpoint: Checkpoint) -> ReleasedFile | None:
    """Recognize a released file by its checksum: its row in config/released.tsv, None without.

    One with the name of a known file and another checksum is logged as a warning.
    """
    table = find_repository_root() / "config" / "released.tsv"
    for released in read_table(table, ReleasedFile, "sha256").values():
        if released.sha256 == checkpoint.sha256:
            return released
        if released.file == checkpoint.file.name:
            log.warning(
                "%s has the name of a released file, but another checksum: who made it is not "
                "known.",
                checkpoint.file,
            )
    return None


def describe_release(
    origin: Origin, weights: Weights, known: ReleasedFile | None
) -> dict[str, Any]:
    """Describe released weights for a run's record: who released them, address, file, checksum.

    Weights that had been imported before keep the description of that import.
    """
    checkpoint, naming = weights.checkpoint, weights.naming
    before = checkpoint.record.get(RELEASED)
    if before:
        return {**before, "address": origin.address}
    stored = select_training_facts(checkpoint.record or checkpoint.facts)
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
        **({"known": known.what} if known else {}),
        "says": stored,
        **trained,
    }


def describe_choice(weights: Weights, row: Arm | Method, config: Config) -> dict[str, Any]:
    """Describe, and log, which rows weights fit alike and what they do not say, if they do."""
    fitting = list_rows_alike(weights, row, config)
    if len(fitting) == 1:
        return {}
    names, unsaid = [locate_row(each)[2] for each in fitting], list_unsaid(fitting, config)
    log.warning(
        "%s fits %s alike, since it does not say %s; it is taken as %s.",
        weights.place,
        ", ".join(names),
        ", ".join(unsaid),
        locate_row(row)[2],
    )
    return {"fits": names, "unsaid": unsaid}


def choose_colors(
    model: Model, checkpoint: Checkpoint, asked: str | None, config: Config
) -> Colors | None:
    """Choose the range of colors of a super-resolution network; None for an arm.

    LIIF and LTE were published with normalized colors, and runs of this project record theirs. For
    GB-LSR-ASR it is measured unless the user chose it.
    """
    if not isinstance(model, ASRModel):
        if asked:
            raise UserError("An arm always takes colors in [0, 1]; leave --colors out.")
        return None
    place = str(checkpoint.file)
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
