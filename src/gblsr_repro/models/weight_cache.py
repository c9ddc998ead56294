"""Remembering what follows from the weights alone, so that inference computes it once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor


class WeightCache:
    """Keeps derived tensors (a folded weight, a basis) while the weights they follow from stand.

    Only inference remembers: wherever gradients are enabled the value is made anew, so autograd
    sees the whole way from the weights, and what was kept is dropped, since an optimizer step may
    follow (the fused ones write weights without counting up their version). Otherwise a weight
    counts as changed when it was written in place (`load_state_dict`) or replaced (`module.to`).
    A module that holds a WeightCache calls `clear` when it changes between training and evaluation.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, Any]] = {}

    def get(
        self, name: str, key: Hashable, sources: Sequence[Tensor], make: Callable[[], Any]
    ) -> Any:
        """Return `make()`, or what it returned before for the same `key` and the same `sources`.

        One value is kept per `name`: a new key or a changed source replaces it.
        """
        if torch.compiler.is_compiling():
            return make()
        if torch.is_grad_enabled() or any(s.is_inference() for s in sources):
            self.clear()
            return make()
        stamp = (key, _autocast(), tuple(_stamp(s) for s in sources))
        kept = self._kept.get(name)
        if kept is None or kept[0] != stamp:
            # The detached aliases keep the storages alive, so that no later tensor can be given
            # the same address and pass for an unchanged source.
            kept = (stamp, (make(), [s.detach() for s in sources]))
            self._kept[name] = kept
        return kept[1][0]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def __deepcopy__(self, memo: dict[int, Any]) -> WeightCache:
        return WeightCache()

    def __reduce__(self) -> tuple[type[WeightCache], tuple[()]]:
        return WeightCache, ()


def _stamp(source: Tensor) -> tuple[Hashable, ...]:
    return source.data_ptr(), source._version, source.device, source.dtype, tuple(source.shape)


def _autocast() -> tuple[Hashable, ...]:
    return tuple(
        torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
        for kind in ("cpu", "cuda")
    )
