"""Collect the settings, table rows and versions that the output of every rule depends on.

This module and its list (`rules`) alone decide what runs again. A rule of the workflow has the
result of `collect_dependencies` as parameters, so that Snakemake runs its jobs again when one
changes; the metadata of runs and scores contain the same, so that only results of the current
settings and versions are loaded or kept.

The location of files, the device and threads of a job, and the monitoring of a training are not
dependencies: they change how a result is computed, not the result. Neither are the outputs of other
rules that a job reads: Snakemake runs all jobs below one that runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
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
    list_timed_datasets,
    load_protocol,
    locate_row,
    read_image_sizes,
)
from ..errors import UserError
from ..files import compute_sha256
from ..wording import suggest
from .rules import INITIAL, MONITORING, RULES, SPLIT, Rule
from .versions import MODEL_VERSIONS, list_model_versions, read_class_settings

PACKAGE = Path(__file__).resolve().parents[1]
RELEASED, VERSION, MODELS = "released", "version", "models"  # names of dependencies
ENCODER = "gblsr_repro.models.encoder:PatchEncoder"
"""The encoder that all arms share."""

CHOSEN_OPTIONS = (
    "centers=cell shift=half_cell units=image weights=own",
    "coordinates=global features=bilinear waves=joined",
    "coordinates=global features=bilinear",
)

Dependencies = dict[str, Any]
Subject = Arm | Method | Dataset | str | None
"""Subject of a job: a row, the name of a column or a job, or nothing."""

TRAININGS = {Arm: "train", Method: "asr_train_run"}
IMPORTS = {Arm: "import_arm", Method: "import_method"}


def collect_dependencies(rule: str, subject: Subject, config: Config) -> Dependencies:
    """Collect the dependencies of the output of a rule for a job's subject, by name.

    Settings by their dotted names, the defining columns of the subject's row, as `version` that of
    the rule, as `models` those of the classes of the row, and checksums of files. Raises
    `UserError` if a row names a module or class that does not exist, or a class a setting that
    there is not.
    """
    listed = RULES.get(f"{rule} {subject}") or RULES[rule]
    about = locate_row(subject)[2] if isinstance(subject, Arm | Method) else subject
    names = [name.format(about) if about else name.removesuffix(".{}") for name in listed.settings]
    dependencies: Dependencies = {}
    classes: list[str] = []
    if isinstance(subject, Arm | Method | Dataset):
        dependencies |= identify_row(subject)
    if isinstance(subject, Arm | Method):
        classes = list_classes(subject)
        names += _list_model_settings(subject, classes, listed.initial, config)
        names += list_training_settings(subject, config) if listed.training else []
    if listed.all_arms:
        classes = [name for arm in list_arms(config).values() for name in list_classes(arm)]
    settings = select_settings(config, names)
    dependencies |= {name: value for name, value in settings.items() if not is_monitoring(name)}
    if listed.sizes:
        dependencies["sizes"] = digest_image_sizes(config)
    if listed.borders:
        dependencies["borders"] = list_extra_borders(subject, config)
    if listed.version:
        dependencies[VERSION] = listed.version
    if classes:
        dependencies[MODELS] = list_model_versions(classes)
    return dependencies | digest_tables(listed) | digest_code(listed.code)


def identify_run(row: Arm | Method, config: Config) -> Dependencies:
    """Collect the dependencies of the weights of a run, the same for all seeds.

    Those of an imported run contain the address in the config, as `released`.
    """
    rules = IMPORTS if is_imported(row, config) else TRAININGS
    return collect_dependencies(rules[type(row)], row, config)


def list_run_versions(row: Arm | Method, metadata: Mapping[str, Any]) -> Dependencies:
    """List the present versions of what the weights of a recorded run depend on."""
    rules = IMPORTS if RELEASED in metadata else TRAININGS
    version = RULES[rules[type(row)]].version
    return {VERSION: version, MODELS: list_model_versions(list_classes(row))}


def update_identity(identity: Mapping[str, Any]) -> Dependencies:
    """Replace the digest of code that runs up to 0.3.0 have in their identity by versions.

    What computes the numbers of 0.3.0 has version 1; of a class of one's own nothing is known. What
    its options chose for LIIF, LTE and WIRE is what these do without options.
    """
    updated = dict(identity)
    if updated.get("arms.options") in CHOSEN_OPTIONS:
        updated["arms.options"] = ""
    if updated.pop("code_sha256", None):
        named = [name for column, name in updated.items() if column.endswith("coder")]
        named += [ENCODER] if "arms.decoder" in updated else []
        modules = (name.partition(":")[0] for name in named)
        updated[VERSION] = 1
        updated[MODELS] = {name: 1 for name in modules if name in MODEL_VERSIONS}
    return updated


# --- rows and their classes -----------------------------------------------------------------------


def identify_row(row: Arm | Method | Dataset) -> Dependencies:
    """Identify a row by the columns that determine its results; others are about how it is shown.

    They count as texts, options in alphabetical order.
    """
    if isinstance(row, Dataset):
        return {
            "datasets.kind": row.kind,
            "datasets.files": " ".join(row.files),
            "datasets.images": str(row.images),
        }
    options = " ".join(sorted(f"{name}={value}" for name, value in row.options.items()))
    if isinstance(row, Arm):
        return {"arms.decoder": row.decoder, "arms.options": options}
    return {
        "methods.encoder": row.encoder,
        "methods.decoder": row.decoder,
        "methods.options": options,
        "methods.recipe": row.recipe,
    }


def list_classes(row: Arm | Method) -> list[str]:
    """List the names of the classes of an arm's or method's encoder and decoder."""
    return [ENCODER if isinstance(row, Arm) else row.encoder, row.decoder]


def _list_model_settings(
    row: Arm | Method, classes: Iterable[str], initial: bool, config: Config
) -> list[str]:
    """List the settings of the model's section that classes read, without repetition.

    Without `initial` those that set initial values alone are left out. May raise `UserError`.
    """
    section = f"{locate_row(row)[0]}.model"
    known = get_setting(config, section)
    names: dict[str, Any] = {}
    for each in classes:
        names |= select_class_settings(each, read_class_settings(each), known, section)
    listed = [f"{section}.{name}" for name in names]
    return [name for name in listed if initial or name not in INITIAL]


def select_class_settings(
    name: str, settings: Iterable[str], section: Mapping[str, Any], section_name: str
) -> dict[str, Any]:
    """Select the settings of a section that a class names; `UserError` for one that it lacks."""
    for setting in settings:
        if setting not in section:
            raise UserError(
                f"{name} names the setting {setting!r} in its SETTINGS, which {section_name} does "
                f"not have; {suggest(setting, section)}"
            )
    return {setting: section[setting] for setting in settings}


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
    """Compute the SHA-256 of the files in config/ that a rule depends on."""
    folder = find_repository_root() / "config"
    return {f"config/{name}": compute_sha256(folder / name) for name in rule.files}


@cache
def digest_code(code: tuple[str, ...]) -> Dependencies:
    """Compute the SHA-256 of files and folders of the package: of their code and templates.

    Hidden files are an editor's, such as its lock of a file that is open.
    """
    digests = {}
    for name in code:
        place, digest = PACKAGE / name, hashlib.sha256()
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.suffix in (".py", ".j2", ".css") and not file.name.startswith("."):
                digest.update(f"{file.relative_to(PACKAGE)} {compute_sha256(file)}".encode())
        digests[f"src/gblsr_repro/{name}"] = digest.hexdigest()
    return digests


def list_extra_borders(subject: Subject, config: Config) -> dict[str, int]:
    """List asr.shave_extra by data set, of one column or all, where it is more than 0.

    The files of scores are named by data set: one that another column shows is measured again.
    """
    datasets = map_columns(config)
    columns: Iterable[Any] = datasets if subject is None else [subject]
    borders = {datasets[name]: config["asr"]["shave_extra"].get(name, 0) for name in columns}
    return {dataset: border for dataset, border in borders.items() if border}


def map_columns(config: Config) -> dict[str, str]:
    """Map the columns of super-resolution to data sets, with those that the config leaves out.

    So that nothing is measured again of the others, where one of the paper's is left out.
    """
    return load_protocol()["asr"]["evaluate"] | config["asr"]["evaluate"]


def digest_image_sizes(config: Config) -> str:
    """Compute the SHA-256 of the rows of config/sizes.tsv about data sets that the config names.

    Widths and heights count as texts, as when runs of 0.3.0 were timed.
    """
    names = {*map_columns(config).values(), *list_timed_datasets(config)}
    rows = (
        f"ImageSize(dataset={size.dataset!r}, image={size.image!r}, width='{size.width}', "
        f"height='{size.height}')"
        for size in read_image_sizes()
        if size.dataset in names
    )
    return hashlib.sha256(f"[{', '.join(rows)}]".encode()).hexdigest()


# --- settings by their dotted names ---------------------------------------------------------------

# The settings that are maps: by column, by arm, or by recipe.
MAPS = (
    "native.data.evaluate",
    "native.data.exemplars",
    "native.training.pixels",
    "asr.evaluate",
    "asr.exemplars",
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
