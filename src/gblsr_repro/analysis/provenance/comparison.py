"""Compare the recorded conditions of a run with the paper's.

config/paper/settings.tsv says which numbers every setting concerns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from ...config import (
    TableRow,
    find_repository_root,
    get_dataset_title,
    list_short_names,
    load_protocol,
    read_table,
)
from ...config.rows import Words
from ...dependencies import list_settings
from ...metadata import Images
from ...wording import join_words, list_some
from .conditions import ComparedSettings, RunConditions
from .differences import (
    DEVICE,
    PAPER_PRESET,
    RELEASED_PRESET,
    SHARED_GPU,
    Difference,
    Effect,
    Scope,
)

TRAINED_ON = ("quality", "locality", "ablation")  # scopes that rest on the training images
VALIDATED = ("locality", "ablation")  # scopes that are measured on the validation images
# A stand-in with the very pixels that the protocol reads of the set itself qualifies a verdict and
# leaves it; images of another size block one anyhow.
CENTER_CROPS = {"urban100_center256"}
RELEASED_WEIGHTS = "scores of released weights, not their training"
EARLIER = "weights of an earlier version, not trained here"


def compare_with_paper(run: RunConditions, paper: RunConditions) -> tuple[Difference, ...]:
    """List the differences between the conditions of `run` and the paper's.

    A condition that a number depends on and that was not recorded counts as different.
    """
    differences = [
        *_compare_preset(run),
        *_compare_weights(run),
        *_compare_settings(run),
        *_compare_seeds(run, paper),
        *_compare_images(run, paper),
        *_compare_devices(run, paper),
    ]
    return tuple(difference for difference in differences if difference.scopes)


def _compare_preset(run: RunConditions) -> Iterator[Difference]:
    if run.preset not in (PAPER_PRESET, RELEASED_PRESET):
        # What a preset changes is compared one by one: its name alone blocks no verdict.
        scopes = (Scope.STRUCTURE, *run.scopes)
        yield Difference("preset", f"preset {run.preset}", scopes, Effect.NONE)


def _select_scopes(run: RunConditions, *measures: str) -> tuple[Scope, ...]:
    return tuple(scope for scope in run.scopes if scope.measure in measures)


# --- imported weights -----------------------------------------------------------------------------


def _compare_weights(run: RunConditions) -> Iterator[Difference]:
    """Name the weights that were not trained here: they qualify a verdict and leave it."""
    scopes = _select_scopes(run, *TRAINED_ON)
    foreign = _list_foreign(run)
    own = tuple(subject for subject in run.imported if subject not in foreign)
    for subjects, sentence in ((foreign, RELEASED_WEIGHTS), (own, EARLIER)):
        if subjects:
            yield Difference("released", sentence, scopes, Effect.QUALIFIES, subjects)


def _list_foreign(run: RunConditions) -> tuple[str, ...]:
    """List the arms or methods with weights of others, whose training is not recorded."""
    return tuple(name for name, weights in run.imported.items() if weights.identity is None)


def _list_trained(run: RunConditions) -> tuple[str, ...] | None:
    """List the arms or methods that the conditions of training concern; None for all."""
    released = _list_foreign(run)
    if not released:
        return None
    return tuple(subject for subject in run.seeds if subject not in released)


# --- settings -------------------------------------------------------------------------------------


class Setting(TableRow):
    """A row of config/paper/settings.tsv: a setting of the protocol, or a section of it.

    `scopes` are the numbers that it concerns; where there are none, `why` gives the reason.
    `words` name it in captions (default: the last part of its name).
    """

    setting: str
    scopes: Words = ()
    words: str = ""
    why: str = ""


@cache
def read_settings() -> dict[str, Setting]:
    """Read config/paper/settings.tsv by setting."""
    return read_table(
        find_repository_root() / "config" / "paper" / "settings.tsv", Setting, "setting"
    )


@cache
def find_setting(name: str) -> Setting | None:
    """Find the row of a setting: its own, or that of the innermost section with one."""
    parts = name.split(".")
    sections = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((read_settings()[s] for s in sections if s in read_settings()), None)


def _compare_settings(run: RunConditions) -> Iterator[Difference]:
    """Compare what every run depends on with what the paper's does, setting by setting.

    Entries of a map that differ alike are told together, for the arms or methods that have them;
    settings that were not recorded are one difference a section.
    """
    everyone = {each.subject for each in run.settings} - {""}

    def select(subjects: Sequence[str]) -> tuple[str, ...] | None:
        return None if {*subjects} in ({""}, everyone) else tuple(dict.fromkeys(subjects))

    absent: dict[str, dict[str, list[str]]] = {}
    for setting in _list_settings(run.benchmark):
        scopes = _list_scopes(run, setting)
        sides = [each for each in run.settings if scopes and setting in each.published]
        if unknown := [each.subject for each in sides if setting not in each.recorded]:
            absent.setdefault(".".join(setting.split(".")[:2]), {})[setting] = unknown
        groups: dict[tuple[str, str], dict[str, Sequence[str]]] = {}
        for entry, found in _pair_entries(setting, sides).items():
            subjects, here, there = zip(*found, strict=True)
            if here != there:
                told = _format_values(here), _format_values(there)
                groups.setdefault(told, {})[entry] = subjects
        for (text, wanted), entries in groups.items():
            sentence = _state(_name_setting(setting, [*entries]), text, wanted)
            concerned = [*chain.from_iterable(entries.values())]
            yield Difference(setting, sentence, scopes, subjects=select(concerned))
    for section, settings in absent.items():
        few = f": {', '.join(map(_name_setting, settings))}" if len(settings) <= 3 else ""
        sentence = f"settings of {section} not recorded{few}"
        scopes = tuple(dict.fromkeys(s for name in settings for s in _list_scopes(run, name)))
        concerned = [*chain.from_iterable(settings.values())]
        yield Difference(section, sentence, scopes, subjects=select(concerned))


def _list_settings(benchmark: str) -> list[str]:
    parts = (benchmark, "latency", "diagnostics")
    return [name for part in parts for name in list_settings(load_protocol(), part)]


def _list_scopes(run: RunConditions, setting: str) -> tuple[Scope, ...]:
    row = find_setting(setting)
    return tuple(scope for scope in run.scopes if row and scope in row.scopes)


def _pair_entries(
    setting: str, sides: Sequence[ComparedSettings]
) -> dict[str, list[tuple[str, Any, Any]]]:
    """Pair the entries of a map, else "" alone, with the paper's: by entry, subject and values."""
    pairs: dict[str, list[tuple[str, Any, Any]]] = {}
    for each in (each for each in sides if setting in each.recorded):
        here, there = _flatten(each.recorded[setting]), _flatten(each.published[setting])
        for entry in here | there:
            pair = each.subject, here.get(entry), there.get(entry)
            pairs.setdefault(entry, []).append(pair)
    return pairs


