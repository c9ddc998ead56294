"""The fields of one run, bandwidth and cutoff order of every patch, as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..files import write_atomically


@dataclass(frozen=True)
class Fields:
    """What one run predicts for its patches, with their regions.

    `bandwidth` and `order` are float32 (N, h, w), `region` int8 (N, h, w) with positions in
    `REGIONS`, `names` the N images' names.
    """

    bandwidth: NDArray[np.float32]
    order: NDArray[np.float32]
    region: NDArray[np.int8]
    names: Sequence[str]

    def write(self, path: Path | str) -> None:
        """Write one compressed .npz file atomically."""
        with write_atomically(path) as temporary, temporary.open("wb") as stream:
            kinds = {"bandwidth": np.float32, "order": np.float32, "region": np.int8}
            arrays = {name: getattr(self, name).astype(kind) for name, kind in kinds.items()}
            np.savez_compressed(stream, **arrays, names=np.array(self.names))

    @classmethod
    def read(cls, path: Path | str) -> Fields:
        """Read what `write` wrote; `UserError` when the file is missing or damaged."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = [stored[key] for key in ("bandwidth", "order", "region", "names")]
        except FileNotFoundError as error:
            raise UserError(f"{path} does not exist; run the fields step of this arm.") from error
        except Exception as error:  # a damaged archive makes zipfile raise nearly anything
            damage = f"{path} is damaged; delete it and run the fields step again."
            raise UserError(damage) from error
        bandwidth, order, region, names = arrays
        return cls(bandwidth, order, region, names.tolist())
