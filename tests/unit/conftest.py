"""Fixtures of several unit tests."""

from pathlib import Path

import pytest
from table_aggregates import TableFolder


@pytest.fixture
def aggregates(tmp_path: Path) -> TableFolder:
    """A new folder of aggregates, and the tables that the paper's configuration builds of it."""
    return TableFolder(tmp_path / "aggregates")