def _flatten(value: Any, name: str = "") -> dict[str, Any]:
    """Return the values within nested maps by dotted name."""
    if not isinstance(value, Mapping):
        return {name: value}
    entries = (_flatten(inner, f"{name}.{key}".strip(".")) for key, inner in value.items())
    return {key: inner for entry in entries for key, inner in entry.items()}


def _name_setting(setting: str, entries: Sequence[str] = ()) -> str:
    """Name a setting, or entries of it, in words."""
    row, titles = read_settings().get(setting), list_short_names("native")
    words = row.words if row and row.words else setting.rpartition(".")[2]
    named = [titles.get(entry, entry.replace(".", " ")) for entry in entries if entry]
    return " ".join([words, *([join_words(named)] if named else [])]).replace("_", " ")


def _state(words: str, here: str, there: str) -> str:
    return f"{words}: {here} (paper: {there})"


def _format_values(values: Sequence[Any]) -> str:
    """Format the distinct values of a setting, numbers as a range."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return " to ".join(dict.fromkeys(f"{end:,}" for end in (min(values), max(values))))
    return " or ".join(dict.fromkeys(_format_value(value) for value in values))


def _format_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_value, value))
    return "not set" if value is None else str(value)


# --- seeds, images, devices -----------------------------------------------------------------------


def _compare_seeds(run: RunConditions, paper: RunConditions) -> Iterator[Difference]:
    """Compare the seeds of every arm or method: the timed ones for times, the trained ones else.

    Weights that others released are of one seed, and named in whole. Arms or methods without a
    record take the seeds of all others.
    """
    titles, timed = list_short_names(run.benchmark), _select_scopes(run, "latency")
    released = _list_foreign(run)
    trained = {subject: seeds for subject, seeds in run.seeds.items() if subject not in released}
    others = tuple(scope for scope in run.scopes if scope not in timed)
    wanted = _format_value(next(iter(paper.seeds.values())))
    for recorded, scopes, left_out in (
        (trained, others, released),
        (run.timed_seeds, timed, ()),
    ):
        if not recorded:
            continue
        every = sorted({seed for seeds in recorded.values() for seed in seeds})
        by_seeds: dict[str, list[str]] = {}
        for name in dict.fromkeys([*recorded, *titles]):
            if name not in left_out:
                by_seeds.setdefault(_format_value(recorded.get(name, every)), []).append(name)
        for seeds, names in by_seeds.items():
            if seeds != wanted:
                shorts = [titles.get(name, name) for name in names if name in recorded]
                of = f" of {join_words(shorts)}" if len(by_seeds) > 1 and shorts else ""
                subjects = tuple(names) if len(by_seeds) > 1 or left_out else None
                yield Difference(
                    "seeds", _state(f"seeds{of}", seeds, wanted), scopes, subjects=subjects
                )


def _compare_images(run: RunConditions, paper: RunConditions) -> Iterator[Difference]:
    """Compare the images of training and validation, and those of every evaluation column.

    DIV2K is the one thing that a reader can add: other images to train or validate on qualify a
    verdict and leave it.
    """
    data = "native.data" if run.benchmark == "native" else run.benchmark
    trained = _list_trained(run)
    if trained != () and (text := _compare_image_sets(run.train, paper.train)):
        effect = Effect.QUALIFIES if run.train else Effect.BLOCKS
        scopes = _select_scopes(run, *TRAINED_ON)
        yield Difference(f"{data}.train", f"trained on {text}", scopes, effect, trained)
    if text := _compare_image_sets(run.validation):
        effect = Effect.QUALIFIES if run.validation else Effect.BLOCKS
        scopes = _select_scopes(run, *VALIDATED)
        yield Difference(f"{data}.validation", f"validated on {text}", scopes, effect)
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    sized = run.benchmark == "asr" and not run.sizes_only
    scopes = _select_scopes(run, "quality", *["latency"] * sized)
    for column, sets in run.evaluate.items():
        others = [f"other pixels in {list_some(i.other_pixels)}" for i in sets if i.other_pixels]
        is_crop = bool(sets) and all(i.dataset in CENTER_CROPS and i.complete for i in sets)
        effect = Effect.QUALIFIES if is_crop and not others else Effect.BLOCKS
        for text in filter(None, [_compare_image_sets(sets), *others]):
            name = f"{data}.evaluate.{column}"
            yield Difference(name, f"{column}: {text}", scopes, effect, columns=(column,))


def _compare_image_sets(sets: Sequence[Images], wanted: Sequence[Images] = ()) -> str:
    """Name the sets that replace the paper's, or are part of one; empty where there are none."""
    if not sets:
        return "images not recorded"
    texts = []
    for images in sets:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {get_dataset_title(images.stands_in_for)}")
        elif not images.complete:
            texts.append(f"{images.count} images of {images.title}")
    if wanted and not texts and [i.dataset for i in sets] != [i.dataset for i in wanted]:
        texts = [images.title for images in sets]
    return join_words(texts) if texts else ""


def _compare_devices(run: RunConditions, paper: RunConditions) -> Iterator[Difference]:
    """Compare the devices of trainings and timings, and how timings were taken."""
    for words, devices, published, measure in (
        ("trained on", run.devices, paper.devices, "cost"),
        ("timed on", run.timed_on, paper.timed_on, "latency"),
    ):
        for device in devices or ["not recorded"]:
            if device not in published:
                sentence = _state(words, device, ", ".join(published))
                yield Difference(DEVICE, sentence, _select_scopes(run, measure))
    timed = _select_scopes(run, "latency")
    if run.shared_gpu:
        sentence = "timed on a shared GPU, and so not judged"
        yield Difference(SHARED_GPU, sentence, timed, subjects=tuple(run.shared_gpu))
    if run.sizes_only:
        sentence = "timed on blank images of the sets' sizes"
        yield Difference("asr.timing.datasets", sentence, timed, Effect.NONE)
