"""Find the files of released weights, and what their import would replace.

What planning needs; nothing here imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..config import Arm, Method, locate_row
from ..dependencies import RELEASED
from ..errors import UserError
from ..metadata import read_metadata
from ..wording import shorten

SAFETENSORS = ".safetensors"
ENDINGS = (SAFETENSORS, ".pt", ".pth", ".ckpt", ".bin")
FACTS = "config.json"
RECORD = "run.json"


@dataclass(frozen=True)
class Files:
    """Paths of a file of weights and of config.json and run.json beside it, or None."""

    weights: Path
    facts: Path | None
    record: Path | None

    @property
    def present(self) -> list[Path]:
        """The paths of the files that exist."""
        return [path for path in (self.weights, self.facts, self.record) if path is not None]


def find_files(path: Path, place: str | None = None) -> Files:
    """Find the files of weights at a path: a file, or the folder with it.

    `place` names the path of a download in messages. Raises `UserError` if there is no file of
    weights, or more than one.
    """
    missing = f"{place} has no file of weights" if place else f"{path} does not exist"
    place = place or str(path)
    try:
        weights = _choose_weights(path, place) if path.is_dir() else path
        if not weights.is_file():
            raise UserError(f"{missing}; name a file of weights or the folder that has it.")
        beside = [weights.with_name(name) for name in (FACTS, RECORD)]
        facts, record = (each if each.is_file() else None for each in beside)
    except (OSError, ValueError) as error:  # a name too long, a folder that nobody may read
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(
            f"{shorten(place)} cannot be read ({reason}); name another file or make it readable."
        ) from error
    return Files(weights, facts, record)


def _choose_weights(folder: Path, place: str) -> Path:
    """Choose the file of weights in a folder; `UserError` unless there is just one."""
    candidates = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in ENDINGS and not path.name.startswith(".") and path.is_file()
    )
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(path.name for path in candidates) or "none"
    raise UserError(
        f"{place} must hold one file of weights ({', '.join(ENDINGS)}), but holds {names}; name "
        "the file to import."
    )


def check_output(output: Path, row: Arm | Method, seed: int) -> None:
    """Raise `UserError` if a folder has a trained run, or an import of another row or seed."""
    if not (output / RECORD).is_file():
        return
    record = read_metadata(output / RECORD)
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
