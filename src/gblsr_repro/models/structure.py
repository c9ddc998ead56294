"""What the code alone gives, whatever is trained: parameter counts and constants of the model."""

from __future__ import annotations

import math

import torch

from ..config import Config, selected_methods
from .asr.model import parameters
from .native import parameter_counts
from .spectral import cutoff, pixel_basis


def measure(config: Config) -> dict[str, float]:
    """Return the numbers of the structure that `config` has, by name.

    The trainable parameters of every arm and method; `highest_mode_weight`, the weight that the
    cutoff gives the highest mode at full order; `coordinate_stretch`, the step between two pixels
    in the patch coordinate over the step 2 / P that dividing offsets by half the patch's width
    gives (both section 3.1).
    """
    found = dict(parameter_counts(config))
    found |= {name: parameters(m, config) for name, m in selected_methods(config).items()}
    model = config["native"]["model"]
    order = torch.tensor(float(model["modes"]), dtype=torch.float64)
    weights = cutoff(order, model["modes"], model["cutoff_sharpness"])
    bandwidth = torch.tensor(0.25, dtype=torch.float64)
    sine = pixel_basis(model["patch"], 3, bandwidth)[:, 2]  # sin(pi s v), rising over [-1, 1]
    v = torch.asin(sine) / (math.pi * bandwidth)
    stretch = float(v[1] - v[0]) * model["patch"] / 2
    return {**found, "highest_mode_weight": float(weights[-1, -1]), "coordinate_stretch": stretch}
