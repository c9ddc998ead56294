"""The GB-LSR decoder for arbitrary scales: a local spectral basis on every low-resolution cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..base import COLORS, PLAIN
from ..spectral import evaluate_modes
from .decoders import QueryDecoder, RenderRows, flatten_cells
from .local_ensemble import Length, RenderArea
from .rendering import FoldedKernel, fold_decoder, render_folded, render_separable, sample_separable

FOLDED, SEPARABLE = "folded", "separable"

# Per output pixel the folded kernel costs 24 D multiplications at any scale, the separable sums
# about 200 + 200 D / s: beyond this scale they are cheaper.
LARGEST_FOLD = 8


class GBLSR(QueryDecoder):
    """Coefficients of a separable spectral basis, linear in the features of each cell.

    A 1x1 convolution computes 3 x p x p coefficients per cell; a query reads the p x p modes at its
    offset from the cell's center, scaled to [-1, 1] over the cell. All cells and images share one
    trained bandwidth s = softplus(raw). The order has no cutoff.

    Whole images take the "folded" path at integer scales up to `LARGEST_FOLD`; at any other scale
    they take the "separable" path, as training samples do. Scattered queries are the same on all.
    """

    paths = (SEPARABLE, FOLDED, PLAIN)
    SETTINGS: ClassVar[tuple[str, ...]] = ("modes", "bandwidth", "coefficient_std")
    OPTIONS: ClassVar = {"local_ensemble": ("yes", "no")}

    def __init__(self, section: Mapping[str, Any], local_ensemble: str = "yes") -> None:
        super().__init__(section, local_ensemble == "yes")
        self.count: int = section["modes"]
        self.slots = math.ceil(section["largest_scale"])
        self.coefficients = nn.Conv2d(self.features, COLORS * self.count**2, 1)
        weight, bias = self.coefficients.parameters()
        nn.init.normal_(weight, std=section["coefficient_std"])
        nn.init.zeros_(bias)
        raw = math.log(math.expm1(section["bandwidth"]))
        self.raw_bandwidth = nn.Parameter(torch.tensor(raw))

    def compute_bandwidth(self) -> Tensor:
        """Compute the bandwidth s from the raw parameter, a differentiable scalar tensor."""
        return F.softplus(self.raw_bandwidth)

    def get_bandwidth(self) -> float:
        """Return the bandwidth that all cells share."""
        return self.compute_bandwidth().item()

    def join_projection(self) -> Tensor:
        """Join weights and, as the last plane, biases of all coefficients: (3, p, p, D + 1)."""
        weight, bias = self.coefficients.parameters()
        joined = torch.cat((weight.flatten(1), bias[:, None]), dim=1)
        return joined.view(COLORS, self.count, self.count, -1)

    def compute_maps(self, features: Tensor, path: str) -> Tensor:
        """Compute every cell's coefficients, (B, h w, 3 p p)."""
        return flatten_cells(self.coefficients(features))

    def evaluate_cells(self, cells: Tensor, offsets: Tensor, cell: Tensor, path: str) -> Tensor:
        """Contract the coefficients of the cells with the basis at the queries' offsets."""
        coefficients = cells.unflatten(-1, (COLORS, self.count, self.count))
        basis = evaluate_modes(offsets, self.count, self.compute_bandwidth())
        y, x = basis.expand(len(cells), -1, -1, -1).unbind(2)
        return torch.einsum("bqcij,bqi,bqj->bqc", coefficients, y, x)

    def choose_path(self, cells: tuple[int, int], size: tuple[Length, Length]) -> str:
        """Choose "folded" at integer scales up to `LARGEST_FOLD`, otherwise "separable"."""
        scale = self._find_integer_scale(cells, size)
        return FOLDED if scale in range(1, LARGEST_FOLD + 1) else SEPARABLE

    @staticmethod
    def _find_integer_scale(cells: tuple[int, int], size: tuple[Length, Length]) -> int:
        """Find the scale that both axes share; 0 unless it is an integer."""
        scale = size[0] // cells[0]
        return scale if size == (scale * cells[0], scale * cells[1]) else 0

    def fold(self, scale: int) -> FoldedKernel:
        """Fold the whole decoder into the kernel for an integer scale."""
        return fold_decoder(self.join_projection(), self.compute_bandwidth(), scale, self.ensemble)

    def prepare_rendering(
        self, features: Tensor, size: tuple[Length, Length], path: str, area: RenderArea
    ) -> tuple[RenderRows, int]:
        """Build the function that renders rows; the folded path works best in rows of cells."""
        if path == PLAIN:
            return super().prepare_rendering(features, size, path, area)
        if path == SEPARABLE:
            weights = (self.join_projection(), self.compute_bandwidth())

            def render_rows(top: int, bottom: int) -> Tensor:
                rows = replace(area, rows=(top, bottom))
                return render_separable(features, *weights, size, self.ensemble, rows)

            return render_rows, 1
        scale = self._find_integer_scale(area.cells, size)
        if scale < 1:
            raise ValueError(f"the path {FOLDED!r} needs a whole scale, not {area.cells} to {size}")
        kernel = self.fold(scale)

        def render_folded_rows(top: int, bottom: int) -> Tensor:
            spans = zip(((top, bottom), area.columns), area.cells, area.origin, strict=True)
            (rows, down), (columns, across) = (
                _find_surrounding_cells(scale, *span) for span in spans
            )
            image = render_folded(features[:, :, rows, columns], kernel)
            return image[:, :, down, across]

        return render_folded_rows, scale

    def sample(self, features: Tensor, sizes: Tensor, pixels: Tensor, path: str) -> Tensor:
        """Decode the full grid of every image axis by axis and pick pixels; plain: query them.

        All images together pad every cell to the slots of the largest scale of training. On a CPU
        they are split into groups that need the same number of slots, which saves a quarter of the
        work; on a GPU that would have to wait for the sizes, and one batch is best.
        """
        if path == PLAIN:
            return super().sample(features, sizes, pixels, path)
        shared = (self.join_projection(), self.compute_bandwidth())
        if sizes.device.type != "cpu":
            return sample_separable(features, *shared, sizes, pixels, self.slots, self.ensemble)
        cells = torch.tensor(features.shape[-2:])
        needed = ((sizes + cells - 1) // cells).amax(dim=1)
        colors = features.new_empty(*pixels.shape[:2], COLORS)
        for width in needed.unique().tolist():
            some = (needed == width).nonzero()[:, 0]
            part = sample_separable(
                features[some], *shared, sizes[some], pixels[some], width, self.ensemble
            )
            colors = colors.index_copy(0, some, part)
        return colors


def _find_surrounding_cells(
    scale: int, pixels: tuple[int, int], cells: int, origin: int
) -> tuple[slice, slice]:
    """Find the cells that some pixels of an axis read, and the place of the pixels within them.

    It adds a cell on either side: the ensemble reads it, and the part of the image that it adds is
    cut off.
    """
    first = max(pixels[0] // scale - 1, 0)
    last = min(-(-pixels[1] // scale) + 1, cells)
    place = slice(pixels[0] - first * scale, pixels[1] - first * scale)
    return slice(first - origin, last - origin), place
