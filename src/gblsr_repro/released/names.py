"""Translate the tensor names of published checkpoints into ours, and back.

The authors of GB-LSR, of LIIF and of LTE have a naming for each of their encoders, and this project
has one; a file follows one of them. The values are the same except for LTE's frequencies, whose
channels alternate between y and x: here all channels along y precede those along x.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor

from ..errors import UserError

Renaming = tuple[str, str | None]
"""A published name and ours; None for tensors that models compute.

A `*` is one part of a name between dots, the same in both names; a `#` one that ours lacks.
"""


@dataclass(frozen=True, eq=False)
class Naming:
    """Names of tensors, and who released weights under them with which license."""

    by: str
    license: str | None
    renamings: tuple[Renaming, ...]
    conversions: Mapping[str, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    keeps_others: bool = False  # names without a renaming are ours already

    def rename(self, name: str) -> str | None:
        """Translate a name into ours: "" if models compute the tensor, None if it has none."""
        for theirs, ours in self.renamings:
            parts = _match(theirs, name)
            if parts is not None:
                return "" if ours is None else _fill(ours, parts)
        return name if self.keeps_others else None

    def restore(self, name: str) -> str:
        """Translate our name into the published one; our name where it has none."""
        for theirs, ours in self.renamings:
            parts = None if ours is None else _match(ours, name)
            if parts is not None:
                return _fill(theirs, parts)
        return name


def _match(pattern: str, name: str) -> list[str] | None:
    """Return the parts of a name at the `*` of a pattern; None if it does not match."""
    match = _compile(pattern).fullmatch(name)
    return None if match is None else [*match.groups()]


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with `*` and `#` into a regular expression."""
    escaped = re.escape(pattern)
    return re.compile(escaped.replace(r"\*", r"([^.]+)").replace(r"\#", r"[^.]+"))


def _fill(pattern: str, parts: Iterable[str]) -> str:
    """Put parts of a name in place of the `*` of a pattern."""
    for part in parts:
        pattern = pattern.replace("*", part, 1)
    return pattern


def _number_layers(theirs: str, ours: str, count: int) -> list[Renaming]:
    """List the renamings of linear layers between activations, which have every second number."""
    return [(f"{theirs}.{2 * i}.*", f"{ours}.{i}.*") for i in range(count)]


def halve_pairs(frequency: Tensor) -> Tensor:
    """Put the even channels, frequencies along y, before the odd ones, along x."""
    return torch.cat((frequency[0::2], frequency[1::2]))


# --- the authors of GB-LSR ------------------------------------------------------------------------

GBLSR_NATIVE: tuple[Renaming, ...] = (
    ("encoder.net.*.*", "encoder.layers.*.*"),
    ("decoder.coeff_proj.*", "decoder.coefficients.*"),
    ("decoder.adaptivity.proj.*", "decoder.head.*"),
    ("decoder.global_s_raw", "decoder.raw_bandwidth"),
    ("decoder.B_freq", "decoder.frequencies"),
    *_number_layers("decoder.mlp", "decoder.layers", 4),
)
GBLSR_ASR: tuple[Renaming, ...] = (
    ("encoder.sfe_1.*", "encoder.shallow.*"),
    ("encoder.sfe_2.*", "encoder.entry.*"),
    ("encoder.rdbs.*.dense_layers.*.conv.*", "encoder.blocks.*.layers.*.*"),
    ("encoder.rdbs.*.local_feature_fusion.*", "encoder.blocks.*.fusion.*"),
    ("encoder.gff_1x1.*", "encoder.fusion.*"),
    ("encoder.gff_3x3.*", "encoder.last.*"),
    ("decoder.coeff_proj.*", "decoder.coefficients.*"),
    ("decoder.log_s_e", "decoder.raw_bandwidth"),  # softplus of it, whatever its name says
)

# --- LIIF and LTE ---------------------------------------------------------------------------------

