"""The matched-budget baselines LIIF, LTE and WIRE (paper appendix A.1) and their other readings.

The paper gives their widths, depths and exact parameter counts, not how features reach a pixel.
What it leaves open is chosen by the options of a row of config/arms.tsv; docs/readings.md says
which reading is taken for the paper's, and why. Every reading has the published count.

Coordinates are in the order (y, x). A patch has one feature vector, that of its latent cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .base import COLORS
from .coordinates import (
    compute_center_offsets,
    compute_even_step,
    compute_offsets,
    convert_to_image_coordinates,
    find_cells,
)
from .decoders import PatchDecoder, build_perceptron, reshape_to_image
from .layers import ONEDNN_BATCH, apply_pointwise, relu, silu

BILINEAR, NEAREST = "bilinear", "nearest"
GLOBAL, RELATIVE = "global", "relative"
ACTIVATIONS = {"relu": relu, "silu": silu}


def apply_later_layers(
    hidden: Tensor, layers: Sequence[nn.Linear], activate: Callable[[Tensor], Tensor]
) -> Tensor:
    """Go on from the first layer's output (..., hidden), the activation before each other layer.

    `layers` is the whole perceptron. Returns (..., 3); may overwrite `hidden`.
    """
    for layer in list(layers)[1:]:
        hidden = apply_pointwise(activate(hidden), layer.weight, layer.bias)
    return hidden


class LatentDecoder(PatchDecoder):
    """What the baselines share: how latent cells and coordinates reach a pixel.

    Option `features`: a pixel reads the cells around it, interpolated (bilinear, clamped at the
    border), or the one it lies in (nearest). Option `coordinates`: relative to the center of the
    cell it lies in, in half cells, or global, in [-1, 1] over the image.
    """

    def __init__(self, section: Mapping[str, Any], *, features: str, coordinates: str) -> None:
        super().__init__(section)
        self.lookup, self.coordinates = features, coordinates

    def per_cell(self, features: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Apply a linear layer to every cell's features: (B, h, w, outputs)."""
        return F.linear(features.permute(0, 2, 3, 1), weight, bias)

    def spread(self, cells: Tensor) -> Tensor:
        """Look up values of cells (B, h, w, K) at all pixel centers: (B, h P, w P, K).

        The interpolation is a product with a matrix of two entries a row, axis by axis.
        """
        batch, h, w, count = cells.shape
        height, width = h * self.patch, w * self.patch
        if self.lookup == NEAREST:
            each = cells[:, :, None, :, None].expand(-1, -1, self.patch, -1, self.patch, -1)
            return each.reshape(batch, height, width, count)
        rows = torch.matmul(self._interpolation(w, cells), cells.reshape(batch * h, w, count))
        image = torch.matmul(self._interpolation(h, cells), rows.view(batch, h, width * count))
        return image.view(batch, height, width, count)

    def _interpolation(self, cells: int, like: Tensor) -> Tensor:
        """Return the shares of an axis' cells in its pixels, (cells P, cells)."""

        def make() -> Tensor:
            pixels = torch.arange(cells * self.patch, dtype=torch.float64, device=like.device)
            place = ((pixels + 0.5) / self.patch - 0.5).clamp(0, cells - 1)
            distance = place[:, None] - torch.arange(cells, device=like.device)
            return (1 - distance.abs()).clamp(min=0).to(like.dtype)

        return self.cache.get(f"interpolation{cells}", (like.device, like.dtype), (), make)

    def axis(self, cells: int, like: Tensor) -> Tensor:
        """Return the coordinate of every pixel center of an axis with `cells` cells, (cells P,)."""
        if self.coordinates == RELATIVE:
            return compute_center_offsets(self.patch, like.device, like.dtype).repeat(cells)
        count = cells * self.patch
        pixels = torch.arange(count, dtype=torch.float64, device=like.device)
        return ((2 * pixels + 1) / count - 1).to(like.dtype)

    def look_up(self, features: Tensor, positions: Tensor) -> Tensor:
        """Look up features (B, D, h, w) at pixel positions (B, Q, 2), one by one: (B, Q, D)."""
        if self.lookup == NEAREST:
            return self.corner(features, positions, (0.0, 0.0))[0]
        grid = self._over_image(features, positions).flip(-1)[:, None].to(features.dtype)
        sampled = F.grid_sample(features, grid, padding_mode="border", align_corners=False)
        return sampled[:, :, 0].mT

    def at(self, features: Tensor, positions: Tensor) -> Tensor:
        """Return the coordinates (B, Q, 2) that enter the network at pixel positions (B, Q, 2)."""
        if self.coordinates == RELATIVE:
            return self.corner(features, positions, (0.0, 0.0))[1]
        return self._over_image(features, positions).to(features.dtype)

    def _over_image(self, features: Tensor, positions: Tensor) -> Tensor:
        h, w = features.shape[-2:]
        return convert_to_image_coordinates(positions, (h * self.patch, w * self.patch))

    def corner(
        self, features: Tensor, positions: Tensor, shift: tuple[float, float]
    ) -> tuple[Tensor, Tensor]:
        """Return features and relative coordinates of the cell a shifted position lies in.

        The position itself, (B, Q, 2), is what the coordinates (B, Q, 2) are of; `shift` is in
        cells. Features (B, Q, D).
        """
        h, w = features.shape[-2:]
        item = torch.arange(features.shape[0], device=features.device)[:, None]
        y = find_cells(positions[..., 0], self.patch, h, shift[0])
        x = find_cells(positions[..., 1], self.patch, w, shift[1])
        place = self.place(torch.stack((y, x), dim=-1), (h, w))
        return features[item, :, y, x], compute_offsets(positions, self.patch, place).to(
            features.dtype
        )

    def place(self, cell: Tensor, counts: tuple[int, ...]) -> Tensor:
        """Return where cells are taken to be, counted in cells: where they are.

        The last axis of `cell` is that of the image's axes, with `counts` cells each, or is any for
        a single axis.
        """
        return cell


