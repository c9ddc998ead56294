"""Sentences for captions, written from what was measured and what the run's records say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..config import BASELINE, arms, items
from .compare import PAPER_PRESET, Scope, compare_all, data_title, short_names
from .conditions import Conditions, Half, ImageSet, of_paper
from .statistics import Column, Summary

HALVES = {"native": "Native benchmark", "asr": "Super-resolution"}
SPELLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def spelled(count: int) -> str:
    """Return a small number as a word."""
    return SPELLED[count] if count < len(SPELLED) else f"{count:,}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{spelled(count)} {noun}{'' if count == 1 else 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a last conjunction."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def sentence(text: str) -> str:
    """Return the text with a capital and one full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def paragraph(*sentences: str | None) -> str:
    """Return the sentences that are not empty, each with a full stop, as one text."""
    return " ".join(sentence(text) for text in sentences if text)


def titled(title: str, text: str) -> str:
    """Return a caption: a bold title and a paragraph."""
    return f"**{title}.** {text}"


def with_readings(caption: str, item: str) -> str:
    """Add to the caption of a table or figure which readings of the paper it rests on, if any."""
    row = items().get(item)
    if row is None or not row.readings:
        return caption
    subject = "Rests on this project's readings of what the paper leaves open"
    return f"{caption} {subject} ({row.readings}; see docs/readings.md)."


def over_seeds(cells: Mapping[str, Iterable[Summary | None]]) -> str:
    """Say what a number is: over images, and over how many seeds, by the cells of each row."""
    counts = seed_counts(cells)
    every = set().union(*counts.values())
    images = "Means over the images of a set"
    if not every:
        return images
    if every == {1}:
        return f"{images}; one training seed, hence no standard deviation"
    return f"{images}, then mean ± sample standard deviation over {seeds_said(counts)}"


def seed_counts(cells: Mapping[str, Iterable[Summary | None]]) -> dict[str, set[int]]:
    """Return over how many seeds the numbers of each row are, as far as they tell."""
    return {
        name: {c.n for c in row if c is not None and c.n is not None} for name, row in cells.items()
    }


def seeds_said(counts: Mapping[str, Collection[int]], noun: str = "training seed") -> str | None:
    """Say how many seeds there are, and for which rows fewer; None where no row tells."""
    most = max((n for row in counts.values() for n in row), default=None)
    if most is None:
        return None
    fewer = [f"{name} {min(row)}" for name, row in counts.items() if row and min(row) < most]
    text = plural(most, noun)
    return f"{text} (fewer: {', '.join(fewer)})" if fewer else text


def trained_seeds(run: Half, half: str) -> dict[str, set[int]]:
    """Return how many seeds of each arm or method were trained, by its name, as `seed_counts`."""
    titles = short_names(half)
    return {titles.get(name, name): {len(seeds)} for name, seeds in run.seeds.items()}


def missing(cells: Mapping[str, Iterable[Summary | None]]) -> str | None:
    """Name the rows without a single number."""
    empty = [name for name, row in cells.items() if all(cell is None for cell in row)]
    return f"No results for {listed(empty)}" if empty else None


def bold_rule(significance: float, columns: Iterable[Column]) -> str:
    """Explain the bold numbers of a table with a test between the cells of each column."""
    if not any(sum(c is not None and c.spread is not None for c in cells) > 1 for cells in columns):
        return "Bold: the best of a column and exact ties (too few seeds for a test)"
    return (
        "Bold: the best of a column and every arm that a pooled two-sided t-test at "
        f"{100 * significance:g}% does not tell from it"
    )


def not_canonical(names: Sequence[str] | None = None) -> str | None:
    """Say what the baselines of the native benchmark are not (default: all of them)."""
    known = [arm.short for arm in arms().values() if arm.group == BASELINE]
    shown = known if names is None else names
    if not shown:
        return None
    return (
        f"{listed(shown)} are rebuilt within the parameter budget and amortized; they do not stand "
        "for the published models"
    )


def run_notes(
    run: Conditions,
    scopes: Iterable[Scope],
    columns: Iterable[str] | None = None,
    perceptual: bool = False,
) -> list[str]:
    """Say in what the run behind a table or figure differs from the paper's.

    `scopes` are those of its numbers, `columns` the evaluation columns shown (default: all),
    `perceptual` says whether LPIPS is among them.
    """
    known = list(scopes)
    found = compare_all(run, of_paper(), known, columns)
    several = len({half for halves in found.values() for half in halves}) > 1
    texts = [
        f"{HALVES[halves[0]].lower()}: {d.long}" if several and len(halves) == 1 else d.long
        for d, halves in found.items()
    ]
    notes = []
    if texts:
        own = run.preset not in ("", PAPER_PRESET)
        lead = "**Not the paper's experiment**" if own else "Unlike in the paper"
        notes.append(f"{lead}: {'; '.join(texts)}")
    native = run.half("native")
    if perceptual and native is not None and native.without_lpips:
        notes.append(f"LPIPS was not measured: {native.without_lpips.rstrip('.')}")
    return notes


def facts(half: Half) -> dict[str, str]:
    """Return what is known of a half, by its name: devices, image sets, why there is no LPIPS."""
    sets = {"training images": half.train}
    sets |= {f"measured on {column}": images for column, images in half.evaluate.items()}
    found = {"trained on": ", ".join(half.devices), "timed on": ", ".join(half.timed_on)}
    found |= {label: "; ".join(map(_image_set, images)) for label, images in sets.items()}
    found["LPIPS"] = half.without_lpips and f"not measured: {half.without_lpips}"
    return {label: text for label, text in found.items() if text}


def _image_set(images: ImageSet) -> str:
    text = f"{images.title}, {images.images:,} images"
    if images.stands_in_for:
        return f"{text}, in place of {data_title(images.stands_in_for)}"
    return text if images.complete else f"{text} of {images.expected}"
