"""The native benchmark's models: rendering, whole models, deployment."""

from __future__ import annotations

import copy
from functools import partial

import torch
from torch import Tensor

from gblsr_repro.config import read_arms
from gblsr_repro.models.base import PLAIN
from gblsr_repro.models.gblsr import SpectralDecoder
from gblsr_repro.models.native import NativeModel, build_model, find_classes
from gblsr_repro.runtime import prepare_for_inference

from .measure import (
    MILLISECONDS,
    SPEEDUP,
    Case,
    Target,
    Variant,
)
from .plans import Bench, Plan, shape

GROUP = "native"
MAIN = "gblsr_scalar"


def plans(bench: Bench) -> list[Plan]:
    """Return the group's cases."""
    base = bench.image_side
    out = [
        Plan(f"decoder {name}", weight, partial(decoder, arm=name, side=base), spectral(name))
        for name in bench.config["native"]["arms"]
        for weight in [4 if spectral(name) else 25 if name == "liif" else 8]
    ]
    out += [
        Plan(f"decoder {MAIN} {side}", 3, partial(decoder, arm=MAIN, side=side), True)
        for side in (2 * base, 4 * base)
    ]
    return [
        *out,
        Plan("whole model", 25, partial(whole, side=base), bench.cuda),
        Plan("deployment", 8, partial(deployment, side=base), not bench.cuda),
    ]


def spectral(arm: str) -> bool:
    """Whether an arm is one of the GB-LSR family."""
    return issubclass(find_classes(read_arms()[arm])[1], SpectralDecoder)


def ready(bench: Bench, arm: str) -> NativeModel:
    """Return an untrained arm in evaluation mode on the device."""
    return build_model(read_arms()[arm], bench.config, 0).eval().to(bench.device)


def random_images(bench: Bench, side: int, batch: int = 1) -> Tensor:
    """Return images (B, 3, S, S) in [0, 1]."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(batch, 3, side, side, generator=generator).to(bench.device)


@torch.no_grad()
def decoder(bench: Bench, arm: str, side: int) -> Case:
    """One arm's decoder alone, batch 1: by its definition, and fast."""
    model = ready(bench, arm)
    features = model.encode(random_images(bench, side))
    target = (Target(SPEEDUP, 2),) if spectral(arm) else ()
    return Case(
        GROUP,
        f"decoder {arm}",
        (
            Variant("plain", partial(model.decode, features, side, side, path=PLAIN)),
            Variant("fast", partial(model.decode, features, side, side), target),
        ),
        size=shape(side, side),
    )


def whole(bench: Bench, side: int) -> Case:
    """The encoder alone, then every whole model against it and so against each other."""
    images = random_images(bench, side)
    names = bench.config["native"]["arms"]
    models = {name: ready(bench, name) for name in names}
    first = next(iter(models.values()))
    variants = [Variant("encoder alone", partial(first.encode, images))]
    for name, model in models.items():
        targets = (Target(MILLISECONDS, 0.5),) if bench.cuda and name == MAIN else ()
        variants.append(Variant(name, partial(model, images), targets))
    return Case(GROUP, "whole model", tuple(variants), size=shape(side, side), same=False)


def deployment(bench: Bench, side: int) -> Case:
    """Time the main arm's eager call beside the call that its users get on this device."""
    images = random_images(bench, side)
    model = ready(bench, MAIN)
    fast = prepare_for_inference(copy.deepcopy(model), bench.device)

    def inferred(images: Tensor) -> Tensor:
        with torch.inference_mode():
            return fast(images)

    name = "inference mode" if bench.cuda else "channels last"
    target = () if bench.cuda else (Target(SPEEDUP, 1.3),)
    return Case(
        GROUP,
        f"deployment {MAIN}",
        (
            Variant("eager", partial(model, images)),
            Variant(name, partial(inferred, images), target),
        ),
        size=shape(side, side),
    )
