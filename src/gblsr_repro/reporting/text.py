"""Convert text with bold, italic and links to LaTeX and HTML.

The text is Unicode with three marks of Markdown: **bold**, *italic* and <https://address>. Numbers
carry thousands commas, typographic signs (± × − ≤ ≥ ≈) and — for a value that was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("zero").enable(["emphasis", "autolink"])

_LATEX_LETTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "\u00a0": "~",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "→": r"$\rightarrow$",
    "Δ": r"$\Delta$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
    "©": r"\textcopyright{}",
    "°": r"$^\circ$",
}
_LATEX_MARKS = {
    "strong_open": r"\textbf{",
    "strong_close": "}",
    "em_open": r"\textit{",
    "em_close": "}",
    "link_open": r"\texttt{",
    "link_close": "}",
}


def convert_to_latex(text: str) -> str:
    """Convert text with marks to LaTeX that needs no package."""
    parts = []
    inside_link = False
    for token in _parse(text):
        if token.type in _LATEX_MARKS:
            parts.append(_LATEX_MARKS[token.type])
            inside_link = token.type == "link_open"
        else:
            convert = _convert_address_to_latex if inside_link else _escape_latex
            parts.append(convert(token.content))
    return "".join(parts)


def convert_to_html(text: str) -> str:
    """Convert text with marks to HTML, escaped."""
    return _MARKDOWN.renderInline(text)


def _parse(text: str) -> Sequence[Token]:
    (inline,) = _MARKDOWN.parseInline(text)
    return inline.children or []


def _escape_latex(text: str) -> str:
    escaped = "".join(_LATEX_LETTERS.get(letter, letter) for letter in text)
    escaped = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "{,}", escaped)
    return re.sub(r"(?<![\w}$])\+(?=\d)", "$+$", escaped)


def _convert_address_to_latex(address: str) -> str:
    # Breaks after / . - _ keep long addresses inside their column without the url package.
    pieces = re.split(r"(?<=[/._-])(?=[^/])", address)
    return r"\allowbreak ".join(map(_escape_latex, pieces))
