"""Sentences for captions, written from what was measured and what the run's records say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..config import Config, datasets, load
from .conditions import Record
from .statistics import Summary

PAPER_DEVICE = "NVIDIA H200"
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


def over_seeds(cells: Mapping[str, Iterable[Summary | None]]) -> str:
    """Say what a number is: over images, and over how many seeds, by the cells of each row."""
    counts = {
        name: {c.n for c in row if c is not None and c.n is not None} for name, row in cells.items()
    }
    every = set().union(*counts.values())
    images = "Means over the images of a set"
    if not every:
        return images
    if every == {1}:
        return f"{images}; one training seed, hence no standard deviation"
    most = max(every)
    text = f"{images}, then mean ± sample standard deviation over {spelled(most)} training seeds"
    fewer = [f"{name} {min(n)}" for name, n in counts.items() if n and min(n) < most]
    return f"{text} (fewer: {', '.join(fewer)})" if fewer else text


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
    LPIPS took part. The paper's side is the checkout's config/config.yaml.
    """
    if half not in conditions:
        return ["The conditions of this run (data, steps, seeds, device) are not recorded"]
    record = conditions[half]
    paper = load()
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
    different += _seeds(record, paper)
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


def _span(number: int | list[int]) -> str:
    if isinstance(number, list):
        return f"{min(number):,} to {max(number):,}"
    return f"{number:,}"


def _seeds(record: Record, paper: Config) -> list[str]:
    seeds, published = record.get("seeds"), paper["seeds"]
    if not seeds or seeds == published:
        return []
    if len(seeds) == len(published):
        return [f"seeds {', '.join(map(str, seeds))}"]
    return [f"{plural(len(seeds), 'seed')} (paper: {spelled(len(published))})"]


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
    if devices and not all("H200" in device for device in devices):
        found.append(f"timed on {listed(devices)} (paper: {PAPER_DEVICE})")
    if record.get("timed_sizes_only"):
        found.append("images that are not at hand timed blank, by their sizes")
    if record.get("timed_size_divisor", 1) != 1:
        found.append(f"timed images {record['timed_size_divisor']} times smaller on each side")
    return found
