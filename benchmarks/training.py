"""Build the cases about training steps of both benchmarks and the memory allocator."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gblsr_repro
from gblsr_repro.config import read_arms, read_methods
from gblsr_repro.data.arrays import ImageArray, convert_to_float
from gblsr_repro.data.superres import Batch, PackedImages, Sampler
from gblsr_repro.models.asr.local_spectral import SEPARABLE
from gblsr_repro.models.asr.model import build_model as build_asr
from gblsr_repro.models.base import PLAIN
from gblsr_repro.models.layers import apply_pointwise
from gblsr_repro.models.native import NativeModel, build_model
from gblsr_repro.runtime import BF16, STRICT
from gblsr_repro.training.asr import compute_absolute_error
from gblsr_repro.training.checkpoint import remove_state
from gblsr_repro.training.loop import Training, train
from gblsr_repro.training.native import build_batch_reader
from gblsr_repro.training.sampler import EpochSampler

from .bench import Bench, format_size
from .measure import Case, Variant
from .native import MAIN, is_spectral
from .rendering import build_spectral_decoder, draw_features, name_ensemble

LOOP_STEPS = {"cpu": 2, "cuda": 200}  # of the native loop in one call
STORED = 64  # images in its array
LAYERS = 3  # of a baseline's perceptron, between hidden values
ASR_STEPS = {"cpu": 1, "cuda": 10}  # super-resolution steps in one call
PACKED, PACKED_SIDE = 8, 512  # super-resolution training images and their side
ALLOCATOR_VARIABLES = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases; the C library's allocator only matters on the CPU."""
    yield build_asr_decoder_case(bench, ensemble=True)
    yield build_asr_decoder_case(bench, ensemble=False)
    yield build_native_loop_case(bench)
    yield build_native_step_case(bench)
    yield build_baseline_step_case(bench)
    yield build_asr_step_case(bench)
    if not bench.cuda:
        yield build_perceptron_case(bench)
        yield build_pixel_case(bench)
        yield build_allocator_case(bench)


# --- native -------------------------------------------------------------------------------------


def build_native_step(
    bench: Bench, arm: str, side: int, batch: int, path: str | None = None
) -> Callable[[], Tensor]:
    """Build the function that trains `arm` by one step, as the recipe does.

    A step takes `batch` images of `side` x `side` pixels.
    """
    recipe = bench.config["native"]["training"]
    model, optimizer = build_native_model(bench, arm)
    initialize_state(optimizer)
    shown = torch.randint(256, (batch, side, side, 3), dtype=torch.uint8).to(bench.device)

    def step() -> Tensor:
        images = convert_to_float(shown)
        loss = F.mse_loss(model(images, path), images)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe["gradient_clip"])
        optimizer.step()
        # Here and not before the step: its peak memory then has the gradients.
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def build_native_model(bench: Bench, arm: str) -> tuple[NativeModel, torch.optim.Optimizer]:
    """Build an untrained arm on the device and its optimizer, as the recipe says."""
    recipe = bench.config["native"]["training"]
    model = build_model(read_arms()[arm], bench.config, 0).to(bench.device)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        recipe["learning_rate"],
        tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
    return model, optimizer


def initialize_state(optimizer: torch.optim.Optimizer) -> None:
    """Initialize the state of an optimizer before anything is measured; no weight changes."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def build_native_loop_case(bench: Bench) -> Case:
    """Build the case of the trainer's own loop on the main arm, on a random array."""
    side, recipe = bench.image_side, bench.config["native"]["training"]
    batch, steps = recipe["batch_size"], LOOP_STEPS[bench.device.type]
    model, optimizer = build_native_model(bench, MAIN)
    pixels = np.random.default_rng(0).integers(256, size=(STORED, side, side, 3), dtype=np.uint8)
    arrays = ImageArray(bench.scratch / "random.npy", pixels, [{}] * STORED, {})
    draw = build_batch_reader(
        arrays, EpochSampler(STORED, batch, torch.get_rng_state()), bench.device
    )
    training = Training(
        model,
        optimizer,
        batch=draw,
        loss=lambda images: F.mse_loss(model(images), images),
        settings={"training": recipe | {"steps": steps, "checkpoint_every": steps}},
        data={},
        split=lambda images: images.chunk(recipe["accumulate"]),
        gradient_clip=recipe["gradient_clip"],
    )

    def run() -> None:
        state = bench.scratch / "state.pt"
        train(f"{steps} steps of {MAIN}", training, state, identity={}, trained_by={})
        remove_state(state)

    return Case(
        f"native loop, {steps} steps, batch {batch}",
        (Variant(MAIN, run),),
        format_size(side, side),
        items=steps,
        same=False,
        training=True,
        tf32=recipe["precision"] != STRICT,
    )


