"""Sentences for captions, written from what was measured and what the run's records say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..config import Config, arms, datasets, items, methods, protocol
from .conditions import Record
from .statistics import Summary

PAPER_DEVICE = "NVIDIA H200"  # the SXM module; "NVIDIA H200 NVL" is another device
SHARED_GPU = "timed on a GPU that other processes used at the same time"
SETTINGS = {  # training settings whose keys do not say what they are
    "lr_patch": "size of the low-resolution patches",
    "scale_range": "range of scales",
    "halve_at": "where the learning rate is halved",
    "betas": "betas of Adam",
    "gradient_clip": "gradient clipping",
}
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


def paragraph(title: str, *sentences: str | None) -> str:
    """Return a caption: a bold title and the sentences that are not empty."""
    return " ".join([f"**{title}.**", *(sentence(s) for s in sentences if s)])


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


def trained_seeds(record: Record, half: str) -> dict[str, set[int]]:
    """Return how many seeds of each arm or method were trained, by its name, as `seed_counts`.

    `record` holds the conditions of that half; empty where they do not tell.
    """
    trained = record.get("arms" if half == "native" else "methods") or {}
    titles = (
        {name: arm.short for name, arm in arms().items()}
        if half == "native"
        else {name: method.name for name, method in methods().items()}
    )
    return {titles.get(name, name): {len(seeds)} for name, seeds in trained.items()}


def unequal(counts: Mapping[str, Collection[int]]) -> bool:
    """Say whether some rows are over fewer seeds than others."""
    return len({n for row in counts.values() for n in row}) > 1


def missing(cells: Mapping[str, Iterable[Summary | None]]) -> str | None:
    """Name the rows without a single number."""
    empty = [name for name, row in cells.items() if all(cell is None for cell in row)]
    return f"No results for {listed(empty)}" if empty else None


def bold_rule(significance: float, testable: bool) -> str:
    """Explain the bold numbers of a table with a test."""
    if not testable:
        return "Bold: the best of a column and exact ties (too few seeds for a test)"
    return (
        "Bold: the best of a column and every arm that a pooled two-sided t-test at "
        f"{100 * significance:g}% does not tell from it"
    )


def not_canonical(names: Sequence[str]) -> str | None:
    """Say what the baselines of the native benchmark are not."""
    if not names:
        return None
    return (
        f"{listed(names)} are rebuilt within the parameter budget and amortized; they do not stand "
        "for the published models"
    )


def run_notes(
    conditions: Record,
    half: str,
    *,
    columns: Sequence[str] = (),
    validation: bool = False,
    trained: bool = True,
    timed: bool = False,
    perceptual: bool = False,
) -> list[str]:
    """Say in what the run behind a table differs from the paper's.

    `half` is native or asr; `columns` are the evaluation columns shown, `validation` whether the
    validation images are; `trained`, `timed` and `perceptual` whether trained weights, timings and
    LPIPS took part. The paper's side is config/paper/protocol.yaml.
    """
    if half not in conditions:
        return ["The conditions of this run (data, steps, seeds, device) are not recorded"]
    record = conditions[half]
    paper = protocol()
    notes = []
    preset = conditions.get("preset", "paper")
    if preset != "paper":
        notes.append(f"**Not the paper's experiment**: a run of the preset “{preset}”")
    different = []
    if half == "native":
        different += _size(conditions, paper)
    if trained:
        different += _training(record, paper, half)
    if record.get("changed_model"):
        different.append("networks of other sizes or settings")
    seeds = trained_seeds(record, half)
    different += _seeds(record, seeds, paper)
    if trained:
        different += _data(record.get("train") or [], "trained on")
    shown = [record.get("evaluate", {}).get(column, []) for column in columns]
    different += _data(_each(shown), "measured on")
    if validation:
        different += _data(record.get("validation") or [], "measured on held-out images of")
    if timed:
        different += _timing(record)
    if different:
        notes.append("Unlike in the paper: " + "; ".join(different))
    if trained:
        notes += _settings(record, paper, half)
    if columns or validation:
        notes += _others("Measured with settings", record.get("changed_measuring"))
    if timed:
        notes += _others("Timed with settings", record.get("changed_timing"))
    if unequal(seeds):
        notes.append(f"Trained with {seeds_said(seeds, 'seed')}")
    if perceptual and not record.get("lpips", {"measured": True}).get("measured"):
        reason = record["lpips"].get("reason") or "the reason is not recorded"
        notes.append(f"LPIPS was not measured: {reason.rstrip('.')}")
    return notes


def _size(conditions: Record, paper: Config) -> list[str]:
    size, published = conditions.get("image_size"), paper["native"]["data"]["image_size"]
    if size in (None, published):
        return []
    return [f"images of {size}×{size} pixels (paper: {published}×{published})"]


def _training(record: Record, paper: Config, half: str) -> list[str]:
    found = []
    steps, published = record.get("steps"), paper[half]["training"]["steps"]
    if steps not in (None, published):
        found.append(f"{_span(steps)} training steps (paper: {published:,})")
    batch = record.get("batch_size")
    published = paper[half]["training"].get("batch_size")
    if None not in (batch, published) and batch != published:
        found.append(f"batches of {_span(batch)} (paper: {published})")
    return found


def _settings(record: Record, paper: Config, half: str) -> list[str]:
    """Name the changed training settings, but for a batch size that `_training` tells."""
    told = {"batch_size"} & paper[half]["training"].keys()
    changed = [key for key in record.get("changed_training") or [] if key not in told]
    return _others("Training settings", changed)


def _others(what: str, changed: Sequence[str] | None) -> list[str]:
    words = named_settings(changed or ())
    return [f"{what} other than the paper's: {listed(words)}"] if words else []


def named_settings(keys: Sequence[str]) -> list[str]:
    """Return settings in words."""
    return [SETTINGS.get(key, key.replace("_", " ")) for key in keys]


def _span(number: int | list[int]) -> str:
    if isinstance(number, list):
        return f"{min(number):,} to {max(number):,}"
    return f"{number:,}"


def _seeds(record: Record, trained: Mapping[str, Collection[int]], paper: Config) -> list[str]:
    """Compare the seeds with the paper's, by the arm or method that has most of them."""
    seeds, published = record.get("seeds") or [], paper["seeds"]
    most = max((n for counts in trained.values() for n in counts), default=len(seeds))
    if most and most != len(published):
        return [f"{plural(most, 'seed')} (paper: {spelled(len(published))})"]
    if not set(seeds) <= set(published):
        return [f"seeds {', '.join(map(str, seeds))}"]
    return []


