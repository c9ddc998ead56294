"""Save, check and load the resumable state of a training; stop on signals."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from ..dependencies import update_identity
from ..errors import UserError
from ..files import write_atomically
from ..locks import hold_lock
from ..progress import log
from ..wording import format_commit

State = dict[str, Any]

MAGIC = b"gblsr-repro state 4\n"
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
# The checksum in an identity, and the sentence that names its difference.
CHECKSUMS = {"train_sha256": "the training images differ"}


@contextmanager
def lock_state(path: Path, label: str) -> Iterator[None]:
    """Lock the state at `path` for the block, so that one process at a time trains its run.

    Raises `UserError` when another process holds the lock, as after a kill of the workflow that
    left its jobs running.
    """

    def build_error() -> UserError:
        return UserError(
            f"{label} is being trained by another process; wait for it, or end it with SIGTERM, "
            "which saves its state, and run again."
        )

    with hold_lock(path.with_name(f".{path.name}.lock"), build_error):
        yield


def get_previous_path(path: Path) -> Path:
    """Return the path of the state that was saved before the newest."""
    return path.with_suffix(f".previous{path.suffix}")


def save_state(path: Path, state: Mapping[str, Any]) -> None:
    """Save tensors and plain values; the state saved before moves to `get_previous_path`.

    The file has a line that names the format, a line of JSON with the SHA-256 of the rest, then
    the output of `torch.save`. A kill at any moment leaves at least one intact state.
    """
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    content = buffer.getbuffer()
    header = {"sha256": hashlib.sha256(content).hexdigest()}
    with write_atomically(path) as temporary:
        with temporary.open("wb") as out:
            out.write(MAGIC + json.dumps(header).encode() + b"\n")
            out.write(content)
        if path.exists():
            path.replace(get_previous_path(path))


def load_state(path: Path, identity: Mapping[str, Any]) -> State | None:
    """Load the newest intact state of the run with this identity; None if there is none.

    If the newest state is damaged, the one before it is loaded, with a warning. A state of another
    run (other settings, training images or versions) is moved to `get_superseded_path`,
    replacing the file there, with a warning that says what differs and how to resume from it.
    Raises `UserError` when all states are damaged, and when the file that would be replaced is a
    state of the run with this identity.
    """
    newest = _read_newest(path)
    if newest is None:
        return None
    file, state = newest
    differences = _describe_differences(update_identity(state["identity"]), identity)
    if not differences:
        return state
    aside, commit = get_superseded_path(path), _describe_commit(state)
    superseded = _read_if_intact(aside)
    if superseded is not None and not _describe_differences(superseded["identity"], identity):
        raise UserError(
            f"{path} is a state of another run, trained at {commit} ({differences}), and {aside} "
            f"is a state of this run after step {superseded['step']}; rename it to {path.name} to "
            "resume from it, or delete it to train anew."
        )
    for other in {path, get_previous_path(path)} - {file}:
        other.unlink(missing_ok=True)
    file.replace(aside)
    log.warning(
        "%s is a state of another run, trained at %s (%s): this run starts at step 0. To resume "
        "from step %d of the other run instead, restore what it was trained with and rename %s "
        "to %s.",
        path, commit, differences, state["step"], aside, path.name,
    )  # fmt: skip
    return None


def get_superseded_path(path: Path) -> Path:
    """Return the path to which the state of another run is moved."""
    return path.with_suffix(f".old{path.suffix}")


def _read_newest(path: Path) -> tuple[Path, State] | None:
    """Read the newest intact state at `path`: its file and its content.

    None if there is no file; `UserError` if all files are damaged.
    """
    files = [file for file in (path, get_previous_path(path)) if file.exists()]
    for file in files:
        state = _read_if_intact(file)
        if state is not None:
            return file, state
    if files:
        raise UserError(
            f"The saved state {files[0]} cannot be read and no intact state precedes it; delete it "
            "and run again to start from step 0."
        )
    return None


def _read_if_intact(path: Path) -> State | None:
    """Read a state; None if the file does not exist, and with a warning if it is damaged."""
    try:
        return _read_state(path)
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, RuntimeError, EOFError, OSError,
            pickle.UnpicklingError) as error:  # fmt: skip
        log.warning("%s cannot be read: %s", path, error)
        return None


def _read_state(path: Path) -> State:
    """Read a state and compare its checksum; `ValueError` if it differs."""
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ValueError("it is not a state of this version of the package")
        header, content = json.loads(stream.readline()), stream.read()
    if hashlib.sha256(content).hexdigest() != header["sha256"]:
        raise ValueError("it is damaged: its checksum differs")
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _describe_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Describe the differences of two identities in words; empty if they agree."""
    return "; ".join(
        CHECKSUMS.get(name, f"{name} was {old.get(name)}, is {new.get(name)}")
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    )


def _describe_commit(state: State) -> str:
    """Describe the commit under which the training of a state began."""
    commit = format_commit(state["trained_by"][0]["git"])
    return f"commit {commit}" if commit else "an unknown commit"


def remove_state(path: Path) -> None:
    """Remove the states of a finished run."""
    for file in (path, get_previous_path(path)):
        file.unlink(missing_ok=True)


def get_random_state() -> State:
    """Return the states of torch's random generators, on the CPU and on CUDA devices."""
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_random_state(state: Mapping[str, Any]) -> None:
    """Restore the states of the random generators that `get_random_state` returned.

    The states of CUDA devices are restored if their number is the same.
    """
    torch.set_rng_state(state["torch"])
    if len(state["cuda"]) == torch.cuda.device_count() > 0:
        torch.cuda.set_rng_state_all(state["cuda"])


class StopOnSignal:
    """Within its block, SIGTERM and SIGUSR1 only set `name`, the signal's name.

    The job finishes its current step, saves its state and raises `StopRequested`. Schedulers send
    these signals before they end a job.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopOnSignal:
        self._before = {s: signal.signal(s, self._store_name) for s in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _store_name(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: store its name."""
        self.name = signal.Signals(number).name
