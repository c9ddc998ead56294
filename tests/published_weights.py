"""Random weights under the names that their authors publish, and under ours.

Written from what is known of the published files (names, shapes, order), not from the package: an
entry is a published name, our name of the same values (None: a model computes it) and the shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from gblsr_repro import config as configuration

Entry = tuple[str, str | None, tuple[int, ...]]

SPECTRA = (
    "gblsr_fixed",
    "gblsr_scalar",
    "gblsr_bandwidth",
    "gblsr_full",
    "gblsr_full_linear",
    "gblsr_bandwidth_linear",
    "gblsr_fixed_order",
    "gblsr_scalar_order",
)
NATIVE = (*SPECTRA, "global_fourier_mlp")
FAMILY = ("gblsr_asr", "gblsr_asr_nole", "gblsr_asr_nf48", "gblsr_asr_nf48_nole",
          "gblsr_asr_nf96", "gblsr_asr_nf96_nole")  # fmt: skip
BASELINES = ("liif_rdn", "lte_rdn", "lte_swinir_tail", "liif_edsr", "lte_edsr")
ROWS = (*NATIVE, *FAMILY, *BASELINES)


def layer(theirs: str, ours: str, outputs: int, *inputs: int) -> list[Entry]:
    """A convolution or linear layer with its bias."""
    return [
        (f"{theirs}.weight", f"{ours}.weight", (outputs, *inputs)),
        (f"{theirs}.bias", f"{ours}.bias", (outputs,)),
    ]


# --- the authors of GB-LSR ------------------------------------------------------------------------


def native(name: str, model: dict[str, Any]) -> Iterator[Entry]:
    """An arm of the native benchmark."""
    width, patch, modes, hidden = (model[k] for k in ("features", "patch", "modes", "hidden"))
    stages = patch.bit_length()
    for stage in range(stages):
        conv, norm = 3 * stage, 3 * stage + 1
        place = f"encoder.net.{conv}", f"encoder.layers.{conv}"
        yield from layer(*place, width, width if stage else 3, 3, 3)
        yield from layer(f"encoder.net.{norm}", f"encoder.layers.{norm}", width)
    last = 3 * stages
    yield from layer(f"encoder.net.{last}", f"encoder.layers.{last}", width, width, 3, 3)
    if name == "global_fourier_mlp":
        count = model["fourier_frequencies"]
        yield "decoder.B_freq", "decoder.frequencies", (count, 2)
        widths = [2 * count + width, hidden, hidden, hidden, 3]
        for i in range(4):
            yield from layer(
                f"decoder.mlp.{2 * i}", f"decoder.layers.{i}", widths[i + 1], widths[i]
            )
        return
    yield from layer("decoder.coeff_proj", "decoder.coefficients", 3 * modes**2, width)
    yield from layer("decoder.adaptivity.proj", "decoder.head", 2, width)
    if name.startswith("gblsr_scalar"):
        yield "decoder.global_s_raw", "decoder.raw_bandwidth", ()


def family(width: int, model: dict[str, Any]) -> Iterator[Entry]:
    """A variant of GB-LSR-ASR whose RDN has so many channels."""
    yield from rdn(width, model, "sfe_1", "sfe_2", "rdbs.{}", "dense_layers.{}.conv",
                   "local_feature_fusion", "gff_1x1", "gff_3x3")  # fmt: skip
    modes = 3 * model["modes"] ** 2
    yield from layer("decoder.coeff_proj", "decoder.coefficients", modes, width, 1, 1)
    yield "decoder.log_s_e", "decoder.raw_bandwidth", ()


def rdn(
    width: int,
    model: dict[str, Any],
    shallow: str,
    entry: str,
    block: str,
    dense: str,
    local: str,
    fusion: str,
    last: str,
) -> Iterator[Entry]:
    """RDN with so many channels, and how its layers are published."""
    blocks, layers, growth = (model[f"rdn_{k}"] for k in ("blocks", "layers", "growth"))
    yield from layer(f"encoder.{shallow}", "encoder.shallow", width, 3, 3, 3)
    yield from layer(f"encoder.{entry}", "encoder.entry", width, width, 3, 3)
    for d in range(blocks):
        theirs, ours = f"encoder.{block.format(d)}", f"encoder.blocks.{d}"
        for c in range(layers):
            place = f"{theirs}.{dense.format(c)}", f"{ours}.layers.{c}"
            yield from layer(*place, growth, width + c * growth, 3, 3)
        inputs = width + layers * growth
        yield from layer(f"{theirs}.{local}", f"{ours}.fusion", width, inputs, 1, 1)
    yield from layer(f"encoder.{fusion}", "encoder.fusion", width, blocks * width, 1, 1)
    yield from layer(f"encoder.{last}", "encoder.last", width, width, 3, 3)


# --- LIIF and LTE ---------------------------------------------------------------------------------


def edsr(width: int, blocks: int) -> Iterator[Entry]:
    """EDSR as LIIF and LTE have it: two shifts of the mean that no pass reads come along."""
    for shift in ("sub_mean", "add_mean"):
        yield f"encoder.{shift}.weight", None, (3, 3, 1, 1)
        yield f"encoder.{shift}.bias", None, (3,)
    yield from layer("encoder.head.0", "encoder.first", width, 3, 3, 3)
    for b in range(blocks):
        for position, ours in ((0, "enter"), (2, "leave")):
            place = f"encoder.body.{b}.body.{position}", f"encoder.blocks.{b}.{ours}"
            yield from layer(*place, width, width, 3, 3)
    yield from layer(f"encoder.body.{blocks}", "encoder.last", width, width, 3, 3)


def swinir(model: dict[str, Any], tail: int) -> Iterator[Entry]:
    """SwinIR as LTE has it, with the convolution that narrows its map."""
    width, heads, window = (model[f"swinir_{k}"] for k in ("embed", "heads", "window"))
    depths, ratio = model["swinir_depths"], model["swinir_mlp_ratio"]
    yield from layer("encoder.conv_first", "encoder.first", width, 3, 3, 3)
    yield from layer("encoder.patch_embed.norm", "encoder.embed_norm", width)
    for g, depth in enumerate(depths):
        for n in range(depth):
            theirs = f"encoder.layers.{g}.residual_group.blocks.{n}"
            ours = f"encoder.groups.{g}.layers.{n}"
            if n % 2:
                yield f"{theirs}.attn_mask", None, (36, window**2, window**2)
            yield from layer(f"{theirs}.norm1", f"{ours}.attention_norm", width)
            table = f"{theirs}.attn.relative_position_bias_table"
            yield table, f"{ours}.attention.position_bias", ((2 * window - 1) ** 2, heads)
            yield f"{theirs}.attn.relative_position_index", None, (window**2, window**2)
            yield from layer(f"{theirs}.attn.qkv", f"{ours}.attention.qkv", 3 * width, width)
            yield from layer(f"{theirs}.attn.proj", f"{ours}.attention.project", width, width)
            yield from layer(f"{theirs}.norm2", f"{ours}.perceptron_norm", width)
            yield from layer(f"{theirs}.mlp.fc1", f"{ours}.perceptron.0", ratio * width, width)
            yield from layer(f"{theirs}.mlp.fc2", f"{ours}.perceptron.2", width, ratio * width)
        yield from layer(f"encoder.layers.{g}.conv", f"encoder.groups.{g}.conv", width, width, 3, 3)
    yield from layer("encoder.norm", "encoder.norm", width)
    yield from layer("encoder.conv_after_body", "encoder.last", width, width, 3, 3)
    yield from layer("encoder.conv_before_upsample.0", "encoder.tail", tail, width, 3, 3)


def perceptron(inputs: int, hidden: int, depth: int) -> Iterator[Entry]:
    """The layers of imnet."""
    for i in range(depth):
        place = f"imnet.layers.{2 * i}", f"decoder.hidden.{i}"
        yield from layer(*place, hidden, hidden if i else inputs)
    yield from layer(f"imnet.layers.{2 * depth}", "decoder.last", 3, hidden)


def baseline(name: str, model: dict[str, Any]) -> Iterator[Entry]:
    """A method of LIIF or LTE."""
    decoder, encoder = name.split("_")[:2]
    width = {"rdn": model["rdn_features"], "swinir": 64, "edsr": 64}[encoder]
    names = ("SFENet1", "SFENet2", "RDBs.{}", "convs.{}.conv.0", "LFF", "GFF.0", "GFF.1")
    parts = {
        "rdn": rdn(width, model, *names),
        "swinir": swinir(model, width),
        "edsr": edsr(width, 16),
    }
    yield from parts[encoder]
    hidden = model["hidden"]
    if decoder == "liif":
        yield from perceptron(9 * width + 4, hidden, 4)
        return
    yield from layer("coef", "decoder.amplitude", hidden, width, 3, 3)
    yield from layer("freq", "decoder.frequency", hidden, width, 3, 3)
    yield "phase.weight", "decoder.phase.weight", (hidden // 2, 2)
    yield from perceptron(hidden, hidden, 3)


def entries(name: str, settings: configuration.Config) -> list[Entry]:
    """All tensors of a published row, at the sizes of a config."""
    if name in NATIVE:
        return [*native(name, settings["native"]["model"])]
    model = settings["asr"]["model"]
    if name in FAMILY:
        narrow = next((int(n) for n in ("48", "96") if f"nf{n}" in name), model["rdn_features"])
        return [*family(narrow, model)]
    return [*baseline(name, model)]


# --- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Weights:
    """Random values of a row, under the published names and under ours."""

    theirs: dict[str, Tensor]
    ours: dict[str, Tensor]


def interleaved(ours: Tensor) -> Tensor:
    """LTE's order of channels: y, x, y, x, where ours are all y, then all x."""
    half = len(ours) // 2
    return torch.stack((ours[:half], ours[half:]), dim=1).flatten(0, 1)