def build_native_step_case(bench: Bench) -> Case:
    """Build the case of a training step of every GB-LSR arm, against the main arm's."""
    batch = bench.config["native"]["training"]["batch_size"]
    names = [arm for arm in bench.config["native"]["arms"] if arm != MAIN and is_spectral(arm)]
    return compare_steps(bench, names, batch, also_plain=True)


def build_baseline_step_case(bench: Bench) -> Case:
    """Build the case of a training step of every other arm; on the CPU of one image."""
    batch = bench.config["native"]["training"]["batch_size"] if bench.cuda else 1
    names = [arm for arm in bench.config["native"]["arms"] if not is_spectral(arm)]
    return compare_steps(bench, names, batch)


def compare_steps(bench: Bench, names: list[str], batch: int, also_plain: bool = False) -> Case:
    """Build a case that compares steps with the main arm's, and this with its plain path's."""
    side = bench.image_side
    steps = {arm: build_native_step(bench, arm, side, batch) for arm in (MAIN, *names)}
    if also_plain:
        steps[f"{MAIN}, plain"] = build_native_step(bench, MAIN, side, batch, PLAIN)
    variants = [Variant(label, step) for label, step in steps.items()]
    return Case(
        f"native step, batch {batch}" if also_plain else f"native step of baselines, batch {batch}",
        tuple(variants),
        format_size(side, side),
        same=False,
        training=True,
        tf32=bench.config["native"]["training"]["precision"] != STRICT,
    )


