"""The fixed latency protocol of both benchmarks (paper appendix on the evaluation protocol).

Batch 1, evaluation mode, warm-up passes, then timed passes with a synchronisation after each; no
autocast, no compilation, no I/O while timing. On CUDA each pass is timed by a pair of events, on
the CPU by the monotonic clock. Peak memory is that of the CUDA tensors, weights and input
included; the CPU has no such counter, so there it is not measured.

Two tracks are recorded, and the path that was taken in each:

- `protocol`: eager calls, as in the paper. `fast` is the model's own call; `plain` renders by the
  defining sum, so that the difference is what the algebra brings.
- `deployment`: what else is exact. `cuda_graph` replays the fast call as one CUDA graph, with
  convolution algorithms chosen by trial; `eager` is the plain call of a model that no graph takes;
  `channels_last` is the CPU's fastest memory format in inference mode.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import runtime
from ..config import Config
from ..progress import log

PROTOCOL, DEPLOYMENT = "protocol", "deployment"
FAST, PLAIN = "fast", "plain"
CUDA_GRAPH, EAGER, CHANNELS_LAST = "cuda_graph", "eager", "channels_last"
GRAPH_WARMUP = 3


@dataclass(frozen=True)
class LatencyRecord:
    """Times of one call in milliseconds over `timed_passes` passes.

    `std_ms` is the sample standard deviation (None for one pass), `p90_ms` and `p95_ms` are linear
    percentiles, `peak_memory_mb` is in 10^6 bytes (None on the CPU).
    """

    median_ms: float
    mean_ms: float
    std_ms: float | None
    p90_ms: float
    p95_ms: float
    peak_memory_mb: float | None
    timed_passes: int


COLUMNS = tuple(LatencyRecord.__dataclass_fields__)


def measure(
    call: Callable[[], Any], device: torch.device, warmup: int, passes: int, *, model: nn.Module
) -> LatencyRecord:
    """Time `call` by the protocol; `call` runs `model` on inputs that are on `device` already.

    Raises `ValueError` when a part of `model` is in training mode or autocast is on: such times
    are not the protocol's.
    """
    _refuse(model, device)
    with torch.no_grad():
        for _ in range(warmup):
            call()
        runtime.synchronize(device)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        times = [elapsed_ms(call, device) for _ in range(passes)]
    peak = torch.cuda.max_memory_allocated(device) / 1e6 if device.type == "cuda" else None
    return summarize(times, peak)


def summarize(times: list[float], peak_memory_mb: float | None) -> LatencyRecord:
    """Describe the times of single passes, in milliseconds."""
    p90, p95 = np.percentile(times, [90, 95])
    return LatencyRecord(
        median_ms=statistics.median(times),
        mean_ms=statistics.fmean(times),
        std_ms=statistics.stdev(times) if len(times) > 1 else None,
        p90_ms=float(p90),
        p95_ms=float(p95),
        peak_memory_mb=peak_memory_mb,
        timed_passes=len(times),
    )


def _refuse(model: nn.Module, device: torch.device) -> None:
    training = next((name for name, part in model.named_modules() if part.training), None)
    if training is not None:
        raise ValueError(
            f"{training or type(model).__name__} is in training mode; call eval() before timing"
        )
    if torch.is_autocast_enabled(device.type):
        raise ValueError("autocast is on; the latency protocol times full precision")


def elapsed_ms(call: Callable[[], Any], device: torch.device) -> float:
    """Time one pass in milliseconds: by a pair of CUDA events, on the CPU by its clock."""
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


# --- what is timed ------------------------------------------------------------------------------


@contextmanager
def protocol_settings() -> Iterator[None]:
    """Switch off the deterministic kernels that training asks for: they are slower."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("default")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def deployed(
    model: nn.Module, call: Callable[[Tensor], Tensor], example: Tensor
) -> tuple[str, Callable[[Tensor], Tensor]]:
    """Return the fastest exact path of this device and its call, for inputs shaped as `example`.

    On CUDA one graph of `call`, replayed; its result is overwritten by the next call. Where a graph
    cannot be made, `call` as it is, with a warning. On the CPU `call` in inference mode, with
    `model` turned to channels last.
    """
    if example.device.type == "cuda":
        try:
            return CUDA_GRAPH, _graph(call, example)
        except RuntimeError as error:
            log.warning("%s takes no CUDA graph: %s", type(model).__name__, error)
            return EAGER, call
    model.to(memory_format=torch.channels_last)

    def run(images: Tensor) -> Tensor:
        with torch.inference_mode():
            return call(images.contiguous(memory_format=torch.channels_last))

    return CHANNELS_LAST, run


def _graph(call: Callable[[Tensor], Tensor], example: Tensor) -> Callable[[Tensor], Tensor]:
    source = example.clone()
    chosen_by_trial = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        with torch.no_grad():
            # Libraries set themselves up in the first calls, which a graph may not record.
            side = torch.cuda.Stream(example.device)
            side.wait_stream(torch.cuda.current_stream(example.device))
            with torch.cuda.stream(side):
                for _ in range(GRAPH_WARMUP):
                    call(source)
            torch.cuda.current_stream(example.device).wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = call(source)
    finally:
        torch.backends.cudnn.benchmark = chosen_by_trial

    def replay(images: Tensor) -> Tensor:
        source.copy_(images)
        graph.replay()
        return result

    return replay


# --- records ------------------------------------------------------------------------------------


def row(dataset: str, image: str, track: str, path: str, record: LatencyRecord) -> dict[str, Any]:
    """Return one line of a latency file.

    A CUDA graph has no peak: its memory is taken when it is recorded, and a replay takes none.
    """
    place = {"dataset": dataset, "image": image, "track": track, "path": path}
    unknown = {"peak_memory_mb": None} if path == CUDA_GRAPH else {}
    return place | asdict(record) | unknown


def conditions(config: Config, device: torch.device) -> dict[str, Any]:
    """Describe what times were taken on and how; warns when other processes use the GPU."""
    shared = gpu_is_shared(device)
    if shared:
        log.warning("Other processes use this GPU: the times are not those of an idle one.")
    cuda = device.type == "cuda"
    return {
        "device": runtime.device_record(device),
        "clock": "CUDA events" if cuda else "monotonic clock",
        "peak_memory": "CUDA tensors" if cuda else None,
        "gpu_shared": shared,
        "warmup": config["latency"]["warmup"],
        "passes": config["latency"]["passes"],
        "versions": runtime.versions(),
        "git": runtime.git_record(),
    }


def gpu_is_shared(device: torch.device) -> bool | None:
    """Return whether other processes compute on the GPU; None where that cannot be told.

    This process has a context on the GPU, so a list without a single process shows nothing.
    """
    if device.type != "cuda":
        return None
    query = ["nvidia-smi", "-i", _visible_name(device), "--query-compute-apps=pid",
             "--format=csv,noheader"]  # fmt: skip
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    processes = answer.stdout.split()
    return len(processes) > 1 if processes else None


def _visible_name(device: torch.device) -> str:
    """Return the GPU's name for nvidia-smi, with a context of this process on it."""
    torch.zeros(1, device=device)
    return f"GPU-{torch.cuda.get_device_properties(device).uuid}"
