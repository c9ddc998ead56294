"""Build the cases about super-resolution: decoders on a pixel grid, and whole models."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from gblsr_repro.config import read_methods
from gblsr_repro.models.asr.decoders import HOISTED
from gblsr_repro.models.asr.local_spectral import FOLDED, GBLSR, SEPARABLE
from gblsr_repro.models.asr.model import ASRModel, build_model
from gblsr_repro.models.base import PLAIN

from .measure import (
    MEMORY_RATIO,
    MEMORY_SAVING,
    SPEEDUP,
    TIME_RATIO,
    Case,
    Scout,
    Target,
    Variant,
)
from .plans import Bench, Plan, format_size

GROUP = "rendering"
SCALES = (4, 2, 3, 3.3, 8)
SIZES, QUICK_SIZES = ((64, 64), (120, 125)), ((5, 7),)  # SIZES are those of the targets
GROWTH, QUICK_GROWTH = ((32, 32), (195, 256)), ((8, 8),)  # at x4, beside SIZES
SCOUT_CELLS = 12 * 12
TILE_ABOVE, TILE = 500_000, 65_536  # output pixels: tiled above so many on the CPU; of a tile
SPEED_OF_FOLD = {True: 200, False: 100}  # by local ensemble
SPEED_OF_SEPARABLE = {True: 30, False: 10}

Low = tuple[int, int]


def list_plans(bench: Bench) -> list[Plan]:
    """List the group's cases."""
    sizes, growth = (QUICK_SIZES, QUICK_GROWTH) if bench.quick else (SIZES, GROWTH)
    grid = [(low, scale) for scale in SCALES for low in sizes] + [(low, 4) for low in growth]
    decoders = [
        Plan(
            f"{name_ensemble(ensemble)} {format_size(*low)} x{scale:g}",
            estimate_weight(low, scale, ensemble),
            partial(build_spectral_case, low=low, scale=scale, ensemble=ensemble),
            low in SIZES,
        )
        for low, scale in grid
        for ensemble in (True, False)
    ]
    wholes = ((8, 8),) if bench.quick else ((120, 125), (195, 256)) if bench.cuda else ((48, 48),)
    whole_models = [
        Plan(f"whole model {format_size(*low)}", 40, partial(build_whole_case, low=low), True)
        for low in wholes
    ]
    small = (8, 8) if bench.quick else (48, 48)
    baselines = [
        Plan(method, 20, partial(build_implicit_case, method=method, low=small))
        for method in ("liif_rdn", "lte_rdn")
    ]
    return [*whole_models, *decoders, *baselines]


def estimate_weight(low: Low, scale: float, ensemble: bool) -> float:
    """Estimate a case's share of the time, by what its plain path costs."""
    taps = low[0] * low[1] * scale**2 * (4 if ensemble else 1.5)
    return min(max(taps / 4e4, 5), 80)


def name_ensemble(ensemble: bool) -> str:
    """Name a decoder with or without local ensemble."""
    return "LE" if ensemble else "noLE"


def compute_size(low: Low, scale: float) -> Low:
    """Compute the rendered size of `low` at a scale."""
    return round(low[0] * scale), round(low[1] * scale)


def build_spectral_decoder(bench: Bench, ensemble: bool) -> GBLSR:
    """Build an untrained GB-LSR decoder as the config sizes it, in evaluation mode."""
    section, training = bench.config["asr"]["model"], bench.config["asr"]["training"]
    sizes = {"features": section["rdn_features"], "largest_scale": training["scale_range"][1]}
    torch.manual_seed(0)
    decoder = GBLSR(section | sizes, "yes" if ensemble else "no")
    return decoder.eval().to(bench.device)


def draw_features(bench: Bench, low: Low, batch: int = 1) -> Tensor:
    """Draw random features (B, D, h, w) of the RDN's width."""
    generator = torch.Generator().manual_seed(0)
    width = bench.config["asr"]["model"]["rdn_features"]
    return torch.randn(batch, width, *low, generator=generator).to(bench.device)