def build_perceptron_case(bench: Bench) -> Case:
    """Build the case of a baseline's hidden layers on a batch's pixels, forward and backward."""
    width = bench.config["native"]["model"]["hidden"]
    pixels = bench.config["native"]["training"]["batch_size"] * bench.image_side**2 // 16
    generator = torch.Generator().manual_seed(0)
    rows, *weights = (
        torch.randn(count, width, generator=generator) for count in (pixels, *[width] * LAYERS)
    )
    layers = [weight.div(width**0.5).requires_grad_() for weight in weights]

    def compute_gradient(apply: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        made = rows
        for layer in layers:
            made = F.relu(apply(made, layer))
        return torch.stack(torch.autograd.grad(made.sum(), layers))

    variants = (
        Variant("matrix product", partial(compute_gradient, F.linear)),
        Variant("pointwise", partial(compute_gradient, apply_pointwise)),
    )
    label = f"{LAYERS} layers of a perceptron, {pixels} pixels"
    return Case(label, variants, training=True)


def build_pixel_case(bench: Bench) -> Case:
    """Build the case of LIIF's decoder on an eighth of two images, forward and backward."""
    decoder = build_model(read_arms()["liif"], bench.config, 0).decoder
    side, cells = bench.image_side, bench.image_side // decoder.patch
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(2, decoder.features, cells, cells, generator=generator).requires_grad_()
    drawn = [torch.randperm(side**2, generator=generator)[: side**2 // 8] for _ in features]
    pixels = torch.stack(drawn)
    positions = torch.stack((pixels // side, pixels % side), dim=-1).double()

    def compute_gradient(render: Callable[[Tensor, Tensor], Tensor], at: Tensor) -> Tensor:
        return torch.autograd.grad(render(features, at).square().sum(), features)[0]

    variants = (
        Variant("query", partial(compute_gradient, decoder.query, positions)),
        Variant("chosen pixels", partial(compute_gradient, decoder.render_pixels, pixels)),
    )
    label = f"LIIF on {pixels.numel()} chosen pixels"
    return Case(label, variants, format_size(side, side), training=True)


def build_allocator_case(bench: Bench) -> Case:
    """Build the case of the main arm's step with the allocator by default, and as set here.

    Half of the recipe's batch, so that there is time for more than one process of each.
    """
    side, batch = bench.image_side, bench.config["native"]["training"]["batch_size"] // 2
    repeats = 1 if bench.quick else 2
    variants = (
        Variant("default", partial(time_allocator, "default", side, batch, repeats)),
        Variant(
            "kept blocks",
            partial(time_allocator, "kept", side, batch, repeats),
        ),
    )
    label = f"allocator, native step, batch {batch}"
    return Case(label, variants, format_size(side, side), same=False, outside=True)


def time_allocator(allocator: str, side: int, batch: int, steps: int) -> float:
    """Time `steps` steps in a new process (see `allocator`); return the median milliseconds."""
    folders = [Path(__file__).resolve().parents[1], Path(gblsr_repro.__file__).resolve().parents[1]]
    environment = {
        variable: value
        for variable, value in os.environ.items()
        if not variable.startswith(ALLOCATOR_VARIABLES)
    }
    environment["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    command = [
        sys.executable,
        "-m",
        "benchmarks.allocator",
        allocator,
        *map(str, (side, batch, steps)),
    ]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)["median_ms"]


# --- super-resolution ---------------------------------------------------------------------------


def draw_asr_sample(bench: Bench, batch: int) -> tuple[int, Tensor, Tensor, Tensor]:
    """Draw a sample: patch side, sizes (B, 2), pixels (B, Q, 2) and weights (B, Q, 3)."""
    training = bench.config["asr"]["training"]
    side, queries = training["lr_patch"], training["queries"]
    generator = torch.Generator().manual_seed(0)
    low, top = training["scale_range"]
    scales = low + (top - low) * torch.rand(batch, 1, generator=generator)
    sizes = (side * scales).round().long().expand(-1, 2).contiguous()
    chosen = torch.rand(batch, queries, 2, generator=generator)
    pixels = (chosen * sizes[:, None]).long()
    weights = torch.randn(batch, queries, 3, generator=generator)
    return side, *(tensor.to(bench.device) for tensor in (sizes, pixels, weights))


def build_asr_decoder_case(bench: Bench, ensemble: bool) -> Case:
    """Build the case of the GB-LSR decoder on pixels of random scales, forward and backward."""
    batch = 16 if bench.cuda else 4
    decoder = build_spectral_decoder(bench, ensemble).train()
    side, sizes, pixels, weights = draw_asr_sample(bench, batch)
    features = draw_features(bench, (side, side), batch).requires_grad_()

    def compute_gradient(path: str) -> Tensor:
        (decoder.sample(features, sizes, pixels, path) * weights).sum().backward()
        found, features.grad = features.grad, None
        decoder.zero_grad(set_to_none=True)
        return found

    variants = (
        Variant("plain", partial(compute_gradient, PLAIN)),
        Variant("separable", partial(compute_gradient, SEPARABLE)),
    )
    label = f"decoder {name_ensemble(ensemble)}, batch {batch}"
    return Case(label, variants, format_size(side, side), training=True)


def build_sampler(bench: Bench, batch: int) -> Sampler:
    """Build the trainer's sampler on random images."""
    training = bench.config["asr"]["training"]
    pixels = np.random.default_rng(0).integers(
        256, size=(PACKED * PACKED_SIDE**2, 3), dtype=np.uint8
    )
    names = tuple(map(str, range(PACKED)))
    offsets, sides = np.arange(PACKED) * PACKED_SIDE**2, np.full(PACKED, PACKED_SIDE)
    packed = PackedImages(pixels, names, offsets, sides, sides, sha256="")
    return Sampler(packed, training, batch, 0, bench.device)


def build_asr_step_case(bench: Bench) -> Case:
    """Build the case of a step of the whole model; a step of its RDN encoder is the reference.

    A step is the trainer's: its sampler, its loss, and the gradient norm, which it always takes.
    On CUDA a call takes several, so that the next batch is drawn while the device is at work, as
    in training.
    """
    training = bench.config["asr"]["training"]
    recipe, precision = training["recipes"]["rdn"], training["precision"]
    batch = recipe["batch_size"] if bench.cuda else 1
    model = build_asr(read_methods()["gblsr_asr"], bench.config, 0).to(bench.device)
    optimizer = torch.optim.Adam(model.parameters(), recipe["learning_rate"], fused=True)
    initialize_state(optimizer)
    drawn, steps = build_sampler(bench, batch).prefetch_batches(), count()

    each = ASR_STEPS[bench.device.type]

    def step(loss: Callable[[Batch], Tensor]) -> None:
        for _ in range(each):
            loss(drawn(next(steps))).backward()
            nn.utils.clip_grad_norm_(model.parameters(), math.inf)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def encode(batch: Batch) -> Tensor:
        with torch.autocast(bench.device.type, torch.bfloat16, enabled=precision == BF16):
            return model.encode(batch.low).float().square().mean()

    def compute_fast_loss(batch: Batch) -> Tensor:
        return compute_absolute_error(model, batch, precision)

    def compute_plain_loss(batch: Batch) -> Tensor:
        return compute_absolute_error(partial(model, path=PLAIN), batch, precision)

    variants = (
        Variant("encoder alone", partial(step, encode)),
        Variant("fast", partial(step, compute_fast_loss)),
        Variant("plain", partial(step, compute_plain_loss)),
    )
    tf32 = precision != STRICT
    label = f"{each} super-resolution steps" if each > 1 else "super-resolution step"
    label += f", batch {batch}" + (", TF32" if tf32 and bench.cuda else "")
    side = training["lr_patch"]
    return Case(
        label,
        variants,
        format_size(side, side),
        items=each,
        same=False,
        training=True,
        tf32=tf32,
    )