class LIIFDecoder(LatentDecoder):
    """LIIF: an MLP on features, relative coordinate and cell size, blended over four corner cells.

    The cell size is that of a pixel; features are not unfolded. Option `units`: coordinate and cell
    size are in image coordinates, [-1, 1] over the image, or multiplied by the number of cells of
    their axis, hence in half cells, as LIIF was published. Option `shift`: the corners are the
    cells that the position lies in when moved by half a cell, or by half a pixel (the published
    rule with the image's size for the latent grid's: one pixel before each border blends two
    cells), on both axes. Option `weights`: a corner counts by the area between its cell's center
    and the position (own), by that of the opposite corner, as LIIF was published, or all count
    equally. Option `centers`: coordinates and areas are taken from the cell's center, or from a
    place that linspace(-1, 1) gives it, spread evenly from edge to edge of the image. Option
    `activation`: that of the hidden layers.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (*LatentDecoder.SETTINGS, "hidden")
    OPTIONS: ClassVar = {
        "shift": ("half_cell", "half_pixel"),
        "weights": ("own", "opposite", "equal"),
        "units": ("half_cell", "image"),
        "centers": ("cell", "even"),
        "activation": tuple(ACTIVATIONS),
    }

    def __init__(
        self,
        section: Mapping[str, Any],
        *,
        shift: str,
        weights: str,
        units: str,
        compute_center_offsets: str,
        activation: str = "relu",
    ) -> None:
        super().__init__(section, features=NEAREST, coordinates=RELATIVE)
        self.even = compute_center_offsets == "even"
        self.shift = 0.5 / self.patch if shift == "half_pixel" else 0.5
        self.weights, self.units = weights, units
        self.activate = ACTIVATIONS[activation]
        self.layers = build_perceptron(self.features + 4, section["hidden"], 5)

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer is applied per cell, the relative coordinate added per axis.

        Pixels of an axis with the same two corner cells form groups, from which values are spread.
        The blend's weights are products of one weight per axis.
        """
        batch, d, h, w = features.shape
        weight, cells = self.layers[0].weight, self._first_of_cells(features)
        group = self.patch // 2 if self.shift == 0.5 else 1
        image: Any = 0.0  # a tensor once something is added
        for cell_y, rel_y, share_y in self._corners(h, cells):
            rows = cells.index_select(1, cell_y[::group])
            part_y = rel_y.view(-1, group, 1, 1, 1) * weight[:, d]
            for cell_x, rel_x, share_x in self._corners(w, cells):
                near = rows.index_select(2, cell_x[::group])[:, :, None, :, None, :]
                near = near + rel_x.view(-1, group, 1) * weight[:, d + 1]
                hidden = (near + part_y).view(batch, h * self.patch, w * self.patch, -1)
                share = share_y[:, None, None] * share_x[:, None]
                image = image + apply_later_layers(hidden, self.layers, self.activate) * share
        return reshape_to_image(image, batch, h * self.patch, w * self.patch)

    def render_pixels(self, features: Tensor, pixels: Tensor) -> Tensor:
        """Render chosen pixels as `render_fast` does, but for the corners that count nothing."""
        batch, d, h, w = features.shape
        cells = self._first_of_cells(features)
        coordinates_part = self.layers[0].weight[:, d : d + 2].mT
        y, x = (part.flatten() for part in (pixels // (w * self.patch), pixels % (w * self.patch)))
        first = torch.arange(batch, device=features.device).repeat_interleave(pixels.shape[1]) * h
        image = features.new_zeros(len(y), COLORS)
        for cell_y, rel_y, share_y in self._corners(h, cells):
            for cell_x, rel_x, share_x in self._corners(w, cells):
                share = share_y[y] * share_x[x]
                counted = (
                    math.ceil(share.count_nonzero().item() / ONEDNN_BATCH) * ONEDNN_BATCH
                )  # for `pointwise`
                if not counted:
                    continue
                at = (share == 0).to(torch.uint8).argsort(stable=True)[:counted]
                row, column = y[at], x[at]
                near = cells.flatten(0, 2)[(first[at] + cell_y[row]) * w + cell_x[column]]
                relative = torch.stack((rel_y[row], rel_x[column]), dim=-1)
                hidden = torch.addmm(near, relative, coordinates_part)
                colors = apply_later_layers(hidden, self.layers, self.activate) * share[at, None]
                image = image.index_add(0, at, colors)
        return image.view(batch, -1, COLORS)

    def _first_of_cells(self, features: Tensor) -> Tensor:
        """Apply the first layer to all of its input but the coordinate: (B, h, w, hidden)."""
        d, first = features.shape[1], self.layers[0]
        size_part = first.weight[:, d + 2 :] @ (self._units(features) * (2 / self.patch))
        return self.per_cell(features, first.weight[:, :d], first.bias + size_part)

    def _corners(self, count: int, like: Tensor) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Return index, offset and share of the lower and the upper corner cell on an axis.

        For every pixel, (count P,): the cell, the offset to where it is taken to be, its share in
        the pixel. Where both are the same cell, the upper one's share is 0.
        """

        def make() -> list[tuple[Tensor, Tensor, Tensor]]:
            pixels = torch.arange(count * self.patch, dtype=torch.float64, device=like.device)
            cells = [find_cells(pixels, self.patch, count, sign * self.shift) for sign in (-1, 1)]
            offsets = [
                compute_offsets(pixels, self.patch, self.place(cell, (count,))) for cell in cells
            ]
            upper = self._blend([one.abs() for one in offsets])[1]
            upper = upper.where(cells[0] != cells[1], 0.0)
            return [
                (cell, (rel * self._half_cell(count)).to(like.dtype), share.to(like.dtype))
                for cell, rel, share in zip(cells, offsets, (1 - upper, upper), strict=True)
            ]

        return self.cache.get(f"corners{count}", (like.device, like.dtype), (), make)

    def place(self, cell: Tensor, counts: tuple[int, ...]) -> Tensor:
        """Return where cells are taken to be: where they are, or spread from edge to edge."""
        if not self.even:
            return cell
        cell = cell.double()
        return cell * self._by_axis("steps", counts, cell, compute_even_step) - 0.5

    def _half_cell(self, count: int) -> float:
        """Return half a cell of an axis with `count` cells in the units of the coordinates."""
        return 1 / count if self.units == "image" else 1.0

    def _units(self, features: Tensor) -> Tensor:
        """Return half a cell of either axis, (2,)."""
        return self._by_axis("units", tuple(features.shape[-2:]), features, self._half_cell)

    def _by_axis(
        self, name: str, counts: tuple[int, ...], like: Tensor, value: Callable[[int], float]
    ) -> Tensor:
        """Return the value for each axis' number of cells, (axes,)."""

        def make() -> Tensor:
            return torch.stack([like.new_full((), value(count)) for count in counts])

        return self.cache.get(f"{name}{counts}", (like.device, like.dtype), (), make)

    def _blend(self, sizes: list[Tensor]) -> list[Tensor]:
        """Return the corners' shares from their areas, or an axis' from its distances."""
        if self.weights == "equal":
            sizes = [torch.ones_like(size) for size in sizes]
        total = sum(sizes)
        return [size / total for size in (sizes[::-1] if self.weights == "opposite" else sizes)]

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP for each of the four corners and blend them by their areas."""
        colors, areas = [], []
        unit = self._units(features)
        size = (unit * (2 / self.patch)).expand(*positions.shape[:2], 2)
        first = self.layers[0]
        for shift_y in (-self.shift, self.shift):
            for shift_x in (-self.shift, self.shift):
                near, relative = self.corner(features, positions, (shift_y, shift_x))
                hidden = torch.cat((near, relative * unit, size), dim=-1)
                hidden = apply_pointwise(hidden, first.weight, first.bias)
                colors.append(apply_later_layers(hidden, self.layers, self.activate))
                areas.append(relative.prod(dim=-1, keepdim=True).abs() + 1e-9)
        shares = self._blend(areas)
        return cast("Tensor", sum(c * share for c, share in zip(colors, shares, strict=True)))


class LTEDecoder(LatentDecoder):
    """LTE: an MLP on sines and cosines of learned frequencies, scaled by learned amplitudes.

    The angle is pi (frequency . coordinate + phase); the frequency head's channels are pairs
    (y, x), the phase follows from the cell size, 2 / P half cells on both axes. Option `waves`:
    the network reads the scaled cosines, sines and the features (joined), or, one layer deeper,
    the sum of scaled cosines and sines alone, without a phase (summed). Option `activation`: that
    of the hidden layers. No ensemble and no skip of the input, which here is the target.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (*LatentDecoder.SETTINGS, "hidden")
    OPTIONS: ClassVar = {
        "features": (BILINEAR, NEAREST),
        "coordinates": (GLOBAL, RELATIVE),
        "waves": ("joined", "summed"),
        "activation": tuple(ACTIVATIONS),
    }

    def __init__(
        self,
        section: Mapping[str, Any],
        *,
        features: str,
        coordinates: str,
        waves: str,
        activation: str = "relu",
    ) -> None:
        super().__init__(section, features=features, coordinates=coordinates)
        self.activate = ACTIVATIONS[activation]
        hidden = section["hidden"]
        self.joined = waves == "joined"
        # Module order is the order of the draws.
        self.amplitude = nn.Linear(self.features, hidden)
        self.frequency = nn.Linear(self.features, hidden)
        if self.joined:
            self.phase = nn.Linear(2, hidden // 2, bias=False)
        inputs = hidden + self.features if self.joined else hidden // 2
        self.layers = build_perceptron(inputs, hidden, 3 if self.joined else 4)

    def _phase(self) -> Tensor | float:
        return self.phase.weight.sum(1) * (2 / self.patch) if self.joined else 0.0

    def _waves(self, amplitude: Tensor, angle: Tensor) -> Tensor:
        """Scale cosines and sines of angles (..., K) by amplitudes (..., 2 K)."""
        cosines, sines = amplitude.chunk(2, dim=-1)
        parts = cosines * angle.cos(), sines * angle.sin()
        return torch.cat(parts, dim=-1) if self.joined else parts[0] + parts[1]

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; heads and the first layer's part for the features per cell, then looked up.

        That is exact: looking up is linear, as they are.
        """
        batch, d, h, w = features.shape
        first, head = self.layers[0], self.frequency
        along_y, along_x = (
            self.spread(self.per_cell(features, head.weight[i::2], head.bias[i::2])) for i in (0, 1)
        )
        u = self.axis(h, features)[:, None, None], self.axis(w, features)[:, None]
        angle = math.pi * (along_y * u[0] + along_x * u[1] + self._phase())
        del along_y, along_x
        amplitude = self.per_cell(features, self.amplitude.weight, self.amplitude.bias)
        waves = self._waves(self.spread(amplitude), angle)
        if self.joined:
            cells = self.per_cell(features, first.weight[:, -d:], first.bias)
            hidden = apply_pointwise(waves, first.weight[:, :-d]) + self.spread(cells)
        else:
            hidden = apply_pointwise(waves, first.weight, first.bias)
        image = apply_later_layers(hidden, self.layers, self.activate)
        return reshape_to_image(image, batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate heads and MLP on the features looked up at each position."""
        near, u = self.look_up(features, positions), self.at(features, positions)
        frequency = self.frequency(near).unflatten(-1, (-1, 2))
        angle = math.pi * ((frequency * u[..., None, :]).sum(-1) + self._phase())
        hidden = self._waves(self.amplitude(near), angle)
        if self.joined:
            hidden = torch.cat((hidden, near), dim=-1)
        first = self.layers[0]
        hidden = apply_pointwise(hidden, first.weight, first.bias)
        return apply_later_layers(hidden, self.layers, self.activate)


class WIREDecoder(LatentDecoder):
    """WIRE: an MLP with real Gabor activations on features and coordinate.

    The activation after each hidden layer is sin(w x) exp(-(g x)^2), frequency w and scale g
    trained per channel.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = (
        *LatentDecoder.SETTINGS,
        "hidden",
        "wire_frequency",
        "wire_spread",
    )
    OPTIONS: ClassVar = {"features": (BILINEAR, NEAREST), "coordinates": (GLOBAL, RELATIVE)}

    def __init__(self, section: Mapping[str, Any], *, features: str, coordinates: str) -> None:
        super().__init__(section, features=features, coordinates=coordinates)
        hidden = section["hidden"]
        self.layers = build_perceptron(self.features + 2, hidden, 4)
        starts = (section["wire_frequency"], section["wire_spread"])
        self.frequency, self.gabor_scale = (
            nn.ParameterList(nn.Parameter(torch.full((hidden,), start)) for _ in range(3))
            for start in starts
        )

    def _rest(self, hidden: Tensor) -> Tensor:
        for w, g, layer in zip(self.frequency, self.gabor_scale, self.layers[1:], strict=True):
            hidden = torch.sin(w * hidden) * torch.exp(hidden.square() * -g.square())
            hidden = apply_pointwise(hidden, layer.weight, layer.bias)
        return hidden

    def render_fast(self, features: Tensor) -> Tensor:
        """Render; the first layer's part for the features per cell, its coordinates per axis."""
        batch, d, h, w = features.shape
        weight, bias = self.layers[0].weight, self.layers[0].bias
        hidden = self.spread(self.per_cell(features, weight[:, :d], bias))
        hidden = hidden + self.axis(w, features)[:, None] * weight[:, d + 1]
        hidden = hidden + (self.axis(h, features)[:, None] * weight[:, d])[:, None]
        return reshape_to_image(self._rest(hidden), batch, h * self.patch, w * self.patch)

    def query(self, features: Tensor, positions: Tensor) -> Tensor:
        """Evaluate the MLP on features and coordinates looked up at each position."""
        first = self.layers[0]
        hidden = torch.cat((self.look_up(features, positions), self.at(features, positions)), -1)
        return self._rest(apply_pointwise(hidden, first.weight, first.bias))
