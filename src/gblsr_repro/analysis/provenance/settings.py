"""Compare the settings that numbers depend on with those of the paper's protocol.

Which numbers a setting concerns follows from the rules that depend on it
(`gblsr_repro.dependencies`); config/paper/settings.tsv has its words, and the reasons why some
settings are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Annotated, Any

from pydantic import BeforeValidator

from ...config import (
    Config,
    Scope,
    TableRow,
    find_repository_root,
    find_row,
    list_short_names,
    load_protocol,
    read_table,
)
from ...config.rows import split_words
from ...dependencies import collect_dependencies, identify_run, select_settings
from ...wording import join_words
from .conditions import Json, RunMetadata, collect_seeds
from .differences import Difference

RULES_OF_SCOPES = {  # the rules that measure numbers of what was trained
    Scope.QUALITY: ("standardize", "evaluate"),
    Scope.LOCALITY: ("standardize train", "regions", "fields"),
    Scope.ABLATION: ("standardize train", "regions", "evaluate_validation"),
    Scope.LATENCY: ("latency",),
    Scope.ASR_QUALITY: ("asr_evaluate",),
    Scope.ASR_LATENCY: ("asr_latency",),
}
BESIDE_RULES = {  # settings that count in averages, through images, or by column
    Scope.LOCALITY: ("diagnostics.collapsed_range_fraction", "diagnostics.thresholds"),
    Scope.ABLATION: ("diagnostics.margins",),
    Scope.LATENCY: ("native.data.image_size",),
    Scope.ASR_QUALITY: ("asr.shave_extra",),
}


@dataclass(frozen=True)
class ComparedSettings:
    """What numbers of an arm or method depend on, as recorded here and in the paper, by name.

    An empty `subject` stands for all of them.
    """

    scopes: tuple[Scope, ...]
    subject: str
    recorded: Mapping[str, Any]
    published: Mapping[str, Any]


class Setting(TableRow):
    """A row of config/paper/settings.tsv: a setting of the protocol, or a section of it.

    `words` name it in captions (default: the last part of its name). `scopes` are the numbers that
    it concerns where these are not all that its rules make; `why`: the reason not to compare it.
    """

    setting: str
    words: str = ""
    scopes: Annotated[tuple[Scope, ...], BeforeValidator(split_words)] = ()
    why: str = ""


@cache
def read_settings() -> dict[str, Setting]:
    """Read config/paper/settings.tsv by setting."""
    return read_table(
        find_repository_root() / "config" / "paper" / "settings.tsv", Setting, "setting"
    )


@cache
def find_setting(name: str) -> Setting:
    """Find the row of a setting, or of the innermost section with one; else one of defaults."""
    rows = (row for row in read_settings().values() if f"{name}.".startswith(f"{row.setting}."))
    return max(rows, key=lambda row: len(row.setting), default=Setting(setting=name))


# --- what numbers depend on -----------------------------------------------------------------------


def collect_settings(run: RunMetadata) -> list[ComparedSettings]:
    """Collect what numbers depend on: of trainings as the runs recorded it, else the config's."""
    protocol, seeds = load_protocol(), collect_seeds(run.runs)
    trained = tuple(scope for scope in run.scopes if scope.measure != "latency")
    settings = [_read_training(each, trained, seeds[each["subject"]]) for each in run.runs]
    for scope in (scope for scope in run.scopes if scope in RULES_OF_SCOPES):
        timed = collect_seeds(run.timings) if scope.measure == "latency" else {}
        for subject in timed or [""]:
            here, paper = (_collect(scope, subject, each) for each in (run.config, protocol))
            if timed:
                here["seeds"], paper["seeds"] = timed[subject], protocol["seeds"]
            settings.append(ComparedSettings((scope,), subject, here, paper))
    return settings


def _read_training(run: Json, scopes: tuple[Scope, ...], seeds: Sequence[int]) -> ComparedSettings:
    """Read what a run depends on; an imported run of this project on what the original one does.

    Weights of others are of one seed, and their training is not recorded.
    """
    protocol, released = load_protocol(), run.get("released") or {}
    original = released.get("identity")
    recorded = {**(run.get("identity") or {}), **(original or {}), "seeds": seeds}
    is_foreign = bool(released) and original is None
    config = protocol | {"released": {run["subject"]: ""} if is_foreign else {}}
    published = identify_run(find_row(run["subject"]), config)
    published |= {} if is_foreign else {"seeds": protocol["seeds"]}
    return ComparedSettings(scopes, run["subject"], recorded, published)


def _collect(scope: Scope, subject: str, config: Config) -> dict[str, Any]:
    """Collect what the measuring of numbers depends on."""
    settings = select_settings(config, BESIDE_RULES.get(scope, ()))
    for rule in RULES_OF_SCOPES[scope]:
        settings |= collect_dependencies(rule, find_row(subject) if subject else None, config)
    return settings


# --- how they differ ------------------------------------------------------------------------------


def compare_settings(settings: Sequence[ComparedSettings]) -> Iterator[Difference]:
    """Compare settings with the paper's, those of every group of numbers.

    Entries of a map that differ alike are told together; arms or methods are named where others
    have another value.
    """
    having: dict[tuple[Any, ...], set[str]] = {}
    unlike: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for each in settings:
        for name, here, paper in _pair_values(each):
            setting = find_setting(name).setting
            having.setdefault((each.scopes, name), set()).add(each.subject)
            if here != paper:
                values = each.scopes, setting, _format_value(here), _format_value(paper)
                unlike.setdefault(values, {}).setdefault(name, []).append(each.subject)
    for (scopes, setting, here, paper), names in unlike.items():
        subjects = dict.fromkeys(chain.from_iterable(names.values()))
        is_of_some = any(having[scopes, name] - {*subjects} for name in names)
        everyone = {each.subject for each in settings if each.scopes == scopes}
        narrowed = find_setting(setting).scopes or scopes
        yield Difference(
            setting,
            f"{_describe(setting, names, subjects if is_of_some else ())}: {here} (paper: {paper})",
            tuple(scope for scope in scopes if scope in narrowed),
            subjects=None if everyone == {*subjects} else tuple(subjects),
        )


def _pair_values(settings: ComparedSettings) -> Iterator[tuple[str, Any, Any]]:
    """Pair each compared setting, or entry of a map, with the paper's: its name and both values."""
    names = [name for name in settings.published if name.partition(".")[0] in load_protocol()]
    here, paper = (
        _flatten({name: side.get(name) for name in names})
        for side in (settings.recorded, settings.published)
    )
    for name in dict.fromkeys([*paper, *here]):
        if not find_setting(name).why:
            yield name, here.get(name), paper.get(name)


def _flatten(values: Mapping[str, Any], section: str = "") -> dict[str, Any]:
    """Return the values within nested maps by dotted name."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{section}{key}"
        flat |= _flatten(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return flat


def _describe(setting: str, names: Iterable[str], subjects: Iterable[str]) -> str:
    """Name a setting, entries of it, and the arms or methods that it is of, in words."""
    titles = list_short_names("native") | list_short_names("asr")
    entries = [name.removeprefix(setting).strip(".") for name in names]
    named = [titles.get(entry, entry.replace(".", " ")) for entry in entries if entry]
    words = [find_setting(setting).words or setting.rpartition(".")[2]]
    words += [join_words(named)] if named else []
    words += ["of", join_words([titles[subject] for subject in subjects])] if subjects else []
    return " ".join(words).replace("_", " ")


def _format_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return "not set" if value is None else str(value)
