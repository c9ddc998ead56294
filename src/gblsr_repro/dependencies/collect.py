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
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
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
from ..files import compute_sha256, read_csv
from .source_digest import digest_files

PACKAGE = Path(__file__).resolve().parents[1]
CODE_DIGEST = "code_sha256"
RELEASED = "released"

Dependencies = dict[str, Any]
Subject = Arm | Method | Dataset | str | None
"""Subject of a job: a row, the name of a column, an array or an aggregate, or nothing."""


@dataclass(frozen=True)
class Rule:
    """Dependencies of the output of a rule.

    `settings` are dotted names; a section means all its settings, `{}` the name of the column or
    array that is the job's subject. `code` are files and folders of the package. `model` adds the
    settings and the code of the classes of the job's arm or method (of all arms, without one).
    `training` adds the settings of the training, `sizes` the rows of config/sizes.tsv.
    """

    settings: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    model: bool = False
    training: bool = False
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
    "claims",
)

IMAGES = ("data/arrays.py", "data/datasets.py", "data/images.py", "data/sources.py")
STANDARDIZING = (*IMAGES, "data/standardize.py")
SCORING = (
    "evaluation/metrics.py",
    "evaluation/native.py",
    "evaluation/perceptual.py",
    "evaluation/regions.py",
)
PAIRS = ("data/datasets.py", "data/images.py", "data/resize.py", "data/sources.py")
ASR_SCORING = (*PAIRS, "evaluation/asr.py", "evaluation/luma.py")
# Besides the files of the classes that a row names and of their base classes, wherever they are.
NATIVE_MODEL = (
    "models/base.py",
    "models/coordinates.py",
    "models/encoder.py",
    "models/layers.py",
    "models/native.py",
    "models/spectral.py",
)
ASR_MODEL = (
    "models/base.py",
    "models/layers.py",
    "models/spectral.py",
    "models/asr/local_ensemble.py",
    "models/asr/model.py",
    "models/asr/rendering.py",
)
TRAINING = (
    "runtime.py",
    "data/arrays.py",
    "training/checkpoint.py",
    "training/loop.py",
)
# Without the code that finds and downloads files, which does not change their content.
IMPORTING = (
    "released/colors.py",
    "released/facts.py",
    "released/importing.py",
    "released/known.py",
    "released/names.py",
    "released/reading.py",
    "released/rows.py",
)
ANALYSIS = ("analysis", "evaluation/fields.py", "evaluation/locality.py")
REPORTING = ("reporting", *ANALYSIS)

RULES = {
    # The manifest of a data set is written once and all later readers compare with it: neither the
    # checksum of a download nor the code that downloads changes it.
    "fetch": Rule(),
    "standardize": Rule(("native.data.image_size", "native.data.evaluate.{}"), code=STANDARDIZING),
    "standardize train": Rule(SPLIT, code=STANDARDIZING),
    "standardize validation": Rule(SPLIT, code=STANDARDIZING),
    "regions": Rule(
        (
            "native.model.patch",
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "native.metrics.region_patches",
        ),
        code=("evaluation/metrics.py", "evaluation/regions.py"),
    ),
    "train": Rule(
        code=(*NATIVE_MODEL, *TRAINING, "training/native.py", "training/sampler.py"),
        model=True,
        training=True,
    ),
    "import_arm": Rule(("released.{}",), code=(*NATIVE_MODEL, *IMPORTING), model=True),
    "evaluate": Rule(("native.metrics",), code=SCORING),
    "evaluate_validation": Rule(("native.metrics", "diagnostics.images"), code=SCORING),
    "exemplars": Rule(("native.data.exemplars",), code=("evaluation/exemplars.py",)),
    "fields": Rule(
        (
            "native.metrics.high_frequency_cutoff",
            "native.metrics.power_floor",
            "diagnostics.images",
        ),
        code=(
            "evaluation/fields.py",
            "evaluation/metrics.py",
            "evaluation/native_fields.py",
            "evaluation/regions.py",
        ),
    ),
    "latency": Rule(
        ("latency",),
        code=(
            *NATIVE_MODEL,
            "runtime.py",
            "evaluation/latency.py",
            "evaluation/native_latency.py",
        ),
        model=True,
    ),
    "asr_standardize": Rule(("asr.train",), code=(*IMAGES, "data/superres.py")),
    "asr_train_run": Rule(
        ("asr.train",),
        code=(*ASR_MODEL, *TRAINING, "training/asr.py", "data/resize.py", "data/superres.py"),
        model=True,
        training=True,
    ),
    "import_method": Rule(
        ("released.{}", "asr.training.scale_range"), code=(*ASR_MODEL, *IMPORTING), model=True
    ),
    "asr_evaluate": Rule(("asr.downsampling", "asr.shave_extra"), code=ASR_SCORING),
    "asr_bicubic": Rule(("asr.downsampling", "asr.shave_extra.{}"), code=ASR_SCORING),
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
        code=(
            *ASR_MODEL,
            *PAIRS,
            "runtime.py",
            "evaluation/asr_latency.py",
            "evaluation/latency.py",
        ),
        model=True,
        sizes=True,
    ),
    **dict.fromkeys(("aggregate", "provenance", "claims"), Rule(EXPERIMENT, code=ANALYSIS)),
    "aggregate budget": Rule(EXPERIMENT, code=("analysis", *NATIVE_MODEL), model=True),
    "aggregate mean_color": Rule(EXPERIMENT, code=("analysis", "evaluation/metrics.py")),
    "aggregate structure": Rule(code=("analysis", "models")),
    **dict.fromkeys(
        ("table", "figure", "claims_page", "readings", "report"), Rule(EXPERIMENT, code=REPORTING)
    ),
}

