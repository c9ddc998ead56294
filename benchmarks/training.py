"""Training steps of both benchmarks, and the allocator that CPU training rests on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gblsr_repro
from gblsr_repro.config import arms, methods
from gblsr_repro.data.arrays import as_float
from gblsr_repro.models.asr.decoders import PLAIN
from gblsr_repro.models.asr.local_spectral import SEPARABLE
from gblsr_repro.models.asr.model import build as build_asr
from gblsr_repro.models.asr.model import normalise
from gblsr_repro.models.native import build

from .measure import MEMORY_SAVING, MILLISECONDS, SPEEDUP, Case, Scout, Target, Variant
from .native import MAIN
from .plans import Bench, Plan, shape
from .rendering import name, random_features, spectral_decoder

GROUP = "training"
ALLOCATOR_VARIABLES = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")


def plans(bench: Bench) -> list[Plan]:
    """Return the group's cases; the C library's allocator only matters on the CPU."""
    out = [Plan("native steps", 45, native_steps)]
    out += [
        Plan(f"decoder {name(le)}", 8, partial(asr_decoder, ensemble=le)) for le in (True, False)
    ]
    out.append(Plan("super-resolution step", 25, asr_steps))
    if not bench.cuda:
        out.append(Plan("allocator", 45, allocators))
    return out


# --- native -------------------------------------------------------------------------------------


def native_step(
    bench: Bench, arm: str, side: int, batch: int, plain: bool = False
) -> Callable[[int], Tensor]:
    """Return the function that trains `arm` by one step on so many images, as the recipe does.

    At most `batch` images (S, S) can be asked for.
    """
    recipe = bench.config["native"]["training"]
    model = build(arms()[arm], bench.config, 0).to(bench.device)
    optimizer = torch.optim.AdamW(
        model.parameters(),
        recipe["learning_rate"],
        tuple(recipe["betas"]),
        weight_decay=recipe["weight_decay"],
        fused=True,
    )
    make_state(optimizer)
    shown = torch.randint(256, (batch, side, side, 3), dtype=torch.uint8).to(bench.device)

    def step(count: int) -> Tensor:
        images = as_float(shown[:count])
        loss = F.mse_loss(model(images, plain), images)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe["gradient_clip"])
        optimizer.step()
        # Here and not before the step: its peak memory then has the gradients.
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def make_state(optimizer: torch.optim.Optimizer) -> None:
    """Let an optimiser make its state before anything is measured; no weight changes."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def native_steps(bench: Bench) -> Case:
    """One training step of every arm, forward to optimiser; the main arm is the reference."""
    side, batch = bench.image_side, bench.config["native"]["training"]["batch_size"]
    targets = (Target(MILLISECONDS, 15_000 / 2_000),) if bench.cuda else ()
    names = [MAIN, *(arm for arm in bench.config["native"]["arms"] if arm != MAIN)]
    steps = {arm: native_step(bench, arm, side, batch) for arm in names}
    steps[f"{MAIN}, plain"] = native_step(bench, MAIN, side, batch, plain=True)
    variants = [
        Variant(
            label,
            partial(step, batch),
            targets if label == MAIN else (),
            Scout(partial(step, 1), batch),
        )
        for label, step in steps.items()
    ]
    label = f"native step, batch {batch}"
    return Case(GROUP, label, tuple(variants), shape(side, side), same=False, training=True)


def allocators(bench: Bench) -> Case:
    """The main arm's step in processes of their own: the allocator as it comes, and as set.

    Half of the recipe's batch, so that there is time for more than one process of each.
    """
    side, batch = bench.image_side, bench.config["native"]["training"]["batch_size"] // 2
    count = 1 if bench.quick else 2
    variants = (
        Variant("default", partial(allocator_step, "default", side, batch, count)),
        Variant(
            "kept blocks",
            partial(allocator_step, "kept", side, batch, count),
            (Target(SPEEDUP, 1.8),),
        ),
    )
    label = f"allocator, native step, batch {batch}"
    return Case(GROUP, label, variants, shape(side, side), same=False, outside=True)


def allocator_step(allocator: str, side: int, batch: int, count: int) -> float:
    """Return the median milliseconds of `count` steps in a new process (see `allocator`)."""
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
        *map(str, (side, batch, count)),
    ]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)["median_ms"]


# --- super-resolution ---------------------------------------------------------------------------


def asr_sample(bench: Bench, batch: int) -> tuple[int, Tensor, Tensor, Tensor]:
    """Return the patch side, sizes (B, 2), pixels (B, Q, 2) and weights (B, Q, 3) of a sample."""
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


def asr_decoder(bench: Bench, ensemble: bool) -> Case:
    """The GB-LSR decoder on random pixels of random scales, forward and backward."""
    batch = 16 if bench.cuda else 4
    decoder = spectral_decoder(bench, ensemble).train()
    side, sizes, pixels, weights = asr_sample(bench, batch)
    features = random_features(bench, (side, side), batch).requires_grad_()

    def gradient(path: str) -> Tensor:
        (decoder.sample(features, sizes, pixels, path) * weights).sum().backward()
        found, features.grad = features.grad, None
        decoder.zero_grad(set_to_none=True)
        return found

    targets = (Target(SPEEDUP, 5), Target(MEMORY_SAVING, 3)) if ensemble else ()
    variants = (
        Variant("plain", partial(gradient, PLAIN)),
        Variant("separable", partial(gradient, SEPARABLE), targets),
    )
    label = f"decoder {name(ensemble)}, batch {batch}"
    return Case(GROUP, label, variants, shape(side, side), training=True)


def asr_steps(bench: Bench) -> Case:
    """A step of the whole model with the RDN encoder; a step of its encoder is the reference."""
    training = bench.config["asr"]["training"]
    recipe = training["recipes"]["rdn"]
    batch = recipe["batch_size"] if bench.cuda else 1
    model = build_asr(methods()["gblsr_asr"], bench.config, 0).to(bench.device)
    optimizer = torch.optim.Adam(model.parameters(), recipe["learning_rate"], fused=True)
    make_state(optimizer)
    side, sizes, pixels, _ = asr_sample(bench, batch)
    images = torch.rand(batch, 3, side, side, device=bench.device)
    wanted = normalise(torch.rand(*pixels.shape[:2], 3, device=bench.device))

    def step(loss: Callable[[], Tensor]) -> None:
        loss().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def error(path: str) -> Tensor:
        return F.l1_loss(normalise(model(images, sizes, pixels, path)), wanted)

    targets = (Target(MILLISECONDS, 25),) if bench.cuda else ()
    variants = (
        Variant("encoder alone", partial(step, lambda: model.encode(images).square().mean())),
        Variant("fast decoder", partial(step, partial(error, SEPARABLE)), targets),
        Variant("plain decoder", partial(step, partial(error, PLAIN))),
    )
    tf32 = training["precision"] != "fp32"
    label = f"super-resolution step, batch {batch}" + (", TF32" if tf32 and bench.cuda else "")
    return Case(GROUP, label, variants, shape(side, side), same=False, training=True, tf32=tf32)
