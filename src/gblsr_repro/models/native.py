"""The model of the native benchmark: the shared encoder and an arm's decoder, for any size."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from ..config import Config, list_arms
from .base import COLORS, QUERY_CHUNK, Model
from .coordinates import convert_to_pixel_positions
from .decoders import PatchDecoder
from .encoder import PatchEncoder


def compute_padding(height: int, width: int, patch: int) -> tuple[int, int, int, int]:
    """Compute the padding (left, right, top, bottom) to multiples of `patch`.

    It is split evenly; an odd remainder goes to the right and the bottom.
    """
    across, down = -width % patch, -height % patch
    return across // 2, across - across // 2, down // 2, down - down // 2


def pad_images(images: Tensor, patch: int) -> Tensor:
    """Pad images (B, C, H, W) to multiples of `patch` by reflection.

    Replicates the border where the padding is as long as the image's side, which reflection does
    not allow.
    """
    height, width = images.shape[-2:]
    sides = compute_padding(height, width, patch)
    if not any(sides):
        return images
    reflects = max(sides[:2]) < width and max(sides[2:]) < height
    return F.pad(images, sides, mode="reflect" if reflects else "replicate")


class NativeModel(Model):
    """Encode an image into one vector per patch and decode it again.

    Images are (B, 3, H, W), any H and W: they are padded to multiples of the patch side P, so that
    features are (B, D, ceil(H / P), ceil(W / P)), and the result is cropped back.
    """

    benchmark, subject = "native", "arm"
    bases = (PatchEncoder, PatchDecoder)
    encoder: PatchEncoder
    decoder: PatchDecoder

    def prepare_images(self, images: Tensor) -> Tensor:
        """Pad the images to multiples of the patch side."""
        return pad_images(images, self.decoder.patch)

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Reconstruct images (B, 3, H, W), on the fast path unless another is named."""
        height, width = images.shape[-2:]
        return self.decode(self.encode(images, path), height, width, path)

    def decode(self, features: Tensor, height: int, width: int, path: str | None = None) -> Tensor:
        """Render features on the pixel grid of the image they came from: (B, 3, height, width)."""
        left, _, top, _ = self._compute_padding(features, height, width)
        image = self.decoder.render(features, self._select_path(path or self.decoder.paths[0]))
        return image[..., top : top + height, left : left + width]

    def reconstruct_pixels(self, images: Tensor, pixels: Tensor) -> Tensor:
        """Reconstruct single pixels of images (B, 3, H, W): (B, N, 3), for training on a part.

        `pixels` (B, N) are row-major indices; H and W are multiples of the patch side. Raises
        `UserError` when the decoder gives colors of another shape or type.
        """
        features = self.encode(images)
        colors = self.decoder.render_pixels(features, pixels)
        self.decoder.check_colors(colors, (*pixels.shape, COLORS), features)
        return colors

    def query(self, features: Tensor, coordinates: Tensor, size: tuple[int, int]) -> Tensor:
        """Evaluate colors (B, Q, 3) at image coordinates (B, Q, 2).

        Coordinates are (y, x); -1 and 1 are the outer edges of the image, whose size in pixels is
        `size` (H, W), so pixel i of n is at (2 i + 1) / n - 1 and has the color that `decode`
        renders (to rounding; float64 coordinates keep the most digits). Memory is bounded for any
        Q.
        """
        left, _, top, _ = self._compute_padding(features, *size)
        shift = torch.tensor([top, left], dtype=torch.float64, device=coordinates.device)
        positions = convert_to_pixel_positions(coordinates, size) + shift
        parts = [self.decoder.query(features, p) for p in positions.split(QUERY_CHUNK, dim=1)]
        return torch.cat(parts, dim=1)

    def _compute_padding(
        self, features: Tensor, height: int, width: int
    ) -> tuple[int, int, int, int]:
        """Compute the padding of the image of these features; `ValueError` if the sizes differ."""
        patch = self.decoder.patch
        if tuple(features.shape[-2:]) != (-(-height // patch), -(-width // patch)):
            raise ValueError(
                f"features of {tuple(features.shape[-2:])} patches do not belong to an image of "
                f"{height} x {width} pixels"
            )
        return compute_padding(height, width, patch)


def count_arm_parameters(config: Config) -> dict[str, int]:
    """Count the trainable parameters of all arms that the config selects, in the table's order."""
    return {name: NativeModel.count(arm, config) for name, arm in list_arms(config).items()}
