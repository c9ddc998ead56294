"""Settings of arbitrary-scale super-resolution."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .types import (
    Border,
    Column,
    Columns,
    Count,
    Names,
    Pair,
    Positive,
    Rising,
    Scale,
    Scales,
    Section,
    Share,
    Text,
    describe,
)


class ASRModelSettings(Section):
    """Sizes of the encoders and decoders."""

    rdn_features: Count = describe("channels of RDN")
    rdn_blocks: Count = describe("residual dense blocks of RDN")
    rdn_layers: Count = describe("layers of a block of RDN")
    rdn_growth: Count = describe("channels that a layer of RDN adds")
    swinir_embed: Count = describe("channels of SwinIR")
    swinir_depths: Annotated[list[Count], Field(min_length=1)] = describe(
        "layers of every group of SwinIR"
    )
    swinir_heads: Count = describe("attention heads of SwinIR")
    swinir_window: Count = describe("side of SwinIR's attention window")
    swinir_mlp_ratio: Count = describe("width of SwinIR's perceptrons over its channels")
    swinir_drop_path: float = describe("stochastic depth of SwinIR's last layer", ge=0, le=0.9)
    hidden: int = describe("width of the decoders' linear layers", ge=2)
    modes: Count = describe("cosine modes per axis of the spectral decoder")
    bandwidth: Positive = describe("initial bandwidth of the spectral decoder")
    coefficient_std: Positive = describe("standard deviation of the coefficients' initial weights")


class Recipe(Section):
    """Training settings that differ between encoders."""

    batch_size: Count = describe("patches per step")
    learning_rate: Positive = describe("learning rate of Adam at the start")
    halve_at: list[Share] = describe("shares of the steps after which the rate is halved")


class ASRTrainingSettings(Section):
    """How every method is trained."""

    steps: Count = describe("optimizer steps")
    lr_patch: Count = describe("side of a low-resolution patch")
    queries: Count = describe("pixels sampled from every patch")
    scale_range: Annotated[list[Annotated[float, Field(ge=1)]], Pair, Rising] = describe(
        "lowest and highest sampled scale"
    )
    precision: Literal["default", "strict", "bf16"] = describe(
        "as native.training.precision, or the encoder in bfloat16"
    )
    checkpoint_every: Count = describe("steps between saved states")
    log_every: Count = describe("steps between rows of the log")
    validate_every: Count = describe("steps between points of the validation curve")
    validation_images: Count = describe("images of a point, of the first column of asr.evaluate")
    validation_scale: Scale = describe("scale of a point")
    recipes: dict[Column, Recipe] = describe("recipes by name; rows of methods.tsv name them")


class ASRTimingSettings(Section):
    """The timing of super-resolution."""

    scale: Scale = describe("scale that is timed")
    datasets: Names = describe("columns of asr.evaluate, or data sets, that are timed")
    images_per_set: Count | None = describe("images timed per set; null: all", default=None)
    size_divisor: Count = describe("times images this much smaller on both sides", default=1)


class ASR(Section):
    """Arbitrary-scale super-resolution."""

    methods: Names = describe("methods to run: rows of methods.tsv")
    base_method: Column = describe("the method that the variants are compared with")
    train: Names = describe("training sets, in this order")
    evaluate: Columns[Column] = describe("evaluation sets: column of the tables to data set")
    exemplars: dict[Column, Text] = describe(
        "by data set: the image that the page compares at the highest trained scale and at the "
        "highest of all; left out: the set's first",
        default={},
    )
    scales: Scales = describe("scales that are evaluated")
    trained_scales: Scales = describe("those of them within the range of training")
    downsampling: Literal["matlab", "pil"] = describe(
        "bicubic reduction to low resolution: MATLAB's or Pillow's"
    )
    shave_extra: dict[Column, Border] = describe(
        "by column: border pixels left out beyond the scale", default={}
    )
    tile_pixels: Count = describe("output pixels rendered at once; changes memory, not values")
    model: ASRModelSettings
    training: ASRTrainingSettings
    timing: ASRTimingSettings
