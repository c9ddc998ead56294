"""Every setting of the configuration, once: its type, its range, what it means.

A setting with a default here may be left out of a config file; the numbers of a protocol may not.
What types cannot say is in `checks`; the values that are used are in config/config.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from ..errors import UserError
from .tables import Config, suggest


def _require_distinct(values: list[Any]) -> list[Any]:
    if any(value in values[:i] for i, value in enumerate(values)):
        raise PydanticCustomError("distinct", "must not name an entry twice")
    return values


def _require_odd(value: int) -> int:
    if value % 2 == 0:
        raise PydanticCustomError("odd", "must be odd")
    return value


def _check_column_name(name: Any) -> Any:
    if not re.fullmatch(r"[A-Za-z0-9_]+", str(name)) or not isinstance(name, str):
        raise PydanticCustomError(
            "column",
            "must be a name without spaces and special characters: letters, digits and _ only",
        )
    return name


def _check_folder_name(name: Any) -> Any:
    # It stands in shell lines, so it holds nothing that a shell reads.
    if not re.fullmatch(r"[^\s'\"`$;&|<>*?()\[\]{}\\!#]+", str(name)):
        raise PydanticCustomError("folder", "must be a name without spaces and special characters")
    return name


def _drop_nulls(columns: Any) -> Any:
    # Maps merge, so null is how an overlay leaves out a column.
    if not isinstance(columns, dict):
        return columns
    return {column: value for column, value in columns.items() if value is not None}


def _refuse_split_names(column: str) -> str:
    if column in ("train", "validation"):
        raise PydanticCustomError(
            "split", "must not have the name of the training or validation images; rename it"
        )
    return column


Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
# A whole scale stays an integer: files are named x2, not x2.0.
Scale = Annotated[float, Field(ge=1), AfterValidator(lambda v: int(v) if v.is_integer() else v)]
Distinct = AfterValidator(_require_distinct)
Names = Annotated[list[str], Field(min_length=1), Distinct]
Scales = Annotated[list[Scale], Field(min_length=1), Distinct]
Pair = Field(min_length=2, max_length=2)
Column = Annotated[str, BeforeValidator(_check_column_name)]
Folder = Annotated[str, BeforeValidator(_check_folder_name)]
Key = TypeVar("Key")
Columns = Annotated[dict[Key, str], Field(min_length=1), BeforeValidator(_drop_nulls)]


class Section(BaseModel):
    """A closed map of settings; integers, numbers and truth values are told apart strictly."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def describe(description: str, **facts: Any) -> Any:
    """Describe a setting; `default` and ranges as `pydantic.Field` takes them."""
    return Field(description=description, **facts)


# --- native benchmark -----------------------------------------------------------------------------


class NativeData(Section):
    """The images of the native benchmark."""

    image_size: int = describe("side of the square images, in pixels", ge=32)
    train: Names = describe("training sets, in this order")
    evaluate: Columns[Annotated[Column, AfterValidator(_refuse_split_names)]] = describe(
        "evaluation sets: column of the tables to data set"
    )
    exemplars: dict[str, str] = describe("by column: the image drawn in the qualitative figure")
    data_seed: Whole = describe("seed of the split and of the training crops")
    crop_seed_stride: Count = describe("what `data_seed` is multiplied by to seed the crops")
    holdout_fraction: float = describe("share of each training set held out", gt=0, le=0.5)


class NativeModel(Section):
    """Sizes and constants of the encoder and the decoders (paper, section 3)."""

    features: Count = describe("channels of the encoder's features")
    patch: Count = describe("side of a patch in pixels, a power of two")
    modes: Count = describe("cosine modes per axis")
    norm_groups: Count = describe("groups of the encoder's GroupNorm")
    cutoff_sharpness: Positive = describe("steepness of the cutoff over the mode order")
    bandwidth_range: Annotated[list[Positive], Pair] = describe("lowest and highest bandwidth")
    fixed_bandwidth: Positive = describe("the bandwidth of the fixed arm")
    order_range: Annotated[list[float], Pair] = describe("lowest and highest cutoff order")
    coefficient_std: Positive = describe("standard deviation of the coefficients' initial weights")
    hidden: Count = describe("width of the baselines' linear layers")
    fourier_frequencies: Count = describe("random frequencies of the global baseline")
    fourier_scale: Positive = describe("their standard deviation")
    fourier_seed: Whole = describe("the seed that draws them")
    wire_frequency: Positive = describe("initial frequency of the WIRE activation")
    wire_spread: Positive = describe("initial spread of the WIRE activation")


