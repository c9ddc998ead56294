"""The GB-LSR decoder for arbitrary scales: a local spectral basis on every low-resolution cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..base import COLORS, PLAIN
from ..spectral import evaluate_modes
from .decoders import Corner, QueryDecoder, RenderRows, flatten_cells, gather_cells
from .local_ensemble import Length, RenderArea
from .rendering import FoldedKernel, fold_decoder, render_folded, render_separable, sample_separable

FOLDED, SEPARABLE = "folded", "separable"

# Per output pixel the folded kernel costs 24 D multiplications at any scale, the separable sums
# about 200 + 200 D / s: beyond this scale they are cheaper.
LARGEST_FOLD = 8


class GBLSR(QueryDecoder):
    """Coefficients of a separable spectral basis, linear in the features of each cell.

    A 1x1 convolution gives every cell 3 x p x p coefficients; a query reads the p x p modes at its
    offset from the cell's center, scaled to [-1, 1] over the cell. One trained bandwidth
    s = softplus(raw) serves all cells and images. There is no cutoff of the order.

    Whole images go the "folded" way at integer scales up to `LARGEST_FOLD` and the "separable" way
    at any other; training samples go the separable way; scattered queries have the plain one.
    """

    paths = (FOLDED, SEPARABLE, PLAIN)
    training_path = SEPARABLE
    SETTINGS: ClassVar[tuple[str, ...]] = (
        *QueryDecoder.SETTINGS,
        "modes",
        "bandwidth",
        "coefficient_std",
    )
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

    def scale(self) -> Tensor:
        """Return the bandwidth s as a tensor that follows the raw parameter."""
        return F.softplus(self.raw_bandwidth)

    def bandwidth(self) -> float:
        """Return the one bandwidth of all cells."""
        return self.scale().item()

    def projection(self) -> Tensor:
        """Return weights and, as the last plane, biases of all coefficients: (3, p, p, D + 1)."""
        weight, bias = self.coefficients.parameters()
        joined = torch.cat((weight.flatten(1), bias[:, None]), dim=1)
        return joined.view(COLORS, self.count, self.count, -1)

    def maps(self, features: Tensor, path: str) -> Tensor:
        """Return every cell's coefficients, (B, h w, 3 p p)."""
        return flatten_cells(self.coefficients(features))

    def values(self, maps: Tensor, found: Iterable[Corner], cell: Tensor, path: str) -> Tensor:
        """Contract the coefficients of each corner's cell with the basis at the query's offset."""
        shape = (COLORS, self.count, self.count)
        total: Any = None  # a tensor from the first corner on
        for index, offsets, weight in found:
            own = gather_cells(maps, index).unflatten(-1, shape)
            basis = evaluate_modes(offsets.to(maps.dtype), self.count, self.scale())
            basis = basis.expand(own.shape[0], -1, -1, -1)
            part = torch.einsum("bqcij,bqi,bqj->bqc", own, basis[..., 0, :], basis[..., 1, :])
            part = weight.to(maps.dtype)[..., None] * part
            total = part if total is None else total + part
        return total

    def fastest(self, cells: tuple[int, int], size: tuple[Length, Length]) -> str:
        """Return "folded" at integer scales up to `LARGEST_FOLD`, otherwise "separable"."""
        return FOLDED if self._scale(cells, size) in range(1, LARGEST_FOLD + 1) else SEPARABLE

    @staticmethod
    def _scale(cells: tuple[int, int], size: tuple[Length, Length]) -> int:
        """Return the scale of both axes; 0 unless it is one integer."""
        scale = size[0] // cells[0]
        return scale if size == (scale * cells[0], scale * cells[1]) else 0

    def folded(self, scale: int) -> FoldedKernel:
        """Return the kernel for an integer scale, kept in inference while the weights stand."""
        sources = (*self.coefficients.parameters(), self.raw_bandwidth)
        return self.cache.get(
            f"folded {scale}",
            self.ensemble,
            sources,
            lambda: fold_decoder(self.projection(), self.scale(), scale, self.ensemble),
        )

    def drawing(
        self, features: Tensor, size: tuple[Length, Length], path: str, part: RenderArea
    ) -> tuple[RenderRows, int]:
        """RenderRows rows of the part's columns; on the folded path best by whole rows of cells.

        Raises `ValueError` when the folded path is asked for at a scale that is no integer.
        """
        if path == PLAIN:
            return super().drawing(features, size, path, part)
        if path == SEPARABLE:
            table = (self.projection(), self.scale())

            def draw(top: int, bottom: int) -> Tensor:
                rows = replace(part, rows=(top, bottom))
                return render_separable(features, *table, size, self.ensemble, rows)

            return draw, 1
        scale = self._scale(part.cells, size)
        if not scale:
            raise ValueError(f"no integer scale takes {part.cells} to {size}")
        folded = self.folded(scale)

        def draw_folded(top: int, bottom: int) -> Tensor:
            spans = zip(((top, bottom), part.columns), part.cells, part.origin, strict=True)
            (rows, down), (columns, across) = (
                _find_surrounding_cells(scale, *span) for span in spans
            )
            image = render_folded(features[:, :, rows, columns], folded)
            return image[:, :, down, across]

        return draw_folded, scale

    def sample(self, features: Tensor, sizes: Tensor, pixels: Tensor, path: str) -> Tensor:
        """Decode all pixels of each axis once and pick the chosen ones; plain: query by query.

        All images together pad every cell to the slots of the largest scale of training. On a CPU
        they go in groups that need the same number of slots, which saves a quarter of the work; on
        a GPU that would mean to wait for the sizes, and one batch is best.

        Raises `ValueError` for the folded path, which has no random scales, and for sizes beyond
        the largest scale of training (unless they are on a GPU).
        """
        if path == PLAIN:
            return super().sample(features, sizes, pixels, path)
        if path == FOLDED:
            raise ValueError("the folded path shows whole images only; sample on another one")
        if torch.is_grad_enabled():
            self.cache.clear()  # an optimizer step may follow
        shared = (self.projection(), self.scale())
        if sizes.device.type != "cpu":
            return sample_separable(features, *shared, sizes, pixels, self.slots, self.ensemble)
        cells = torch.tensor(features.shape[-2:])
        needed = ((sizes + cells - 1) // cells).amax(dim=1)
        if needed.max() > self.slots:
            raise ValueError(f"a size in {sizes.tolist()} is beyond {self.slots} times the input's")
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
    """Return where on an axis the cells of some pixels are, and where in them the pixels are.

    There is one more cell on either side: the ensemble reads it, its own half is cut off.
    """
    first = max(pixels[0] // scale - 1, 0)
    last = min(-(-pixels[1] // scale) + 1, cells)
    shown = slice(pixels[0] - first * scale, pixels[1] - first * scale)
    return slice(first - origin, last - origin), shown
