"""Find the files of released weights: one with tensors, and its config.json if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..config import Config, get_address, parse_address
from ..errors import UserError

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


def find_files(path: Path) -> Files:
    """Find the files of weights at a path: a file, or the folder with it.

    Raises `UserError` if there is no file of weights, or more than one.
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


def find_released_files(config: Config) -> dict[tuple[str, int], list[Path]]:
    """Find the local files of all released weights in the config, by row and seed.

    Addresses on the hub have none. Raises `UserError` if a path does not exist.
    """
    files = {}
    for name in config["released"]:
        for seed in config["seeds"]:
            address = get_address(name, seed, config)
            hub = parse_address(address) is not None
            files[name, seed] = [] if hub else find_files(Path(address)).present
    return files


def choose_weights(names: Iterable[str], place: str) -> str:
    """Choose the file of weights among names of files; `UserError` unless there is just one."""
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
