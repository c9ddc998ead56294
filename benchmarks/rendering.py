"""Build the cases about super-resolution: decoders on a pixel grid, and whole models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from gblsr_repro.config import read_methods
from gblsr_repro.models.asr.implicit import HOISTED
from gblsr_repro.models.asr.local_ensemble import RenderArea
from gblsr_repro.models.asr.local_spectral import FOLDED, GBLSR, SEPARABLE
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.models.base import PLAIN

from .bench import Bench, format_size
from .measure import Case, Variant

SCALES = (2, 3, 3.3, 4, 8)
SIZE, QUICK_SIZE = (64, 64), (5, 7)
LARGER = (120, 125)  # at x4
SCALE = 4  # of whole models and of the baselines

Size = tuple[int, int]


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's cases."""
    small = (8, 8) if bench.quick else (48, 48)
    wholes = ((120, 125), (195, 256)) if bench.cuda and not bench.quick else (small,)
    for low in wholes:
        yield build_whole_case(bench, low)
    sizes = [(QUICK_SIZE if bench.quick else SIZE, scale) for scale in SCALES]
    for low, scale in sizes if bench.quick else [*sizes, (LARGER, 4)]:
        yield build_spectral_case(bench, low, scale, ensemble=True)
        yield build_spectral_case(bench, low, scale, ensemble=False)
    for method in ("liif_rdn", "lte_rdn"):
        yield build_implicit_case(bench, method, small)


def name_ensemble(ensemble: bool) -> str:
    """Name a decoder with or without local ensemble."""
    return "LE" if ensemble else "noLE"


def compute_size(low: Size, scale: float) -> Size:
    """Compute the rendered size of `low` at a scale."""
    return round(low[0] * scale), round(low[1] * scale)


def build_spectral_decoder(bench: Bench, ensemble: bool) -> GBLSR:
    """Build an untrained GB-LSR decoder as the config sizes it, in evaluation mode."""
    section, training = bench.config["asr"]["model"], bench.config["asr"]["training"]
    sizes = {"features": section["rdn_features"], "largest_scale": training["scale_range"][1]}
    torch.manual_seed(0)
    decoder = GBLSR(section | sizes, "yes" if ensemble else "no")
    return decoder.eval().to(bench.device)


def draw_features(bench: Bench, low: Size, batch: int = 1) -> Tensor:
    """Draw random features (B, D, h, w) of the RDN's width."""
    generator = torch.Generator().manual_seed(0)
    width = bench.config["asr"]["model"]["rdn_features"]
    return torch.randn(batch, width, *low, generator=generator).to(bench.device)


def build_spectral_case(bench: Bench, low: Size, scale: float, ensemble: bool) -> Case:
    """Build the case of the GB-LSR decoder: query by query in one piece, folded, axis by axis."""
    decoder = build_spectral_decoder(bench, ensemble)
    features, size = draw_features(bench, low), compute_size(low, scale)
    tile = bench.config["asr"]["tile_pixels"]
    whole, area = size[0] * size[1], RenderArea.cover(low, size)
    variants = [Variant("plain", partial(decoder.render, features, size, whole, PLAIN, area))]
    if scale == int(scale):
        folded = partial(decoder.render, features, size, tile, FOLDED, area)
        variants.append(Variant("folded", folded))
    separable = partial(decoder.render, features, size, tile, SEPARABLE, area)
    variants.append(Variant("separable", separable))
    return Case(f"decoder {name_ensemble(ensemble)}", tuple(variants), format_size(*low), scale)


def build_method(bench: Bench, method: str) -> ASRModel:
    """Build an untrained method in evaluation mode on the device."""
    return ASRModel.build(read_methods()[method], bench.config, 0).eval().to(bench.device)


def build_whole_case(bench: Bench, low: Size) -> Case:
    """Build the case of the whole main method, its RDN encoder with the decoder."""
    model, images = build_method(bench, "gblsr_asr"), bench.draw_image(*low)
    size, tile = compute_size(low, SCALE), bench.config["asr"]["tile_pixels"]
    variants = (
        Variant("plain", partial(model.render, images, *size, tile, PLAIN)),
        Variant("fast", partial(model.render, images, *size, tile)),
    )
    return Case("whole model gblsr_asr", variants, format_size(*low), SCALE)


def build_implicit_case(bench: Bench, method: str, low: Size) -> Case:
    """Build the case of a baseline's decoder: as published, and with every exact speed-up."""
    model, images = build_method(bench, method), bench.draw_image(*low)
    features, size = draw_features(bench, low), compute_size(low, SCALE)
    tile = bench.config["asr"]["tile_pixels"]
    variants = [
        Variant(label, partial(model.decode, features, *size, tile, images, path))
        for label, path in (("stock", PLAIN), ("hoisted", HOISTED))
    ]
    return Case(f"decoder {method}", tuple(variants), format_size(*low), SCALE)
