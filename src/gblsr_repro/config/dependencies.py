"""What the output of every rule follows from: settings, rows of tables, and code.

The only place that decides what runs again. A rule of the workflow has what `follows` returns as a
parameter, so that Snakemake asks for its jobs again when that changes; a run's record and a score's
record hold the same, so that what is loaded or kept was made from it.

Where a file lies, how a job computes (device, threads) and how a training is watched stand nowhere
here: they change how something is made, not what comes out. Nor does what a job reads of another
rule's output: Snakemake asks for all jobs below one that runs.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import read_csv, sha256
from .source_digest import digest_files
from .tables import Arm, Config, Dataset, Method, find_repository_root, select_arms
from .tables import locate_row as subject_of

PACKAGE = Path(__file__).resolve().parents[1]
CODE_DIGEST = "code_sha256"

Dependencies = dict[str, Any]
Subject = Arm | Method | Dataset | str | None
"""What a job is about: a row, the name of a column, an array or an aggregate, or nothing."""


@dataclass(frozen=True)
class Rule:
    """What the output of a rule follows from.

    `settings` are dotted names; a section stands for all in it, `{}` for the name of the column or
    array that the job is about. `code` are files and folders of the package. `model`: also what the
    classes of its arm or method (of every arm, where it is about none) read, and their code.
    `training`: also the settings of the training. `sizes`: also the image sizes that are known.
    """

    settings: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    model: bool = False
    training: bool = False
    sizes: bool = False


# --- the rules ------------------------------------------------------------------------------------

# Training settings that change how a run is watched, not what it computes.
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
# What is averaged, judged and shown takes seconds: it follows all that was asked for.
SHOWN = ("preset", "seeds", "native", "asr", "latency", "diagnostics", "claims")

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
# The classes that a row names, and what those extend, come besides, wherever they lie.
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
ANALYSIS = ("analysis", "evaluation/fields.py", "evaluation/locality.py")
REPORTING = ("reporting", *ANALYSIS)

RULES = {
    # The record of a data set's files is made once, and every later reader is held to it: neither
    # the checksum of a download nor the code that downloads makes another one.
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
    "evaluate": Rule(("native.metrics", "require_lpips"), code=SCORING),
    "evaluate_validation": Rule(
        ("native.metrics", "require_lpips", "diagnostics.images"), code=SCORING
    ),
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
    **dict.fromkeys(("aggregate", "provenance", "claims"), Rule(SHOWN, code=ANALYSIS)),
    "aggregate budget": Rule(SHOWN, code=("analysis", *NATIVE_MODEL), model=True),
    "aggregate structure": Rule(code=("analysis", "models")),
    **dict.fromkeys(
        ("tables", "figures", "claims_page", "readings", "report"), Rule(SHOWN, code=REPORTING)
    ),
}

TRAININGS = {Arm: "train", Method: "asr_train_run"}
# The columns of a row that decide what is made; the others say how it is shown.
DEFINING = {
    Arm: ("arms", ("decoder", "options")),
    Method: ("methods", ("encoder", "decoder", "options", "recipe")),
    Dataset: ("datasets", ("kind", "files", "images")),
}


def collect_dependencies(rule: str, subject: Subject, config: Config) -> Dependencies:
    """Return what the output of a rule follows from, by name, for what the job is about.

    Settings by their dotted names, the columns of its row that define it, and under `code_sha256`
    the digest of its code. Raises `UserError` where a row names a class that does not exist.
    """
    how = RULES.get(f"{rule} {subject}") or RULES[rule]
    names = [name.format(subject) for name in how.settings]
    rows = [subject] if isinstance(subject, Arm | Method) else select_arms(config).values()
    classes = [part for row in rows for part in find_model_classes(row)] if how.model else []
    found = {} if subject is None or isinstance(subject, str) else select_defining_columns(subject)
    if isinstance(subject, Arm | Method):
        names += [f"{subject_of(subject)[0]}.model.{name}" for name in list_class_settings(classes)]
        names += list_training_settings(subject, config) if how.training else []
    settings = select_settings(config, names)
    found |= {name: value for name, value in settings.items() if not is_monitoring(name)}
    if how.sizes:
        found["sizes"] = digest_image_sizes(config)
    if how.code:
        found[CODE_DIGEST] = digest_code(how.code, classes)
    return found


def identify_run(row: Arm | Method, config: Config) -> Dependencies:
    """Return what the weights of a run follow from, whatever its seed."""
    return collect_dependencies(TRAININGS[type(row)], row, config)


def digest_training_code(row: Arm | Method) -> str:
    """Return the digest of the code that the weights of a run follow from."""
    return digest_code(RULES[TRAININGS[type(row)]].code, find_model_classes(row))


def check_identity(place: Path | str, record: Mapping[str, Any], wanted: Dependencies) -> None:
    """Raise `UserError` unless the run that `record` describes agrees with all of `wanted`."""
    trained = record.get("identity")
    if trained is None:
        raise UserError(f"{place} does not say what its weights follow from; train this run again.")
    for name, value in wanted.items():
        if trained.get(name) == value:
            continue
        if name == CODE_DIGEST:
            raise UserError(
                f"{place} was trained by other code than there is now; train again or go back to "
                "that code."
            )
        table, _, _ = name.partition(".")
        says = f"config/{table}.tsv" if table in ("arms", "methods") else "the config"
        raise UserError(
            f"{place} was trained with {name} = {trained.get(name)}, but {says} says {value}; "
            "train again or use what it was trained with."
        )


# --- rows and their classes -----------------------------------------------------------------------


def select_defining_columns(row: Arm | Method | Dataset) -> Dependencies:
    """Return the columns of a row that define it, by name."""
    table, columns = DEFINING[type(row)]
    return {f"{table}.{k}": v for k, v in asdict(row).items() if k in columns}


def find_model_classes(row: Arm | Method) -> tuple[type, type]:
    """Return the classes of an arm's or method's encoder and decoder.

    Raises `UserError` where its row names one that does not exist.
    """
    # Here, since torch takes longer to import than most commands need.
    from ..models import native
    from ..models.asr import model as asr

    return native.find_classes(row) if isinstance(row, Arm) else asr.find_classes(row)


def list_class_settings(classes: Iterable[Any]) -> list[str]:
    """Return the settings of the model's section that classes read, each once."""
    return list(dict.fromkeys(name for part in classes for name in part.SETTINGS))


