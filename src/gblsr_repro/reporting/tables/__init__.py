"""The tables: made from aggregates, alone and beside the paper's, and rendered as LaTeX."""

from .build import build, build_beside_paper, builders, write
from .layout import DASH, Row, Span, Table, format_number
from .published import build_published

__all__ = [
    "DASH",
    "Row",
    "Span",
    "Table",
    "build",
    "build_beside_paper",
    "build_published",
    "builders",
    "format_number",
    "write",
]
