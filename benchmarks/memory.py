"""Measure the time and the peak memory of one call."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from gblsr_repro.runtime import MIB

MEMORY_EVENT = "[memory]"


class MeasuredCall(NamedTuple):
    """The output of a call, its peak memory in MiB and its time in seconds.

    Peak memory is that of torch's tensors on the device, above what was allocated before the call.
    Scratch memory that a CPU library takes from the system is not included.
    """

    output: Any
    peak_mib: float
    seconds: float


def measure_call(call: Callable[[], Any], device: torch.device) -> MeasuredCall:
    """Measure one call; on the CPU the profiler records its allocations, which takes time too."""
    return _measure_on_cuda(call, device) if device.type == "cuda" else _measure_on_cpu(call)


def _measure_on_cuda(call: Callable[[], Any], device: torch.device) -> MeasuredCall:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    began = time.perf_counter()
    output = call()
    torch.cuda.synchronize(device)
    seconds = time.perf_counter() - began
    return MeasuredCall(output, (torch.cuda.max_memory_allocated(device) - before) / MIB, seconds)


def _measure_on_cpu(call: Callable[[], Any]) -> MeasuredCall:
    began = time.perf_counter()
    with profile(
        activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True
    ) as profiler:
        output = call()
    seconds = time.perf_counter() - began
    allocated = peak = 0
    for _, change in sorted(_read_memory_events(profiler), key=lambda event: event[0]):
        allocated += change
        peak = max(peak, allocated)
    return MeasuredCall(output, peak / MIB, seconds)


def _read_memory_events(profiler: profile) -> list[tuple[float, int]]:
    """Read the time and the bytes of every allocation and release; the latter are negative."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    return [
        (event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == MEMORY_EVENT
    ]
