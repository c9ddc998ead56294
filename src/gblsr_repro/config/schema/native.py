"""Settings of the native benchmark."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .types import (
    Border,
    Column,
    Columns,
    Count,
    EvaluationColumn,
    Names,
    NotNegative,
    Odd,
    OptionalEntries,
    Pair,
    Positive,
    Rising,
    Section,
    Seed,
    Share,
    Text,
    describe,
)


class NativeData(Section):
    """The images of the native benchmark."""

    image_size: int = describe("side of the square images, in pixels", ge=32)
    train: Names = describe("training sets, in this order")
    evaluate: Columns[EvaluationColumn] = describe(
        "evaluation sets: column of the tables to data set"
    )
    exemplars: dict[Column, Text] = describe(
        "by column: the image in the qualitative figure and on the page; left out: the set's first"
    )
    data_seed: Seed = describe("seed of the split and of the training crops")
    crop_seed_stride: Count = describe("factor of `data_seed` in the seed of the crops")
    holdout_fraction: float = describe("share of every training set held out", ge=0.001, le=0.5)


class NativeModelSettings(Section):
    """Sizes and constants of the encoder and the decoders (paper, section 3)."""

    features: Count = describe("channels of the encoder's features")
    patch: Literal[2, 4, 8, 16, 32, 64, 128, 256] = describe("side of a patch in pixels")
    modes: Count = describe("cosine modes per axis")
    norm_groups: Count = describe("groups of the encoder's GroupNorm")
    cutoff_sharpness: Positive = describe("steepness of the cutoff over the mode order")
    bandwidth_range: Annotated[list[Positive], Pair, Rising] = describe(
        "lowest and highest bandwidth"
    )
    fixed_bandwidth: Positive = describe("bandwidth of the fixed arm")
    order_range: Annotated[list[float], Pair, Rising] = describe("lowest and highest cutoff order")
    coefficient_std: Positive = describe("standard deviation of the coefficients' initial weights")
    hidden: int = describe("width of the control's and the baselines' linear layers", ge=2)
    fourier_frequencies: Count = describe("number of random frequencies of the Fourier-MLP")
    fourier_scale: Positive = describe("standard deviation of the random frequencies")
    fourier_seed: Seed = describe("seed of the random frequencies")
    wire_frequency: Positive = describe("initial frequency of the WIRE activation")
    wire_spread: Positive = describe("initial spread of the WIRE activation")


class NativeTrainingSettings(Section):
    """How every arm is trained."""

    steps: Count = describe("optimizer steps")
    batch_size: Count = describe("images per step")
    learning_rate: Positive = describe("learning rate of AdamW, constant")
    betas: Annotated[list[Annotated[float, Field(ge=0, lt=1)]], Pair] = describe("betas of AdamW")
    weight_decay: NotNegative = describe("weight decay of AdamW")
    gradient_clip: Positive = describe("largest norm of all gradients together")
    precision: Literal["default", "strict"] = describe(
        "torch's defaults, or fp32 and deterministic (above)"
    )
    pixels: OptionalEntries[Column, Count] = describe(
        "by arm: pixels of every image in a step's loss, drawn anew; left out: all, the protocol",
        default={},
    )
    accumulate: Count = describe(
        "parts of a batch whose gradients are added up; more parts need less memory", default=1
    )
    log_every: Count = describe("steps between rows of the log")
    checkpoint_every: Count = describe("steps between saved states")


class MetricsSettings(Section):
    """Constants of PSNR, SSIM, edge-LPIPS, LSE and the regions."""

    psnr_epsilon: Positive = describe("added to the mean squared error")
    ssim_window: Odd = describe("side of the window, odd")
    ssim_sigma: Positive = describe("standard deviation of the window, in pixels")
    ssim_epsilon: Positive = describe("added to the denominator of SSIM")
    edge_percentile: Share = describe(
        "quantile of the Sobel magnitude from which a pixel is an edge"
    )
    edge_dilation: Border = describe("pixels by which the edges are widened")
    power_floor: Positive = describe("smallest power in the local spectrum error")
    high_frequency_cutoff: float = describe(
        "lowest high frequency, in cycles per pixel", gt=0, lt=0.5
    )
    region_patches: Count = describe("validation patches that set the region thresholds")


class CriteriaSettings(Section):
    """The paper's gates and its parameter budget."""

    parameter_band: float = describe(
        "largest factor between an arm's parameters and the main arm's (F1)", ge=1
    )
    psnr_below_best_baseline: Positive = describe(
        "PSNR (dB) by which an arm may lie below the best baseline"
    )
    lpips_above_best_baseline: Positive = describe(
        "LPIPS by which an arm may lie above the best baseline"
    )
    psnr_above_control: Positive = describe("PSNR (dB) by which an arm must exceed the control")
    datasets_required: Count = describe("number of data sets on which quality must hold")
    latency_ratio: Positive = describe("largest ratio of an arm's time to the slowest baseline's")


class Native(Section):
    """The native reconstruction benchmark."""

    data: NativeData
    arms: Names = describe("arms to run: rows of arms.tsv")
    main_arm: Column = describe("the arm that the parameter budget is measured by")
    control_arm: Column = describe("the control of the quality gate")
    model: NativeModelSettings
    training: NativeTrainingSettings
    metrics: MetricsSettings
    criteria: CriteriaSettings
    significance: float = describe(
        "two-sided level of the pooled t-test behind bold cells", gt=0, lt=1
    )
