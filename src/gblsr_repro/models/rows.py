"""Find the class of the model that a row of either table is built as."""

from __future__ import annotations

from ..config import Arm, Method
from .asr.model import ASRModel
from .base import Model
from .native import NativeModel


def find_model(row: Arm | Method) -> type[Model]:
    """Find the class of the model of an arm or a method."""
    return NativeModel if isinstance(row, Arm) else ASRModel
