"""Find a file of released weights, and what its import would replace.

What planning needs; nothing here imports torch.
"""

from __future__ import annotations

from pathlib import Path

from ..config import Arm, Method, locate_row
from ..dependencies import RELEASED
from ..errors import UserError
from ..metadata import METADATA_FILE, read_metadata

SAFETENSORS = ".safetensors"
ENDINGS = (SAFETENSORS, ".pt", ".pth", ".ckpt", ".bin")


def find_weights(path: Path, place: str | None = None) -> Path:
    """Find the file of weights at a path: the file itself, or the only one in the folder.

    `place` names the path of a download in messages. Raises `UserError` if there is no file of
    weights, or more than one.
    """
    place = place or str(path)
    if path.is_file():
        return path
    if not path.is_dir():
        raise UserError(f"{place} is no file of weights and no folder with one; name either.")
    candidates = sorted(
        path
        for path in path.iterdir()
        if path.suffix in ENDINGS and not path.name.startswith(".") and path.is_file()
    )
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(path.name for path in candidates) or "none"
    raise UserError(
        f"{place} must hold one file of weights ({', '.join(ENDINGS)}), but holds {names}; name "
        "the file to import."
    )


def check_replaced_run(output: Path, row: Arm | Method, seed: int) -> None:
    """Raise `UserError` if a folder has a trained run, or an import of another row or seed."""
    if not (output / METADATA_FILE).is_file():
        return
    metadata = read_metadata(output / METADATA_FILE)
    _, subject, name = locate_row(row)
    if RELEASED not in metadata:
        holds = "a trained run"
    elif (metadata.get(subject), metadata.get("seed")) != (name, seed):
        holds = f"{metadata.get('arm') or metadata.get('method')}, seed {metadata.get('seed')}"
    else:
        return
    raise UserError(
        f"{output} holds {holds}, which an import would replace; name another folder, delete that "
        "run, or replace it by `gblsr-repro import` with --overwrite."
    )
