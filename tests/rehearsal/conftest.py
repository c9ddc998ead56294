"""Small training data for the rehearsals."""

from pathlib import Path

import numpy as np
import pytest

from gblsr_repro import config as configuration
from gblsr_repro import files
from gblsr_repro.data import superres

SIDE = 32
NATIVE = ("train", "kodak", "validation")
SMALL = {
    "device": "auto",
    "threads": 1,
    "require_lpips": False,
    "native": {
        "data": {"image_size": SIDE, "exemplars": {"kodak": "kodak_0"}},
        "model": {"features": 8, "patch": 4, "norm_groups": 2, "modes": 4, "hidden": 8},
        "training": {"steps": 6, "batch_size": 2, "log_every": 2, "checkpoint_every": 3},
        "metrics": {"region_patches": 16},
    },
    "asr": {
        "model": {
            "rdn_features": 4,
            "rdn_blocks": 2,
            "rdn_layers": 2,
            "rdn_growth": 4,
            "swinir_embed": 12,
            "swinir_depths": [2],
            "swinir_heads": 2,
            "swinir_drop_path": 0.5,
            "hidden": 8,
            "modes": 4,
        },
        "training": {
            "steps": 6,
            "lr_patch": 8,
            "queries": 32,
            "log_every": 2,
            "checkpoint_every": 3,
            "recipes": {"rdn": {"batch_size": 3}, "swinir": {"batch_size": 3}},
        },
        "timing": {"datasets": ["set14"], "images_per_set": 1, "size_divisor": 16},
    },
    "latency": {"warmup": 1, "passes": 2, "images_per_set": 1},
    "diagnostics": {"images": 2},
}


class Noise:
    """An image of seeded noise."""

    def __init__(self, seed: int) -> None:
        self.name = f"n{seed}"
        self.pixels = np.random.default_rng(seed).integers(256, size=(40, 44, 3), dtype=np.uint8)

    def load(self) -> np.ndarray:
        return self.pixels


@pytest.fixture
def config(tmp_path: Path) -> configuration.Config:
    """The configuration of tiny models, results and resources in a folder that goes away."""
    made = configuration.merge(configuration.load(), SMALL)
    made["native"]["data"]["evaluate"] = {"kodak": "kodak"}
    return made | {"results": str(tmp_path / "results"), "resources": str(tmp_path / "resources")}


@pytest.fixture(scope="session")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with standardised arrays of noise, and packed.npy for super-resolution."""
    folder = tmp_path_factory.mktemp("arrays")
    for seed, name in enumerate(NATIVE):
        path, count = folder / f"{name}.npy", 5
        shape = (count, SIDE, SIDE, 3)
        np.save(path, np.random.default_rng(seed).integers(256, size=shape, dtype=np.uint8))
        columns = ("position", "dataset", "name", "width", "height", "sha256")
        rows = [(i, "noise", f"{name}_{i}", SIDE, SIDE, "") for i in range(count)]
        files.write_csv(path.with_suffix(".csv"), columns, rows)
        sums = {"sha256": path, "index_sha256": path.with_suffix(".csv")}
        record = {key: files.sha256(file) for key, file in sums.items()}
        files.write_json(path.with_suffix(".json"), {"datasets": [], "images": count} | record)
    superres.pack({"noise": [Noise(seed) for seed in range(4)]}, folder / "packed.npy", [{}])
    return folder
