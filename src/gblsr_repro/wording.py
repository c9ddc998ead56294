"""Join words into sentences, and suggest names."""

from __future__ import annotations

import difflib
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NETWORK_SETTINGS = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a conjunction before the last: a, b and c."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def list_some(words: Sequence[str]) -> str:
    """Join words as `join_words` does; of more than ten the others are counted: a, b and 7 more.

    There must be at least one word.
    """
    others = [f"{len(words) - 10} more"] if len(words) > 10 else []
    return join_words([*words[:10], *others])


def format_commit(git: Mapping[str, Any]) -> str | None:
    """Format the commit in a run's metadata; None where it has none.

    A "+" after it: files of the checkout were modified or added.
    """
    if not git.get("commit"):
        return None
    return f"{git['commit']}{'+' if git.get('modified') else ''}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def shorten(value: Any) -> str:
    """Write a value of the user's into a message: as Python writes it, long ones shortened."""
    return _SHORT.repr(value)


def suggest(name: str, candidates: Iterable[str]) -> str:
    """Suggest the closest of some names, or list all: the end of a sentence about an unknown name.

    As in "config/arms.tsv has no arm 'lif'; did you mean 'liif'?"
    """
    names = list(candidates)
    close = difflib.get_close_matches(name, names, 1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "there is none to choose from; leave it out."
    return f"use one of {', '.join(names)}."


def name_network_settings() -> str:
    """Name what else to check where no connection succeeds, as part of a sentence; "" for nothing.

    It is what the environment says of proxies and certificates.
    """
    names = [name for name in os.environ if name.upper() in NETWORK_SETTINGS and os.environ[name]]
    return f" and {join_words(sorted(names))} in the environment" if names else ""
