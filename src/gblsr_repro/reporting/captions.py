"""Sentences for captions, written from what was measured and what the run's records say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..config import BASELINE, Item, arms
from ..evaluation import OURS
from .compare import PAPER_PRESET, Scope, compare_all, short_names
from .conditions import HALVES, Conditions, Half
from .statistics import Column
from .text import join_words

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
    run: Conditions,
    told: Iterable[str | None] = (),
    columns: Iterable[str] | None = None,
    clocks: Iterable[str] | None = None,
) -> str:
    """Write the caption of a table or figure below its title.

    It ends in how the run differs from the paper's.

    `told` are sentences about what was measured, `columns` the evaluation columns that are shown
    (default: all). `clocks` are given for a table beside the paper's values: those of its rows
    that the paper does not have. The text is in the marks of `reporting.text`.
    """
    scopes, adds = [Scope(name) for name in item.scopes.split()], item.adds.split()
    rebuilt = [arm.short for arm in arms().values() if arm.group == BASELINE]
    readings = f"Rests on this project's readings of what the paper leaves open ({item.readings}; "
    beside = [] if clocks is None else [BESIDE_PAPER, *(OTHER_CLOCKS[clock] for clock in clocks)]
    sentences = [
        *beside,
        item.caption,
        *told,
        _error_bars(run, scopes[0]) if "spread" in adds else None,
        f"{join_words(rebuilt)} are rebuilt within the parameter budget and amortized; they do not "
        "stand for the published models"
        if "baselines" in adds
        else None,
        *differences(run, scopes, columns),
        _without_lpips(run) if "lpips" in adds else None,
        f"{readings}see docs/readings.md)" if item.readings else None,
    ]
    return " ".join(sentence(text) for text in sentences if text)


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


def _error_bars(run: Conditions, scope: Scope) -> str:
    """Say over how many seeds the means are and what error bars show."""
    half, titles = run.half(scope.half) or Half(), short_names(scope.half)
    # The record counts no seeds of the arms beside the main tables, which these figures draw.
    beside = scope in (Scope.LOCALITY, Scope.ABLATION)
    counts = {} if beside else {titles.get(n, n): [len(s)] for n, s in half.seeds.items()}
    if max((n for row in counts.values() for n in row), default=len(half.all_seeds)) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    return f"Means over {_seeds(counts)}. {bars}" if counts else bars


# --- how the run differs --------------------------------------------------------------------------


def differences(
    run: Conditions, scopes: Iterable[Scope], columns: Iterable[str] | None = None
) -> list[str]:
    """Return a sentence on how the numbers of the scopes differ from the paper's, if they do."""
    found = compare_all(run, scopes, columns)
    several = len({half for halves in found.values() for half in halves}) > 1
    texts = [
        (f"{HALVES[halves[0]].lower()}: " if several and len(halves) == 1 else "")
        + (d.long or d.short)
        for d, halves in found.items()
    ]
    own = run.preset not in ("", PAPER_PRESET)
    lead = "**Not the paper's experiment**" if own else "Unlike in the paper"
    return [f"{lead}: {'; '.join(texts)}"] if texts else []


def _without_lpips(run: Conditions) -> str | None:
    reason = run.native.without_lpips if run.native else ""
    return f"LPIPS was not measured: {reason.rstrip('.')}" if reason else None
