"""Build the cases about training steps of both benchmarks and the memory allocator."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count
from statistics import median

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gblsr_repro.config import read_arms, read_methods
from gblsr_repro.data.arrays import convert_to_float
from gblsr_repro.data.superres import Batch, PackedImages, Sampler
from gblsr_repro.evaluation.timing import time_pass_ms
from gblsr_repro.models.asr.local_spectral import SEPARABLE
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.models.base import PLAIN
from gblsr_repro.models.layers import apply_pointwise
from gblsr_repro.models.native import NativeModel
from gblsr_repro.runtime import BF16, STRICT, keep_large_blocks, place_model
from gblsr_repro.training.asr import compute_absolute_error

from .bench import Bench, format_size
from .measure import Case, Variant
from .native import MAIN, is_spectral
from .rendering import build_spectral_decoder, draw_features, name_ensemble

LAYERS = 3  # of a baseline's perceptron, between hidden values
ASR_STEPS = {"cpu": 1, "cuda": 10}  # super-resolution steps in one call
PACKED, PACKED_SIDE = 8, 512  # super-resolution training images and their side


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases; the C library's allocator only matters on the CPU."""
    yield build_asr_decoder_case(bench, ensemble=True)
    yield build_asr_decoder_case(bench, ensemble=False)
    yield build_native_step_case(bench)
    yield build_asr_step_case(bench)
    if not bench.cuda:
        yield build_format_case(bench)
        yield build_perceptron_case(bench)
        yield build_pixel_case(bench)
        yield build_denormal_case(bench)
        yield build_allocator_case(bench)


# --- native -------------------------------------------------------------------------------------


def build_native_step(
    bench: Bench,
    arm: str,
    batch: int,
    path: str | None = None,
    place: Callable[[NativeModel, torch.device], NativeModel] = place_model,
) -> Callable[[], Tensor]:
    """Build the function that trains `arm` by one step of `batch` images, as the recipe does.

    `place` moves the model to the device.
    """
    recipe, side = bench.config["native"]["training"], bench.image_side
    model = place(NativeModel.build(read_arms()[arm], bench.config, 0), bench.device)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        recipe["learning_rate"],
        tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
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


def initialize_state(optimizer: torch.optim.Optimizer) -> None:
    """Initialize the state of an optimizer before anything is measured; no weight changes."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def build_native_step_case(bench: Bench) -> Case:
    """Build the case of a training step of every GB-LSR arm, against the main arm's.

    That arm is trained by its plain path, too.
    """
    training, side = bench.config["native"]["training"], bench.image_side
    batch = training["batch_size"]
    others = [arm for arm in bench.config["native"]["arms"] if arm != MAIN and is_spectral(arm)]
    steps = {arm: build_native_step(bench, arm, batch) for arm in (MAIN, *others)}
    steps[f"{MAIN}, plain"] = build_native_step(bench, MAIN, batch, PLAIN)
    return Case(
        f"native step, batch {batch}",
        tuple(Variant(label, step) for label, step in steps.items()),
        format_size(side, side),
        same=False,
        training=True,
        tf32=training["precision"] != STRICT,
    )


def build_format_case(bench: Bench) -> Case:
    """Build the case of a training step of the main arm in two memory formats."""
    training, side = bench.config["native"]["training"], bench.image_side
    batch = training["batch_size"]
    variants = (
        Variant("contiguous", build_native_step(bench, MAIN, batch, place=NativeModel.to)),
        Variant("channels last", build_native_step(bench, MAIN, batch)),
    )
    label = f"native step, batch {batch}, memory format"
    return Case(label, variants, format_size(side, side), same=False, training=True)


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
    decoder = NativeModel.build(read_arms()["liif"], bench.config, 0).decoder
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


def build_denormal_case(bench: Bench) -> Case:
    """Build the case of WIRE's decoder on random features with denormal numbers and without.

    How many there are depends on the features, which training lets grow, and on the loss.
    """
    decoder = NativeModel.build(read_arms()["wire"], bench.config, 0).decoder
    cells = bench.image_side // decoder.patch
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(2, decoder.features, cells, cells, generator=generator).requires_grad_()

    def compute_gradient(flush: bool) -> Tensor:
        torch.set_flush_denormal(flush)
        found = torch.autograd.grad(decoder.render_fast(features).square().mean(), features)[0]
        torch.set_flush_denormal(True)
        return found

    variants = (
        Variant("denormal numbers kept", partial(compute_gradient, False)),
        Variant("flushed to zero", partial(compute_gradient, True)),
    )
    size = format_size(bench.image_side, bench.image_side)
    return Case("WIRE on 2 images", variants, size, training=True)


def build_allocator_case(bench: Bench) -> Case:
    """Build the case of the main arm's step with the allocator by default, and as set here.

    Half of the recipe's batch, so that there is time for more than one process of each.
    """
    side, batch = bench.image_side, bench.config["native"]["training"]["batch_size"] // 2
    steps = 1 if bench.quick else 2
    variants = tuple(
        Variant(name, partial(run_alone, partial(time_steps, bench, keep, batch, steps)))
        for name, keep in (("default", False), ("kept blocks", True))
    )
    label = f"allocator, native step, batch {batch}"
    return Case(label, variants, format_size(side, side), same=False, outside=True)


def run_alone(call: Callable[[], float]) -> float:
    """Return what a call returns in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(call).result()


def time_steps(bench: Bench, keep: bool, batch: int, steps: int) -> float:
    """Time steps of the main arm on one thread; return the median milliseconds.

    With `keep` the C library keeps freed memory for the next tensor, as the package sets it.
    """
    torch.set_num_threads(1)
    if keep:
        keep_large_blocks()
    step = build_native_step(bench, MAIN, batch)
    step()
    return median(time_pass_ms(step, bench.device) for _ in range(steps))


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
    model = place_model(ASRModel.build(read_methods()["gblsr_asr"], bench.config, 0), bench.device)
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
