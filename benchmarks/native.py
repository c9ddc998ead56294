"""Build the cases about the native models: decoders and deployment."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from gblsr_repro.config import read_arms
from gblsr_repro.models.base import PLAIN
from gblsr_repro.models.gblsr import SpectralDecoder
from gblsr_repro.models.native import NativeModel
from gblsr_repro.runtime import prepare_for_inference

from .bench import Bench, format_size
from .measure import Case, Variant

MAIN = "gblsr_scalar"


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases."""
    side = bench.image_side
    for arm in bench.config["native"]["arms"]:
        yield build_decoder_case(bench, arm, side)
    for larger in (2 * side, 4 * side):
        yield build_decoder_case(bench, MAIN, larger)
    yield build_deployment_case(bench, side)


def is_spectral(arm: str) -> bool:
    """Return whether an arm belongs to the GB-LSR family."""
    return read_arms()[arm].decoder.startswith(f"{SpectralDecoder.__module__}:")


def build_arm(bench: Bench, arm: str) -> NativeModel:
    """Build an untrained arm in evaluation mode on the device."""
    return NativeModel.build(read_arms()[arm], bench.config, 0).eval().to(bench.device)


@torch.no_grad()
def build_decoder_case(bench: Bench, arm: str, side: int) -> Case:
    """Build the case of one arm's decoder, batch 1: by its definition, and fast."""
    model = build_arm(bench, arm)
    features = model.encode(bench.draw_image(side, side))
    variants = (
        Variant("plain", partial(model.decode, features, side, side, path=PLAIN)),
        Variant("fast", partial(model.decode, features, side, side)),
    )
    return Case(f"decoder {arm}", variants, format_size(side, side))


def build_deployment_case(bench: Bench, side: int) -> Case:
    """Build the case of the main arm's eager call beside the call that users get here."""
    images = bench.draw_image(side, side)
    model = build_arm(bench, MAIN)
    fast = prepare_for_inference(copy.deepcopy(model), bench.device)

    def infer(images: Tensor) -> Tensor:
        with torch.inference_mode():
            return fast(images)

    name = "inference mode" if bench.cuda else "channels last"
    variants = (Variant("eager", partial(model, images)), Variant(name, partial(infer, images)))
    return Case(f"deployment {MAIN}", variants, format_size(side, side))
