"""Measure the latency of models by the protocol of both benchmarks (paper, A.7).

Batch 1, evaluation mode, warm-up passes, then timed passes with a synchronization after every one;
no autocast, no compilation, no I/O while timing. On CUDA a pass is timed by a pair of events, on
the CPU by the monotonic clock. Precision and kernels are torch's defaults (`runtime.DEFAULT`),
since neither the paper nor the authors' code sets any. Peak memory is that of the CUDA tensors in
MiB, weights and input included; on the CPU it is not measured, for lack of a counter. A pass drops
its output.

A model is timed by two clocks:

- `paper`: the plain path, which follows the definition of the method, in eager calls. The native
  benchmark records no gradients (the authors' trainer times under no_grad). Super-resolution
  records them: the published peaks of Urban100 are 1.252 times the bytes that autograd saves in a
  plain forward pass plus 2,300 MiB, within 6 MiB for all four variants, while without gradients
  base and noLE would have the same peak. Published times and memory are compared with this clock
  alone.
- `fast`: the call that users of the package get, on the fast path, under inference mode, in the
  memory format of `runtime.prepare_for_inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .. import devices, runtime
from ..config import Arm, Config, Method, locate_row
from ..dependencies import collect_dependencies
from ..files import write_csv, write_json
from ..models.base import Model
from ..progress import log
from . import PAPER
from .kept_rows import compute_rows
from .timing import Call, count_saved_bytes, time_call

# Peak memory over the bytes that autograd saves: the published ratio (see above), and on a CPU the
# highest that was measured, of LTE-SwinIR on an image of Set14.
PEAK_OVER_SAVED = {"cuda": 1.25, "cpu": 1.75}
TIMING_RULES = {Arm: "latency", Method: "asr_latency"}
EXAMPLE_SIDE = 32  # side of the image for which the bytes that autograd saves are counted


@dataclass(frozen=True)
class TimedInput:
    """An image to time: its name, the number of encoded pixels, and a loader of (1, 3, h, w)."""

    name: str
    pixels: int
    load: Callable[[], Tensor]


@dataclass(frozen=True)
class TimedSet:
    """A set of images to time, with what their times depend on and further facts to record."""

    inputs: Sequence[TimedInput]
    dependencies: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


class MemoryShortage(Exception):
    """The memory does not suffice for the largest image of a set."""


@dataclass(frozen=True)
class Timer:
    """Times a model on a device by the clocks of config latency.clocks.

    `plain_call` is timed by the paper's clock, with gradients recorded if `gradients` is set;
    `user_call` by the fast one, which comes last: it changes the memory format of the model.
    """

    model: Model
    config: Config
    device: torch.device
    plain_call: Call
    user_call: Call
    gradients: bool

    def write_times(
        self,
        row: Arm | Method,
        seed: int,
        sets: Mapping[str, TimedSet],
        output: Path,
        columns: Sequence[str],
        state: Path,
    ) -> None:
        """Time every image of every set by every clock and write the times.

        Writes `columns` of a row per image and clock to <set>.csv in the folder `output`, and
        beside it a .json with the arm or method, the facts of the set, the device, and the decoder
        paths that the model took by clock. Times are kept image by image in the folder `state`, for
        this device (see `compute_rows`).

        A set that does not fit into memory is left out by that clock as a whole, with a warning, so
        that its means are over the same images for every model.
        """
        _, subject, label = locate_row(row)
        dependencies = collect_dependencies(TIMING_RULES[type(row)], row, self.config)
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in sets}
        not_timed: dict[str, dict[str, str]] = {name: {} for name in sets}
        # Times of another device or of other versions are not called those of this one.
        made_by = {
            "device": runtime.describe_device(self.device),
            "versions": runtime.list_versions(),
        }
        clocks = self.config["latency"]["clocks"]
        for clock, (name, timed) in product(clocks, sets.items()):
            try:
                rows[name] += compute_rows(
                    state,
                    f"{name}_{clock}",
                    {**dependencies, **made_by, **timed.dependencies},
                    [image.name for image in timed.inputs],
                    self._build_timing(name, timed.inputs, clock),
                    f"time {label} on {name} by the clock {clock}",
                )
            except MemoryShortage as error:
                log.warning(
                    "%s: %s is not timed by the clock %s, since %s", label, name, clock, error
                )
                not_timed[name][clock] = str(error)
                runtime.release_memory(self.device)
        for name, timed in sets.items():
            write_csv(output / f"{name}.csv", columns, rows[name])
            description = {
                subject: label,
                "seed": seed,
                **made_by,
                "git": runtime.describe_commit(),
                "gradients_recorded": self.gradients,
                **timed.facts,
                "gpu_shared": _summarize_sharing(rows[name], f"{label}: the times of {name}"),
                "not_timed": not_timed[name],
                "decoder_paths": {clock: _list_paths(rows[name], clock) for clock in clocks},
                "depends_on": {**dependencies, **timed.dependencies},
            }
            write_json(output / f"{name}.json", description)

    def _build_timing(
        self, dataset: str, inputs: Sequence[TimedInput], clock: str
    ) -> Callable[[int], dict[str, Any]]:
        """Build the function that times the image at a position and returns its row.

        The model gets the memory format of the clock's call. A row holds dataset, height and width
        of the input, clock, the path that the model took, `timing.TIME_COLUMNS`, and whether other
        processes used the GPU. The function raises `MemoryShortage` before the first image if
        the largest one would not fit.
        """
        gradients = self.gradients and clock == PAPER
        timed_call = self.plain_call
        if clock != PAPER:
            runtime.prepare_for_inference(self.model, self.device)
            timed_call = self._call_as_users_do
        check_memory = cache(partial(self._check_memory, inputs))

        def time_image(position: int) -> dict[str, Any]:
            if gradients:
                check_memory()
            images = inputs[position].load()
            call, passes = partial(timed_call, images), self.config["latency"]
            try:
                times = time_call(call, self.device, passes["warmup"], passes["passes"], gradients)
            except torch.OutOfMemoryError as error:
                first_line = str(error).partition("\n")[0]
                raise MemoryShortage(f"the memory does not suffice: {first_line}") from error
            height, width = images.shape[-2:]
            place = {"dataset": dataset, "height": height, "width": width}
            # Asked after every image: a process may come and go while a set is timed.
            shared = {"gpu_shared": devices.is_gpu_shared(self.device)}
            return place | {"clock": clock, "path": self.model.path} | times | shared

        return time_image

    def _call_as_users_do(self, images: Tensor) -> Any:
        """Call the model under inference mode."""
        with torch.inference_mode():
            return self.user_call(images)

    def _check_memory(self, inputs: Sequence[TimedInput]) -> None:
        """Raise `MemoryShortage` if gradients of the largest image do not fit into memory.

        Checked beforehand, because running out of CPU memory ends the process without an exception.
        """
        example = torch.zeros(1, 3, EXAMPLE_SIDE, EXAMPLE_SIDE, device=self.device)
        saved = count_saved_bytes(self.plain_call, example, self.model)
        saved_per_pixel = saved / self.model.encoder.extend_length(EXAMPLE_SIDE) ** 2
        largest = max(inputs, key=lambda image: image.pixels)
        needed = PEAK_OVER_SAVED[self.device.type] * saved_per_pixel * largest.pixels
        runtime.release_memory(self.device)
        free = runtime.measure_free_memory(self.device)
        if needed > free:
            raise MemoryShortage(
                f"{largest.name} would take about {needed / 2**30:.1f} GiB with gradients recorded "
                f"and {free / 2**30:.1f} GiB are free"
            )


def _list_paths(rows: Iterable[Mapping[str, Any]], clock: str) -> list[str]:
    """List the distinct paths that the model took by a clock."""
    return [*dict.fromkeys(row["path"] for row in rows if row["clock"] == clock)]


def _summarize_sharing(rows: Sequence[Mapping[str, Any]], times: str) -> bool | None:
    """Return whether other processes used the GPU beside any image; None where nobody can tell.

    If so, a warning about these `times` is logged.
    """
    answers = {row["gpu_shared"] for row in rows} - {None}
    if any(answers):
        log.warning(
            "%s are recorded, but not compared with the paper: other processes used this GPU.",
            times,
        )
    return any(answers) if answers else None
