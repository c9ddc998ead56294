"""Measure numbers that the code alone determines: parameters, multiply-adds, constants."""

from __future__ import annotations

import math

import torch
from torch.utils.flop_counter import FlopCounterMode

from ..config import Arm, Config, list_arms, list_methods, merge, read_arms
from .asr.model import ASRModel
from .decoders import PatchDecoder
from .native import NativeModel, count_arm_parameters
from .spectral import build_pixel_basis, compute_cutoff


def measure_structure(config: Config) -> dict[str, float]:
    """Measure the structure of the models of a config, by name.

    The trainable parameters of every arm and method, by its name; `multiply_adds_<arm>` for every
    arm (see `count_multiply_adds`), and the factors by which those of the main arm grow
    `multiply_adds_at_twice_the_side` of the image and `multiply_adds_at_twice_the_modes`;
    `highest_mode_weight`, the cutoff's weight of the highest mode at full order;
    `coordinate_stretch`, the step between two pixels in the patch coordinate over the step 2 / P
    of offsets divided by half the patch's width (both section 3.1).
    """
    numbers: dict[str, float] = dict(count_arm_parameters(config))
    for name, method in list_methods(config).items():
        numbers[name] = ASRModel.count(method, config)
    numbers |= _count_decoding(config)
    model = config["native"]["model"]
    order = torch.tensor(float(model["modes"]), dtype=torch.float64)
    weights = compute_cutoff(order, model["modes"], model["cutoff_sharpness"])
    bandwidth = torch.tensor(0.25, dtype=torch.float64)
    sine = build_pixel_basis(model["patch"], 3, bandwidth)[:, 2]  # sin(pi s v), rising over [-1, 1]
    v = torch.asin(sine) / (math.pi * bandwidth)
    stretch = float(v[1] - v[0]) * model["patch"] / 2
    numbers["highest_mode_weight"] = float(weights[-1, -1])
    return {**numbers, "coordinate_stretch": stretch}


def _count_decoding(config: Config) -> dict[str, float]:
    """Count the multiply-adds of all arms, and how those of the main arm grow."""
    size, modes = config["native"]["data"]["image_size"], config["native"]["model"]["modes"]
    numbers = {
        f"multiply_adds_{name}": count_multiply_adds(arm, config, size)
        for name, arm in list_arms(config).items()
    }
    main = read_arms()[config["native"]["main_arm"]]
    reference = count_multiply_adds(main, config, size)
    more_modes = merge(config, {"native": {"model": {"modes": 2 * modes}}})
    twice_the_side = count_multiply_adds(main, config, 2 * size)
    twice_the_modes = count_multiply_adds(main, more_modes, size)
    numbers["multiply_adds_at_twice_the_side"] = twice_the_side / reference
    numbers["multiply_adds_at_twice_the_modes"] = twice_the_modes / reference
    return numbers


def count_multiply_adds(arm: Arm, config: Config, size: int) -> float:
    """Count the multiply-adds of an arm's decoder per pixel of an image of side `size`.

    Those of the matrix products and convolutions in the decoder's plain query of every pixel; no
    values are computed.
    """
    decoder = NativeModel.build_shapes(arm, config).decoder.eval()
    cells = size // decoder.patch
    features = torch.empty(1, decoder.features, cells, cells, device="meta")
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        PatchDecoder.render_plain(decoder, features)
    # A multiply-add is two operations.
    return float(counter.get_total_flops()) / 2 / size**2
