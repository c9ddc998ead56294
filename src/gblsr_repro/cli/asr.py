"""Subcommands of the asr room."""

from __future__ import annotations

from typing import Any


def register(commands: Any) -> None:
    """Add this room's subcommands."""
