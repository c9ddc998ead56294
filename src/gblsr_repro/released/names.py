"""Rename the tensors of published checkpoints of GB-LSR, LIIF and LTE to our names.

The values are the same except for LTE's frequencies, whose channels alternate between y and x: here
all channels along y precede those along x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from ..models.asr.lte import LTE
from ..models.base import Model

LAYER = r"encoder\.layers\.(\d+)\.residual_group\.blocks\.(\d+)\."
OUR_LAYER = r"encoder.groups.\1.layers.\2."
# How a published name begins, and our name in its place; None for tensors that models compute.
RENAMINGS: tuple[tuple[str, str | None], ...] = (
    # GB-LSR
    (r"encoder\.net\.", "encoder.layers."),
    (r"encoder\.sfe_1\.", "encoder.shallow."),
    (r"encoder\.sfe_2\.", "encoder.entry."),
    (r"encoder\.rdbs\.(\d+)\.dense_layers\.(\d+)\.conv\.", r"encoder.blocks.\1.layers.\2."),
    (r"encoder\.rdbs\.(\d+)\.local_feature_fusion\.", r"encoder.blocks.\1.fusion."),
    (r"encoder\.gff_1x1\.", "encoder.fusion."),
    (r"encoder\.gff_3x3\.", "encoder.last."),
    (r"decoder\.coeff_proj\.", "decoder.coefficients."),
    (r"decoder\.adaptivity\.proj\.", "decoder.head."),
    (r"decoder\.global_s_raw$", "decoder.raw_bandwidth"),
    (r"decoder\.log_s_e$", "decoder.raw_bandwidth"),  # softplus of it, whatever its name says
    (r"decoder\.B_freq$", "decoder.frequencies"),
    (r"decoder\.mlp\.0\.", "decoder.layers.0."),
    (r"decoder\.mlp\.2\.", "decoder.layers.1."),
    (r"decoder\.mlp\.4\.", "decoder.layers.2."),
    (r"decoder\.mlp\.6\.", "decoder.layers.3."),
    # RDN of LIIF and LTE
    (r"encoder\.SFENet1\.", "encoder.shallow."),
    (r"encoder\.SFENet2\.", "encoder.entry."),
    (r"encoder\.RDBs\.(\d+)\.convs\.(\d+)\.conv\.0\.", r"encoder.blocks.\1.layers.\2."),
    (r"encoder\.RDBs\.(\d+)\.LFF\.", r"encoder.blocks.\1.fusion."),
    (r"encoder\.GFF\.0\.", "encoder.fusion."),
    (r"encoder\.GFF\.1\.", "encoder.last."),
    # EDSR
    (r"encoder\.head\.0\.", "encoder.first."),
    (r"encoder\.body\.(\d+)\.body\.0\.", r"encoder.blocks.\1.enter."),
    (r"encoder\.body\.(\d+)\.body\.2\.", r"encoder.blocks.\1.leave."),
    (r"encoder\.body\.\d+\.", "encoder.last."),
    (r"encoder\.(sub|add)_mean\.", None),  # constants that no pass reads
    # SwinIR
    (r"encoder\.conv_first\.", "encoder.first."),
    (r"encoder\.patch_embed\.norm\.", "encoder.embed_norm."),
    (rf"{LAYER}norm1\.", f"{OUR_LAYER}attention_norm."),
    (rf"{LAYER}norm2\.", f"{OUR_LAYER}perceptron_norm."),
    (rf"{LAYER}attn\.qkv\.", f"{OUR_LAYER}attention.qkv."),
    (rf"{LAYER}attn\.proj\.", f"{OUR_LAYER}attention.project."),
    (rf"{LAYER}attn\.relative_position_bias_table$", f"{OUR_LAYER}attention.position_bias"),
    (rf"{LAYER}attn\.relative_position_index$", None),
    (rf"{LAYER}attn_mask$", None),
    (rf"{LAYER}mlp\.fc1\.", f"{OUR_LAYER}perceptron.0."),
    (rf"{LAYER}mlp\.fc2\.", f"{OUR_LAYER}perceptron.2."),
    (r"encoder\.layers\.(\d+)\.conv\.", r"encoder.groups.\1.conv."),
    (r"encoder\.conv_after_body\.", "encoder.last."),
    (r"encoder\.conv_before_upsample\.0\.", "encoder.tail."),
    # the decoders of LIIF and LTE
    (r"coef\.", "decoder.amplitude."),
    (r"freq\.", "decoder.frequency."),
    (r"phase\.", "decoder.phase."),
    (r"imnet\.layers\.0\.", "decoder.hidden.0."),
    (r"imnet\.layers\.2\.", "decoder.hidden.1."),
    (r"imnet\.layers\.4\.", "decoder.hidden.2."),
    (r"imnet\.layers\.6\.", "decoder.hidden.3."),
    (r"imnet\.layers\.8\.", "decoder.last."),
)
# LTE's perceptron has a layer less than LIIF's.
LTE_RENAMINGS = ((r"imnet\.layers\.6\.", "decoder.last."), *RENAMINGS)
INTERLEAVED = ("freq.weight", "freq.bias")


def rename_tensors(tensors: Mapping[str, Tensor], model: Model) -> dict[str, Tensor]:
    """Rename published tensors to the names of a model; other names are kept."""
    renamings = LTE_RENAMINGS if isinstance(model.decoder, LTE) else RENAMINGS
    renamed = {}
    for name, tensor in tensors.items():
        ours = _rename(name, renamings)
        if ours is not None:
            renamed[ours] = halve_pairs(tensor) if name in INTERLEAVED else tensor
    return renamed


def _rename(name: str, renamings: tuple[tuple[str, str | None], ...]) -> str | None:
    """Rename by the first renaming that matches; None if models compute the tensor."""
    for theirs, ours in renamings:
        if match := re.match(theirs, name):
            return None if ours is None else match.expand(ours) + name[match.end() :]
    return name


def halve_pairs(frequency: Tensor) -> Tensor:
    """Put the even channels, frequencies along y, before the odd ones, along x."""
    return torch.cat((frequency[0::2], frequency[1::2]))
