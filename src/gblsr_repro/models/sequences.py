"""Lists of modules and parameters whose items keep their type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from torch import nn

Module = TypeVar("Module", bound=nn.Module)


def modules(items: Iterable[Module]) -> Sequence[Module]:
    """Return an `nn.ModuleList`, whose items torch itself types as any module at all."""
    return cast("Sequence[Module]", nn.ModuleList(items))
