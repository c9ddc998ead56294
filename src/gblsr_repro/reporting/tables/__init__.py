"""Build the tables from aggregates, alone and beside the paper's, and write them as LaTeX."""

from .build import build_beside_paper, build_tables, list_builders, write
from .published import build_published

__all__ = ["build_beside_paper", "build_published", "build_tables", "list_builders", "write"]
