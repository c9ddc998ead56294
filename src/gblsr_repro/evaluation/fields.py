"""Write and read the fields of one run: bandwidth and cutoff order of every patch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..files import write_atomically


@dataclass(frozen=True)
class BandwidthFields:
    """The bandwidth and cutoff order that one run predicts for every patch, and its region.

    `bandwidth` and `order` are float32 (N, h, w), `region` is int8 (N, h, w) with labels of
    `REGIONS`, `names` are the names of the N images.
    """

    bandwidth: NDArray[np.float32]
    order: NDArray[np.float32]
    region: NDArray[np.int8]
    names: NDArray[np.str_]

    def write(self, path: Path) -> None:
        """Write the fields as one compressed .npz file."""
        with write_atomically(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, **vars(self))

    @classmethod
    def read(cls, path: Path) -> BandwidthFields:
        """Read a file of `write`; `UserError` when it is missing or damaged."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(**{field.name: stored[field.name] for field in fields(cls)})
        except FileNotFoundError as error:
            raise UserError(f"{path} does not exist; run the fields step of this arm.") from error
        except Exception as error:  # zipfile raises many types for damaged files
            damage = f"{path} is damaged; delete it and run the fields step again."
            raise UserError(damage) from error
