"""The tables: made from aggregates, alone and beside the paper's, and rendered as LaTeX."""

from .build import build, build_beside_paper, builders, write
from .published import build_published

__all__ = ["build", "build_beside_paper", "build_published", "builders", "write"]
