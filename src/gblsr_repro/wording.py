"""Join words into sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a conjunction before the last: a, b and c."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def format_commit(git: Mapping[str, Any]) -> str | None:
    """Format the commit in a run's record; None where it has none.

    A "+" after it: files of the checkout were modified or added.
    """
    if not git.get("commit"):
        return None
    return f"{git['commit']}{'+' if git.get('modified') else ''}"
