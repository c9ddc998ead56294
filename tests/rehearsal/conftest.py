"""Small training data for the rehearsals."""

from pathlib import Path

import made
import pytest

from gblsr_repro import config as configuration

SIDE = 32
REHEARSED = {
    "device": "auto",
    "native": {
        "data": {"image_size": SIDE},
        "training": {"steps": 6, "batch_size": 2, "log_every": 2, "checkpoint_every": 3},
        "metrics": {"region_patches": 16},
    },
    "asr": {
        "model": {"swinir_drop_path": 0.5},
        "training": {
            "steps": 6,
            "lr_patch": 8,
            "queries": 32,
            "log_every": 2,
            "checkpoint_every": 3,
            "recipes": {"rdn": {"batch_size": 3}, "swinir": {"batch_size": 3}},
        },
    },
    "diagnostics": {"images": 2},
}


@pytest.fixture
def config(tmp_path: Path) -> configuration.Config:
    """The configuration of tiny models, results and resources in a folder that goes away."""
    small = configuration.merge(made.SMALL, REHEARSED)
    found = configuration.merge(configuration.load(), small)
    found["native"]["data"]["evaluate"] = {"kodak": "kodak"}
    return found | {"results": str(tmp_path / "results"), "resources": str(tmp_path / "resources")}


@pytest.fixture(scope="session")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with standardized arrays of noise, and packed.npy for super-resolution."""
    folder = tmp_path_factory.mktemp("arrays")
    for seed, name in enumerate(("train", "kodak", "validation")):
        made.array(folder / f"{name}.npy", made.noise(5, SIDE, SIDE, 3, seed=seed))
    made.packed(folder / "packed.npy", [made.noise(40, 44, 3, seed=seed) for seed in range(4)])
    return folder
