"""Compose captions from what was measured and from the provenance of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..analysis.provenance.differences import PAPER_PRESET, RELEASED_PRESET, Provenance
from ..analysis.statistics import Summaries
from ..config import BASELINE, OWN, Arm, Item, Method, Scope, list_short_names, read_arms
from ..progress import format_count
from ..wording import join_words
from .items import describe_differences

WHERE_CONDITIONS = "front of report.pdf, or report.html"
"""Where the conditions of all tables and figures of a run stand once."""


@dataclass(frozen=True)
class Caption:
    """What is said of a table or figure, in the marks of `rendering`.

    `conditions` hold for the numbers in any run, `differences` are those of this run from the
    paper's, a sentence each; a page has them in one place.
    """

    title: str = ""
    sentences: Sequence[str] = ()
    conditions: Sequence[str] = ()
    differences: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The sentences in a row."""
        return " ".join(self.sentences)

    @property
    def printed(self) -> str:
        """The title, in bold, and the text."""
        return f"**{self.title}.** {self.text}"


def format_sentence(text: str) -> str:
    """Format a text as a sentence, with a capital and one full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def compose_caption(
    item: Item,
    provenance: Provenance,
    title: str = "",
    lead: Iterable[str] = (),
    notes: Iterable[str | None] = (),
    columns: Sequence[str] | None = None,
) -> Caption:
    """Compose the caption of a table or figure; its title is the item's where none is given.

    `lead` are sentences to begin with, `notes` those about what was measured; `columns` are the
    evaluation columns that are shown (default: all).
    """
    sentences = [*lead, item.caption, *notes]
    if "spread" in item.caption_adds:
        scope, *_ = item.scopes
        sentences.append(_describe_error_bars(provenance, Scope(scope)))
    conditions = _describe_timings(provenance, item.scopes)
    if "baselines" in item.caption_adds:
        rebuilt = [arm.short for arm in read_arms().values() if arm.group == BASELINE]
        conditions.append(
            f"{join_words(rebuilt)} are rebuilt within the parameter budget and amortized; they do "
            "not stand for the published models"
        )
    conditions += [
        f"Interpretation of the paper: {name} (docs/interpretations.md)"
        for name in item.interpretations
    ]
    return Caption(
        title or item.title,
        [format_sentence(sentence) for sentence in sentences if sentence],
        [format_sentence(condition) for condition in conditions],
        describe_differences(provenance, item, columns),
    )


def point_to_conditions(caption: Caption, provenance: Provenance) -> str:
    """Point from a caption that leaves the page to the conditions, and warn where these differ."""
    if not caption.differences:
        return f"Conditions: {WHERE_CONDITIONS}."
    if provenance.preset in ("", PAPER_PRESET, RELEASED_PRESET):
        return f"Not all conditions are the paper's: {WHERE_CONDITIONS}."
    return f"**Not the paper's experiment**; its conditions: {WHERE_CONDITIONS}."


# --- what was measured ----------------------------------------------------------------------------


def describe_seeds(rows: Mapping[str, Summaries], spread: bool = True) -> str | None:
    """Describe over how many seeds a table averages its rows, and which have fewer."""
    counts = {name: {int(c.n) for c in row if c.n > 0} for name, row in rows.items()}
    all_counts = set().union(*counts.values())
    if not all_counts:
        return None
    if all_counts == {1}:
        return "Means over the images of a set; one training seed, hence no standard deviation"
    over_seeds = "mean ± sample standard deviation" if spread else "the mean"
    return f"Means over the images of a set, then {over_seeds} over {_format_seeds(counts)}"


def _format_seeds(counts: Mapping[str, Iterable[int]]) -> str:
    """Format the largest number of seeds, and name the rows that have fewer."""
    least = {name: min(seeds) for name, seeds in counts.items() if seeds}
    most = max(n for seeds in counts.values() for n in seeds)
    fewer = ", ".join(f"{name} {n}" for name, n in least.items() if n < most)
    text = format_count(most, "training seed")
    return f"{text} (fewer: {fewer})" if fewer else text


def explain_bold(significance: float, columns: Iterable[Summaries]) -> str:
    """Explain the bold numbers of a table with a test between the cells of each column."""
    tested = [[cell.spread for cell in cells if cell.measured] for cells in columns]
    if not any(sum(spreads) > 1 for spreads in tested):
        few = " (too few seeds for a test)" if any(len(spreads) > 1 for spreads in tested) else ""
        return f"Bold: the best of a column and exact ties{few}"
    exception = "" if all(map(all, tested)) else "; arms of one seed are not tested"
    return (
        "Bold: the best of a column and every arm that a pooled two-sided t-test at "
        f"{100 * significance:g}% does not distinguish from it{exception}"
    )


def name_own_rows(rows: Iterable[Arm | Method]) -> str | None:
    """Name the rows of a table that are none of the paper's."""
    names = [row.name for row in rows if row.group == OWN]
    be = "is" if len(names) == 1 else "are"
    return f"{join_words(names)} {be} not of the paper and not compared for bold" if names else None


def _describe_error_bars(provenance: Provenance, scope: Scope) -> str:
    """Describe over how many seeds a figure averages, and what its error bars show."""
    seeds = provenance.seeds.get(scope.benchmark, {})
    names, arms = list_short_names(scope.benchmark), read_arms()
    # Figures of these scopes draw some of the diagnostic's arms, which the scope does not name.
    uncounted = scope in (Scope.LOCALITY, Scope.ABLATION)
    counts = {
        names.get(subject, subject): [len(own)]
        for subject, own in seeds.items()
        if not uncounted and (subject not in arms or arms[subject].in_benchmark)
    }
    distinct = {seed for seeds_of_one in seeds.values() for seed in seeds_of_one}
    if max((n for row in counts.values() for n in row), default=len(distinct)) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    return f"Means over {_format_seeds(counts)}. {bars}" if counts else bars


def _describe_timings(provenance: Provenance, scopes: Iterable[Scope]) -> list[str]:
    """Describe on which device and in how many passes each benchmark was timed."""
    timed = [
        provenance.timed_on.get(scope.benchmark) for scope in scopes if scope.measure == "latency"
    ]
    texts = [
        f"Timed on {join_words(devices)}, {provenance.warmup} warm-up and "
        f"{provenance.passes} timed passes"
        for devices in timed
        if devices and provenance.passes
    ]
    return list(dict.fromkeys(texts))
