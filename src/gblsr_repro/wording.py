"""Join words into sentences."""

from __future__ import annotations

from collections.abc import Sequence


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a conjunction before the last: a, b and c."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail
