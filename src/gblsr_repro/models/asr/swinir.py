"""SwinIR as an encoder: residual groups of shifted-window attention layers, no upsampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..base import PLAIN, Encoder, compute_reach
from ..layers import apply_pointwise, build_module_list, extend_by_mirroring

# CUDA's fused attention needs head sizes that are multiples of this; for other sizes it falls back
# to products that store all scores.
HEAD_MULTIPLE = 8
# Far below any attention score: a masked pair has no weight after the softmax.
MASKED = -100.0
INITIAL_STD = 0.02
LEAK = 0.01  # of the tail's leaky ReLU


def count_padding_channels(size: int, device: torch.device) -> int:
    """Count the channels that heads of `size` lack for the fused attention of a device."""
    return 0 if device.type == "cpu" else -size % HEAD_MULTIPLE


def split_windows(x: Tensor, side: int) -> Tensor:
    """Split (B, H, W, C) into windows (B * H/side * W/side, side * side, C)."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // side, side, width // side, side, channels)
    return x.transpose(2, 3).reshape(-1, side * side, channels)


def join_windows(x: Tensor, side: int, height: int, width: int) -> Tensor:
    """Join windows, undoing `split_windows`: back to (B, height, width, C)."""
    x = x.view(-1, height // side, width // side, side, side, x.shape[-1])
    return x.transpose(2, 3).reshape(-1, height, width, x.shape[-1])


def build_shift_mask(height: int, width: int, side: int, device: torch.device) -> Tensor:
    """Build the mask of pixels that are neighbors only by the cyclic shift of side // 2.

    The result (windows, side^2, side^2) is 0 within a region of the image and `MASKED` across.
    """
    bands = []
    for size in (height, width):
        index = torch.arange(size, device=device)
        bands.append((index >= size - side).long() + (index >= size - side // 2).long())
    region = split_windows((3 * bands[0][:, None] + bands[1]).view(1, height, width, 1), side)[
        ..., 0
    ]
    return (region[:, None] != region[:, :, None]).float() * MASKED


class DropPath(nn.Module):
    """Stochastic depth: in training, drop a sample's branch with probability `rate`."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Return x with whole samples (first axis) zeroed and the others scaled up."""
        if not self.training or self.rate == 0.0:
            return x
        keep = 1.0 - self.rate
        kept = x.new_empty(x.shape[0], *[1] * (x.ndim - 1)).bernoulli_(keep)
        return x * kept / keep


class WindowAttention(nn.Module):
    """Multi-head self-attention within windows, with a bias for each relative position."""

    relative: Tensor

    def __init__(self, width: int, heads: int, side: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        span = 2 * side - 1
        self.position_bias = nn.Parameter(torch.empty(span * span, heads))
        nn.init.trunc_normal_(self.position_bias, std=INITIAL_STD)
        along = torch.arange(side, device="cpu")  # numbers even in a model of shapes alone
        place = torch.cartesian_prod(along, along)
        step = place[:, None] - place[None] + side - 1
        self.register_buffer("relative", step[..., 0] * span + step[..., 1], persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None, path: str | None = None) -> Tensor:
        """Attend within windows x (B * n, L, C); `mask` (n, L, L) is added to the scores.

        On CUDA heads are widened, except on the plain path.
        """
        count, length, width = x.shape
        size = width // self.heads
        extra = 0 if path == PLAIN else count_padding_channels(size, x.device)
        weight, offset, project = self.widen_heads(extra)
        apply = F.linear if path == PLAIN else apply_pointwise
        qkv = apply(x, weight, offset)
        q, k, v = qkv.view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.position_bias[self.relative].permute(2, 0, 1)
        if mask is not None:
            masked = bias + mask[:, None].to(bias.dtype)
            bias = masked.repeat(count // mask.shape[0], 1, 1, 1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=size**-0.5)
        out = out.transpose(1, 2).reshape(count, length, -1)
        return apply(out, project, self.project.bias)

    def widen_heads(self, extra: int) -> tuple[Tensor, Tensor, Tensor]:
        """Widen the heads of `qkv` (weight, bias) and `project` (weight) by `extra` channels.

        The added channels are always 0, so the result is the same.
        """
        layer, project = self.qkv, self.project.weight
        if not extra:
            return layer.weight, layer.bias, project
        weight = F.pad(layer.weight.unflatten(0, (3 * self.heads, -1)), (0, 0, 0, extra))
        bias = F.pad(layer.bias.unflatten(0, (3 * self.heads, -1)), (0, extra))
        project = F.pad(project.unflatten(1, (self.heads, -1)), (0, extra))
        return weight.flatten(0, 1), bias.flatten(), project.flatten(1)


class SwinLayer(nn.Module):
    """Window attention and a two-layer perceptron, both pre-normalized and residual."""

    def __init__(
        self, width: int, heads: int, side: int, ratio: int, shift: int, drop: float
    ) -> None:
        super().__init__()
        self.side, self.shift = side, shift
        self.attention_norm = nn.LayerNorm(width)
        self.attention = WindowAttention(width, heads, side)
        self.perceptron_norm = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, ratio * width), nn.GELU(), nn.Linear(ratio * width, width)
        )
        self.drop = DropPath(drop)

    def forward(self, x: Tensor, mask: Tensor, path: str | None = None) -> Tensor:
        """Map (B, H, W, C) to the same shape; layers that shift use `mask`."""
        _, height, width, _ = x.shape
        y = self.attention_norm(x)
        if self.shift:
            y = y.roll((-self.shift, -self.shift), dims=(1, 2))
        y = self.attention(split_windows(y, self.side), mask if self.shift else None, path)
        y = join_windows(y, self.side, height, width)
        if self.shift:
            y = y.roll((self.shift, self.shift), dims=(1, 2))
        x = x + self.drop(y)
        y = self.perceptron_norm(x)
        apply = F.linear if path == PLAIN else apply_pointwise
        enter, leave = (layer for layer in self.perceptron if isinstance(layer, nn.Linear))
        y = apply(F.gelu(apply(y, enter.weight, enter.bias)), leave.weight, leave.bias)
        return x + self.drop(y)


class ResidualGroup(nn.Module):
    """Residual group of layers, every second with shifted windows, then a convolution."""

    def __init__(
        self, width: int, heads: int, side: int, ratio: int, drops: Sequence[float]
    ) -> None:
        super().__init__()
        self.layers = build_module_list(
            SwinLayer(width, heads, side, ratio, side // 2 * (i % 2), drop)
            for i, drop in enumerate(drops)
        )
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor, mask: Tensor, path: str | None = None) -> Tensor:
        """Map (B, H, W, C) to the same shape."""
        y = x
        for layer in self.layers:
            y = layer(y, mask, path)
        return x + self.conv(y.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


class SwinIR(Encoder):
    """SwinIR encoder without upsampling: its map of `embed` channels is the feature map.

    In the config section, swinir_depths are the layers of every group; the stochastic depth grows
    evenly from 0 in the first layer to swinir_drop_path in the last. The option tail=64 narrows the
    map to that many channels by a 3x3 convolution and a leaky ReLU, as LTE's published model does.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "swinir_embed",
        "swinir_depths",
        "swinir_heads",
        "swinir_window",
        "swinir_mlp_ratio",
        "swinir_drop_path",
    )
    OPTIONS: ClassVar = {"tail": int}
    channels_last = False  # on a CPU it is slower in that memory format

    def __init__(self, section: Mapping[str, Any], tail: str | None = None) -> None:
        super().__init__()
        embed, depths, heads, window, mlp_ratio, drop_path = (
            section[f"swinir_{name}"]
            for name in ("embed", "depths", "heads", "window", "mlp_ratio", "drop_path")
        )
        self.features, self.window = int(tail or embed), window
        self.first = nn.Conv2d(3, embed, 3, padding=1)
        self.embed_norm = nn.LayerNorm(embed)
        last = max(sum(depths) - 1, 1)
        drops = iter([drop_path * i / last for i in range(sum(depths))])
        self.groups = build_module_list(
            ResidualGroup(embed, heads, window, mlp_ratio, [next(drops) for _ in range(depth)])
            for depth in depths
        )
        self.norm = nn.LayerNorm(embed)
        self.last = nn.Conv2d(embed, embed, 3, padding=1)
        self.tail = nn.Conv2d(embed, self.features, 3, padding=1) if tail else None
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=INITIAL_STD)
                nn.init.zeros_(module.bias)

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode normalized images (B, 3, H, W) into features (B, D, H, W).

        Sides that are no multiple of the window are extended first and cropped back at the end:
        those of patches, since whole images are extended to multiples before.
        """
        height, width = images.shape[-2:]
        full = (-(-height // self.window) * self.window, -(-width // self.window) * self.window)
        first = self.first(extend_by_mirroring(images, full))
        rows, columns = first.shape[-2:]
        mask = build_shift_mask(rows, columns, self.window, images.device)
        x = self.embed_norm(first.permute(0, 2, 3, 1))
        for group in self.groups:
            x = group(x, mask, path)
        x = first + self.last(self.norm(x).permute(0, 3, 1, 2))
        if self.tail is not None:
            x = F.leaky_relu(self.tail(x), LEAK)
        return x[..., :height, :width]

    def extend_length(self, length: int) -> int:
        """Compute the next multiple of the window above `length`, even where it is a multiple.

        SwinIR's and LTE's published tests do the same. The map is not cropped before decoding.
        """
        return (length // self.window + 1) * self.window

    def compute_receptive_field(self, first: int, last: int, length: int) -> tuple[int, int]:
        """Compute the pixels that features see, layer by layer from the last to the first.

        Windows lie on a fixed grid, moved by half a window in every second layer; a layer widens
        the field to all windows that it touches, a convolution by its reach.
        """
        side, edge = self.window, compute_reach(self.last)
        if self.tail is not None:
            edge += compute_reach(self.tail)
        first, last = first - edge, last + edge
        for group in reversed(self.groups):
            first, last = first - compute_reach(group.conv), last + compute_reach(group.conv)
            for layer in reversed(group.layers):
                first = (first - layer.shift) // side * side + layer.shift
                last = -((layer.shift - last) // side) * side + layer.shift
        first, last = first - compute_reach(self.first), last + compute_reach(self.first)
        return max(first // side * side, 0), min(-(-last // side) * side, length)

    def estimate_bytes_per_pixel(self) -> int:
        """Estimate the peak memory per pixel: some maps and the scores of a window."""
        scores = self.groups[0].layers[0].attention.heads * self.window**2
        return 4 * (16 * self.first.out_channels + 4 * scores)
