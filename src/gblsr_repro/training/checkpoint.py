"""The resumable state of a run: saved atomically, checked when read; and stopping on a signal."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import random
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from ..errors import UserError
from ..files import atomic_path, exclusive_lock
from ..progress import log

State = dict[str, Any]

MAGIC = b"gblsr-repro state 4\n"
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
# What an identity holds of things that a checksum stands for, and how they are named.
CHECKSUMS = {"train_sha256": "the training images differ", "code_sha256": "the code differs"}


@contextmanager
def lock_state(path: Path | str, label: str) -> Iterator[None]:
    """Let one process at a time train the run whose state is at `path`.

    Raises `UserError` when another is at it, as after a kill of the workflow that left its jobs
    running.
    """

    def taken(holder: str) -> UserError:
        return UserError(
            f"{label} is being trained by {holder}; wait for it, or end it with SIGTERM, which "
            "saves its state, and run again."
        )

    with exclusive_lock(Path(path).with_name(f".{Path(path).name}.lock"), taken):
        yield


def get_previous_path(path: Path) -> Path:
    """Return where the state before the newest is kept."""
    return path.with_suffix(f".previous{path.suffix}")


def save_state(path: Path | str, state: Mapping[str, Any]) -> None:
    """Save tensors and plain values; the state saved before is kept beside it.

    The file has a line that names the format, a line of JSON with the SHA-256 of what follows,
    then what `torch.save` writes. A kill at any moment leaves at
    least one whole state.
    """
    path = Path(path)
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    content = buffer.getbuffer()
    header = {"sha256": hashlib.sha256(content).hexdigest()}
    with atomic_path(path) as temporary:
        with temporary.open("wb") as out:
            out.write(MAGIC + json.dumps(header).encode() + b"\n")
            out.write(content)
        if path.exists():
            path.replace(get_previous_path(path))


def load_state(path: Path | str, identity: Mapping[str, Any]) -> State | None:
    """Load the newest whole state of the run that `identity` describes; None when there is none.

    A damaged newest state is passed over, with a warning, for the one before it. A state of another
    run (other settings, other training images, other code) is moved to `superseded(path)`, in place
    of what was there, with a warning that says what differs and how to go on from it all the same.
    Raises `UserError` when all that is there is damaged, and when the state in whose place another
    would be moved is that of the very run that is asked for.
    """
    path = Path(path)
    found = _read_newest(path)
    if found is None:
        return None
    file, state = found
    differences = _describe_differences(state["identity"], identity)
    if not differences:
        return state
    aside, commit = get_superseded_path(path), _describe_commit(state)
    kept = _read_if_whole(aside)
    if kept is not None and not _describe_differences(kept["identity"], identity):
        raise UserError(
            f"{path} is of another run, trained at {commit} ({differences}), and {aside} is of "
            f"this one, after step {kept['step']}; rename it to {path.name} to go on from it, or "
            "delete it to train anew."
        )
    for other in {path, get_previous_path(path)} - {file}:
        other.unlink(missing_ok=True)
    file.replace(aside)
    log.warning(
        "%s is of another run, trained at %s (%s): this run starts at step 0. To go on from that "
        "one's step %d instead, go back to what it was trained with and rename %s to %s.",
        path, commit, differences, state["step"], aside, path.name,
    )  # fmt: skip
    return None


def get_superseded_path(path: Path | str) -> Path:
    """Return where the last state of a run is kept in whose place another run is trained."""
    path = Path(path)
    return path.with_suffix(f".old{path.suffix}")


def _read_newest(path: Path) -> tuple[Path, State] | None:
    """Read the newest whole state at `path`, and say which file it is in.

    None when there is no file; `UserError` when there are only damaged ones.
    """
    present = [file for file in (path, get_previous_path(path)) if file.exists()]
    for file in present:
        state = _read_if_whole(file)
        if state is not None:
            return file, state
    if present:
        raise UserError(
            f"The saved state {present[0]} cannot be read and there is no whole one before it; "
            "delete it and run again to start from step 0."
        )
    return None


def _read_if_whole(path: Path) -> State | None:
    """Read a state; None when there is none, and with a warning when it is damaged."""
    try:
        return _read_state(path)
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, RuntimeError, EOFError, OSError,
            pickle.UnpicklingError) as error:  # fmt: skip
        log.warning("%s cannot be read: %s", path, error)
        return None


def _read_state(path: Path) -> State:
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ValueError("it is not a state of this version of the package")
        header, content = json.loads(stream.readline()), stream.read()
    if hashlib.sha256(content).hexdigest() != header["sha256"]:
        raise ValueError("it is damaged, its checksum does not fit")
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _describe_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say in what two identities differ; nothing where they are the same."""
    return "; ".join(
        CHECKSUMS.get(name, f"{name} was {old.get(name)}, is {new.get(name)}")
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    )


def _describe_commit(state: State) -> str:
    """Say under which commit the training of a state began."""
    git = state["trained_by"][0]["git"]
    if git["commit"] is None:
        return "an unknown commit"
    return f"commit {git['commit'][:12]}{', modified' if git['modified'] else ''}"


def get_progress_path(path: Path | str) -> Path:
    """Return where a run tells how far it is, beside its state."""
    return Path(path).with_suffix(".json")


def remove_state(path: Path | str) -> None:
    """Remove the states of a finished run, and its progress."""
    path = Path(path)
    for file in (path, get_previous_path(path), get_progress_path(path)):
        file.unlink(missing_ok=True)


def get_random_state() -> State:
    """Return the states of all random generators as tensors and plain values."""
    numpy = np.random.get_state(legacy=False)
    keys = torch.from_numpy(numpy["state"]["key"].astype(np.int64))
    position = numpy["state"]["pos"]
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [numpy["bit_generator"], keys, position, numpy["has_gauss"], numpy["gauss"]],
        "python": random.getstate(),
    }


def restore_random_state(state: Mapping[str, Any]) -> None:
    """Put all random generators back to what `random_state` returned.

    The states of CUDA devices are restored where the same number of them is there.
    """
    torch.set_rng_state(state["torch"])
    if len(state["cuda"]) == torch.cuda.device_count() > 0:
        torch.cuda.set_rng_state_all(state["cuda"])
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, keys.numpy().astype(np.uint32), position, has_gauss, gauss))
    random.setstate(state["python"])


class StopOnSignal:
    """Within its block, SIGTERM and SIGUSR1 only set `name`, the signal's name.

    The job finishes what it is at, saves its state and raises `StopRequested`. These are the
    signals that schedulers send before they take a node back.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopOnSignal:
        self._before = {s: signal.signal(s, self._note) for s in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name
