"""Time models by the fixed protocol of both benchmarks (paper, A.7 "GPU latency protocol").

Batch 1, evaluation mode, warm-up passes, then timed passes with a synchronization after each; no
autocast, no compilation, no I/O while timing. On CUDA each pass is timed by a pair of events, on
the CPU by the monotonic clock. Precision and kernels are torch's defaults (`runtime.DEFAULT`),
since neither the paper nor the authors' code sets any. Peak memory is that of the CUDA tensors in
MiB, weights and input included; the CPU has no such counter, so there it is not measured. Each
pass drops its output, as a caller would who has shown it.

A model is timed by two clocks:

- `paper`: the plain path, as the method is defined, and eager calls. The native benchmark has no
  gradients (the authors' trainer times under no_grad). Super-resolution records them: the published
  peaks of Urban100 are 1.252 times the bytes that autograd saves in a plain forward pass plus
  2,300 MiB, within 6 MiB for all four variants, while without gradients base and noLE would peak
  alike. Published times and memory are compared with this clock alone.
- `ours`: the package's own call as its users get it, on the fast path, under inference mode, in
  the memory format of `runtime.for_inference`.
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import runtime
from ..config import Config
from ..files import is_up_to_date, write_csv, write_json
from ..progress import Progress, log
from . import OURS, PAPER

if TYPE_CHECKING:
    from ..models.asr.model import ASRModel
    from ..models.native import NativeModel

# Peaks over what autograd saves: the published ones (see above), and on a CPU the highest measured,
# of LTE-SwinIR on an image of Set14.
PEAK_OVER_SAVED = {"cuda": 1.25, "cpu": 1.75}
EXAMPLE = 32  # side of the image by which the bytes that autograd saves are measured

Call = Callable[[Tensor], Any]


COLUMNS = (
    "median_ms", "mean_ms", "std_ms", "p90_ms", "p95_ms", "peak_memory_mib", "timed_passes"
)  # fmt: skip


def time_call(
    call: Callable[[], Any],
    device: torch.device,
    warmup: int,
    passes: int,
    gradients: bool = False,
) -> dict[str, float | None]:
    """Time `call` by the protocol, on inputs that are on `device` already: see `summarize`.

    With `gradients` autograd records them.
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
    """Describe the times of single passes, in milliseconds, by the names in `COLUMNS`.

    `std_ms` is the sample standard deviation (None for one pass), `p90_ms` and `p95_ms` are linear
    percentiles, `peak_memory_mib` is in 2^20 bytes (None on the CPU).
    """
    spread = statistics.stdev(times) if len(times) > 1 else None
    percentiles = map(float, np.percentile(times, [90, 95]))
    middle = statistics.median(times), statistics.fmean(times)
    values = (*middle, spread, *percentiles, peak_memory_mib, len(times))
    return dict(zip(COLUMNS, values, strict=True))


def time_pass_ms(call: Callable[[], Any], device: torch.device) -> float:
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


# --- the clocks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clock:
    """A way to time a model: the name of the clock and the call that it times.

    With `gradients` autograd records them, and a call saves `saved_per_pixel` bytes per pixel that
    it encodes for a backward pass.
    """

    name: str
    call: Call
    gradients: bool = False
    saved_per_pixel: float = 0.0


def select_clocks(config: Config) -> list[str]:
    """Return the clocks that config latency.clocks asks for, the paper's first."""
    wanted = config["latency"]["clocks"]
    return [name for name in (PAPER, OURS) if name in wanted]