TRAININGS = {Arm: "train", Method: "asr_train_run"}
IMPORTS = {Arm: "import_arm", Method: "import_method"}
# The columns of a row that determine results; the others concern their presentation.
DEFINING_COLUMNS = {
    Arm: ("arms", ("decoder", "options")),
    Method: ("methods", ("encoder", "decoder", "options", "recipe")),
    Dataset: ("datasets", ("kind", "files", "images")),
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
    rows = [subject] if isinstance(subject, Arm | Method) else list_arms(config).values()
    classes = [cls for row in rows for cls in find_model_classes(row)] if listed.model else []
    dependencies: Dependencies = {}
    if subject is not None and not isinstance(subject, str):
        dependencies |= select_defining_columns(subject)
    if isinstance(subject, Arm | Method):
        section = f"{locate_row(subject)[0]}.model"
        _check_class_settings(classes, section, config)
        names += [f"{section}.{name}" for name in list_class_settings(classes)]
        names += list_training_settings(subject, config) if listed.training else []
    settings = select_settings(config, names)
    dependencies |= {name: value for name, value in settings.items() if not is_monitoring(name)}
    if listed.sizes:
        dependencies["sizes"] = digest_image_sizes(config)
    if listed.code:
        dependencies[CODE_DIGEST] = digest_code(listed.code, classes)
    return dependencies


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


def select_defining_columns(row: Arm | Method | Dataset) -> Dependencies:
    """Select the columns of a row that determine its results, by name."""
    table, columns = DEFINING_COLUMNS[type(row)]
    return {f"{table}.{k}": v for k, v in asdict(row).items() if k in columns}


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


def list_class_settings(classes: Iterable[Any]) -> list[str]:
    """List the settings of the model's section that classes read, without repetition."""
    return list(dict.fromkeys(name for cls in classes for name in cls.SETTINGS))


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


# --- code -----------------------------------------------------------------------------------------


def digest_code(code: Iterable[str], classes: Iterable[type] = ()) -> str:
    """Compute the SHA-256 of files and folders of the package, and of the files of classes.

    The files of base classes count, too; comments, docstrings and layout do not. Templates and
    other texts in folders count byte by byte.
    """
    paths = [PACKAGE / name for name in code]
    digest = hashlib.sha256(digest_files([*paths, *find_source_files(classes)]).encode())
    for text in sorted(file for path in paths if path.is_dir() for file in _find_text_files(path)):
        digest.update(f"{text.relative_to(PACKAGE)} {compute_sha256(text)}".encode())
    return digest.hexdigest()


def find_source_files(classes: Iterable[type]) -> set[Path]:
    """Find the source files of classes and of their base classes."""
    bases = {base for cls in classes for base in cls.__mro__}
    return {
        Path(inspect.getfile(base))
        for base in bases
        if base.__module__.partition(".")[0] not in ("builtins", "torch")
    }


def _find_text_files(folder: Path) -> Iterator[Path]:
    """Find the templates and other texts in a folder."""
    suffixes = (".css", ".html", ".j2", ".js", ".md", ".mplstyle", ".tex", ".txt")
    files = (file for file in folder.rglob("*") if file.suffix in suffixes)
    return (file for file in files if not file.name.startswith("."))


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
