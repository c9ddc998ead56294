"""List what the output of every rule of the workflow depends on: settings, tables and versions.

A rule that computes numbers has a version. Raise it when the numbers change that it writes from the
same input (tests/protocol/test_versions.py notices), not for a message or a faster way to the same
numbers. What only averages or shows takes seconds, and counts by the content of its folders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rule:
    """Dependencies of the output of a rule.

    `settings` are dotted names; a section means all its settings, `{}` the name of the column or
    array that is the job's subject; without one the whole map counts. `version` is that of the
    computation. Of a job about a row its defining columns count and, for arms and methods, the
    settings and the versions of the classes that it names. `all_arms` adds the versions of the
    classes of all arms. `training` adds the settings of the training, `initial` those that set
    initial values alone, `sizes` the rows of config/sizes.tsv, `borders` the pixels that are left
    out around the images of every data set. `files` are files in config/, and
    `code` files and folders of the package, that count by their content.
    """

    settings: tuple[str, ...] = ()
    version: int | None = None
    code: tuple[str, ...] = ()
    all_arms: bool = False
    training: bool = False
    initial: bool = True
    sizes: bool = False
    borders: bool = False
    files: tuple[str, ...] = ()


# --- the rules ------------------------------------------------------------------------------------

# Training settings that change how a run is monitored, not its weights.
MONITORING = (
    "log_every",
    "checkpoint_every",
    "validate_every",
    "validation_images",
    "validation_scale",
)
SPLIT = tuple(
    f"native.data.{name}"
    for name in ("image_size", "train", "data_seed", "crop_seed_stride", "holdout_fraction")
)
# Settings of models that set initial values alone, on which no time depends.
INITIAL = (
    "native.model.coefficient_std",
    "native.model.fourier_scale",
    "native.model.fourier_seed",
    "native.model.wire_frequency",
    "native.model.wire_spread",
    "asr.model.bandwidth",
    "asr.model.coefficient_std",
)
AVERAGES = ("analysis", "evaluation/locality.py")
ROWS = ("arms.tsv", "methods.tsv", "datasets.tsv")
PROTOCOL_FILES = ("paper/protocol.yaml", "paper/facts.yaml", "paper/settings.tsv")
PUBLISHED = tuple(
    f"paper/{name}"
    for name in (
        "ablation.csv", "asr_latency.csv", "asr_quality.csv", "asr_runs.csv", "budget.csv",
        "claims.tsv", "compute.csv", "locality.csv", "native.csv", "printed.csv",
    )
)  # fmt: skip
# What single runs are like that aggregates are made of, and are compared with the paper's.
OF_NATIVE_RUNS = (
    "preset",
    "seeds",
    "native.arms",
    "native.data",
    "native.model",
    "native.training",
    "native.metrics",
    "latency",
)
OF_ASR_RUNS = ("preset", "seeds", "asr", "latency")
# Claims, tables, figures and pages take seconds: they depend on all settings of the experiment.
EXPERIMENT = ("preset", "seeds", "released", "native", "asr", "latency", "diagnostics")

RULES = {
    # The manifest of a data set is written once and all later readers compare with it: neither the
    # checksum of a download nor the code that downloads changes it.
    "fetch": Rule(),
    "standardize": Rule(("native.data.image_size", "native.data.evaluate.{}"), version=1),
    "standardize train": Rule(SPLIT, version=1),
    "regions": Rule(
        (
            "native.model.patch",
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "native.metrics.region_patches",
        ),
        version=1,
    ),
    "train": Rule(version=1, training=True),
    "import_arm": Rule(("released.{}",), version=1),
    "evaluate": Rule(("native.metrics",), version=1),
    "evaluate_validation": Rule(("native.metrics", "diagnostics.images"), version=1),
    "exemplars": Rule(("native.data.exemplars",), version=1),
    "fields": Rule(
        (
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "diagnostics.images",
        ),
        version=1,
    ),
    "latency": Rule(("latency",), version=1, initial=False),
    "asr_standardize": Rule(("asr.train",), version=1),
    "asr_train_run": Rule(("asr.train",), version=1, training=True),
    "import_method": Rule(("released.{}", "asr.training.scale_range"), version=1),
    "asr_evaluate": Rule(("asr.downsampling",), version=1, borders=True),
    "asr_bicubic": Rule(("asr.downsampling",), version=1, borders=True),
    "asr_exemplars": Rule(("asr.exemplars", "asr.downsampling"), version=1),
    "asr_latency": Rule(
        (
            "latency.warmup",
            "latency.passes",
            "latency.clocks",
            "asr.timing.scale",
            "asr.timing.images_per_set",
            "asr.timing.size_divisor",
            "asr.downsampling",
            "asr.tile_pixels",
            "asr.training.scale_range",
        ),
        version=1,
        initial=False,
        sizes=True,
    ),
    **{
        f"aggregate {job}": Rule(settings, code=AVERAGES, files=ROWS + PROTOCOL_FILES)
        for job, settings in {
            "native": OF_NATIVE_RUNS,
            "runs": ("seeds", "native.arms"),
            "diagnostics": (*OF_NATIVE_RUNS, "diagnostics"),
            "asr_quality": OF_ASR_RUNS,
            "asr_latency": OF_ASR_RUNS,
        }.items()
    },
    "aggregate structure": Rule(
        ("native.arms", "native.model"),
        code=(*AVERAGES, "models"),
        all_arms=True,
        files=ROWS + PROTOCOL_FILES,
    ),
    "claims": Rule(
        EXPERIMENT,
        code=("analysis",),
        files=ROWS + PROTOCOL_FILES + PUBLISHED,
    ),
    "show": Rule(
        EXPERIMENT,
        code=("reporting",),
        files=(
            *ROWS,
            *PROTOCOL_FILES,
            *PUBLISHED,
            "assets.tsv",
            "looks.tsv",
            "figures.mplstyle",
        ),
    ),
}
RULES["report"] = replace(RULES["show"], files=(*RULES["show"].files, "items.tsv"))