def build_spectral_case(bench: Bench, low: Low, scale: float, ensemble: bool) -> Case:
    """Build the case of the GB-LSR decoder: query by query in one piece, folded, axis by axis.

    The largest plain calls go in tiles on the CPU, whose memory is that of a node.
    """
    decoder = build_spectral_decoder(bench, ensemble)
    features = draw_features(bench, low)
    size, small = compute_size(low, scale), (12, 12)

    def render_plain(features: Tensor, size: Low) -> Tensor:
        return decoder.render(features, size, size[0] * size[1], PLAIN)

    tile = bench.config["asr"]["tile_pixels"]
    scout = Scout(
        partial(render_plain, draw_features(bench, small), compute_size(small, scale)),
        low[0] * low[1] / SCOUT_CELLS,
    )
    variants = [Variant("plain", partial(render_plain, features, size), scout=scout)]
    if low in GROWTH and not bench.cuda and low[0] * low[1] * scale**2 > TILE_ABOVE:
        tiled = partial(decoder.render, features, size, TILE, PLAIN)
        variants = [Variant("plain, tiled", tiled)]
    if scale == int(scale):
        fold = partial(decoder.render, features, size, tile, FOLDED)
        targets = (
            (Target(SPEEDUP, SPEED_OF_FOLD[ensemble]), Target(MEMORY_SAVING, 100))
            if scale == 4 and low in SIZES
            else ()
        )
        variants.append(Variant("folded", fold, targets))
    separable = partial(decoder.render, features, size, tile, SEPARABLE)
    targets = ()
    if low in SIZES:
        targets = Target(SPEEDUP, SPEED_OF_SEPARABLE[ensemble]), Target(MEMORY_SAVING, 10)
    variants.append(Variant("separable", separable, targets))
    return Case(
        GROUP, f"decoder {name_ensemble(ensemble)}", tuple(variants), format_size(*low), scale
    )


def build_method(bench: Bench, method: str) -> ASRModel:
    """Build an untrained method in evaluation mode on the device."""
    return build_model(read_methods()[method], bench.config, 0).eval().to(bench.device)


def draw_images(bench: Bench, low: Low) -> Tensor:
    """Draw one random low-resolution image (1, 3, h, w) in [0, 1]."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(1, 3, *low, generator=generator).to(bench.device)


def build_whole_case(bench: Bench, low: Low, scale: int = 4) -> Case:
    """Build the case of whole models against the RDN encoder."""
    images = draw_images(bench, low)
    tile = bench.config["asr"]["tile_pixels"]
    models = {
        method: build_method(bench, method)
        for method in ("gblsr_asr", "gblsr_asr_nole", "liif_rdn", "lte_rdn")
    }
    targets: tuple[Target, ...] = (Target(TIME_RATIO, 1.1),)
    if bench.cuda:
        targets = (Target(TIME_RATIO, 1.05), Target(MEMORY_RATIO, 1.05))
    base, size = models["gblsr_asr"], compute_size(low, scale)
    variants = [Variant("encoder alone", partial(base.encode, images))]
    for method, model in models.items():
        own = targets if method.startswith("gblsr") else ()
        variants.append(Variant(method, partial(model.render, images, *size, tile), own))
    variants += [
        Variant("gblsr_asr, plain", partial(base.render, images, *size, tile, PLAIN)),
        Variant("gblsr_asr at x3.3", partial(base.render, images, *compute_size(low, 3.3), tile)),
    ]
    return Case(GROUP, "whole model", tuple(variants), format_size(*low), scale, same=False)


def build_implicit_case(bench: Bench, method: str, low: Low, scale: int = 4) -> Case:
    """Build the case of a baseline's decoder: as published, and with every exact speed-up."""
    model, images = build_method(bench, method), draw_images(bench, low)
    features, size = draw_features(bench, low), compute_size(low, scale)
    tile = bench.config["asr"]["tile_pixels"]
    variants = [
        Variant(label, partial(model.decode, features, *size, tile, images, path))
        for label, path in (("stock", PLAIN), ("hoisted", HOISTED))
    ]
    return Case(GROUP, f"decoder {method}", tuple(variants), format_size(*low), scale)