class NativeTraining(Section):
    """How every arm is trained."""

    steps: Count = describe("optimizer steps")
    batch_size: Count = describe("images per step")
    learning_rate: Positive = describe("of AdamW, constant")
    betas: Annotated[list[Annotated[float, Field(ge=0, lt=1)]], Pair] = describe("of AdamW")
    weight_decay: NotNegative = describe("of AdamW")
    gradient_clip: Positive = describe("largest norm of all gradients together")
    precision: Literal["default", "strict"] = describe(
        "torch's own, or fp32, deterministic (above)"
    )
    compile: bool = describe("torch.compile; rounds differently", default=False)
    pixels: Annotated[dict[Column, Count], BeforeValidator(_drop_nulls)] = describe(
        "by arm: pixels of each image in a step's loss, drawn anew; left out: all, the protocol",
        default={},
    )
    accumulate: Count = describe(
        "parts of a batch whose gradients are added up; more parts take less memory", default=1
    )
    log_every: Count = describe("steps between rows of the log")
    checkpoint_every: Count = describe("steps between saved states")


class Metrics(Section):
    """Constants of PSNR, SSIM, edge-LPIPS, LSE and the regions."""

    psnr_epsilon: Positive = describe("added to the mean squared error")
    ssim_window: Annotated[Count, AfterValidator(_require_odd)] = describe(
        "side of the window, odd"
    )
    ssim_sigma: Positive = describe("standard deviation of the window, in pixels")
    ssim_epsilon: Positive = describe("added to the denominator of SSIM")
    edge_percentile: Share = describe(
        "quantile of the Sobel magnitude from which a pixel is an edge"
    )
    edge_dilation: Whole = describe("pixels by which the edges are widened")
    power_floor: Positive = describe("smallest power in the local spectrum error")
    high_frequency_cutoff: Positive = describe("cycles per pixel from which a frequency is high")
    region_patches: Count = describe("validation patches that set the region thresholds")


class Criteria(Section):
    """The paper's gates and its parameter budget."""

    parameter_band: Positive = describe(
        "largest ratio of an arm's parameters to the main arm's (F1)"
    )
    psnr_below_best_baseline: Positive = describe("PSNR (dB) that an arm may lie below")
    lpips_above_best_baseline: Positive = describe("LPIPS that an arm may lie above")
    psnr_above_control: Positive = describe("PSNR (dB) by which it must beat the control")
    datasets_required: Count = describe("sets on which quality must hold")
    latency_ratio: Positive = describe("largest time against the slowest baseline's")


class Native(Section):
    """The native reconstruction benchmark."""

    data: NativeData
    arms: Names = describe("arms to run: rows of arms.tsv")
    main_arm: str = describe("the arm that the parameter budget is measured by")
    control_arm: str = describe("the control of the quality gate")
    model: NativeModel
    training: NativeTraining
    metrics: Metrics
    criteria: Criteria
    significance: Share = describe("two-sided level of the pooled t-test behind bold cells")


# --- both benchmarks ------------------------------------------------------------------------------


class Latency(Section):
    """The fixed timing protocol of both benchmarks."""

    warmup: Whole = describe("passes before the timed ones")
    passes: Count = describe("timed passes")
    clocks: Annotated[list[Literal["paper", "ours"]], Field(min_length=1), Distinct] = describe(
        "what is timed (above)"
    )
    images_per_set: Count | None = describe("native images timed per set; null: all", default=None)


class Thresholds(Section):
    """The locality tests T1 to T4."""

    t1_cov_median: Positive = describe("T1: median variation within an image, at least")
    t2_fraction_collapsed: Positive = describe("T2: share of collapsed images, below")
    t3_region_gap: Positive = describe("T3: gap between regions, at least")
    t4_within_fraction: Positive = describe("T4: share of the variance within images, at least")
    t4_within_variance: Positive = describe("T4: variance within images, at least")


class Margins(Section):
    """Criterion B of the ablation."""

    psnr_texture: Positive = describe("gain in PSNR (dB) on texture, at least")
    psnr_mixed: Positive = describe("gain in PSNR (dB) on mixed patches, at least")
    lpips: float = describe("change of LPIPS, at most")
    psnr_edge: float = describe("change of PSNR (dB) on edges, at least")


class Diagnostics(Section):
    """The locality diagnostic and its criteria."""

    images: Count = describe("validation images of the locality diagnostic")
    collapsed_range_fraction: Positive = describe(
        "share of the range below which a field collapsed"
    )
    thresholds: Thresholds
    margins: Margins


