"""In what a run differs from the paper's: the one comparison that all else tells in its own form.

Verdicts on claims, captions, the notes inside figures, the page and the record of a run show what
`compare` finds, for the numbers of one `Scope` at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from ..config import arms, datasets, methods, read_table, repository_root
from .conditions import Conditions, Half, ImageSet, of_paper
from .text import join_words

PAPER_PRESET = "paper"


class Scope(StrEnum):
    """A kind of number, by what it depends on."""

    STRUCTURE = "structure"
    QUALITY = "quality"
    LOCALITY = "locality"
    ABLATION = "ablation"
    LATENCY = "latency"
    COST = "cost"
    ASR_QUALITY = "asr_quality"
    ASR_LATENCY = "asr_latency"
    ASR_COST = "asr_cost"

    @property
    def half(self) -> str:
        """The benchmark: native or asr."""
        return "asr" if self.startswith("asr") else "native"

    @property
    def kind(self) -> str:
        """The scope without its benchmark."""
        return self.removeprefix("asr_")


@dataclass(frozen=True)
class Difference:
    """One thing that is not as in the paper: in few words, in more where there are any (with the
    paper's side), and whether a number measured so says nothing about the paper's.
    """

    short: str
    long: str = ""
    blocks_verdict: bool = True


SHARED_GPU = Difference(
    "timed on a shared GPU",
    "timed on a shared GPU, which other processes used at the same time, and so not judged",
)
_BLANK = "timed on blank images of the sets' sizes"
BLANK = Difference(_BLANK, f"{_BLANK}, where the images are not at hand", blocks_verdict=False)

# --- what each setting concerns -------------------------------------------------------------------


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


# --- the comparison -------------------------------------------------------------------------------


def compare(
    run: Conditions,
    scope: Scope,
    subjects: Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
) -> list[Difference]:
    """Return in what the numbers of a scope in `run` differ from the paper's, each thing once.

    `subjects` are the arms or methods that the numbers are of, `columns` the evaluation columns
    (default: all that were trained and measured). What a number rests on and the run did not
    record counts as different.
    """
    preset = Difference(f"preset {run.preset or 'not recorded'}")
    found = [preset] if run.preset != PAPER_PRESET else []
    here, there = run.half(scope.half), of_paper().half(scope.half)
    if scope is Scope.STRUCTURE:
        return found
    if here is None or there is None:
        told = "the conditions of this run (data, steps, seeds, device) are not recorded"
        return [*found, Difference("conditions not recorded", told)]
    found += _settings(here, there, scope, subjects)
    found += _seeds(here, there, scope, subjects)
    measured = columns if columns is not None else list(here.evaluate) or list(there.evaluate)
    if scope.kind in ("quality", "locality", "ablation"):
        found += _images(here.train, "trained on", there.train)
    if scope.kind in ("locality", "ablation"):
        found += _images(here.validation, "validation:")
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    elif scope.kind == "quality" or (scope is Scope.ASR_LATENCY and not here.sizes_only):
        for column in measured:
            found += _images(here.evaluate.get(column, ()), f"{column}:")
    if scope.kind == "cost":
        found += _device(here.devices, there.devices, "trained")
    if scope.kind == "latency":
        found += _device(here.timed_on, there.timed_on, "timed")
        timed = here.shared_gpu if subjects is None else {*subjects} & {*here.shared_gpu}
        found += [SHARED_GPU] if timed else []
        found += [BLANK] if here.sizes_only and scope is Scope.ASR_LATENCY else []
    return list(dict.fromkeys(found))


def compare_all(
    run: Conditions, scopes: Iterable[Scope], columns: Iterable[str] | None = None
) -> dict[Difference, list[str]]:
    """Return the differences from the paper of several scopes, each with the halves it is about.

    A half that was not run is left out, unless neither was; of one that trained nothing its times
    are compared alone, where the scopes have any.
    """
    known = list(scopes)
    ran = [(scope, half) for scope in known if (half := run.half(scope.half)) is not None]
    telling = [scope for scope, half in ran if half.seeds or scope.kind == "latency"]
    recorded = telling or [scope for scope, _ in ran] or known[:1]
    found: dict[Difference, list[str]] = {}
    for scope in recorded:
        for difference in compare(run, scope, columns=columns):
            halves = found.setdefault(difference, [])
            halves += [scope.half] if scope.half not in halves else []
    return found


def _settings(
    here: Half, there: Half, scope: Scope, subjects: Iterable[str] | None
) -> list[Difference]:
    phrased: list[Difference] = []
    changed: dict[str, dict[str, None]] = {}
    absent: dict[str, list[str]] = {}
    for name, (wanted,) in there.settings.items():
        place = place_of(name)
        if place is None or scope not in place.scopes.split():
            continue
        values = here.settings.get(name) or []
        others = _unequal(name, values, wanted, subjects)
        if place.phrase and not values:
            phrased.append(Difference(f"{place.words} not recorded"))
        elif place.phrase and others:
            short = place.phrase.format(_span(values))
            phrased.append(Difference(short, f"{short} (paper: {_span([wanted])})"))
        elif not values:
            absent.setdefault(place.kind, []).append(_words(name))
        elif others:
            changed.setdefault(place.kind, {}).update(dict.fromkeys(others))
    texts = [f"other {kind} settings ({', '.join(names)})" for kind, names in changed.items()]
    for kind, names in absent.items():
        texts.append(f"{kind} settings not recorded" + f" ({', '.join(names)})" * (len(names) <= 3))
    return phrased + [Difference(text) for text in texts]


def _unequal(
    name: str, values: Sequence[Any], wanted: Any, subjects: Iterable[str] | None
) -> list[str]:
    """Return the names, in words, of what differs within a setting for the subjects (None: all).

    `values` are those that the runs have.
    """
    if not all(isinstance(value, Mapping) for value in (wanted, *values)):
        return [_words(name)] if any(value != wanted for value in values) else []
    if name.endswith(".recipes"):  # a run has the recipe of its own encoder alone
        pairs = [(own, wanted.get(key, {})) for value in values for key, own in value.items()]
        return [_words(k) for own, paper in pairs for k in own if own[k] != paper.get(k)]
    known = dict.fromkeys(key for mapping in (*values, wanted) for key in mapping)
    keys = [k for k in known if any(value.get(k) != wanted.get(k) for value in values)]
    if name.endswith(".pixels") and subjects is not None:  # those of an arm concern it alone
        keys = [key for key in keys if key in subjects]
    called = short_names("native")
    return [f"{_words(name)} {join_words([called.get(key, key) for key in keys])}"] if keys else []


def _words(name: str) -> str:
    if name == "halve_at":  # of a recipe
        return "where the learning rate is halved"
    row = settings().get(name)
    return row.words if row and row.words else name.rpartition(".")[2].replace("_", " ")


def _span(values: Sequence[Any]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _seeds(
    here: Half, there: Half, scope: Scope, subjects: Iterable[str] | None
) -> list[Difference]:
    """Compare the seeds arm by arm; timings of untrained models have none recorded."""
    if not here.seeds:
        return []
    chosen = list(here.seeds if subjects is None else subjects)
    wanted = there.all_seeds
    by_seeds: dict[tuple[int, ...], list[str]] = {}
    for subject in chosen:
        by_seeds.setdefault(tuple(here.seeds.get(subject, here.all_seeds)), []).append(subject)
    found, titles = [], short_names(scope.half)
    for seeds, names in by_seeds.items():
        if list(seeds) != wanted:
            text = f"seed{'s' if len(seeds) != 1 else ''} {', '.join(map(str, seeds))}"
            several = ", ".join(titles.get(name, name) for name in names)
            text += f" ({several})" if len(by_seeds) > 1 else ""
            found.append(Difference(text, f"{text} (paper: {', '.join(map(str, wanted))})"))
    return found


def short_names(half: str) -> dict[str, str]:
    """Return how captions call the arms or methods of a half."""
    if half == "native":
        return {name: arm.short for name, arm in arms().items()}
    return {name: method.name for name, method in methods().items()}


def _images(
    found: Sequence[ImageSet], label: str, wanted: Sequence[ImageSet] = ()
) -> list[Difference]:
    """Name the sets that are not the paper's own, or not the whole of it."""
    if not found:
        return [Difference(f"{label} images not recorded")]
    texts = []
    for images in found:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {data_title(images.stands_in_for)}")
        elif not images.complete:
            whole = f" of {images.expected:,}" if images.expected else ""
            texts.append(f"{images.images:,}{whole} images of {images.title}")
    if wanted and not texts and [i.dataset for i in found] != [i.dataset for i in wanted]:
        texts.append(", ".join(images.title for images in found))
    return [Difference(f"{label} {text}") for text in texts]


def data_title(name: str) -> str:
    """Return the title of a data set; a name that config/datasets.tsv lacks stands for itself."""
    row = datasets().get(name)
    return row.title if row else name


def _device(found: Sequence[str], wanted: Sequence[str], verb: str) -> list[Difference]:
    if not found:
        return [Difference(f"device not recorded ({verb} on)")]
    return [
        Difference(f"{verb} on {name}", f"{verb} on {name} (paper: {', '.join(wanted)})")
        for name in found
        if name not in wanted
    ]
