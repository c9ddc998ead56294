"""Collect the settings, table rows and code that the output of every rule depends on.

This module and its list (`rules`) alone decide what runs again. A rule of the workflow has the
result of `collect_dependencies` as parameters, so that Snakemake runs its jobs again when one
changes; the records of runs and scores contain the same, so that only results of the current
settings and code are loaded or kept.

The location of files, the device and threads of a job, and the monitoring of a training are not
dependencies: they change how a result is computed, not the result. Neither are the outputs of other
rules that a job reads: Snakemake runs all jobs below one that runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
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
    read_image_sizes,
)
from ..errors import UserError, build_syntax_error
from ..files import compute_sha256
from .code import digest_code
from .rules import MONITORING, RULES, SPLIT, Rule

CODE_DIGEST = "code_sha256"
RELEASED = "released"

Dependencies = dict[str, Any]
Subject = Arm | Method | Dataset | str | None
"""Subject of a job: a row, the name of a column or a job, or nothing."""

TRAININGS = {Arm: "train", Method: "asr_train_run"}
IMPORTS = {Arm: "import_arm", Method: "import_method"}


def collect_dependencies(rule: str, subject: Subject, config: Config) -> Dependencies:
    """Collect the dependencies of the output of a rule for a job's subject, by name.

    Settings by their dotted names, the defining columns of the subject's row, and as `code_sha256`
    the digest of the code. Raises `UserError` if a row names a class that does not exist, or an
    option or a class a setting that there is not.
    """
    listed = find_rule(rule, subject)
    about = locate_row(subject)[2] if isinstance(subject, Arm | Method) else subject
    names = [name.format(about) if about else name.removesuffix(".{}") for name in listed.settings]
    dependencies: Dependencies = {}
    classes: list[type] = []
    if isinstance(subject, Arm | Method | Dataset):
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
    dependencies |= digest_tables(listed)
    if listed.code:
        dependencies[CODE_DIGEST] = digest_code(listed.code, tuple(classes))
    return dependencies


def find_rule(rule: str, subject: Subject) -> Rule:
    """Find the dependencies of a rule for a job's subject."""
    return RULES.get(f"{rule} {subject}") or RULES[rule]


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


def identify_row(row: Arm | Method | Dataset) -> Dependencies:
    """Identify a row by the columns that determine its results; others are about how it is shown.

    However a row is written, the same classes and options are the same text: "module:Class", and
    the options in alphabetical order.
    """
    if isinstance(row, Dataset):
        return {f"datasets.{name}": getattr(row, name) for name in ("kind", "files", "images")}
    encoder, decoder = (f"{cls.__module__}:{cls.__name__}" for cls in find_model_classes(row))
    options = " ".join(sorted(row.options.split()))
    if isinstance(row, Arm):
        return {"arms.decoder": decoder, "arms.options": options}
    return {
        "methods.encoder": encoder,
        "methods.decoder": decoder,
        "methods.options": options,
        "methods.recipe": row.recipe,
    }


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


def digest_tables(rule: Rule) -> Dependencies:
    """Compute the SHA-256 of the files in config/ that a rule depends on.

    Raises `UserError` for a file that is not there.
    """
    folder = find_repository_root() / "config"
    if absent := [name for name in rule.files if not (folder / name).is_file()]:
        raise UserError(f"{folder / absent[0]} does not exist; restore it.")
    return {f"config/{name}": compute_sha256(folder / name) for name in rule.files}


def digest_image_sizes(config: Config) -> str:
    """Compute the SHA-256 of the rows of config/sizes.tsv about data sets that the config names."""
    asr = config["asr"]
    timed = (asr["evaluate"].get(name, name) for name in asr["timing"]["datasets"])
    names = {*asr["evaluate"].values(), *timed}
    sizes = [size for size in read_image_sizes() if size.dataset in names]
    return hashlib.sha256(repr(sizes).encode()).hexdigest()


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
