"""Prepare the device, its threads and allocator, and describe them for the metadata of results."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil
import torch

from . import __version__, devices
from .errors import UserError
from .progress import format_count, log

if TYPE_CHECKING:
    from .models import base

RECORDED_PACKAGES = ("torch", "torchvision", "numpy", "pillow", "lpips")
MIB = 2**20  # bytes; the unit of every memory figure

DEFAULT, STRICT, BF16 = "default", "strict", "bf16"
PRECISIONS = (DEFAULT, STRICT, BF16)
_precision = DEFAULT  # a global like torch's flags, which it names

Model = TypeVar("Model", bound="base.Model")


def keep_large_blocks() -> None:
    """Make glibc keep freed memory instead of returning it to the kernel.

    Otherwise large CPU tensors are mapped and unmapped at every allocation, and the page faults
    take about half of a training step. Sets M_MMAP_MAX 0, M_TRIM_THRESHOLD -1 and M_TOP_PAD 64 MiB
    by mallopt(3).
    """
    with suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL("libc.so.6").mallopt
        for parameter, value in ((-4, 0), (-1, -1), (-2, 1 << 26)):
            mallopt(parameter, value)


def prepare_device(
    device: str = "auto", threads: int | None = None, precision: str = DEFAULT
) -> torch.device:
    """Select the device and set its threads, allocator and precision; log the device.

    On the CPU denormal numbers are flushed to zero: the Gaussians of WIRE and their gradients have
    many, which take a processor several times as long as other numbers.

    `device` is "auto" (CUDA if available), "cpu" or "cuda"; `threads` limits the CPU threads (None:
    torch's default); `precision` is one of `PRECISIONS` (see `set_precision`). Raises `UserError`
    when CUDA is requested but not available, or when the machine has an NVIDIA GPU that torch
    cannot use and `device` is not "cpu".
    """
    if device != "cpu":
        devices.check_gpu()
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "The device is set to cuda, but no CUDA GPU is visible; set it to auto or run on a GPU "
            "node."
        )
    selected = "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
    if threads is not None:
        torch.set_num_threads(threads)
    if selected == "cpu":
        keep_large_blocks()
        torch.set_flush_denormal(True)
    set_precision(precision)
    # Logged at the start, so that a job on the wrong device is noticed before days have passed.
    name = torch.cuda.get_device_name() if selected == "cuda" else _read_cpu_name()
    log.info(
        "device: %s (%s), %s", name, selected, format_count(torch.get_num_threads(), "CPU thread")
    )
    return torch.device(selected)


def set_precision(precision: str) -> None:
    """Set torch's precision and kernels for this process by a name of `PRECISIONS`.

    - "default": torch's defaults, hence the paper's: on CUDA TF32 in cuDNN's convolutions, fp32 in
      matrix products, cuDNN's default algorithms, no deterministic mode;
    - "strict": fp32 in both, and deterministic kernels where torch has them;
    - "bf16": like default; the trainer runs the encoder in bfloat16 autocast.
    """
    global _precision
    strict = precision == STRICT
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = not strict
    torch.backends.cudnn.benchmark = False
    if strict:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # The same as use_deterministic_algorithms(strict, warn_only=True), which would also import the
    # compiler and add seconds to the start of every job.
    torch.set_deterministic_debug_mode("warn" if strict else "default")
    # Otherwise deterministic mode fills every new tensor with NaN first. (torch adds the property
    # to the module at run time, so its types do not declare it.)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    _precision = precision


def place_model(model: Model, device: torch.device) -> Model:
    """Move a model to `device`, in its fastest memory format.

    On the CPU a convolutional `encoder` is converted to channels last, in which convolutions and
    GroupNorm run up to 1.6 times faster.
    """
    model.to(device)
    if device.type == "cpu" and model.encoder.channels_last:
        # torch's types lack this documented overload of `to`.
        model.encoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return model


def prepare_for_inference(model: Model, device: torch.device) -> Model:
    """Prepare a model for inference: in eval mode and placed on `device` (see `place_model`)."""
    return place_model(model.eval(), device)


def synchronize(device: torch.device) -> None:
    """Wait until the device has finished all queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measure_peak_memory_mib(device: torch.device) -> float:
    """Measure the peak memory in MiB: of tensors on CUDA, of the whole process on the CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / MIB
    unit = 1 if sys.platform == "darwin" else 1024
    import resource  # Windows has none; the commands for images do without

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def measure_free_memory(device: torch.device) -> int:
    """Measure the bytes that are free for new tensors on `device`."""
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + cached
    return psutil.virtual_memory().available


def release_memory(device: torch.device) -> None:
    """Release the memory of freed tensors to the device or the system."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        return
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def describe_device(device: torch.device) -> dict[str, Any]:
    """Describe the device and its precision.

    Type, name, memory in MiB, threads, CUDA and cuDNN versions, the name of the precision and the
    torch flags that it sets (the CPU ignores those of CUDA).
    """
    description: dict[str, Any] = {"type": device.type, "name": _read_cpu_name()}
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        description |= {
            "name": properties.name,
            "memory_mib": round(properties.total_memory / MIB),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }
    return description | {
        "threads": torch.get_num_threads(),
        "host_cpu": _read_cpu_name(),
        "precision": _precision,
        "cudnn_tf32": torch.backends.cudnn.allow_tf32,
        "matmul_tf32": torch.backends.cuda.matmul.allow_tf32,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def identify_device(description: Mapping[str, Any]) -> dict[str, Any]:
    """Select from a description what scores may depend on: all but the number of threads."""
    return {name: value for name, value in description.items() if name != "threads"}


def _read_cpu_name() -> str:
    """Read the model name of the CPU from /proc/cpuinfo, else from the platform module."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def list_versions() -> dict[str, str]:
    """List the versions of Python, this package and the packages that can change results.

    Packages that are not installed are left out. This package may be a checkout.
    """
    versions = {"python": platform.python_version()}
    for name in RECORDED_PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions | {"gblsr-repro": __version__}


def describe_commit() -> dict[str, Any]:
    """Describe the git commit of this code and whether files were modified since.

    Both are None outside a git checkout, in one of something else, and, which is logged as a
    warning, where git does not trust the one who owns the checkout.
    """
    code = Path(__file__).resolve()
    git = ["git", "-C", str(code.parent)]
    try:
        commit, changes, _ = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (
                ("rev-parse", "HEAD"),
                ("status", "--porcelain"),
                ("ls-files", "--error-unmatch", str(code)),
            )
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "")
        if "safe.directory" in said:  # git's way out
            advice = said.strip().splitlines()[-1].strip()
            log.warning(
                "the metadata gets no commit, since another user owns the code; run %s", advice
            )
        return {"commit": None, "modified": None}
    return {"commit": commit.strip(), "modified": bool(changes.strip())}
