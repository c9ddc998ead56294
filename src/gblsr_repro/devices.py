"""List the NVIDIA GPUs of this machine, check that torch can use them, and reserve one for a job.

Nothing here but `is_gpu_shared` initializes CUDA, because CUDA_VISIBLE_DEVICES has no effect later.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from .errors import UserError
from .locks import EVERYONE
from .progress import log

if TYPE_CHECKING:
    import torch

VISIBLE = "CUDA_VISIBLE_DEVICES"
SLURM_JOB = "SLURM_JOB_ID"  # an environment variable that Slurm sets for its jobs

DEVICES = Path("/dev")
POLL_SECONDS = 0.5
NONE = ("", "-1", "NoDevFiles")  # values of CUDA_VISIBLE_DEVICES that hide every GPU

_locks: list[FileLock] = []  # kept, so that a lock lasts until its process ends


def list_visible_gpus() -> list[str]:
    """List the GPUs that this process may use, in order, as CUDA_VISIBLE_DEVICES names them.

    Without that variable these are the numbers of all GPUs; none where nvidia-smi lists none.
    """
    setting = os.environ.get(VISIBLE)
    if setting is None:
        names = _ask_nvidia_smi("--query-gpu=index").splitlines()
    else:
        names = setting.split(",")
    return [name for name in map(str.strip, names) if name not in NONE]


def reserve_gpu() -> None:
    """Reserve one of the visible GPUs for this process by a lock, and set CUDA_VISIBLE_DEVICES.

    Waits while other jobs of this package use all GPUs. The only GPU of a Slurm job is used without
    waiting.
    """
    if _locks:
        return
    gpus = list_visible_gpus()
    if not gpus:
        return
    gpu = _lock_gpu(gpus)
    if len(gpus) == 1 and VISIBLE in os.environ and SLURM_JOB in os.environ:
        return
    if gpu is None:
        log.info("all %d GPUs are used by other jobs; waiting for one", len(gpus))
    while gpu is None:
        time.sleep(POLL_SECONDS)
        gpu = _lock_gpu(gpus)
    os.environ[VISIBLE] = gpu


def check_gpu() -> None:
    """Raise `UserError` when this machine has an NVIDIA GPU that torch cannot use.

    GPUs that CUDA_VISIBLE_DEVICES hides, or whose device files this process may not open (as in a
    Slurm job without a GPU), do not count.
    """
    import torch

    if (
        torch.cuda.is_available()
        or (VISIBLE in os.environ and not list_visible_gpus())
        or not _has_device_file()
    ):
        return
    reason = "it does not say why"
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition(". ")[0]
    raise UserError(
        f"This machine has an NVIDIA GPU that torch {torch.__version__} cannot use ({reason}); "
        "update the GPU's driver, or install the wheel of torch that PyPI has for Linux, or set "
        f"device: cpu in the config (or {VISIBLE} to nothing) to do without the GPU."
    )


def is_gpu_shared(device: torch.device) -> bool | None:
    """Return whether other processes compute on the GPU; None if nvidia-smi does not list them.

    This process has a context on the GPU, so an empty list of processes is not a complete one.
    """
    if device.type != "cuda":
        return None
    import torch

    torch.zeros(1, device=device)  # creates the context of this process
    name = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    processes = _ask_nvidia_smi("-i", name, "--query-compute-apps=pid").split()
    return len(processes) > 1 if processes else None


# --- queries of the machine ---------------------------------------------------------------------


def _ask_nvidia_smi(*words: str) -> str:
    """Return nvidia-smi's answer to a query as lines of cells; empty when it fails."""
    command = ["nvidia-smi", *words, "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout


def _has_device_file() -> bool:
    """Return whether this process may open an NVIDIA device file."""
    for file in DEVICES.glob("nvidia[0-9]*"):
        try:
            os.close(os.open(file, os.O_RDWR))
        except OSError:
            continue
        return True
    return False


# --- locks --------------------------------------------------------------------------------------


def _lock_gpu(gpus: Sequence[str]) -> str | None:
    """Lock the first GPU that no other job uses; None if all are used.

    Slurm jobs lock apart from each other, since each may number the GPUs it was given from 0.
    """
    prefix = f"gblsr-repro-{os.environ.get(SLURM_JOB, '')}"
    for gpu in gpus:
        path = Path(tempfile.gettempdir()) / f"{prefix}-{gpu.replace('/', '-')}.lock"
        lock = FileLock(path, mode=EVERYONE)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        _locks.append(lock)
        return gpu
    return None
