"""What is checked before any training: the arms, their parameter budget, LPIPS at hand."""

from __future__ import annotations

from pathlib import Path

from .config import Config, arms
from .errors import UserError
from .evaluation.perceptual import Perceptual, find_trunk
from .files import write_json
from .models.native import Budget, check_budgets, parameter_budgets


def check(config: Config, output: Path | str | None = None) -> None:
    """Check the native half of `config`, print the table of parameter counts, write a record.

    Raises `UserError` for images that patches do not tile, an unknown or impossible arm, one
    outside the parameter band (the paper's F1), or an LPIPS trunk that is damaged, or missing where
    the config requires it.
    """
    native = config["native"]
    size, patch = native["data"]["image_size"], native["model"]["patch"]
    if size % patch:
        raise UserError(
            f"Config: native.data.image_size is {size}, but must be a multiple of "
            f"native.model.patch, {patch}: metrics are taken patch by patch."
        )
    budgets = parameter_budgets(config)
    print(table(budgets))
    check_budgets(budgets, native["criteria"]["parameter_band"])
    trunk, reason = find_trunk(config)
    if trunk is not None:
        Perceptual(trunk)  # a damaged file is told now, not after the training
    print(f"LPIPS: {trunk or reason}")
    if output is not None:
        record = {
            "anchor": native["main_arm"],
            "band": native["criteria"]["parameter_band"],
            "arms": [vars(budget) for budget in budgets],
            "lpips": {"measured": trunk is not None, "reason": reason},
        }
        write_json(output, record)


def table(budgets: list[Budget]) -> str:
    """Lay out arm, trainable parameters and their ratio to the main arm's as text."""
    names = arms()
    width = max(len(names[b.arm].name) for b in budgets)
    return "\n".join(
        f"{names[b.arm].name:<{width}}  {b.parameters:>10,}  {b.ratio:.3f}x" for b in budgets
    )
