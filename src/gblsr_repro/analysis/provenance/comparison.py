"""Compare the recorded conditions of a run with the paper's.

config/paper/settings.tsv says which numbers every setting concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...config import find_repository_root, get_dataset_title, list_short_names, read_table
from ...wording import join_words, list_some
from .differences import PAPER_PRESET, RELEASED_PRESET, SHARED_GPU, Difference, Scope
from .recorded import ImageSet, Recorded

BLANK = "timed on blank images of the sets' sizes"
TRAINED_ON = ("quality", "locality", "ablation")  # scopes that rest on the training images
VALIDATED = ("locality", "ablation")  # scopes that are measured on the validation images
# DIV2K is the one thing that a reader can add, so that other images qualify a verdict and leave it.
OTHER_TRAINING = "on other training images"
OTHER_VALIDATION = "on other validation images"
# What is said of weights that were not trained here, and what it makes of a verdict, by whether
# others released them.
IMPORTED = {
    True: (
        "weights released by the authors, not trained here",
        "scores of released weights, not their training",
    ),
    False: ("weights of an earlier version, not trained here", "weights of an earlier version"),
}


def compare(run: Recorded, paper: Recorded) -> list[Difference]:
    """List the differences between the conditions of `run` and the paper's.

    A condition that a number depends on and that was not recorded counts as different.
    """
    differences = [
        *_compare_preset(run),
        *_compare_weights(run),
        *_compare_settings(run, paper),
        *_compare_seeds(run, paper),
        *_compare_images(run, paper),
        *_compare_devices(run, paper),
    ]
    merged: dict[Difference, tuple[Scope, ...]] = {}
    for difference in differences:
        key = replace(difference, scopes=())
        merged[key] = tuple(dict.fromkeys(merged.get(key, ()) + difference.scopes))
    return [replace(key, scopes=scopes) for key, scopes in merged.items() if scopes]


def _compare_preset(run: Recorded) -> Iterator[Difference]:
    if run.preset not in (PAPER_PRESET, RELEASED_PRESET):
        # What a preset changes is compared one by one: its name alone blocks no verdict.
        scopes = (Scope.STRUCTURE, *run.scopes)
        yield Difference(f"preset {run.preset}", scopes=scopes, blocks_verdict=False)


def _select_scopes(run: Recorded, *measures: str) -> tuple[Scope, ...]:
    return tuple(scope for scope in run.scopes if scope.measure in measures)


# --- imported weights -----------------------------------------------------------------------------


def _compare_weights(run: Recorded) -> Iterator[Difference]:
    """Name the weights that were not trained here: they qualify a verdict and leave it."""
    for others, (text, qualifier) in IMPORTED.items():
        subjects = [name for name, weights in run.imported.items() if weights.others is others]
        if subjects:
            yield Difference(
                text,
                scopes=_select_scopes(run, *TRAINED_ON),
                subjects=tuple(subjects),
                blocks_verdict=False,
                qualifier=qualifier,
            )


def _list_trained(run: Recorded) -> tuple[str, ...] | None:
    """List the arms or methods that the conditions of training concern; None for all."""
    released = {subject for subject, weights in run.imported.items() if weights.others}
    if not released:
        return None
    return tuple(subject for subject in run.seeds if subject not in released)


# --- settings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A row of config/paper/settings.tsv: a setting of the protocol, or a section of it.

    `kind` groups settings in captions; `scopes` are the numbers that it concerns. A row without
    scopes is either `recorded`, where another record is compared in its place, or `exempt`, and
    `why` gives the reason. `words` name it in captions; a `phrase` states its value there.
    """

    setting: str
    kind: str
    scopes: str
    words: str
    phrase: str
    why: str


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


@dataclass(frozen=True)
class Change:
    """A setting that differs, in words; `subjects` are the arms that it concerns (None: all)."""

    words: str
    subjects: tuple[str, ...] | None = None