def _each(records: Iterable[Any]) -> list[Record]:
    return [r for entry in records for r in (entry if isinstance(entry, list) else [entry])]


def _data(records: Iterable[Record], verb: str) -> list[str]:
    """Name data sets that are not the paper's own, or not the whole of it."""
    titles, texts = datasets(), []
    for record in _each(records):
        images, title = record.get("images"), record["title"]
        if record.get("stands_in_for"):
            replaced = record["stands_in_for"]
            own = titles[replaced].title if replaced in titles else replaced
            texts.append(f"{title} ({images_of(images)}) in place of {own}")
        elif record.get("complete") is False:
            texts.append(f"{images} of the {record['expected']} images of {title}")
    return [f"{verb} {listed(texts)}"] if texts else []


def images_of(count: int) -> str:
    """Return a number of images as text."""
    return f"{count:,} image{'' if count == 1 else 's'}"


def _timing(record: Record) -> list[str]:
    found = []
    devices = record.get("latency_devices") or []
    if set(devices) - {PAPER_DEVICE}:
        found.append(f"timed on {listed(devices)} (paper: {PAPER_DEVICE})")
    if record.get("latency_shared"):
        found.append(f"{SHARED_GPU}, and so not judged")
    if record.get("timed_sizes_only"):
        found.append("images that are not at hand timed blank, by their sizes")
    if record.get("timed_size_divisor", 1) != 1:
        found.append(f"timed images {record['timed_size_divisor']} times smaller on each side")
    return found
