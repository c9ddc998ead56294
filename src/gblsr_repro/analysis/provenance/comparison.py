"""Comparing what a run recorded with the paper's: every difference, and which numbers it concerns.

config/paper/settings.tsv says of every setting which numbers it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...config import dataset_title, read_table, repository_root, short_names
from ...wording import join_words
from .differences import PAPER_PRESET, SHARED_GPU, Difference, Scope
from .recorded import ImageSet, Recorded

BLANK = "timed on blank images of the sets' sizes"
TRAINED_ON = ("quality", "locality", "ablation")  # scopes that rest on the training images
VALIDATED = ("locality", "ablation")  # scopes that are measured on the validation images


def compare(run: Recorded, paper: Recorded) -> list[Difference]:
    """Return in what the numbers of `run` differ from the paper's; those of structure too.

    What a number rests on and the run did not record counts as different.
    """
    found = [
        *_preset(run),
        *_settings(run, paper),
        *_seeds(run, paper),
        *_images(run, paper),
        *_devices(run, paper),
    ]
    joined: dict[Difference, tuple[Scope, ...]] = {}
    for each in found:
        key = replace(each, scopes=())
        joined[key] = tuple(dict.fromkeys(joined.get(key, ()) + each.scopes))
    return [replace(key, scopes=scopes) for key, scopes in joined.items() if scopes]


def _preset(run: Recorded) -> Iterator[Difference]:
    if run.preset != PAPER_PRESET:
        yield Difference(f"preset {run.preset}", scopes=(Scope.STRUCTURE, *run.scopes))


def _scopes(run: Recorded, *measures: str) -> tuple[Scope, ...]:
    return tuple(scope for scope in run.scopes if scope.measure in measures)


# --- settings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A row of config/paper/settings.tsv: a setting of the protocol, or a section of it.

    `kind` says what it is about, `scopes` which numbers it concerns. A row without scopes is
    `recorded`, compared by what was recorded in its place, or `exempt`; `why` tells. `words` are
    how captions call it, `phrase` is told with its value in a sentence of its own.
    """

    setting: str
    kind: str
    scopes: str
    words: str
    phrase: str
    why: str


@cache
def settings() -> dict[str, Setting]:
    """Return the table of what is compared, and what is not."""
    return read_table(repository_root() / "config" / "paper" / "settings.tsv", Setting, "setting")


@cache
def place_of(name: str) -> Setting | None:
    """Return the row that a setting falls under, that of the longest name."""
    parts = name.split(".")
    sections = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((settings()[s] for s in sections if s in settings()), None)


@dataclass(frozen=True)
class Changed:
    """Settings of one kind that differ, in words, for the numbers of one scope.

    `subjects` are the arms that it is about (None: all).
    """

    words: str
    subjects: tuple[str, ...] | None = None


