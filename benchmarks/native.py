"""Build the cases about the native models: rendering, whole models, deployment."""

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
from .plans import Bench, Plan, format_size

GROUP = "native"
MAIN = "gblsr_scalar"


def list_plans(bench: Bench) -> list[Plan]:
    """List the group's cases."""
    base = bench.image_side
    out = [
        Plan(
            f"decoder {name}",
            weight,
            partial(build_decoder_case, arm=name, side=base),
            is_spectral(name),
        )
        for name in bench.config["native"]["arms"]
        for weight in [4 if is_spectral(name) else 25 if name == "liif" else 8]
    ]
    out += [
        Plan(f"decoder {MAIN} {side}", 3, partial(build_decoder_case, arm=MAIN, side=side), True)
        for side in (2 * base, 4 * base)
    ]
    return [
        *out,
        Plan("whole model", 25, partial(build_whole_case, side=base), bench.cuda),
        Plan("deployment", 8, partial(build_deployment_case, side=base), not bench.cuda),
    ]


def is_spectral(arm: str) -> bool:
    """Return whether an arm belongs to the GB-LSR family."""
    return issubclass(find_classes(read_arms()[arm])[1], SpectralDecoder)


def build_arm(bench: Bench, arm: str) -> NativeModel:
    """Build an untrained arm in evaluation mode on the device."""
    return build_model(read_arms()[arm], bench.config, 0).eval().to(bench.device)


def draw_images(bench: Bench, side: int, batch: int = 1) -> Tensor:
    """Draw random images (B, 3, S, S) in [0, 1]."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(batch, 3, side, side, generator=generator).to(bench.device)


@torch.no_grad()
def build_decoder_case(bench: Bench, arm: str, side: int) -> Case:
    """Build the case of one arm's decoder, batch 1: by its definition, and fast."""
    model = build_arm(bench, arm)
    features = model.encode(draw_images(bench, side))
    target = (Target(SPEEDUP, 2),) if is_spectral(arm) else ()
    return Case(
        GROUP,
        f"decoder {arm}",
        (
            Variant("plain", partial(model.decode, features, side, side, path=PLAIN)),
            Variant("fast", partial(model.decode, features, side, side), target),
        ),
        size=format_size(side, side),
    )


def build_whole_case(bench: Bench, side: int) -> Case:
    """Build the case of all whole models against the encoder, and so against each other."""
    images = draw_images(bench, side)
    names = bench.config["native"]["arms"]
    models = {name: build_arm(bench, name) for name in names}
    first = next(iter(models.values()))
    variants = [Variant("encoder alone", partial(first.encode, images))]
    for name, model in models.items():
        targets = (Target(MILLISECONDS, 0.5),) if bench.cuda and name == MAIN else ()
        variants.append(Variant(name, partial(model, images), targets))
    return Case(GROUP, "whole model", tuple(variants), size=format_size(side, side), same=False)


def build_deployment_case(bench: Bench, side: int) -> Case:
    """Build the case of the main arm's eager call beside the call that users get here."""
    images = draw_images(bench, side)
    model = build_arm(bench, MAIN)
    fast = prepare_for_inference(copy.deepcopy(model), bench.device)

    def infer(images: Tensor) -> Tensor:
        with torch.inference_mode():
            return fast(images)

    name = "inference mode" if bench.cuda else "channels last"
    target = () if bench.cuda else (Target(SPEEDUP, 1.3),)
    return Case(
        GROUP,
        f"deployment {MAIN}",
        (
            Variant("eager", partial(model, images)),
            Variant(name, partial(infer, images), target),
        ),
        size=format_size(side, side),
    )
