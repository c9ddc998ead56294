"""Every job that computes numbers, at the smallest size: its settings, its input and its call."""

from __future__ import annotations

from pathlib import Path

import made
import published_weights as published

from gblsr_repro import config as configuration
from gblsr_repro.data import standardize, superres
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.evaluation import (
    asr,
    asr_latency,
    exemplars,
    native,
    native_fields,
    native_latency,
    regions,
)
from gblsr_repro.released import importing
from gblsr_repro.training import runs as training


def select_shipped(rows):
    """Select the rows whose classes ship with the package; those of one's own have no version."""
    return {name: row for name, row in rows.items() if row.decoder.startswith("gblsr_repro.")}


ARMS = select_shipped(configuration.read_arms())
METHODS = select_shipped(configuration.read_methods())
TINY = {
    "native": {
        "data": {
            "image_size": 64,
            "train": ["demo_photos"],
            "evaluate": {"kodak": "demo_kodak", "set14": None, "urban100": None},
            "exemplars": {"kodak": "rocket"},
        },
        "training": {"steps": 2, "batch_size": 2, "pixels": {"wire": 64}},
        "metrics": {"region_patches": 16},
    },
    "asr": {
        "model": {"swinir_drop_path": 0.0},  # torch's draws for it differ between versions
        "train": ["demo_photos"],
        "evaluate": {"set14": "demo_set5"}
        | dict.fromkeys(("set5", "b100", "urban100", "div2kval")),
        "scales": [4],
        "trained_scales": [4],
        "shave_extra": {"div2kval": 0},
        "timing": {"datasets": ["set14"], "images_per_set": 1, "size_divisor": 4},
        "training": {"steps": 2, "lr_patch": 8, "queries": 32, "validation_images": 1,
                     "recipes": {"rdn": {"batch_size": 2}, "swinir": {"batch_size": 2}}},
    },
    "latency": {"warmup": 0, "passes": 1, "images_per_set": 1},
    "diagnostics": {"images": 2},
}  # fmt: skip

# Weights that jobs import, by the rule that does.
IMPORTS = {
    "gblsr_scalar": "import_arm",
    "global_fourier_mlp": "import_arm",
    "gblsr_asr_nf48": "import_method",
    "lte_edsr": "import_method",
}


def prepare(root: Path) -> configuration.Config:
    """Write images, arrays and a run of each benchmark into a folder; return their settings."""
    small = configuration.merge(made.SMALL, TINY)
    settings = configuration.merge(configuration.load(), small | {"resources": str(root / "data")})
    settings = configuration.validate(settings)
    for name in ("demo_photos", "demo_kodak", "demo_set5"):
        fetch_dataset(name, settings)
    arrays = root / "arrays"
    for name in ("train", "validation", "kodak"):
        standardize.standardize_images(name, settings, arrays / f"{name}.npy")
    superres.pack_training_sets(settings, root / "asr.npy")
    validation = arrays / "validation.npy"
    regions.write_thresholds(settings, validation, arrays / "validation_regions.json")
    for name in ("gblsr_full", "gblsr_asr"):
        made.run(root / name, name, settings, spread=0.1)
    for name in IMPORTS:
        tensors = published.weights(name, settings).theirs
        published.write_checkpoint(root / "released" / f"{name}.pth", name, tensors)
    return settings


def imported(config, root, output, name):
    """Import weights by their published names; of a GB-LSR-ASR with the range of its colors."""
    path = root / "released" / f"{name}.pth"
    dict.__setitem__(config, "released", {name: str(path)})
    colors = "unit" if name.startswith("gblsr_asr") else None
    row = configuration.find_row(name)
    importing.import_run(str(path), row, 0, output / "run", config, colors)


ARM, METHOD = ARMS["gblsr_full"], METHODS["gblsr_asr"]
JOBS = {
    "standardize train": lambda c, r, o: standardize.standardize_images("train", c, o / "a.npy"),
    "standardize kodak": lambda c, r, o: standardize.standardize_images("kodak", c, o / "a.npy"),
    "regions": lambda c, r, o: regions.write_thresholds(
        c, r / "arrays/validation.npy", o / "a.json"),
    **{
        f"train {name}": lambda c, r, o, arm=ARMS[name]: training.train_arm(
            c, arm, 0, r / "arrays/train.npy", o / "run", o / "state.pt")
        for name in ("gblsr_fixed", "gblsr_scalar", "gblsr_full", "liif", "lte", "wire",
                     "global_fourier_mlp")
    },
    "evaluate": lambda c, r, o: native.evaluate_run(
        c, ARM, 0, r / "gblsr_full", r / "arrays", o, o / "state", ["kodak"]),
    "evaluate_validation": lambda c, r, o: native.evaluate_run(
        c, ARM, 0, r / "gblsr_full", r / "arrays", o, o / "state", ["validation"]),
    "exemplars": lambda c, r, o: exemplars.write_exemplars(
        c, [r / "gblsr_full"], r / "arrays", o),
    "asr_exemplars": lambda c, r, o: exemplars.write_enlarged(c, [r / "gblsr_asr"], o),
    "fields": lambda c, r, o: native_fields.write_fields(
        c, [r / "gblsr_full"], r / "arrays/validation.npy",
        r / "arrays/validation_regions.json", o),
    **{
        f"latency {name}": lambda c, r, o, arm=ARMS[name]: native_latency.time_arm(
            c, arm, 0, r / "arrays", o, o / "state")
        for name in ("gblsr_full", "wire")
    },
    "asr_standardize": lambda c, r, o: superres.pack_training_sets(c, o / "a.npy"),
    **{
        f"asr_train_run {name}": lambda c, r, o, m=METHODS[name]: training.train_method(
            c, m, 0, r / "asr.npy", o / "run", o / "state.pt")
        for name in ("gblsr_asr_nf48_nole", "liif_rdn", "lte_swinir")
    },
    **{
        f"{IMPORTS[name]} {name}": lambda c, r, o, n=name: imported(c, r, o, n) for name in IMPORTS
    },
    "asr_evaluate": lambda c, r, o: asr.evaluate_run(
        c, METHOD, 0, r / "gblsr_asr", o, o / "state"),
    "asr_bicubic": lambda c, r, o: asr.evaluate_bicubic(c, o, o / "state"),
    **{
        f"asr_latency {name}": lambda c, r, o, m=METHODS[name]: asr_latency.time_method(
            c, m, 0, o, o / "state")
        for name in ("gblsr_asr", "lte_swinir")
    },
}  # fmt: skip
"""By rule and subject: a call that takes the settings, the folder of `prepare` and one to write."""


def find_subject(job: str) -> configuration.Arm | configuration.Method | str | None:
    """Find what a job is about: a row, or the name of an array."""
    name = job.partition(" ")[2]
    return ARMS.get(name) or METHODS.get(name) or name or None
