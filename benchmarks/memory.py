"""Measure the peak memory of one call.

It is that of torch's tensors on the device, above what was allocated before the call. Scratch
memory that a CPU library takes from the system is not included.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from gblsr_repro.runtime import MIB

MEMORY_EVENT = "[memory]"


def measure_memory(call: Callable[[], Any], device: torch.device) -> tuple[Any, float]:
    """Return the output of a call and its peak memory in MiB."""
    return _measure_on_cuda(call, device) if device.type == "cuda" else _measure_on_cpu(call)


def _measure_on_cuda(call: Callable[[], Any], device: torch.device) -> tuple[Any, float]:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    output = call()
    torch.cuda.synchronize(device)
    return output, (torch.cuda.max_memory_allocated(device) - before) / MIB


def _measure_on_cpu(call: Callable[[], Any]) -> tuple[Any, float]:
    with profile(
        activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True
    ) as profiler:
        output = call()
    allocated = peak = 0
    for _, change in sorted(_read_memory_events(profiler), key=lambda event: event[0]):
        allocated += change
        peak = max(peak, allocated)
    return output, peak / MIB


def _read_memory_events(profiler: profile) -> list[tuple[float, int]]:
    """Read the time and the bytes of every allocation and release; the latter are negative."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    return [
        (event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == MEMORY_EVENT
    ]
