"""What every arm and method gives a GPU to do: the table `trace.tsv`.

`PYTHONPATH=tests python tests/rehearsal/rehearse.py` writes it. One row per arm or method and kind
of work: operations launched, GFLOP, GB read and written, and the peak of live memory; counted on a
pretended device (see `pretended`). Sizes are the paper's but for the depth of the super-resolution
encoders (`DEPTH`). A step is the trainer's own, the second of a run.
"""

from __future__ import annotations

import csv
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import made
import numpy as np
import torch
from pretended import CUDA, Trace, Work, pretended_cuda, traced
from torch import nn
from torch._subclasses.fake_tensor import unset_fake_temporarily

from gblsr_repro import config as configuration
from gblsr_repro.data.arrays import Arrays
from gblsr_repro.data.superres import PackedImages
from gblsr_repro.models.asr.decoders import PLAIN
from gblsr_repro.training import asr as asr_training
from gblsr_repro.training import loop
from gblsr_repro.training import native as native_training
from gblsr_repro.training.sampler import EpochSampler

TABLE = Path(__file__).with_name("trace.tsv")
COLUMNS = ("subject", "work", "operations", "gflop", "gb", "peak_mb")
IMAGES, SIDE = 16, 256  # of the pretended training arrays
ODD = (250, 301)
EPOCH_DRAWS = ("__init__", "indices")  # what reads values on the host
QUERIES = 4096
LOW = 96  # side of the low-resolution image that is shown
SCALES = (2, 3, 3.3, 4)
STEPS = 2
DEPTH = {"rdn_blocks": 3, "swinir_depths": [2]}  # of 16 and [6, 6, 6, 6, 6, 6]: it takes a third


class Enough(Exception):
    """Ends a pretended training run."""


def main() -> None:
    """Write the table."""
    warnings.filterwarnings("ignore", "Accessing the data pointer of FakeTensor")
    with TABLE.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for name in subjects():
            writer.writerows(row(*work) for work in works(config(), name).items())


def config() -> configuration.Config:
    """Return the configuration that is rehearsed."""
    return configuration.merge(configuration.load(), {"asr": {"model": DEPTH}})


def subjects() -> list[str]:
    """Return the arms and methods of the table."""
    return [*config()["native"]["arms"], *config()["asr"]["methods"]]


def row(name: tuple[str, str], work: Work) -> list[str]:
    """Return a line of the table."""
    amounts = (work.flops / 1e9, work.bytes / 1e9, work.peak / 1e6)
    return [*name, str(work.operations), *(f"{amount:.4g}" for amount in amounts)]


def warm(call: Callable[[], Any]) -> Work:
    """Return the work of a second call, when what follows from the weights alone is kept."""
    call()
    return traced(call)


# --- inference ----------------------------------------------------------------------------------


def works(config: configuration.Config, name: str) -> dict[tuple[str, str], Work]:
    """Return the work of an arm or a method: inference in all its ways, and a training step."""
    arm = configuration.arms().get(name)
    with pretended_cuda(), torch.no_grad():
        model = made.model(name, config).to(CUDA).eval()
        calls = (arm_calls if arm else method_calls)(model, config["asr"]["tile_pixels"])
        found = {(name, kind): warm(call) for kind, call in calls.items()}
    trainer = native_training if arm else asr_training
    row = arm or configuration.methods()[name]
    found[name, "step"] = step(partial(trainer.train_run, config, row, 0))
    return found


def arm_calls(model: nn.Module, _: int) -> dict[str, Callable]:
    """Return the ways in which an arm shows an image."""
    image, odd = (torch.rand(1, 3, *size, device=CUDA) for size in ((SIDE, SIDE), ODD))
    points = torch.rand(1, QUERIES, 2, device=CUDA, dtype=torch.float64)
    return {
        "fast": partial(model, image),
        "plain": partial(model, image, path="plain"),
        "odd size": partial(model, odd),
        "query": partial(model.query, model.encode(odd), points, ODD),
    }


def method_calls(model: nn.Module, tile: int) -> dict[str, Callable]:
    """Return the ways in which a method shows an image: its encoder's, its decoder's by scale."""
    low = torch.rand(1, 3, LOW, LOW, device=CUDA)
    features = model.encode(low)
    calls: dict[str, Callable] = {
        "encoder": partial(model.encode, low),
        "encoder, plain": partial(model.encode, low, path="plain"),
    }
    for scale in SCALES:
        size = (round(LOW * scale),) * 2
        for kind, path in (("", None), (", plain", PLAIN)):
            call = partial(model.decode, features, *size, tile, low, path)
            calls[f"x{scale:g}{kind}"] = call
    points = torch.rand(1, QUERIES, 2, device=CUDA, dtype=torch.float64)
    cell = torch.full_like(points, 2 / size[0])
    return calls | {"query": partial(model.query, features, points, cell, low)}


# --- training -----------------------------------------------------------------------------------


def step(train_run: Callable[..., None]) -> Work:
    """Return the work of the last of `STEPS` steps of a training run."""
    works: list[Work] = []
    with pretended_cuda(), Trace() as trace:
        steps(train_run, lambda: works.append(trace.next()))
    return works[-1]


def steps(train_run: Callable[..., None], after: Callable[[], None]) -> None:
    """Let a trainer take `STEPS` steps on images of zeros; call `after` after each of them."""
    left = iter(range(STEPS - 1, -1, -1))

    def note(run: Any, loss: torch.Tensor, norm: torch.Tensor) -> None:
        run.step += 1
        after()
        if not next(left):
            raise Enough

    noting = mock.patch.object(loop._Run, "note", note)
    with tempfile.TemporaryDirectory() as name, data(), noting, suppress(Enough):
        folder = Path(name)
        train_run(folder / "train.npy", folder, folder / "state.pt")


@contextmanager
def data() -> Iterator[None]:
    """Let training arrays hold zeros, and draws be made with values."""
    pixels = np.zeros((IMAGES, SIDE, SIDE, 3), np.uint8)
    record = {"sha256": "", "images": IMAGES}
    arrays = Arrays(Path("train.npy"), pixels, [{"name": str(i)} for i in range(IMAGES)], record)
    sides, offsets = np.full(IMAGES, SIDE), np.arange(IMAGES) * SIDE**2
    packed = PackedImages(
        pixels.reshape(-1, 3), tuple(map(str, range(IMAGES))), offsets, sides, sides, ""
    )
    with ExitStack() as stack:
        for place, attribute, value in (
            (Arrays, "open", lambda _: arrays),
            (PackedImages, "open", lambda _: packed),
            *((EpochSampler, n, _with_values(getattr(EpochSampler, n))) for n in EPOCH_DRAWS),
            (asr_training, "Validation", mock.Mock()),
        ):
            stack.enter_context(mock.patch.object(place, attribute, value))
        yield


def _with_values(call: Callable) -> Callable:
    def real(*arguments: object) -> object:
        with unset_fake_temporarily():
            return call(*arguments)

    return real


if __name__ == "__main__":
    main()