class Claims(Section):
    """How claims are judged."""

    seed_noise_sigmas: Positive = describe(
        "standard errors within which a difference is called seed noise"
    )


# --- super-resolution -----------------------------------------------------------------------------


class ASRModel(Section):
    """Sizes of the encoders and decoders."""

    rdn_features: Count = describe("channels of RDN")
    rdn_blocks: Count = describe("residual dense blocks of RDN")
    rdn_layers: Count = describe("layers of a block")
    rdn_growth: Count = describe("channels that a layer adds")
    swinir_embed: Count = describe("channels of SwinIR")
    swinir_depths: Annotated[list[Count], Field(min_length=1)] = describe("layers of each group")
    swinir_heads: Count = describe("attention heads")
    swinir_window: Count = describe("side of the attention window")
    swinir_mlp_ratio: Count = describe("width of the layers' perceptrons, in channels")
    swinir_drop_path: float = describe("stochastic depth of the last layer", ge=0, le=0.9)
    hidden: Count = describe("width of the decoders' linear layers")
    modes: Count = describe("cosine modes per axis of the spectral decoder")
    bandwidth: Positive = describe("its initial bandwidth")
    coefficient_std: Positive = describe("standard deviation of its coefficients' initial weights")


class Recipe(Section):
    """What differs between the trainings of two kinds of encoder."""

    batch_size: Count = describe("patches per step")
    learning_rate: Positive = describe("of Adam at the start")
    halve_at: list[Share] = describe("shares of the steps after which the rate is halved")


class ASRTraining(Section):
    """How every method is trained."""

    steps: Count = describe("optimizer steps")
    lr_patch: Count = describe("side of a low-resolution patch")
    queries: Count = describe("pixels asked of each patch")
    scale_range: Annotated[list[Annotated[float, Field(ge=1)]], Pair] = describe(
        "lowest and highest scale drawn"
    )
    precision: Literal["default", "strict", "bf16"] = describe(
        "as above, or the encoder in bfloat16"
    )
    compile: bool = describe("torch.compile; rounds differently", default=False)
    checkpoint_every: Count = describe("steps between saved states")
    log_every: Count = describe("steps between rows of the log")
    validate_every: Count = describe("steps between points of the validation curve")
    validation_images: Count = describe("images of a point, of the first column of asr.evaluate")
    validation_scale: Scale = describe("scale of a point")
    recipes: dict[Column, Recipe] = describe("one per kind of encoder; methods.tsv names them")


class Timing(Section):
    """What is timed of super-resolution."""

    scale: Scale = describe("scale that is timed")
    datasets: Names = describe("columns of asr.evaluate, or data sets, that are timed")
    images_per_set: Count | None = describe("images timed per set; null: all", default=None)
    size_divisor: Count = describe("times images this much smaller on each side", default=1)


class ASR(Section):
    """Arbitrary-scale super-resolution."""

    methods: Names = describe("methods to run: rows of methods.tsv")
    base_method: str = describe("the method that the variants compare with")
    train: Names = describe("training sets, in this order")
    evaluate: Columns[Column] = describe("evaluation sets: column of the tables to data set")
    scales: Scales = describe("scales that are evaluated")
    trained_scales: Scales = describe("those of them that training has seen")
    downsampling: Literal["matlab", "pil"] = describe("how low-resolution images are made")
    shave_extra: dict[str, Whole] = describe(
        "by column: border pixels left out beyond the scale", default={}
    )
    tile_pixels: Count = describe("output pixels rendered at once; changes memory, not values")
    model: ASRModel
    training: ASRTraining
    timing: Timing


# --- what jobs ask of a scheduler -----------------------------------------------------------------


class Gpu(Section):
    """How a scheduler is asked for a GPU."""

    gpu: Count | None = describe("number of GPUs", default=None)
    gpu_model: str | None = describe("their model, as the scheduler names it", default=None)
    gres: str | None = describe("or a generic resource in the scheduler's words", default=None)


class Memory(Section):
    """Megabytes of a job, by stage."""

    training: Count = describe("native training")
    evaluation: Count = describe("native evaluation and timing")
    other: Count = describe("everything else")
    asr_training: Count = describe("super-resolution training")
    asr_evaluation: Count = describe("super-resolution evaluation and timing")


class Minutes(Memory):
    """Minutes of a job, by stage."""

    timing: Count = describe("timing, both benchmarks")


