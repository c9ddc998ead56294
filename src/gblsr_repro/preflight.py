"""Check the arms, their parameter budget and the LPIPS backbone before any training."""

from __future__ import annotations

from .config import Config, arm_named, arms
from .errors import UserError
from .evaluation.perceptual import Perceptual, find_backbone
from .models.native import parameter_counts, parameters
from .progress import columns


def check(config: Config, fetches_backbone: bool = False) -> None:
    """Check the native benchmark of `config` and print the table of parameter counts.

    It has each arm's trainable parameters and their ratio to the main arm's. `fetches_backbone`
    says that the LPIPS backbone is still to be downloaded. Raises `UserError` for an unknown or
    impossible arm, one whose ratio is outside 1/band ... band, native.criteria.parameter_band (the
    paper's F1), or a backbone that is damaged, or missing where the config requires it.
    """
    native, counts, names = config["native"], parameter_counts(config), arms()
    band = native["criteria"]["parameter_band"]
    main = parameters(arm_named(native["main_arm"]), config)
    rows = [[names[arm].name, f"{n:,}", f"{n / main:.3f}x"] for arm, n in counts.items()]
    print("\n".join(columns(rows, right=True)), flush=True)
    for arm, count in counts.items():
        if not 1 / band <= count / main <= band:
            raise UserError(
                f"Arm {arm} has {count:,} parameters, {count / main:.3f} times the main arm's, "
                f"outside the band of {band:g}; change its size or native.criteria.parameter_band."
            )
    if fetches_backbone:
        return
    backbone, reason = find_backbone(config)
    if backbone is not None:
        Perceptual(backbone)  # a damaged file is told now, not after the training
    print(f"LPIPS: {backbone or reason}", flush=True)
