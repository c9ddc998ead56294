"""The NVIDIA GPUs of this machine: which there are, whether torch can use them, one for each job.

Nothing here starts CUDA in this process: what CUDA_VISIBLE_DEVICES says when it starts is final.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .errors import UserError
from .progress import log

VISIBLE = "CUDA_VISIBLE_DEVICES"
JOBS_PER_GPU = "GBLSR_JOBS_PER_GPU"
"""The environment variable that says how many jobs may share a GPU; one, where it is not set."""
SLURM_JOB = "SLURM_JOB_ID"  # of the environment of what Slurm runs

POLL_SECONDS = 0.5
NONE = ("", "-1", "NoDevFiles")  # what a scheduler or a user sets to hide every GPU
# The first driver that runs programs of each CUDA (its release notes, table of drivers).
DRIVERS = {11: 450, 12: 525, 13: 580}

_held: list[int] = []  # open handles: a lock lasts as long as its process, however that ends


def list_visible_gpus() -> list[str]:
    """Return the identifiers of the GPUs that this process may use, in their order.

    Those of CUDA_VISIBLE_DEVICES, whose numbers are taken as nvidia-smi counts, or all. Empty
    where there is none, or no nvidia-smi to name them.
    """
    named = os.environ.get(VISIBLE)
    if named is not None and _get_first(named) in NONE:
        return []
    gpus = _query_gpus()
    if named is None:
        return list(gpus.values())
    found = []
    for token in map(str.strip, named.split(",")):
        # A number, a UUID or, as CUDA allows, the beginning of one.
        begins = token if token.startswith("GPU-") else None
        known = [u for n, u in gpus.items() if token == n or (begins and u.startswith(begins))]
        if not (known or token.startswith("MIG-")):
            break  # as CUDA does: what follows a name that it does not know is not used
        found += known or [token]
    return found


def reserve_gpu() -> None:
    """Give this process one of the visible GPUs for itself, by CUDA_VISIBLE_DEVICES and a lock.

    Where all are taken by other jobs of this package it waits for one. A single GPU that Slurm gave
    to a job is used without waiting.
    """
    if _held or not (gpus := list_visible_gpus()):
        return
    jobs = int(os.environ.get(JOBS_PER_GPU, "1"))
    taken = _lock_gpu(gpus, jobs)
    if len(gpus) == 1 and VISIBLE in os.environ and SLURM_JOB in os.environ:
        return
    if taken is None:
        log.info(
            "all %d GPUs are taken by other jobs; waiting for one (%s=2 shares them)",
            len(gpus), JOBS_PER_GPU,
        )  # fmt: skip
    while taken is None:
        time.sleep(POLL_SECONDS)
        taken = _lock_gpu(gpus, jobs)
    os.environ[VISIBLE] = taken


def check_gpu() -> None:
    """Raise `UserError` where this machine has an NVIDIA GPU that torch cannot use.

    A GPU that CUDA_VISIBLE_DEVICES hides, or whose device file this process may not open, as in a
    Slurm job that asked for none, does not count.
    """
    import torch

    if (
        torch.cuda.is_available()
        or _get_first(os.environ.get(VISIBLE, "0")) in NONE
        or not _has_device_file()
    ):
        return
    build, driver = torch.version.cuda, _read_driver_version()
    if build is None:
        why = "is built without CUDA; install the wheel that PyPI has for Linux"
    else:
        needed = DRIVERS.get(int(build.split(".")[0]))
        of = f"{needed} or newer" if needed else "a newer series"
        why = f"is built for CUDA {build}, which needs driver {of}; update the driver"
    raise UserError(
        f"This machine has an NVIDIA GPU, driver {driver}, but torch {torch.__version__} {why}, "
        f"or set device: cpu in the config (or {VISIBLE} to nothing) to do without the GPU."
    )


# --- what the machine says ----------------------------------------------------------------------


def _get_first(named: str) -> str:
    return named.split(",")[0].strip()


def _query_gpus() -> dict[str, str]:
    """Return the UUIDs of all GPUs by their number, as nvidia-smi tells; none where it cannot."""
    query = ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = (line.split(",") for line in answer.stdout.splitlines())
    return {row[0].strip(): row[1].strip() for row in rows if len(row) == 2}


def _has_device_file(devices: Path = Path("/dev")) -> bool:
    """Return whether there is an NVIDIA device file that this process may open."""
    for file in devices.glob("nvidia[0-9]*"):
        try:
            os.close(os.open(file, os.O_RDWR))
        except OSError:
            continue
        return True
    return False


def _read_driver_version(version: Path = Path("/proc/driver/nvidia/version")) -> str:
    """Return the loaded driver's version, as the kernel module tells."""
    try:
        words = version.read_text().split()
    except OSError:
        return "of unknown version"
    return next((word for word in words if word[:1].isdigit() and "." in word), "unknown")


# --- locks --------------------------------------------------------------------------------------


def _lock_gpu(gpus: Sequence[str], jobs: int) -> str | None:
    """Lock a place on the GPU with the fewest jobs of `jobs` each; None where all are taken."""
    for place in range(jobs):
        for gpu in gpus:
            handle = _open_lock_file(
                Path(tempfile.gettempdir()) / f"gblsr-repro-{gpu}.{place}.lock"
            )
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                continue
            _held.append(handle)
            return gpu
    return None


def _open_lock_file(lock: Path) -> int:
    """Open a lock file, another user's too; the file stays, since others may wait for it."""
    try:
        return os.open(lock, os.O_RDONLY)
    except FileNotFoundError:
        handle = os.open(lock, os.O_RDONLY | os.O_CREAT, 0o644)
        os.fchmod(handle, 0o644)  # whatever the user's mask
        return handle