def list_training_settings(row: Arm | Method, config: Config) -> list[str]:
    """Return the names of the settings that the training of a row follows from."""
    section, _, _ = subject_of(row)
    names = [name for name in list_settings(config, f"{section}.training") if name not in MAPS]
    if isinstance(row, Arm):
        return [*SPLIT, *names, f"native.training.pixels.{row.arm}"]
    return [*names, f"asr.training.recipes.{row.recipe}"]


def is_monitoring(name: str) -> bool:
    """Say whether a setting changes only how a training is watched."""
    section, _, setting = name.rpartition(".")
    return section.endswith(".training") and setting in MONITORING


def digest_image_sizes(config: Config) -> str:
    """Return the SHA-256 of the rows of config/sizes.tsv about data sets that the config names."""
    asr = config["asr"]
    timed = (asr["evaluate"].get(name, name) for name in asr["timing"]["datasets"])
    names = {*asr["evaluate"].values(), *timed}
    rows = read_csv(find_repository_root() / "config" / "sizes.tsv", "\t")
    told = repr([row for row in rows if row["dataset"] in names])
    return hashlib.sha256(told.encode()).hexdigest()


# --- code -----------------------------------------------------------------------------------------


def digest_code(code: Iterable[str], classes: Iterable[type] = ()) -> str:
    """Return the SHA-256 of files and folders of the package and of classes, wherever they lie.

    Of classes the files count that they and what they extend are written in. Comments, docstrings
    and layout do not count. Of folders, templates and other texts count as they are.
    """
    paths = [PACKAGE / name for name in code]
    digest = hashlib.sha256(digest_files([*paths, *find_source_files(classes)]).encode())
    for text in sorted(file for path in paths if path.is_dir() for file in _find_text_files(path)):
        digest.update(f"{text.relative_to(PACKAGE)} {sha256(text)}".encode())
    return digest.hexdigest()


def find_source_files(classes: Iterable[type]) -> set[Path]:
    """Return the files that classes, and the classes that they extend, are written in."""
    written = {base for part in classes for base in part.__mro__}
    return {
        Path(inspect.getfile(base))
        for base in written
        if base.__module__.partition(".")[0] not in ("builtins", "torch")
    }


def _find_text_files(folder: Path) -> Iterator[Path]:
    kinds = (".css", ".html", ".j2", ".js", ".md", ".mplstyle", ".tex", ".txt")
    return (file for file in folder.rglob("*") if file.suffix in kinds)


# --- settings by their dotted names ---------------------------------------------------------------

# The settings that are maps: by column, by arm, or by recipe.
MAPS = (
    "native.data.evaluate",
    "native.data.exemplars",
    "native.training.pixels",
    "asr.evaluate",
    "asr.shave_extra",
    "asr.training.recipes",
)


def list_settings(config: Config, name: str) -> tuple[str, ...]:
    """Return the settings in a section of a config, or a setting itself; a map is one."""
    section = _get_setting(config, name)
    if not isinstance(section, Mapping) or name in MAPS:
        return (name,)
    return tuple(leaf for key in section for leaf in list_settings(config, f"{name}.{key}"))


def select_settings(config: Config, names: Iterable[str]) -> Dependencies:
    """Return the named settings by their dotted names; a section stands for all in it.

    Of a map, single entries can be named (`asr.evaluate.set5`); those that are not there are left
    out.
    """
    found: Dependencies = {}
    for name in names:
        leaf, _, key = name.rpartition(".")
        if leaf in MAPS:
            entries = {k: v for k, v in _get_setting(config, leaf).items() if k == key}
            found[leaf] = found.get(leaf, {}) | entries
        else:
            found |= {leaf: _get_setting(config, leaf) for leaf in list_settings(config, name)}
    return found


def _get_setting(config: Config, name: str) -> Any:
    value: Any = config
    for key in name.split("."):
        value = value[key]
    return value