def _settings(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare settings: those with a phrase one by one, the others gathered by their kind."""
    changed: dict[str, dict[Scope, list[Changed]]] = {}
    absent: dict[str, dict[Scope, list[Changed]]] = {}
    for name, (wanted,) in paper.settings.items():
        place = place_of(name)
        scopes = [scope for scope in run.scopes if place and scope in place.scopes.split()]
        if place is None or not scopes:
            continue
        values = run.settings.get(name) or []
        others = _unequal(name, values, wanted)
        if place.phrase:
            yield from _phrased(place, tuple(scopes), values, wanted)
            continue
        gathered, found = (changed, others) if values else (absent, [Changed(_words(name))])
        for scope in scopes if found else ():
            known = gathered.setdefault(place.kind, {}).setdefault(scope, [])
            known += [each for each in found if each not in known]
    for kind, by_scope in changed.items():
        for scope, found in by_scope.items():
            text = f"other {kind} settings ({', '.join(each.words for each in found)})"
            yield Difference(text, scopes=(scope,), subjects=_subjects(found))
    for kind, by_scope in absent.items():
        for scope, found in by_scope.items():
            names = f" ({', '.join(each.words for each in found)})" if len(found) <= 3 else ""
            yield Difference(f"{kind} settings not recorded{names}", scopes=(scope,))


def _phrased(
    place: Setting, scopes: tuple[Scope, ...], values: Sequence[Any], wanted: Any
) -> Iterator[Difference]:
    if not values:
        yield Difference(f"{place.words} not recorded", scopes=scopes)
    elif any(value != wanted for value in values):
        short = place.phrase.format(_span(values))
        yield Difference(short, f"{short} (paper: {_span([wanted])})", scopes)


def _subjects(found: Sequence[Changed]) -> tuple[str, ...] | None:
    """Return whom changes concern: all, unless every one is about some arms alone."""
    if any(each.subjects is None for each in found):
        return None
    return tuple(dict.fromkeys(name for each in found for name in each.subjects or ()))


def _unequal(name: str, values: Sequence[Any], wanted: Any) -> list[Changed]:
    """Return what differs within a setting; `values` are those that the runs have."""
    if not all(isinstance(value, Mapping) for value in (wanted, *values)):
        return [Changed(_words(name))] if any(value != wanted for value in values) else []
    if name.endswith(".recipes"):  # a run has the recipe of its own encoder alone
        pairs = [(own, wanted.get(key, {})) for value in values for key, own in value.items()]
        others = (k for own, there in pairs for k in own if own[k] != there.get(k))
        return [Changed(_words(key)) for key in dict.fromkeys(others)]
    known = dict.fromkeys(key for mapping in (*values, wanted) for key in mapping)
    keys = [k for k in known if any(value.get(k) != wanted.get(k) for value in values)]
    called = short_names("native")
    words = f"{_words(name)} {join_words([called.get(key, key) for key in keys])}" if keys else ""
    return [Changed(words, tuple(keys) if name.endswith(".pixels") else None)] if keys else []


def _words(name: str) -> str:
    if name == "halve_at":  # of a recipe
        return "where the learning rate is halved"
    row = settings().get(name)
    return row.words if row and row.words else name.rpartition(".")[2].replace("_", " ")


def _span(values: Sequence[Any]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


# --- seeds, images, devices -----------------------------------------------------------------------


def _seeds(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare the seeds of every arm or method: those timed of times, those trained of the rest."""
    titles, timed = short_names(run.benchmark), _scopes(run, "latency")
    trained = tuple(scope for scope in run.scopes if scope not in timed)
    for seeds, scopes in ((run.seeds, trained), (run.timed_seeds, timed)):
        if not seeds or not scopes:
            continue
        groups, wanted = _by_seeds(seeds, titles), _listed(_every(paper.seeds))
        for own, names in groups.items():
            if _listed(own) != wanted:
                text = f"seed{'s' if len(own) != 1 else ''} {_listed(own)}"
                known = ", ".join(titles.get(name, name) for name in names if name in seeds)
                text += f" ({known})" if len(groups) > 1 and known else ""
                subjects = tuple(names) if len(groups) > 1 else None
                yield Difference(text, f"{text} (paper: {wanted})", scopes, subjects)


def _by_seeds(
    seeds: Mapping[str, Sequence[int]], names: Iterable[str]
) -> dict[tuple[int, ...], list[str]]:
    """Return arms or methods by their seeds; those without a record have those of all others."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in dict.fromkeys([*seeds, *names]):
        groups.setdefault(tuple(seeds.get(name, _every(seeds))), []).append(name)
    return groups


def _every(seeds: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({seed for own in seeds.values() for seed in own}))


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _images(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare the images of training and validation, and those of every evaluation column."""
    for text in _image_sets(run.train, paper.train):
        yield Difference(f"trained on {text}", scopes=_scopes(run, *TRAINED_ON))
    for text in _image_sets(run.validation):
        yield Difference(f"validation: {text}", scopes=_scopes(run, *VALIDATED))
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    sized = run.benchmark == "asr" and not run.sizes_only
    scopes = _scopes(run, "quality", *["latency"] * sized)
    for column, found in run.evaluate.items():
        for text in _image_sets(found):
            yield Difference(f"{column}: {text}", scopes=scopes, columns=(column,))


def _image_sets(found: Sequence[ImageSet], wanted: Sequence[ImageSet] = ()) -> list[str]:
    """Name the sets that are not the paper's own, or not the whole of it."""
    if not found:
        return ["images not recorded"]
    texts = []
    for images in found:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {dataset_title(images.stands_in_for)}")
        elif not images.complete:
            texts.append(f"{images.count} images of {images.title}")
    if wanted and not texts and [i.dataset for i in found] != [i.dataset for i in wanted]:
        texts.append(", ".join(images.title for images in found))
    return texts


def _devices(run: Recorded, paper: Recorded) -> Iterator[Difference]:
    """Compare what trainings and timings ran on, and how they were timed."""
    timed = _scopes(run, "latency")
    yield from _names("trained", run.devices, paper.devices, _scopes(run, "cost"))
    yield from _names("timed", run.timed_on, paper.timed_on, timed)
    if run.shared_gpu:
        long = f"{SHARED_GPU}, which other processes used at the same time, and so not judged"
        yield Difference(SHARED_GPU, long, timed, tuple(run.shared_gpu))
    if run.sizes_only:
        long = f"{BLANK}, where the images are not at hand"
        yield Difference(BLANK, long, timed, blocks_verdict=False)


def _names(
    verb: str, found: Sequence[str], wanted: Sequence[str], scopes: tuple[Scope, ...]
) -> Iterator[Difference]:
    if not found:
        yield Difference(f"device not recorded ({verb} on)", scopes=scopes)
    for name in found:
        if name not in wanted:
            text = f"{verb} on {name}"
            yield Difference(text, f"{text} (paper: {', '.join(wanted)})", scopes)
