"""Time a call of a model, and count what it saves for a backward pass."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import runtime

Call = Callable[[Tensor], Any]

TIME_COLUMNS = (
    "median_ms", "mean_ms", "std_ms", "p90_ms", "p95_ms", "peak_memory_mib", "timed_passes"
)  # fmt: skip


def time_call(
    call: Callable[[], Any],
    device: torch.device,
    warmup: int,
    passes: int,
    gradients: bool = False,
) -> dict[str, float | None]:
    """Time a call by the protocol and return the columns of `summarize_times`.

    Its inputs are on `device` already. With `gradients` autograd records them.
    """
    with torch.set_grad_enabled(gradients):
        for _ in range(warmup):
            call()
        runtime.synchronize(device)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        times = [time_pass_ms(call, device) for _ in range(passes)]
    peak = runtime.measure_peak_memory_mib(device) if device.type == "cuda" else None
    return summarize_times(times, peak)


def summarize_times(times: list[float], peak_memory_mib: float | None) -> dict[str, float | None]:
    """Summarize the times of single passes, in milliseconds, under the names of `TIME_COLUMNS`.

    `std_ms` is the sample standard deviation (None for one pass), `p90_ms` and `p95_ms` are
    percentiles by linear interpolation, `peak_memory_mib` is in 2^20 bytes (None on the CPU).
    """
    p90, p95 = np.percentile(times, [90, 95])
    return {
        "median_ms": statistics.median(times),
        "mean_ms": statistics.fmean(times),
        "std_ms": statistics.stdev(times) if len(times) > 1 else None,
        "p90_ms": float(p90),
        "p95_ms": float(p95),
        "peak_memory_mib": peak_memory_mib,
        "timed_passes": len(times),
    }


def time_pass_ms(call: Callable[[], Any], device: torch.device) -> float:
    """Time one pass in milliseconds: by CUDA events, or by the monotonic clock on the CPU."""
    if device.type == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize(device)
        return start.elapsed_time(end)
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def count_saved_bytes(call: Call, images: Tensor, model: nn.Module) -> int:
    """Count the bytes that autograd saves in one call: every storage once, without the weights."""
    weights = {_get_address(part) for part in (*model.parameters(), *model.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        saved[_get_address(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = call(images)  # kept until the end, so that no address is used twice
    del output
    return sum(size for address, size in saved.items() if address not in weights)


def _get_address(tensor: Tensor) -> int:
    """Return the memory address of a tensor's storage, which identifies it."""
    return tensor.untyped_storage().data_ptr()
