"""Check the native arms, their parameter budget and the LPIPS backbone before training."""

from __future__ import annotations

from .config import Config, find_arm, read_arms
from .errors import UserError
from .evaluation.perceptual import PerceptualDistance, find_backbone
from .models.native import count_arm_parameters, count_model_parameters
from .progress import format_columns


def check_native_benchmark(config: Config) -> str:
    """Check the native benchmark of `config`; return its parameter counts and LPIPS as text.

    A table has the trainable parameters of every arm and their ratio to the main arm's. Raises
    `UserError` as `require_budget` and `require_backbone` do.
    """
    counts, main, names = count_arm_parameters(config), _count_main_parameters(config), read_arms()
    rows = [[names[arm].name, f"{n:,}", f"{n / main:.3f}x"] for arm, n in counts.items()]
    require_budget(config)
    return "\n".join([*format_columns(rows, right=True), f"LPIPS: {require_backbone(config)}"])


def require_budget(config: Config) -> None:
    """Raise `UserError` for an arm that cannot be built or is outside the parameter budget.

    The ratio of its parameters to the main arm's must be between 1/band and band, where band is
    native.criteria.parameter_band (the paper's F1).
    """
    band, main = config["native"]["criteria"]["parameter_band"], _count_main_parameters(config)
    for arm, count in count_arm_parameters(config).items():
        if not 1 / band <= count / main <= band:
            raise UserError(
                f"Arm {arm} has {count:,} parameters, {count / main:.3f} times the main arm's, "
                f"outside the band of {band:g}; change its size or native.criteria.parameter_band."
            )


def require_backbone(config: Config) -> str:
    """Return the path of the LPIPS backbone, or the reason why LPIPS cannot be measured.

    Raises `UserError` when the backbone is damaged, or missing and required by the config.
    """
    backbone, reason = find_backbone(config)
    if backbone is not None:
        PerceptualDistance(backbone)  # raises for a damaged file before the training, not after it
    return str(backbone or reason)


def _count_main_parameters(config: Config) -> int:
    """Count the trainable parameters of the main arm."""
    return count_model_parameters(find_arm(config["native"]["main_arm"]), config)
