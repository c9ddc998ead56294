"""Find the files of released weights: one with tensors, and its config.json if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
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
    if not candidates:
        raise UserError(
            f"{place} holds no file of weights ({', '.join(ENDINGS)}); name the folder that has it."
        )
    if len(candidates) > 1:
        names = ", ".join(path.name for path in candidates)
        raise UserError(
            f"{place} holds {len(candidates)} files of weights ({names}); name the one to import."
        )
    return candidates[0]