class Cluster(Section):
    """What jobs ask of a scheduler; local runs ignore it."""

    gpu: Gpu = describe("what a GPU is asked for by; {} without GPUs")
    minutes: Minutes
    memory_mb: Memory


class Settings(Section):
    """The whole configuration."""

    preset: Literal["paper", "mirror", "short", "demo"] = describe(
        "name of the set of conditions; anything but `paper` marks every table and page"
    )
    results: Folder = describe("folder of all that the workflow makes")
    resources: str = describe("folder of downloads and of the record of their checksums")
    mirror: str | None = describe(
        "local folder laid out like `resources`, used instead of downloading", default=None
    )
    accept_partial: Annotated[list[str], Distinct] = describe(
        "data sets that may hold fewer images than published; tables and pages say so", default=[]
    )
    lpips_backbone: str | None = describe(
        "file with the AlexNet backbone; null: `GBLSR_LPIPS_BACKBONE`, then the download",
        default=None,
    )
    require_lpips: bool = describe(
        "stop before training when the backbone is missing; false: LPIPS is not measured",
        default=True,
    )
    device: Literal["auto", "cpu", "cuda"] = describe("where jobs compute", default="auto")
    threads: Count | None = describe("CPU threads of one job; null: all", default=None)
    seeds: Annotated[list[Whole], Field(min_length=1), Distinct] = describe(
        "training seeds; they drive initialization and shuffling only"
    )
    native: Native
    latency: Latency
    diagnostics: Diagnostics
    asr: ASR
    claims: Claims
    cluster: Cluster


# --- a config against the model -------------------------------------------------------------------


def apply_schema(config: Config) -> Config:
    """Return `config` with what it leaves out filled in; `UserError` about its first mistake."""
    try:
        settings = Settings.model_validate(config)
    except ValidationError as error:
        first = min(error.errors(), key=lambda e: (len(e["loc"]), str(e["loc"])))
        raise UserError(_describe_error(first)) from None
    made = settings.model_dump()
    # A scheduler takes what it is asked for, and nothing for what is not asked.
    made["cluster"]["gpu"] = settings.cluster.gpu.model_dump(exclude_none=True)
    return made


def _describe_error(error: Any) -> str:
    *path, last = error["loc"] or ("",)
    if error["type"] in ("extra_forbidden", "invalid_key", "missing"):
        place = ".".join(map(str, path)) or "the top level"
        if error["type"] == "missing":
            return f"Config: {place} lacks the setting {last!r}; add it (see config/README.md)."
        return (
            f"Config: unknown setting {str(last)!r} at {place}; "
            f"{suggest(str(last), _find_section(path).model_fields)}"
        )
    place = ".".join(map(str, error["loc"])) or "the top level"
    if last == "[key]":
        place = f"a name in {'.'.join(map(str, path[:-1]))}"
    return f"Config: {place} is {error['input']!r}, but {_describe_expectation(error)}."


TYPES = {"int": "integer", "float": "number", "bool": "boolean", "model": "map", "dict": "map"}


def _describe_expectation(error: Any) -> str:
    kind, facts = error["type"], error.get("ctx", {})
    if kind.endswith("_type"):
        name = kind.removesuffix("_type")
        return f"must be of type {TYPES.get(name, name)}"
    texts = {
        "finite_number": "must be a finite number",
        "literal_error": "must be one of {expected}",
        "greater_than_equal": "must be at least {ge:g}",
        "greater_than": "must be more than {gt:g}",
        "less_than_equal": "must be at most {le:g}",
        "less_than": "must be less than {lt:g}",
        "too_short": "must have {min_length} or more entries",
        "too_long": "must have at most {max_length} entries",
    }
    return texts[kind].format(**facts) if kind in texts else error["msg"]


def _find_section(path: Sequence[Any]) -> type[Section]:
    """Return the section that the settings at a path belong to."""
    section: type[Section] = Settings
    for key in path:
        if key in section.model_fields:  # else the key of a map of sections
            annotation = section.model_fields[key].annotation
            section = next(k for k in (annotation, *get_args(annotation)) if _is_section(k))
    return section


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def list_setting_names(section: type[Section] = Settings, place: str = "") -> Iterator[str]:
    """Yield the dotted name of every setting; a map by column or recipe is one setting."""
    for name, field in section.model_fields.items():
        kind: Any = field.annotation
        if _is_section(kind):
            yield from list_setting_names(kind, f"{place}{name}.")
        else:
            yield f"{place}{name}"
