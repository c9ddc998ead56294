"""Settings of both benchmarks and of the workflow: the protocol, and the whole configuration."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .native import Native
from .superres import ASR
from .types import (
    Column,
    Count,
    Distinct,
    Folder,
    HomePath,
    OptionalEntries,
    Place,
    Positive,
    Resource,
    Section,
    Seed,
    describe,
)


class Latency(Section):
    """The fixed timing protocol of both benchmarks."""

    warmup: int = describe("passes before the timed ones", ge=0)
    passes: Count = describe("timed passes")
    # In the order in which they are timed: that of a config changes nothing.
    clocks: Annotated[
        list[Literal["paper", "fast"]],
        Field(min_length=1),
        Distinct,
        AfterValidator(lambda clocks: sorted(clocks, reverse=True)),
    ] = describe("what is timed (above)")
    images_per_set: Count | None = describe("native images timed per set; null: all", default=None)


class LocalityThresholds(Section):
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
        "share of the bandwidth range below which a field counts as collapsed"
    )
    thresholds: LocalityThresholds
    margins: Margins


class Gpu(Section):
    """How a job requests a GPU from a scheduler."""

    gpu: Count | None = describe("number of GPUs; null beside `gres`", default=None)
    gpu_model: Resource | None = describe(
        "model of the GPUs, as the scheduler names it", default=None
    )
    gres: Resource | None = describe(
        "or a generic resource, as the scheduler names it", default=None
    )


class Memory(Section):
    """Megabytes of a job, by stage."""

    training: Count = describe("native training")
    evaluation: Count = describe("native evaluation and timing")
    other: Count = describe("everything else")
    asr_training: Count = describe("super-resolution training")
    asr_evaluation: Count = describe("super-resolution evaluation and timing")


class Minutes(Memory):
    """Minutes of a job, by stage."""

    evaluation: Count = describe("native evaluation")
    asr_evaluation: Count = describe("super-resolution evaluation")
    timing: Count = describe("timing, both benchmarks")


class Cluster(Section):
    """Resources that jobs request from a scheduler; local runs ignore them."""

    gpu: Gpu = describe("request for a GPU; `{gpu: null}` without GPUs")
    minutes: Minutes
    memory_mb: Memory


class Protocol(Section):
    """What an experiment is: every setting that a number of the paper depends on."""

    preset: Literal["paper", "mirror", "short", "demo", "released"] = describe(
        "name of the preset; any other than `paper` marks every table and page"
    )
    seeds: Annotated[list[Seed], Field(min_length=1), Distinct] = describe(
        "training seeds: of initial weights and what a training draws; pictures are of the lowest"
    )
    native: Native
    latency: Latency
    diagnostics: Diagnostics
    asr: ASR


class Settings(Protocol):
    """The whole configuration: an experiment, and where and how it is run."""

    results: Folder = describe("folder of all outputs of the workflow")
    resources: HomePath = describe("folder of downloads and of their recorded checksums")
    mirror: Place | None = describe(
        "local folder laid out like `resources`, used instead of downloading", default=None
    )
    accept_partial: Annotated[list[Column], Distinct] = describe(
        "data sets that may have fewer images than published; tables and pages say so", default=[]
    )
    released: OptionalEntries[Column, Place] = describe(
        "by arm or method: file, folder or hub address of weights to import instead of training",
        default={},
    )
    device: Literal["auto", "cpu", "cuda"] = describe("device of the jobs", default="auto")
    threads: Count | None = describe("CPU threads of one job; null: all", default=None)
    cluster: Cluster
