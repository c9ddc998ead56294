"""Measure LPIPS, the learned perceptual distance (Zhang et al. 2018), with AlexNet, version 0.1.

The `lpips` package includes the linear heads. The weights of the AlexNet backbone are a separate
file, read here; neither this module nor the packages that it uses download anything.
"""

from __future__ import annotations

import os
import pickle
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..config import Config
from ..data.datasets import locate_dataset
from ..errors import UserError
from ..files import compute_sha256

BACKBONE_VARIABLE = "GBLSR_LPIPS_BACKBONE"
BACKBONE_DATASET = "alexnet"
VERSION = "0.1"

# Position of every convolution in torchvision's AlexNet, and its slice in `lpips`.
CONVOLUTIONS = {0: 1, 3: 2, 6: 3, 8: 4, 10: 5}


def find_backbone(config: Config) -> tuple[Path | None, str | None]:
    """Find the file of the AlexNet backbone; return it, or None and the reason.

    Searched in this order: config `lpips_backbone`, the environment variable GBLSR_LPIPS_BACKBONE,
    the download (or the mirror's copy) of the data set `alexnet`. None also if the package `lpips`,
    which has the other weights, is not installed. Raises `UserError` when a named file does not
    exist, or when LPIPS cannot be measured and config `require_lpips` is set.
    """
    if find_spec("lpips") is None:
        return _refuse_or_explain(config, "the package lpips is not installed", "install it")
    settings = {
        "lpips_backbone in the config": config["lpips_backbone"],
        f"environment variable {BACKBONE_VARIABLE}": os.environ.get(BACKBONE_VARIABLE),
    }
    for setting, value in settings.items():
        if value:
            path = Path(value).expanduser()
            if not path.is_file():
                raise UserError(
                    f"{setting} names {path}, which does not exist; correct or unset it."
                )
            return path, None
    data = locate_dataset(BACKBONE_DATASET, config)
    path = data.root / data.image_pattern
    if path.is_file():
        return path, None
    remedy = (
        f"run `gblsr-repro fetch {BACKBONE_DATASET}`, name its file in lpips_backbone or "
        f"{BACKBONE_VARIABLE}"
    )
    return _refuse_or_explain(config, "the AlexNet backbone is not at hand", remedy)


def _refuse_or_explain(config: Config, reason: str, remedy: str) -> tuple[None, str]:
    """Return None and the reason; `UserError` where the config requires LPIPS."""
    if config["require_lpips"]:
        raise UserError(
            f"LPIPS cannot be measured, since {reason}; {remedy}, or set require_lpips: false to "
            "go on without LPIPS."
        )
    return None, reason


class PerceptualDistance:
    """Measures LPIPS on one device; `sha256` is the checksum of the backbone's file.

    Raises `UserError` when the file does not hold AlexNet's five convolutions.
    """

    def __init__(self, backbone: Path, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        try:
            self.network = _assemble_network(_read_backbone(backbone)).to(
                self.device, torch.float32
            )
        except (
            OSError,
            EOFError,
            RuntimeError,
            pickle.UnpicklingError,
            LookupError,
            TypeError,
        ) as e:
            raise UserError(
                f"{backbone} does not hold the weights of torchvision's AlexNet; get "
                "alexnet-owt-7be5be79.pth again or name another file."
            ) from e
        self.sha256 = compute_sha256(backbone)

    @torch.no_grad()
    def measure_lpips(self, images: Tensor, truth: Tensor) -> Tensor:
        """Measure LPIPS of every pair of images, (B, 3, H, W) in [0, 1] twice: float64 (B,)."""
        pair = (x.to(self.device, torch.float32) for x in (images, truth))
        return self.network(*pair, normalize=True).flatten().double()

    def measure_edge_lpips(self, images: Tensor, truth: Tensor, mask: Tensor) -> Tensor:
        """Measure LPIPS of every pair of images at the edges: (B,).

        Both images are set to 0.5 outside `mask` (B, 1, H, W), see `metrics.compute_edge_mask`.
        """
        return self.measure_lpips(*(torch.where(mask, x, 0.5) for x in (images, truth)))


def _read_backbone(path: Path) -> dict[str, Tensor]:
    """Read the five convolutions and name them as `lpips` does; other entries are ignored."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    return {
        f"slice{part}.{layer}.{name}": state[f"features.{layer}.{name}"]
        for layer, part in CONVOLUTIONS.items()
        for name in ("weight", "bias")
    }


def _assemble_network(backbone: dict[str, Tensor]) -> Any:
    """Assemble the LPIPS network from the backbone's weights and the heads in the package."""
    import lpips

    # It draws a backbone, which is replaced, and torchvision warns about the way it is asked to.
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = lpips.LPIPS(net="alex", version=VERSION, pnet_rand=True, verbose=False)
    network.net.load_state_dict(backbone)
    return network.requires_grad_(False)
