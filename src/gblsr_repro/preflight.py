"""Check the native arms and their parameter budget before training."""

from __future__ import annotations

from .analysis.budget import compare_with_anchor
from .config import Config, find_arm, read_arms
from .errors import UserError
from .models.native import count_arm_parameters, count_model_parameters
from .progress import format_columns


def check_native_benchmark(config: Config) -> str:
    """Check the native benchmark of `config`; return its parameter counts as text.

    A table has the trainable parameters of every arm and their ratio to the main arm's. Raises
    `UserError` as `require_budget` does.
    """
    names = read_arms()
    rows = [
        [names[arm].name, f"{count:,}", f"{ratio:.3f}x"]
        for arm, count, ratio in require_budget(config)
    ]
    return "\n".join(format_columns(rows, right=True))


def require_budget(config: Config) -> list[tuple[str, float, float]]:
    """Compare the parameters of the arms of `config` with those of its main arm, run or not.

    Returns arms, parameters and ratios. Raises `UserError` for an arm that cannot be built or is
    outside the parameter budget (F1).
    """
    counts, main = count_arm_parameters(config), config["native"]["main_arm"]
    anchor = {main: count_model_parameters(find_arm(main), config)}
    band = config["native"]["criteria"]["parameter_band"]
    compared = []
    for arm, count, ratio, within in compare_with_anchor(counts | anchor, config):
        if not within:
            raise UserError(
                f"Arm {arm} has {count:,} parameters, {ratio:.3f} times the main arm's, "
                f"outside the band of {band:g}; change its size or native.criteria.parameter_band."
            )
        if arm in counts:
            compared.append((arm, count, ratio))
    return compared
