"""Translate the tensor names of published checkpoints into ours.

The authors of GB-LSR (both benchmarks), of LIIF, of LTE, and this project have a naming each; a
file follows one of them. The values are the same except for LTE's frequencies, whose channels
alternate between y and x: here all channels along y precede those along x.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..errors import UserError

Rule = tuple[str, str | None]
"""A pattern of a complete name, and our name for it; None for tensors that models compute."""


@dataclass(frozen=True, eq=False)
class Naming:
    """The tensor names of a project, and the authors and license of its released weights."""

    project: str
    by: str
    license: str | None
    rules: tuple[Rule, ...]
    conversions: Mapping[str, Callable[[Tensor], Tensor]] = field(default_factory=dict)

    def rename(self, name: str) -> str | None:
        """Translate a name into ours: "" if models compute the tensor, None if no rule matches."""
        for pattern, ours in self.rules:
            if match := re.fullmatch(pattern, name):
                return "" if ours is None else match.expand(ours)
        return None


def _number_layers(theirs: str, ours: str, count: int) -> list[Rule]:
    """List the rules for linear layers between activations, which have every second number."""
    return [(rf"{theirs}\.{2 * i}\.(\w+)", rf"{ours}.{i}.\1") for i in range(count)]


def halve_pairs(frequency: Tensor) -> Tensor:
    """Put the even channels, frequencies along y, before the odd ones, along x."""
    return torch.cat((frequency[0::2], frequency[1::2]))


# --- the authors of GB-LSR ------------------------------------------------------------------------

GBLSR_NATIVE: tuple[Rule, ...] = (
    (r"encoder\.net\.(\d+)\.(\w+)", r"encoder.layers.\1.\2"),
    (r"decoder\.coeff_proj\.(\w+)", r"decoder.coefficients.\1"),
    (r"decoder\.adaptivity\.proj\.(\w+)", r"decoder.head.\1"),
    (r"decoder\.global_s_raw", "decoder.raw_bandwidth"),
    (r"decoder\.B_freq", "decoder.frequencies"),
    *_number_layers(r"decoder\.mlp", "decoder.layers", 4),
)
GBLSR_ASR: tuple[Rule, ...] = (
    (r"encoder\.sfe_1\.(\w+)", r"encoder.shallow.\1"),
    (r"encoder\.sfe_2\.(\w+)", r"encoder.entry.\1"),
    (
        r"encoder\.rdbs\.(\d+)\.dense_layers\.(\d+)\.conv\.(\w+)",
        r"encoder.blocks.\1.layers.\2.\3",
    ),
    (r"encoder\.rdbs\.(\d+)\.local_feature_fusion\.(\w+)", r"encoder.blocks.\1.fusion.\2"),
    (r"encoder\.gff_1x1\.(\w+)", r"encoder.fusion.\1"),
    (r"encoder\.gff_3x3\.(\w+)", r"encoder.last.\1"),
    (r"decoder\.log_s_e", "decoder.raw_bandwidth"),  # softplus of it, whatever its name says
)

# --- LIIF and LTE ---------------------------------------------------------------------------------

RDN: tuple[Rule, ...] = (
    (r"encoder\.SFENet1\.(\w+)", r"encoder.shallow.\1"),
    (r"encoder\.SFENet2\.(\w+)", r"encoder.entry.\1"),
    (r"encoder\.RDBs\.(\d+)\.convs\.(\d+)\.conv\.0\.(\w+)", r"encoder.blocks.\1.layers.\2.\3"),
    (r"encoder\.RDBs\.(\d+)\.LFF\.(\w+)", r"encoder.blocks.\1.fusion.\2"),
    (r"encoder\.GFF\.0\.(\w+)", r"encoder.fusion.\1"),
    (r"encoder\.GFF\.1\.(\w+)", r"encoder.last.\1"),
)
EDSR: tuple[Rule, ...] = (
    (r"encoder\.head\.0\.(\w+)", r"encoder.first.\1"),
    (r"encoder\.body\.(\d+)\.body\.0\.(\w+)", r"encoder.blocks.\1.enter.\2"),
    (r"encoder\.body\.(\d+)\.body\.2\.(\w+)", r"encoder.blocks.\1.leave.\2"),
    (r"encoder\.body\.\d+\.(weight|bias)", r"encoder.last.\1"),
    (r"encoder\.(sub|add)_mean\.(weight|bias)", None),  # constants that no pass reads
)
SWINIR_LAYER = r"encoder\.layers\.(\d+)\.residual_group\.blocks\.(\d+)"
OUR_LAYER = r"encoder.groups.\1.layers.\2"
SWINIR: tuple[Rule, ...] = (
    (r"encoder\.conv_first\.(\w+)", r"encoder.first.\1"),
    (r"encoder\.patch_embed\.norm\.(\w+)", r"encoder.embed_norm.\1"),
    (rf"{SWINIR_LAYER}\.norm1\.(\w+)", rf"{OUR_LAYER}.attention_norm.\3"),
    (rf"{SWINIR_LAYER}\.norm2\.(\w+)", rf"{OUR_LAYER}.perceptron_norm.\3"),
    (rf"{SWINIR_LAYER}\.attn\.qkv\.(\w+)", rf"{OUR_LAYER}.attention.qkv.\3"),
    (rf"{SWINIR_LAYER}\.attn\.proj\.(\w+)", rf"{OUR_LAYER}.attention.project.\3"),
    (
        rf"{SWINIR_LAYER}\.attn\.relative_position_bias_table",
        rf"{OUR_LAYER}.attention.position_bias",
    ),
    (rf"{SWINIR_LAYER}\.mlp\.fc1\.(\w+)", rf"{OUR_LAYER}.perceptron.0.\3"),
    (rf"{SWINIR_LAYER}\.mlp\.fc2\.(\w+)", rf"{OUR_LAYER}.perceptron.2.\3"),
    (rf"{SWINIR_LAYER}\.(attn\.relative_position_index|attn_mask)", None),
    (r"encoder\.layers\.(\d+)\.conv\.(\w+)", r"encoder.groups.\1.conv.\2"),
    (r"encoder\.norm\.(\w+)", r"encoder.norm.\1"),
    (r"encoder\.conv_after_body\.(\w+)", r"encoder.last.\1"),
    (r"encoder\.conv_before_upsample\.0\.(\w+)", r"encoder.tail.\1"),
)
LIIF_DECODER: tuple[Rule, ...] = (
    *_number_layers(r"imnet\.layers", "decoder.hidden", 4),
    (r"imnet\.layers\.8\.(\w+)", r"decoder.last.\1"),
)
LTE_DECODER: tuple[Rule, ...] = (
    (r"coef\.(\w+)", r"decoder.amplitude.\1"),
    (r"freq\.(\w+)", r"decoder.frequency.\1"),
    (r"phase\.weight", r"decoder.phase.weight"),
    *_number_layers(r"imnet\.layers", "decoder.hidden", 3),
    (r"imnet\.layers\.6\.(\w+)", r"decoder.last.\1"),
)

NAMINGS = (
    Naming("GB-LSR", "the authors of GB-LSR", "CC-BY-NC-4.0", (*GBLSR_NATIVE, *GBLSR_ASR)),
    Naming("LIIF", "the authors of LIIF", "BSD-3-Clause", (*RDN, *EDSR, *SWINIR, *LIIF_DECODER)),
    Naming(
        "LTE",
        "the authors of LTE",
        "BSD-3-Clause",
        (*RDN, *EDSR, *SWINIR, *LTE_DECODER),
        dict.fromkeys(("decoder.frequency.weight", "decoder.frequency.bias"), halve_pairs),
    ),
)
OURS = Naming(
    "gblsr-repro",
    "this project",
    None,
    (
        (r"decoder\.spread_rate\.(\d+)", r"decoder.gabor_scale.\1"),  # WIRE's name of it until 2026
        (r"(.+)", r"\1"),
    ),
)


def find_naming(names: Iterable[str], place: str) -> Naming:
    """Find the naming that has all names; `UserError` about a name that none has."""
    strangers = {
        naming: [name for name in names if naming.rename(name) is None] for naming in NAMINGS
    }
    nearest = min(NAMINGS, key=lambda naming: len(strangers[naming]))
    if strangers[nearest]:
        raise UserError(
            f"{place} has a tensor {strangers[nearest][0]!r}, which is no name that GB-LSR, LIIF "
            "or LTE publish; name a file of weights of one of them."
        )
    return nearest


def rename_all(tensors: Mapping[str, Tensor], naming: Naming, place: str) -> dict[str, Tensor]:
    """Rename tensors to our names and convert their values; `UserError` if two get one name."""
    renamed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        ours = naming.rename(name)
        if not ours:
            continue
        if ours in renamed:
            raise UserError(f"{place} has two tensors for {ours!r}; get it again.")
        convert = naming.conversions.get(ours)
        renamed[ours] = convert(tensor) if convert else tensor
    return renamed
