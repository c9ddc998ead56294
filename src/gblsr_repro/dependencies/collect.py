"""Collect the settings, table rows and code that the output of every rule depends on.

This module alone decides what runs again. A rule of the workflow has the result of
`collect_dependencies` as a parameter, so that Snakemake runs its jobs again when it changes; the
records of runs and scores contain the same, so that only results of the current settings and code
are loaded or kept.

The location of files, the device and threads of a job, and the monitoring of a training are not
dependencies: they change how a result is computed, not the result. Neither are the outputs of other
rules that a job reads: Snakemake runs all jobs below one that runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..config import (
    Arm,
    Config,
    Dataset,
    Method,
    find_repository_root,
    get_setting,
    is_imported,
    list_arms,
    locate_row,
)
from ..errors import build_syntax_error
from ..files import read_csv
from .code import digest_code

CODE_DIGEST = "code_sha256"
RELEASED = "released"

Dependencies = dict[str, Any]
Subject = Arm | Method | Dataset | str | None
"""Subject of a job: a row, the name of a column, an array or an aggregate, or nothing."""


@dataclass(frozen=True)
class Rule:
    """Dependencies of the output of a rule.

    `settings` are dotted names; a section means all its settings, `{}` the name of the column or
    array that is the job's subject. `code` are modules and folders of the package that compute the
    output; what they import counts, too (see `list_files`). `table` is that of the job's subject,
    if it is a row: its defining columns count and, for arms and methods, the settings and the code
    of the classes that it names. `all_arms` adds the code of the classes of all arms. `training`
    adds the settings of the training, `initial` those that set initial values alone, `sizes` the
    rows of config/sizes.tsv.
    """

    settings: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    table: str = ""
    all_arms: bool = False
    training: bool = False
    initial: bool = True
    sizes: bool = False


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
# Averaging, judging and reporting take seconds: they depend on all settings of the experiment.
EXPERIMENT = (
    "preset",
    "seeds",
    "released",
    "native",
    "asr",
    "latency",
    "diagnostics",
)

RULES = {
    # The manifest of a data set is written once and all later readers compare with it: neither the
    # checksum of a download nor the code that downloads changes it.
    "fetch": Rule(table="datasets"),
    "standardize": Rule(
        ("native.data.image_size", "native.data.evaluate.{}"), code=("data/standardize.py",)
    ),
    "standardize train": Rule(SPLIT, code=("data/standardize.py",)),
    "standardize validation": Rule(SPLIT, code=("data/standardize.py",)),
    "regions": Rule(
        (
            "native.model.patch",
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "native.metrics.region_patches",
        ),
        code=("evaluation/regions.py",),
    ),
    "train": Rule(code=("training/native.py", "training/loop.py"), table="arms", training=True),
    "import_arm": Rule(("released.{}",), code=("released/importing.py",), table="arms"),
    "evaluate": Rule(("native.metrics",), code=("evaluation/native.py",)),
    "evaluate_validation": Rule(
        ("native.metrics", "diagnostics.images"), code=("evaluation/native.py",)
    ),
    "exemplars": Rule(("native.data.exemplars",), code=("evaluation/exemplars.py",)),
    "fields": Rule(
        (
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "diagnostics.images",
        ),
        code=("evaluation/native_fields.py",),
    ),
    "latency": Rule(
        ("latency",), code=("evaluation/native_latency.py",), table="arms", initial=False
    ),
    "asr_standardize": Rule(("asr.train",), code=("data/superres.py",)),
    "asr_train_run": Rule(
        ("asr.train",),
        code=("training/asr.py", "training/loop.py"),
        table="methods",
        training=True,
    ),
    "import_method": Rule(
        ("released.{}", "asr.training.scale_range"),
        code=("released/importing.py",),
        table="methods",
    ),
    "asr_evaluate": Rule(("asr.downsampling", "asr.shave_extra"), code=("evaluation/asr.py",)),
    "asr_bicubic": Rule(
        ("asr.downsampling", "asr.shave_extra.{}"), code=("evaluation/asr_scores.py",)
    ),
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
        code=("evaluation/asr_latency.py",),
        table="methods",
        initial=False,
        sizes=True,
    ),
    **dict.fromkeys(("aggregate", "provenance", "claims"), Rule(EXPERIMENT, code=("analysis",))),
    "aggregate budget": Rule(EXPERIMENT, code=("analysis",), all_arms=True),
    "aggregate structure": Rule(code=("analysis", "models")),
    **dict.fromkeys(
        ("table", "figure", "claims_page", "readings", "report", "pdf"),
        Rule(EXPERIMENT, code=("reporting",)),
    ),
}

TRAININGS = {Arm: "train", Method: "asr_train_run"}
IMPORTS = {Arm: "import_arm", Method: "import_method"}
# By table, the columns of a row that determine results; the others concern their presentation.
DEFINING_COLUMNS = {
    "arms": ("decoder", "options"),
    "methods": ("encoder", "decoder", "options", "recipe"),
    "datasets": ("kind", "files", "images"),
}


def collect_dependencies(rule: str, subject: Subject, config: Config) -> Dependencies:
    """Collect the dependencies of the output of a rule for a job's subject, by name.

    Settings by their dotted names, the defining columns of the subject's row, and as `code_sha256`
    the digest of the code. Raises `UserError` if a row names a class that does not exist, or an
    option or a class a setting that there is not.
    """
    listed = RULES.get(f"{rule} {subject}") or RULES[rule]
    about = locate_row(subject)[2] if isinstance(subject, Arm | Method) else subject
    names = [name.format(about) for name in listed.settings]
    dependencies: Dependencies = {}
    classes: list[type] = []
    if listed.table and not isinstance(subject, str | None):
        dependencies |= identify_row(subject)
    if isinstance(subject, Arm | Method):
        classes = [*find_model_classes(subject)]
        section = f"{locate_row(subject)[0]}.model"
        _check_class_settings(classes, section, config)
        names += [f"{section}.{name}" for name in list_class_settings(classes, listed.initial)]
        names += list_training_settings(subject, config) if listed.training else []
    if listed.all_arms:
        classes = [cls for arm in list_arms(config).values() for cls in find_model_classes(arm)]
    settings = select_settings(config, names)
    dependencies |= {name: value for name, value in settings.items() if not is_monitoring(name)}
    if listed.sizes:
        dependencies["sizes"] = digest_image_sizes(config)
    if listed.code:
        dependencies[CODE_DIGEST] = digest_code(listed.code, tuple(classes))
    return dependencies


def list_names(rule: str, config: Config) -> list[str]:
    """List the names of all that `collect_dependencies` may return for the subjects of a rule."""
    names: list[str] = [CODE_DIGEST, "sizes"]
    for key, listed in RULES.items():
        if key.partition(" ")[0] != rule:
            continue
        names += [f"{listed.table}.{column}" for column in DEFINING_COLUMNS.get(listed.table, ())]
        settings = [name.removesuffix(".{}") for name in listed.settings]
        if listed.table in SECTIONS:
            section = SECTIONS[listed.table]
            settings.append(f"{section}.model")
            settings += [f"{section}.training", *SPLIT] if listed.training else []
        names += [leaf for name in settings for leaf in list_settings(config, name)]
    return list(dict.fromkeys(names))


def identify_run(row: Arm | Method, config: Config) -> Dependencies:
    """Collect the dependencies of the weights of a run, the same for all seeds.

    Those of an imported run contain the address in the config, as `released`.
    """
    rules = IMPORTS if is_imported(row, config) else TRAININGS
    return collect_dependencies(rules[type(row)], row, config)


def digest_run_code(row: Arm | Method, record: Mapping[str, Any]) -> str:
    """Compute the digest of the current code that the weights of a recorded run depend on."""
    rules = IMPORTS if RELEASED in record else TRAININGS
    return digest_code(RULES[rules[type(row)]].code, find_model_classes(row))


# --- rows and their classes -----------------------------------------------------------------------

SECTIONS = {"arms": "native", "methods": "asr"}  # of the config, by table


def identify_row(row: Arm | Method | Dataset) -> Dependencies:
    """Identify a row by what of it determines its results, by table and column.

    However a row is written, the same classes and options are the same text: "module:Class", and
    the options in alphabetical order.
    """
    if isinstance(row, Dataset):
        return {f"datasets.{name}": getattr(row, name) for name in DEFINING_COLUMNS["datasets"]}
    encoder, decoder = (f"{cls.__module__}:{cls.__name__}" for cls in find_model_classes(row))
    described = {"decoder": decoder, "options": " ".join(sorted(row.options.split()))}
    if isinstance(row, Arm):
        return {f"arms.{name}": text for name, text in described.items()}
    described |= {"encoder": encoder, "recipe": row.recipe}
    return {f"methods.{name}": described[name] for name in DEFINING_COLUMNS["methods"]}


def find_model_classes(row: Arm | Method) -> tuple[type, type]:
    """Find the classes of an arm's or method's encoder and decoder.

    Raises `UserError` if its row names one that does not exist.
    """
    # Here, since importing torch takes longer than most commands run.
    try:
        from ..models import native
        from ..models.asr import model as asr
    except SyntaxError as error:
        raise build_syntax_error(error) from error

    return native.find_classes(row) if isinstance(row, Arm) else asr.find_classes(row)


def list_class_settings(classes: Iterable[Any], initial: bool = True) -> list[str]:
    """List the settings of the model's section that classes read, without repetition.

    Without `initial` those that set initial values alone are left out.
    """
    names = (name for cls in classes for name in cls.SETTINGS if initial or name not in cls.INITIAL)
    return list(dict.fromkeys(names))


def _check_class_settings(classes: Iterable[Any], section: str, config: Config) -> None:
    """Raise `UserError` for a setting that a class names and its section does not have."""
    from ..models.base import select_class_settings

    for cls in classes:
        select_class_settings(cls, get_setting(config, section), section)


def list_training_settings(row: Arm | Method, config: Config) -> list[str]:
    """List the names of the settings that the training of a row depends on."""
    section, _, _ = locate_row(row)
    names = [name for name in list_settings(config, f"{section}.training") if name not in MAPS]
    if isinstance(row, Arm):
        return [*SPLIT, *names, f"native.training.pixels.{row.arm}"]
    return [*names, f"asr.training.recipes.{row.recipe}"]


def is_monitoring(name: str) -> bool:
    """Decide whether a setting only changes how a training is monitored."""
    section, _, setting = name.rpartition(".")
    return section.endswith(".training") and setting in MONITORING


def digest_image_sizes(config: Config) -> str:
    """Compute the SHA-256 of the rows of config/sizes.tsv about data sets that the config names."""
    asr = config["asr"]
    timed = (asr["evaluate"].get(name, name) for name in asr["timing"]["datasets"])
    names = {*asr["evaluate"].values(), *timed}
    rows = read_csv(find_repository_root() / "config" / "sizes.tsv", "\t")
    text = repr([row for row in rows if row["dataset"] in names])
    return hashlib.sha256(text.encode()).hexdigest()


# --- settings by their dotted names ---------------------------------------------------------------

# The settings that are maps: by column, by arm, or by recipe.
MAPS = (
    "native.data.evaluate",
    "native.data.exemplars",
    "native.training.pixels",
    "asr.evaluate",
    "asr.shave_extra",
    "asr.training.recipes",
    "released",
)


def list_settings(config: Config, name: str) -> tuple[str, ...]:
    """List the settings in a section of a config, or a setting itself; a map is one setting."""
    section = get_setting(config, name)
    if not isinstance(section, Mapping) or name in MAPS:
        return (name,)
    return tuple(leaf for key in section for leaf in list_settings(config, f"{name}.{key}"))


def select_settings(config: Config, names: Iterable[str]) -> Dependencies:
    """Select settings by their dotted names; the name of a section selects all its settings.

    Single entries of a map have names, too (`asr.evaluate.set5`); missing ones are left out.
    """
    selected: Dependencies = {}
    for name in names:
        leaf, _, key = name.rpartition(".")
        if leaf in MAPS:
            entries = {k: v for k, v in get_setting(config, leaf).items() if k == key}
            selected[leaf] = selected.get(leaf, {}) | entries
        else:
            selected |= {leaf: get_setting(config, leaf) for leaf in list_settings(config, name)}
    return selected
