"""Check methods, native arms and their parameter budget before training."""

from __future__ import annotations

from .analysis.criteria import compare_with_anchor
from .config import Config, find_arm, list_arms, list_methods, read_arms
from .dependencies import identify_run
from .errors import UserError
from .models.asr.model import ASRModel
from .models.native import NativeModel, count_arm_parameters
from .progress import format_columns


def check(config: Config) -> str:
    """Check the methods of `config`, and its arms as `check_native_benchmark` does.

    Raises `UserError` for a method that cannot be built, and for a row that cannot be planned.
    """
    for method in list_methods(config).values():
        ASRModel.count(method, config)
        identify_run(method, config)
    for arm in list_arms(config).values():
        identify_run(arm, config)
    return check_native_benchmark(config)


def check_native_benchmark(config: Config) -> str:
    """Check the parameters of the arms of `config` against those of its main arm, run or not.

    Returns a table with the trainable parameters of every arm and their ratio to the main arm's.
    Raises `UserError` for an arm that cannot be built or is outside the parameter budget (F1).
    """
    counts, main = count_arm_parameters(config), config["native"]["main_arm"]
    anchor = {main: NativeModel.count(find_arm(main), config)}
    compared = compare_with_anchor(counts | anchor, config)
    band = config["native"]["criteria"]["parameter_band"]
    for arm, budget in compared.items():
        if not budget.in_band:
            raise UserError(
                f"Arm {arm} has {budget.parameters:,} parameters, {budget.ratio:.3f} times the "
                f"main arm's, outside the band of {band:g}; change its size or "
                "native.criteria.parameter_band."
            )
    names = read_arms()
    rows = [
        [names[arm].name, f"{compared[arm].parameters:,}", f"{compared[arm].ratio:.3f}x"]
        for arm in counts
    ]
    return "\n".join(format_columns(rows))
