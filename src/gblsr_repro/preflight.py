"""What is checked before any training: the arms, their parameter budget, LPIPS at hand."""

from __future__ import annotations

from .config import Config, arms
from .evaluation.perceptual import Perceptual, find_backbone
from .models.native import Budget, check_budgets, parameter_budgets
from .progress import columns


def check(config: Config, fetches_backbone: bool = False) -> None:
    """Check the native benchmark of `config` and print the table of parameter counts.

    `fetches_backbone` says that the LPIPS backbone is still to be downloaded. Raises `UserError`
    for an unknown or impossible arm, one outside the parameter band (the paper's F1), or a backbone
    that is damaged, or missing where the config requires it.
    """
    budgets = parameter_budgets(config)
    print(table(budgets), flush=True)
    check_budgets(budgets, config["native"]["criteria"]["parameter_band"])
    if fetches_backbone:
        return
    backbone, reason = find_backbone(config)
    if backbone is not None:
        Perceptual(backbone)  # a damaged file is told now, not after the training
    print(f"LPIPS: {backbone or reason}", flush=True)


def table(budgets: list[Budget]) -> str:
    """Lay out arm, trainable parameters and their ratio to the main arm's as text."""
    names = arms()
    rows = [[names[b.arm].name, f"{b.parameters:,}", f"{b.ratio:.3f}x"] for b in budgets]
    return "\n".join(columns(rows, right=True))