RDN: tuple[Renaming, ...] = (
    ("encoder.SFENet1.*", "encoder.shallow.*"),
    ("encoder.SFENet2.*", "encoder.entry.*"),
    ("encoder.RDBs.*.convs.*.conv.0.*", "encoder.blocks.*.layers.*.*"),
    ("encoder.RDBs.*.LFF.*", "encoder.blocks.*.fusion.*"),
    ("encoder.GFF.0.*", "encoder.fusion.*"),
    ("encoder.GFF.1.*", "encoder.last.*"),
)
EDSR: tuple[Renaming, ...] = (
    ("encoder.head.0.*", "encoder.first.*"),
    ("encoder.body.*.body.0.*", "encoder.blocks.*.enter.*"),
    ("encoder.body.*.body.2.*", "encoder.blocks.*.leave.*"),
    ("encoder.body.#.*", "encoder.last.*"),
    ("encoder.sub_mean.*", None),  # constants that no pass reads
    ("encoder.add_mean.*", None),
)
LAYER = "encoder.layers.*.residual_group.blocks.*"
OUR_LAYER = "encoder.groups.*.layers.*"
SWINIR: tuple[Renaming, ...] = (
    ("encoder.conv_first.*", "encoder.first.*"),
    ("encoder.patch_embed.norm.*", "encoder.embed_norm.*"),
    (f"{LAYER}.norm1.*", f"{OUR_LAYER}.attention_norm.*"),
    (f"{LAYER}.norm2.*", f"{OUR_LAYER}.perceptron_norm.*"),
    (f"{LAYER}.attn.qkv.*", f"{OUR_LAYER}.attention.qkv.*"),
    (f"{LAYER}.attn.proj.*", f"{OUR_LAYER}.attention.project.*"),
    (f"{LAYER}.attn.relative_position_bias_table", f"{OUR_LAYER}.attention.position_bias"),
    (f"{LAYER}.attn.relative_position_index", None),
    (f"{LAYER}.attn_mask", None),
    (f"{LAYER}.mlp.fc1.*", f"{OUR_LAYER}.perceptron.0.*"),
    (f"{LAYER}.mlp.fc2.*", f"{OUR_LAYER}.perceptron.2.*"),
    ("encoder.layers.*.conv.*", "encoder.groups.*.conv.*"),
    ("encoder.norm.*", "encoder.norm.*"),
    ("encoder.conv_after_body.*", "encoder.last.*"),
    ("encoder.conv_before_upsample.0.*", "encoder.tail.*"),
)
LIIF_DECODER: tuple[Renaming, ...] = (
    *_number_layers("imnet.layers", "decoder.hidden", 4),
    ("imnet.layers.8.*", "decoder.last.*"),
)
LTE_DECODER: tuple[Renaming, ...] = (
    ("coef.*", "decoder.amplitude.*"),
    ("freq.*", "decoder.frequency.*"),
    ("phase.weight", "decoder.phase.weight"),
    *_number_layers("imnet.layers", "decoder.hidden", 3),
    ("imnet.layers.6.*", "decoder.last.*"),
)
HALVED = dict.fromkeys(("decoder.frequency.weight", "decoder.frequency.bias"), halve_pairs)

NAMINGS = (
    Naming("the authors of GB-LSR", "CC-BY-NC-4.0", GBLSR_NATIVE),
    Naming("the authors of GB-LSR", "CC-BY-NC-4.0", GBLSR_ASR),
    *(
        Naming(f"the authors of {name}", "BSD-3-Clause", (*encoder, *decoder), conversions)
        for name, decoder, conversions in (("LIIF", LIIF_DECODER, {}), ("LTE", LTE_DECODER, HALVED))
        for encoder in (RDN, EDSR, SWINIR)
    ),
)
OURS = Naming(
    "this project",
    None,
    (("decoder.spread_rate.*", "decoder.gabor_scale.*"),),  # WIRE's name of it until 2026
    keeps_others=True,
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
            raise UserError(f"{place} has two tensors of the role of {name!r}; get it again.")
        convert = naming.conversions.get(ours)
        renamed[ours] = convert(tensor) if convert else tensor
    return renamed