def _compare_settings(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare settings: those with a phrase one by one, the others grouped by kind."""
    changed: dict[str, dict[Scope, list[Change]]] = {}
    absent: dict[str, dict[Scope, list[Change]]] = {}
    trained = _list_trained(run)
    for name, (wanted,) in paper.settings.items():
        row = find_setting(name)
        scopes = [scope for scope in run.scopes if row and scope in row.scopes.split()]
        if row is None or not scopes:
            continue
        subjects = trained if row.kind == "training" else None
        if subjects == ():  # nobody's training is recorded: all weights were released
            continue
        values = run.settings.get(name) or []
        if row.phrase:
            yield from _compare_value(row, tuple(scopes), values, wanted, subjects)
            continue
        changes = _list_changes(name, values, wanted) if values else [Change(_name_setting(name))]
        changes = [replace(each, subjects=each.subjects or subjects) for each in changes]
        by_kind = changed if values else absent
        for scope in scopes if changes else ():
            listed = by_kind.setdefault(row.kind, {}).setdefault(scope, [])
            listed += [change for change in changes if change not in listed]
    for kind, by_scope in changed.items():
        for scope, changes in by_scope.items():
            text = f"other {kind} settings ({', '.join(change.words for change in changes)})"
            yield Difference(text, scopes=(scope,), subjects=_list_subjects(changes))
    for kind, by_scope in absent.items():
        for scope, changes in by_scope.items():
            few = len(changes) <= 3
            names = f" ({', '.join(change.words for change in changes)})" if few else ""
            text = f"{kind} settings not recorded{names}"
            yield Difference(text, scopes=(scope,), subjects=_list_subjects(changes))


def _compare_value(
    row: Setting,
    scopes: tuple[Scope, ...],
    values: Sequence[Any],
    wanted: Any,
    subjects: tuple[str, ...] | None,
) -> Iterator[Difference]:
    if not values:
        yield Difference(f"{row.words} not recorded", scopes=scopes, subjects=subjects)
    elif any(value != wanted for value in values):
        short = row.phrase.format(_format_range(values))
        yield Difference(short, f"{short} (paper: {_format_range([wanted])})", scopes, subjects)


def _list_subjects(changes: Sequence[Change]) -> tuple[str, ...] | None:
    """List the arms that changes concern; None (all) unless every change names some."""
    if any(change.subjects is None for change in changes):
        return None
    return tuple(dict.fromkeys(name for change in changes for name in change.subjects or ()))


def _list_changes(name: str, values: Sequence[Any], wanted: Any) -> list[Change]:
    """List what differs within a setting; `values` are those of the runs."""
    if not all(isinstance(value, Mapping) for value in (wanted, *values)):
        return [Change(_name_setting(name))] if any(value != wanted for value in values) else []
    if name.endswith(".recipes"):  # a run has the recipe of its own encoder alone
        pairs = [(recipe, wanted.get(key, {})) for value in values for key, recipe in value.items()]
        differing = (k for recipe, paper in pairs for k in recipe if recipe[k] != paper.get(k))
        return [Change(_name_setting(key)) for key in dict.fromkeys(differing)]
    every = dict.fromkeys(key for mapping in (*values, wanted) for key in mapping)
    keys = [k for k in every if any(value.get(k) != wanted.get(k) for value in values)]
    if not keys:
        return []
    names = list_short_names("native")
    words = f"{_name_setting(name)} {join_words([names.get(key, key) for key in keys])}"
    return [Change(words, tuple(keys) if name.endswith(".pixels") else None)]


def _name_setting(name: str) -> str:
    if name == "halve_at":  # of a recipe
        return "where the learning rate is halved"
    row = read_settings().get(name)
    return row.words if row and row.words else name.rpartition(".")[2].replace("_", " ")


def _format_range(values: Sequence[Any]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


# --- seeds, images, devices -----------------------------------------------------------------------


def _compare_seeds(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare the seeds of every arm or method: the timed ones for times, the trained ones else.

    Weights that others released are of one seed, and named in whole.
    """
    titles, timed = list_short_names(run.benchmark), _select_scopes(run, "latency")
    released = {subject for subject, weights in run.imported.items() if weights.others}
    trained = {subject: seeds for subject, seeds in run.seeds.items() if subject not in released}
    others = tuple(scope for scope in run.scopes if scope not in timed)
    for seeds, scopes, left_out in ((trained, others, released), (run.timed_seeds, timed, set())):
        if not seeds or not scopes:
            continue
        groups = _group_by_seeds(seeds, [name for name in titles if name not in left_out])
        wanted = _format_seeds(_unite_seeds(paper.seeds))
        for seeds_of_group, names in groups.items():
            if _format_seeds(seeds_of_group) != wanted:
                plural = "" if len(seeds_of_group) == 1 else "s"
                text = f"seed{plural} {_format_seeds(seeds_of_group)}"
                recorded = ", ".join(titles.get(name, name) for name in names if name in seeds)
                text += f" ({recorded})" if len(groups) > 1 and recorded else ""
                subjects = tuple(names) if len(groups) > 1 or left_out else None
                yield Difference(text, f"{text} (paper: {wanted})", scopes, subjects)


def _group_by_seeds(
    seeds: Mapping[str, Sequence[int]], names: Iterable[str]
) -> dict[tuple[int, ...], list[str]]:
    """Group arms or methods by their seeds; those without a record take the seeds of all others."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in dict.fromkeys([*seeds, *names]):
        groups.setdefault(tuple(seeds.get(name, _unite_seeds(seeds))), []).append(name)
    return groups


def _unite_seeds(seeds: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({seed for some in seeds.values() for seed in some}))


def _format_seeds(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _compare_images(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare the images of training and validation, and those of every evaluation column."""
    trained = _list_trained(run)
    for text in _compare_image_sets(run.train, paper.train) if trained != () else ():
        yield Difference(
            f"trained on {text}",
            scopes=_select_scopes(run, *TRAINED_ON),
            subjects=trained,
            blocks_verdict=not run.train,
            qualifier=OTHER_TRAINING if run.train else "",
        )
    for text in _compare_image_sets(run.validation):
        yield Difference(
            f"validation: {text}",
            scopes=_select_scopes(run, *VALIDATED),
            blocks_verdict=not run.validation,
            qualifier=OTHER_VALIDATION if run.validation else "",
        )
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    sized = run.benchmark == "asr" and not run.sizes_only
    scopes = _select_scopes(run, "quality", *["latency"] * sized)
    for column, sets in run.evaluate.items():
        others = [f"other pixels in {list_some(i.other_pixels)}" for i in sets if i.other_pixels]
        for text in [*_compare_image_sets(sets), *others]:
            yield Difference(f"{column}: {text}", scopes=scopes, columns=(column,))


def _compare_image_sets(sets: Sequence[ImageSet], wanted: Sequence[ImageSet] = ()) -> list[str]:
    """Name the sets that replace the paper's, or are part of one."""
    if not sets:
        return ["images not recorded"]
    texts = []
    for images in sets:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {get_dataset_title(images.stands_in_for)}")
        elif not images.complete:
            texts.append(f"{images.count} images of {images.title}")
    if wanted and not texts and [i.dataset for i in sets] != [i.dataset for i in wanted]:
        texts.append(", ".join(images.title for images in sets))
    return texts


def _compare_devices(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare the devices of trainings and timings, and how timings were taken."""
    timed = _select_scopes(run, "latency")
    yield from _compare_names("trained", run.devices, paper.devices, _select_scopes(run, "cost"))
    yield from _compare_names("timed", run.timed_on, paper.timed_on, timed)
    if run.shared_gpu:
        long = f"{SHARED_GPU}, which other processes used at the same time, and so not judged"
        yield Difference(SHARED_GPU, long, timed, tuple(run.shared_gpu))
    if run.sizes_only:
        long = f"{BLANK}, where the images are not at hand"
        yield Difference(BLANK, long, timed, blocks_verdict=False)


def _compare_names(
    verb: str, names: Sequence[str], wanted: Sequence[str], scopes: tuple[Scope, ...]
) -> Iterator[Difference]:
    if not names:
        yield Difference(f"device not recorded ({verb} on)", scopes=scopes)
    for name in names:
        if name not in wanted:
            text = f"{verb} on {name}"
            yield Difference(text, f"{text} (paper: {', '.join(wanted)})", scopes)
