"""The plain text that tables and captions are written in, and its forms in LaTeX and HTML.

The text is Unicode with three marks: **bold**, *italic* and <https://address>. Numbers carry
thousands commas, typographic signs (± × − ≤ ≥ ≈) and — for a value that was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

_MARKS = re.compile(r"\*\*(?P<bold>.+?)\*\*|\*(?P<italic>.+?)\*|<(?P<url>https?://[^>]+)>")

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "#": r"\#", "$": r"\$", "%": r"\%",
    "&": r"\&", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$",
    ">": "$>$", "\u00a0": "~", "±": r"$\pm$", "×": r"$\times$", "−": "$-$", "≤": r"$\leq$",
    "≥": r"$\geq$", "≈": r"$\approx$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "→": r"$\rightarrow$", "Δ": r"$\Delta$", "–": "--", "—": "---", "…": r"\ldots{}", "“": "``",
    "”": "''", "’": "'", "®": r"\textregistered{}", "™": r"\texttrademark{}",
    "©": r"\textcopyright{}", "°": r"$^\circ$",
}  # fmt: skip


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a last conjunction."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def latex(text: str) -> str:
    """Return the text as LaTeX that needs no package."""
    return _convert(text, _latex_plain, r"\textbf{%s}", r"\textit{%s}", _latex_url)


def html(text: str) -> str:
    """Return the text as HTML, escaped."""
    link = '<a href="{0}">{0}</a>'
    return _convert(
        text, _html_plain, "<strong>%s</strong>", "<em>%s</em>", lambda u: link.format(escape(u))
    )


def plain(text: str) -> str:
    """Return the text without its marks."""
    return _convert(text, str, "%s", "%s", str)


def _convert(
    text: str, plain_part: Callable[[str], str], bold: str, italic: str, url: Callable[[str], str]
) -> str:
    parts, end = [], 0
    for mark in _MARKS.finditer(text):
        parts.append(plain_part(text[end : mark.start()]))
        if mark["url"]:
            parts.append(url(mark["url"]))
        else:
            inner = _convert(mark["bold"] or mark["italic"], plain_part, bold, italic, url)
            parts.append((bold if mark["bold"] else italic) % inner)
        end = mark.end()
    return "".join(parts) + plain_part(text[end:])


def _latex_plain(text: str) -> str:
    out = "".join(_SPECIAL.get(letter, letter) for letter in text)
    out = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "{,}", out)
    return re.sub(r"(?<![\w}$])\+(?=\d)", "$+$", out)


def _latex_url(address: str) -> str:
    # Breaks after / . - _ keep long addresses inside their column without the url package.
    pieces = re.split(r"(?<=[/._-])(?=[^/])", address)
    return r"\texttt{" + r"\allowbreak ".join(map(_latex_plain, pieces)) + "}"


def _html_plain(text: str) -> str:
    return escape(text).replace("\u00a0", "&nbsp;")
