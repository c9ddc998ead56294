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
        for arm, count, ratio, _ in _compare_arms(config)
    ]
    require_budget(config)
    return "\n".join(format_columns(rows, right=True))


def require_budget(config: Config) -> None:
    """Raise `UserError` for an arm that cannot be built or is outside the parameter budget (F1)."""
    band = config["native"]["criteria"]["parameter_band"]
    for arm, count, ratio, within in _compare_arms(config):
        if not within:
            raise UserError(
                f"Arm {arm} has {count:,} parameters, {ratio:.3f} times the main arm's, "
                f"outside the band of {band:g}; change its size or native.criteria.parameter_band."
            )


def _compare_arms(config: Config) -> list[tuple[str, float, float, float]]:
    """Compare the parameters of the config's arms with those of its main arm, run or not."""
    counts, main = count_arm_parameters(config), config["native"]["main_arm"]
    anchor = {main: count_model_parameters(find_arm(main), config)}
    return [row for row in compare_with_anchor(counts | anchor, config) if row[0] in counts]
