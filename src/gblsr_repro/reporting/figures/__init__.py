"""The paper's figures, drawn from aggregates."""

from . import ablation, asr, comparison, locality, native, qualitative  # noqa: F401 (register)
from .registry import FIGURES as FIGURES
from .registry import captions as captions
from .registry import note as note
from .registry import render as render
from .registry import write as write
