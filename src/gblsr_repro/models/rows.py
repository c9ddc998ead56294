"""Build the untrained model of a row of either table."""

from __future__ import annotations

from ..config import Arm, Config, Method
from .asr.model import ASRModel
from .native import NativeModel


def assemble_row(row: Arm | Method, config: Config) -> NativeModel | ASRModel:
    """Build an untrained arm or method, without seeding the random generators."""
    if isinstance(row, Arm):
        return NativeModel.assemble(row, config)
    return ASRModel.assemble(row, config)
