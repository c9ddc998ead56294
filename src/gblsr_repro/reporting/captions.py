"""Sentences for captions, written from what was measured and what the run's records say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ..analysis.provenance import PAPER_PRESET, RELEASED_PRESET, Provenance, Scope
from ..analysis.statistics import Column
from ..config import BASELINE, Item, arms, short_names
from ..evaluation import OURS
from ..wording import join_words
from .items import note

SPELLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

Rows = Mapping[str, Column]
"""The numbers that each row of a table shows, by the row's name."""

BESIDE_PAPER = "The paper's value stands above the one measured here, with its own bold numbers"
OTHER_CLOCKS = {
    OURS: "“own path”: this package's own path, the fast call that its users get, which is no part "
    "of the paper and is not judged",
}


def sentence(text: str) -> str:
    """Return the text with a capital and one full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def caption(
    item: Item,
    run: Provenance,
    told: Iterable[str | None] = (),
    clocks: Iterable[str] | None = None,
) -> str:
    """Write the caption of a table or figure below its title, in the marks of `reporting.text`.

    `told` are sentences about what was measured. `clocks` are given for a table beside the paper's
    values: those of its rows that the paper does not have. How the run differs from the paper's is
    said once on a page, and by `differences` for what leaves the page.
    """
    scopes, adds = [Scope(name) for name in item.scopes.split()], item.adds.split()
    rebuilt = [arm.short for arm in arms().values() if arm.group == BASELINE]
    readings = f"Rests on this project's readings of what the paper leaves open ({item.readings}; "
    beside = [] if clocks is None else [BESIDE_PAPER, *(OTHER_CLOCKS[clock] for clock in clocks)]
    sentences = [
        *beside,
        item.caption,
        *told,
        *_timings(run, scopes),
        _error_bars(run, scopes[0]) if "spread" in adds else None,
        f"{join_words(rebuilt)} are rebuilt within the parameter budget and amortized; they do not "
        "stand for the published models"
        if "baselines" in adds
        else None,
        f"{readings}see docs/readings.md)" if item.readings else None,
    ]
    return " ".join(sentence(text) for text in sentences if text)


def differences(item: Item, run: Provenance, columns: Collection[str] | None = None) -> str:
    """Say in one sentence how the numbers of a table differ from the paper's, if they do.

    A second one says why there is no LPIPS. `columns` are the evaluation columns that are shown
    (default: all).
    """
    found = note(run, item, columns)
    own = run.preset not in ("", PAPER_PRESET, RELEASED_PRESET)
    lead = "**Not the paper's experiment**" if own else "Unlike in the paper"
    texts = [f"{lead}: {'; '.join(found)}"] if found else []
    texts += [without_lpips(run)] if "lpips" in item.adds.split() else []
    return " ".join(map(sentence, filter(None, texts)))


def without_lpips(run: Provenance) -> str:
    """Say why LPIPS was not measured; empty where it was."""
    reason = run.benchmark("native").without_lpips
    return f"LPIPS was not measured: {reason.rstrip('.')}" if reason else ""


# --- what is shown --------------------------------------------------------------------------------


def over_seeds(rows: Rows, spread: bool = True) -> str | None:
    """Say over how many seeds the numbers of a table are, and for which rows over fewer."""
    counts = {name: {int(c.n) for c in row if c.n > 0} for name, row in rows.items()}
    every = set().union(*counts.values())
    if not every:
        return None
    if every == {1}:
        return "Means over the images of a set; one training seed, hence no standard deviation"
    shown = "mean ± sample standard deviation" if spread else "the mean"
    return f"Means over the images of a set, then {shown} over {_seeds(counts)}"


def _seeds(counts: Mapping[str, Iterable[int]]) -> str:
    least = {name: min(seeds) for name, seeds in counts.items() if seeds}
    most = max(n for seeds in counts.values() for n in seeds)
    fewer = ", ".join(f"{name} {n}" for name, n in least.items() if n < most)
    word = SPELLED[most] if most < len(SPELLED) else str(most)
    text = f"{word} training seed{'' if most == 1 else 's'}"
    return f"{text} (fewer: {fewer})" if fewer else text


def missing(rows: Rows) -> str | None:
    """Name the rows without a single number."""
    empty = [name for name, row in rows.items() if not any(c.measured for c in row)]
    return f"No results for {join_words(empty)}" if empty else None


def bold_rule(significance: float, columns: Iterable[Column]) -> str:
    """Explain the bold numbers of a table with a test between the cells of each column."""
    if not any(sum(c.spread for c in cells) > 1 for cells in columns):
        return "Bold: the best of a column and exact ties (too few seeds for a test)"
    return (
        "Bold: the best of a column and every arm that a pooled two-sided t-test at "
        f"{100 * significance:g}% does not tell from it"
    )


def _error_bars(run: Provenance, scope: Scope) -> str:
    """Say over how many seeds the means are and what error bars show."""
    seeds, titles = run.benchmark(scope.benchmark).seeds, short_names(scope.benchmark)
    # The record counts no seeds of the arms beside the main tables, which these figures draw.
    beside = scope in (Scope.LOCALITY, Scope.ABLATION)
    counts = {} if beside else {titles.get(n, n): [len(own)] for n, own in seeds.items()}
    every = {seed for own in seeds.values() for seed in own}
    if max((n for row in counts.values() for n in row), default=len(every)) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    return f"Means over {_seeds(counts)}. {bars}" if counts else bars


def _timings(run: Provenance, scopes: Iterable[Scope]) -> list[str]:
    """Say for every benchmark of which times are shown what they were taken on and how."""
    names = [scope.benchmark for scope in scopes if scope.measure == "latency"]
    timed = [of for of in map(run.benchmark, names) if of.timed_on and of.passes]
    texts = [
        f"Timed on {join_words(of.timed_on)}, {of.passes[0]} passes to warm up and "
        f"{of.passes[1]} timed"
        for of in timed
    ]
    return list(dict.fromkeys(texts))
