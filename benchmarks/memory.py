"""How much memory one call takes at its peak, and how many operations it consists of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from gblsr_repro.runtime import MIB

MEMORY_EVENT = "[memory]"
# Makes a view of a tensor that nothing else holds, and so is not marked as one.
VIEWS = (torch.ops.aten._unsafe_view.default,)


def peak_mib(call: Callable[[], Any], device: torch.device) -> tuple[Any, float]:
    """Return what `call` returns and its peak memory in MiB, above what was held before.

    Counted are torch's own allocations of tensors on `device`. Scratch memory that a CPU library
    takes from the system by itself is not seen.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        result = call()
        torch.cuda.synchronize(device)
        return result, (torch.cuda.max_memory_allocated(device) - before) / MIB
    with profile(
        activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True
    ) as tracker:
        result = call()
    events = [e for e in tracker.profiler.kineto_results.events() if e.name() == MEMORY_EVENT]
    held = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return result, peak / MIB


def operations(call: Callable[[], Any]) -> int:
    """Return how many torch operations `call` runs, without those that only make views."""
    with _Counter() as counter:
        call()
    return counter.count


class _Counter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += not (func.is_view or func in VIEWS)
        return func(*args, **(kwargs or {}))
