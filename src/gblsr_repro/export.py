"""Export a super-resolution model as an ONNX file, for runtimes without Python or torch.

At an integer scale the GB-LSR decoder is one convolution and a pixel shuffle (see
`models.asr.rendering.FoldedKernel`), so that a model whose encoder is made of convolutions alone
becomes a plain convolutional network. The file takes images of any size, without the mirror image
that `inference.upscale` adds to small ones: input "image", float32 (B, 3, h, w), RGB in [0, 1];
output "enlarged", (B, 3, s h, s w), not clamped.
"""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .errors import UserError
from .files import try_writing, write_atomically
from .models.asr.local_spectral import GBLSR
from .models.asr.model import ASRModel
from .models.asr.rdn import RDN
from .models.asr.rendering import fold_decoder
from .models.base import COLORS, PLAIN
from .runs import load_run

OPSET = 17
INPUT, OUTPUT = "image", "enlarged"
TRACED_SIZE = (16, 16)  # the size that is traced; the file takes any


class FoldedModel(nn.Module):
    """Enlarge images of any size by encoder, folded kernel and pixel shuffle, which ONNX has.

    The kernel reads the features and, for its biases, a plane of ones. Beyond the image's border
    both are zero, so a border pixel gets only the weights of the taps inside; what these sum to is
    computed in the same way, and divided by. Inside the image that is 1.
    """

    kernel: Tensor
    shares: Tensor | None

    def __init__(self, model: ASRModel, decoder: GBLSR, scale: int) -> None:
        super().__init__()
        self.encoder = model.encoder
        self.prepare_images, self.restore_colors = model.prepare_images, model.restore_colors
        self.scale = scale
        with torch.no_grad():
            folded = decoder.fold(scale)
        self.register_buffer("kernel", torch.cat((folded.kernel, folded.bias), dim=1))
        self.register_buffer("shares", _compute_shares(scale) if decoder.ensemble else None)

    def forward(self, images: Tensor) -> Tensor:
        """Enlarge images (B, 3, h, w) in [0, 1] to (B, 3, s h, s w)."""
        features = self.encoder(self.prepare_images(images), PLAIN)
        ones = torch.ones_like(features[:, :1])
        cells = torch.cat((features, ones), dim=1)
        if self.shares is None:
            return self.restore_colors(F.pixel_shuffle(F.conv2d(cells, self.kernel), self.scale))
        image = F.pixel_shuffle(F.conv2d(cells, self.kernel, padding=1), self.scale)
        share = F.pixel_shuffle(F.conv2d(ones, self.shares, padding=1), self.scale)
        before, after = -(-self.scale // 2), self.scale // 2  # half a cell beyond each border
        inside = slice(before, -after or None)
        return self.restore_colors((image / share)[..., inside, inside])


def _compute_shares(scale: int) -> Tensor:
    """Return the hat weights of the taps as a kernel (s^2, 1, 2, 2), ordered as `FoldedKernel`.

    They are what one mode, which is 1 everywhere, is multiplied by.
    """
    one = torch.ones(1, 1, 1, 1)
    return fold_decoder(one, one.sum(), scale, ensemble=True).bias


def export(model: Path, scale: int, output: Path, overwrite: bool = False) -> None:
    """Write the model of a run folder or weights file for one integer scale as ONNX.

    Raises `UserError` as `load_run` does, for a scale below 1, for a model that is not convolutions
    and a pixel shuffle, for a name that does not end in .onnx, for a file that exists unless
    `overwrite` is set, and where the package onnx is not installed.
    """
    if scale < 1:
        raise UserError(f"The scale is {scale}, but must be a whole number above 0.")
    loaded = load_run(model, ASRModel)
    encoder, decoder = loaded.encoder, loaded.decoder
    if not isinstance(encoder, RDN) or not isinstance(decoder, GBLSR):
        part = decoder if isinstance(encoder, RDN) else encoder
        raise UserError(
            f"{type(part).__name__} is not made of convolutions and a pixel shuffle alone; "
            "export a GB-LSR method with an RDN encoder."
        )
    if output.suffix.lower() != ".onnx":
        raise UserError(f"{output} does not end in .onnx; give it that ending.")
    if os.path.lexists(output) and not overwrite:
        raise UserError(
            f"{output} exists already; add --overwrite to replace it, or name another output."
        )
    try_writing(output)
    if find_spec("onnx") is None:
        raise UserError(
            "The package onnx is not installed; install it with pip install -e '.[export]' in "
            "the checkout."
        )
    axes = {0: "images", 2: "height", 3: "width"}
    with (
        write_atomically(os.path.realpath(output)) as temporary,
        warnings.catch_warnings(),
        torch.no_grad(),
    ):
        # The exporter by tracing: the newer one needs a third package, for the same graph.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            FoldedModel(loaded, decoder, scale).eval(),
            (torch.zeros(1, COLORS, *TRACED_SIZE),),
            temporary,
            opset_version=OPSET,
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_axes={INPUT: axes, OUTPUT: {0: "images", 2: "rows", 3: "columns"}},
            dynamo=False,
        )