def count_saved_bytes(call: Call, images: Tensor, model: nn.Module) -> int:
    """Return the bytes that autograd saves in one call, each storage once, weights left out."""
    own = {_get_address(part) for part in (*model.parameters(), *model.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        saved[_get_address(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        output = call(images)  # held until all is counted, so that no address is used again
    del output
    return sum(size for address, size in saved.items() if address not in own)


def _get_address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


# --- timing sets of images ----------------------------------------------------------------------


@dataclass(frozen=True)
class TimedInput:
    """An image to time: its name, how many pixels are encoded, and what loads it (1, 3, h, w)."""

    name: str
    pixels: int
    load: Callable[[], Tensor]


@dataclass(frozen=True)
class TimedSet:
    """A set of images to time: what its times follow from, and what is told of it besides."""

    images: Sequence[TimedInput]
    dependencies: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Timer:
    """A model to time on a device as the config says.

    `plain` is the paper's call, with `gradients` if it records them; `own` is the package's.
    """

    model: NativeModel | ASRModel
    config: Config
    device: torch.device
    plain_call: Call
    user_call: Call
    gradients: bool

    def write_times(
        self,
        subject: Mapping[str, Any],
        sets: Mapping[str, TimedSet],
        made_from: Mapping[str, Any],
        output: Path | str,
        columns: Sequence[str],
    ) -> None:
        """Time every image of every set by every clock.

        Writes for each set its `columns` of the rows of `time_sets` to <set>.csv in the folder
        `output`, and beside it (.json) the `subject`, an arm or a method first, what is told of the
        set, what the times were taken on and how, and the paths that the model took by each clock.
        `made_from` says what all times follow from: a set that was timed from the same, on the same
        device, is kept.
        """
        output, label = Path(output), next(iter(subject.values()))
        device = runtime.describe_device(self.device)
        follows = {
            name: {**made_from, **timed.dependencies, "device": device}
            for name, timed in sets.items()
        }
        left = {
            name: timed
            for name, timed in sets.items()
            if not is_up_to_date(output / f"{name}.csv", follows[name])
        }
        for name in set(sets) - set(left):
            log.info("%s: the times of %s are kept as they are", label, name)
        if not left:
            return
        record = {**subject, **describe_measurement(self.config, self.device)}
        record["gradients_recorded"] = self.gradients
        images = {name: timed.images for name, timed in left.items()}
        rows, not_timed = self.time_sets(label, images, self.build_clocks())
        for name, timed in left.items():
            own = [row for row in rows if row["dataset"] == name]
            paths: dict[str, list[str]] = {}
            for clock, path in dict.fromkeys((row["clock"], row["path"]) for row in own):
                paths.setdefault(clock, []).append(path)
            reasons = {k: why[name] for k, why in not_timed.items() if name in why}
            write_csv(output / f"{name}.csv", columns, own)
            told = {**timed.facts, "not_timed": reasons, "decoder_paths": paths}
            write_json(output / f"{name}.json", record | told | {"follows": follows[name]})

    def build_clocks(self) -> Iterator[Clock]:
        """Yield the clocks of `select_clocks`.

        To be used one after another: from `ours` on the model has the memory format of users.
        """

        def inferred(images: Tensor) -> Any:
            with torch.inference_mode():
                return self.user_call(images)

        for name in select_clocks(self.config):
            if name == PAPER:
                example = torch.zeros(1, 3, EXAMPLE, EXAMPLE, device=self.device)
                saved = (
                    count_saved_bytes(self.plain_call, example, self.model)
                    if self.gradients
                    else 0.0
                )
                encoded = self.model.encoder.extend_length(EXAMPLE) ** 2
                yield Clock(name, self.plain_call, self.gradients, saved / encoded)
            else:
                runtime.prepare_for_inference(self.model, self.device)
                yield Clock(name, inferred)

    def time_sets(
        self, label: str, sets: Mapping[str, Sequence[TimedInput]], clocks: Iterable[Clock]
    ) -> tuple[list[dict[str, Any]], dict[str, dict[str, str]]]:
        """Time every image of every set by every clock.

        Returns rows, and by clock and set why there are none. A row holds dataset, image, height
        and width of the input, clock, the path that the model took (None where it names none), and
        `COLUMNS`. A set is timed whole or not at all, so that its mean is one over the same images
        for every model: one that does not fit into memory is left out with one logged sentence.
        """
        rows: list[dict[str, Any]] = []
        not_timed: dict[str, dict[str, str]] = {}
        total = sum(map(len, sets.values())) * len(select_clocks(self.config))
        with Progress(f"time {label}", total, "image") as progress:
            for clock in clocks:
                for dataset, images in sets.items():
                    found: list[dict[str, Any]] = []
                    reason = _explain_shortage(clock, images, self.device)
                    try:
                        for image in images if not reason else ():
                            found.append({"dataset": dataset} | self._time_image(image, clock))
                            progress.update()
                    except torch.OutOfMemoryError as error:
                        why = str(error).partition("\n")[0]
                        reason = f"the memory does not suffice: {why}"
                    if reason:
                        log.warning(
                            "%s: %s is not timed by the clock %s, since %s",
                            label, dataset, clock.name, reason,
                        )  # fmt: skip
                        not_timed.setdefault(clock.name, {})[dataset] = reason
                        runtime.release_memory(self.device)
                        progress.update(len(images) - len(found))
                    else:
                        rows += found
        return rows, not_timed

    def _time_image(self, image: TimedInput, clock: Clock) -> dict[str, Any]:
        images = image.load()
        call = partial(clock.call, images)
        counts = self.config["latency"]
        record = time_call(call, self.device, counts["warmup"], counts["passes"], clock.gradients)
        height, width = images.shape[-2:]
        place = {"image": image.name, "height": height, "width": width, "clock": clock.name}
        return place | {"path": getattr(self.model, "path", None)} | record


def _explain_shortage(clock: Clock, images: Sequence[TimedInput], device: torch.device) -> str:
    """Return why the largest image cannot be timed, by what a small one takes; empty if it can.

    On a CPU, running out of memory ends the process instead of raising an error.
    """
    if not clock.saved_per_pixel:
        return ""
    largest = max(images, key=lambda image: image.pixels)
    needed = PEAK_OVER_SAVED[device.type] * clock.saved_per_pixel * largest.pixels
    runtime.release_memory(device)
    free = runtime.measure_free_memory(device)
    if needed <= free:
        return ""
    return (
        f"{largest.name} would take about {needed / 2**30:.1f} GiB with gradients recorded and "
        f"{free / 2**30:.1f} GiB are free"
    )


def describe_measurement(config: Config, device: torch.device) -> dict[str, Any]:
    """Describe what times were taken on and how; warns when other processes use the GPU."""
    shared = is_gpu_shared(device)
    if shared:
        log.warning("Other processes use this GPU: its times are recorded, but not judged.")
    cuda = device.type == "cuda"
    return {
        "device": runtime.describe_device(device),
        "timer": "CUDA events" if cuda else "monotonic clock",
        "peak_memory": "CUDA tensors, MiB" if cuda else None,
        "gpu_shared": shared,
        "clocks": select_clocks(config),
        "warmup": config["latency"]["warmup"],
        "passes": config["latency"]["passes"],
        "versions": runtime.list_versions(),
        "git": runtime.describe_commit(),
    }


def is_gpu_shared(device: torch.device) -> bool | None:
    """Return whether other processes compute on the GPU; None where that cannot be told.

    This process has a context on the GPU, so a list without a single process shows nothing.
    """
    if device.type != "cuda":
        return None
    torch.zeros(1, device=device)  # a context of this process
    name = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    query = ["nvidia-smi", "-i", name, "--query-compute-apps=pid", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    processes = answer.stdout.split()
    return len(processes) > 1 if processes else None
