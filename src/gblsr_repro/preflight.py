"""Check the arms, their parameter budget and the LPIPS backbone before any training."""

from __future__ import annotations

from .config import Config, find_arm, read_arms
from .errors import UserError
from .evaluation.perceptual import PerceptualDistance, find_backbone
from .models.native import count_arm_parameters, count_model_parameters
from .progress import format_columns


def check_native_benchmark(config: Config) -> str:
    """Check the native benchmark of `config`; return the table of parameter counts, and of LPIPS.

    The table has each arm's trainable parameters and their ratio to the main arm's. Raises
    `UserError` as `require_budget` and `require_backbone` do.
    """
    counts, main, names = count_arm_parameters(config), _count_main_parameters(config), read_arms()
    rows = [[names[arm].name, f"{n:,}", f"{n / main:.3f}x"] for arm, n in counts.items()]
    require_budget(config)
    return "\n".join([*format_columns(rows, right=True), f"LPIPS: {require_backbone(config)}"])


def require_budget(config: Config) -> None:
    """Raise `UserError` for an arm that is impossible or has too few or too many parameters.

    Their ratio to the main arm's must be inside 1/band ... band, native.criteria.parameter_band
    (the paper's F1).
    """
    band, main = config["native"]["criteria"]["parameter_band"], _count_main_parameters(config)
    for arm, count in count_arm_parameters(config).items():
        if not 1 / band <= count / main <= band:
            raise UserError(
                f"Arm {arm} has {count:,} parameters, {count / main:.3f} times the main arm's, "
                f"outside the band of {band:g}; change its size or native.criteria.parameter_band."
            )


def require_backbone(config: Config) -> str:
    """Return the LPIPS backbone's file, or why there is none.

    Raises `UserError` where it is damaged, or missing though the config requires it.
    """
    backbone, reason = find_backbone(config)
    if backbone is not None:
        PerceptualDistance(backbone)  # a damaged file is told now, not after the training
    return str(backbone or reason)


def _count_main_parameters(config: Config) -> int:
    return count_model_parameters(find_arm(config["native"]["main_arm"]), config)
