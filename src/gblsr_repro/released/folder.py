"""The files of released weights: exactly one with tensors, and perhaps a config.json beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..config import Config, address_of, parse_address
from ..errors import UserError

SAFETENSORS = ".safetensors"
ENDINGS = (SAFETENSORS, ".pt", ".pth", ".ckpt", ".bin")
FACTS = "config.json"
RECORD = "run.json"


@dataclass(frozen=True)
class Files:
    """The file with the tensors; config.json, or the run.json of a run of this project, beside it.

    None where there is no such file.
    """

    weights: Path
    facts: Path | None
    record: Path | None

    @property
    def present(self) -> list[Path]:
        """All files that there are."""
        return [path for path in (self.weights, self.facts, self.record) if path is not None]


def find_files(path: Path) -> Files:
    """Return the files that a path names, a file or the folder that holds it.

    Raises `UserError` where there is no file of weights, or more than one.
    """
    if path.is_dir():
        weights = path / choose_weights([entry.name for entry in path.iterdir()], str(path))
    elif path.is_file():
        weights = path
    else:
        raise UserError(f"{path} does not exist; name a file of weights or the folder that has it.")
    beside = [weights.with_name(name) for name in (FACTS, RECORD)]
    facts, record = (each if each.is_file() else None for each in beside)
    return Files(weights, facts, record)


def released_files(config: Config) -> dict[tuple[str, int], list[Path]]:
    """Return the files at hand of all weights that the config names, by row and seed.

    There are none for an address on the hub. Raises `UserError` where a path is not there.
    """
    files = {}
    for name in config["released"]:
        for seed in config["seeds"]:
            address = address_of(name, seed, config)
            hub = parse_address(address) is not None
            files[name, seed] = [] if hub else find_files(Path(address)).present
    return files


def choose_weights(names: Iterable[str], place: str) -> str:
    """Return the name of the one file of weights among a folder's; `UserError` unless it is one."""
    candidates: Sequence[str] = sorted(
        name
        for name in names
        if PurePosixPath(name).suffix in ENDINGS and not PurePosixPath(name).name.startswith(".")
    )
    if not candidates:
        raise UserError(
            f"{place} holds no file of weights ({', '.join(ENDINGS)}); name the folder that has it."
        )
    if len(candidates) > 1:
        raise UserError(
            f"{place} holds {len(candidates)} files of weights ({', '.join(candidates)}); name the "
            "one to import."
        )
    return candidates[0]