def weights(name: str, settings: configuration.Config, seed: int = 0) -> Weights:
    """Draw the values of a row; outputs of an adaptivity head that it does not use are zero."""
    generator = torch.Generator().manual_seed(seed)
    theirs, ours = {}, {}
    for published, here, shape in entries(name, settings):
        values = 0.1 * torch.randn(shape, generator=generator)
        if here and here.startswith("decoder.head"):
            values[0] *= "bandwidth" in name or "full" in name
            values[1] *= "full" in name or "order" in name
        if here:
            ours[here] = values
        frequency = here is not None and here.startswith("decoder.frequency.")
        theirs[published] = interleaved(values) if frequency else values
    return Weights(theirs, ours)


def write_safetensors(folder: Path, tensors: dict[str, Tensor]) -> Path:
    """Write model.safetensors as the format's own package does."""
    folder.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(tensors, folder / "model.safetensors")
    return folder / "model.safetensors"


def write_checkpoint(
    path: Path, name: str, tensors: dict[str, Tensor], zipped: bool = True
) -> Path:
    """Write what a trainer saves: that of GB-LSR, or that of LIIF and LTE."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if name in BASELINES:
        decoder, encoder = name.split("_")[:2]
        spec = {"encoder_spec": {"name": encoder, "args": {"no_upsampling": True}}}
        model = {"name": decoder, "args": spec, "sd": tensors}
        optimizer = {"name": "adam", "args": {"lr": 1e-4}, "sd": {"state": {}, "param_groups": []}}
        content = {"model": model, "optimizer": optimizer, "epoch": 1000}
    else:
        content = {"state_dict": tensors, "seed": 0, "config": {"seed": 0, "data": {"seed": 7}}}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return path
