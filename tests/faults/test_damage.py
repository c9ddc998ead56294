"""Damage anywhere in a stored file: its reader says one sentence or finds nothing changed."""

import shutil
import tarfile
import zipfile
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory

import made
import numpy as np
import pytest
import torch
from faulty import damage

from gblsr_repro import files, inference
from gblsr_repro.analysis.aggregate import read_images, read_latency
from gblsr_repro.analysis.reader import read
from gblsr_repro.analysis.schemas import list_columns
from gblsr_repro.data import archives, manifest
from gblsr_repro.data.arrays import ImageArray
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.fields import BandwidthFields
from gblsr_repro.evaluation.regions import RegionThresholds
from gblsr_repro.models.native import NativeModel
from gblsr_repro.runs import load_run
from gblsr_repro.training import checkpoint

TIMES = 8  # per file and repetition


@pytest.fixture(scope="session")
def stored(tmp_path_factory, small_config, array, undisturbed):
    """A folder with one file of every kind that a stage leaves for the next."""
    folder = tmp_path_factory.mktemp("stored")
    noise = [made.noise(20, 30, 3, seed=n) for n in range(3)]
    for suffix in (".npy", ".csv", ".json"):
        shutil.copy(array.with_suffix(suffix), folder)
    shutil.copytree(undisturbed, folder / "run")
    state = {"identity": {}, "step": 3, "model": {"w": torch.arange(5000.0)}, "rows": [{"step": 3}]}
    checkpoint.save_state(folder / "state.pt", state)
    entries = [
        manifest.ManifestEntry(path=f"{n}.png", bytes=n, sha256=f"{n:064}") for n in range(40)
    ]
    manifest.write_manifest(folder / "manifest.csv", entries)
    metrics = ("image", "psnr", "ssim")
    rows = [(f"img_{n:03}", 20 + n / 7, n / 90) for n in range(40)]
    files.write_csv(folder / "metrics.csv", metrics, rows)
    timed = ("dataset", "image", "clock", "mean_ms", "median_ms", "p90_ms", "p95_ms",
             "peak_memory_mib")  # fmt: skip
    rows = [("kodak", f"kodim{n:02}", "paper", *[n / 7] * 5) for n in range(24)]
    files.write_csv(folder / "latency.csv", timed, rows)
    rows = [
        {"dataset": "kodak", "arm": f"arm{n}", "metric": "psnr", "mean": 20 + n / 7, "n": 3}
        for n in range(40)
    ]
    files.write_csv(folder / "native.csv", list_columns("native"), rows)
    grid = np.random.default_rng(0).random((3, 8, 8))
    BandwidthFields(grid, grid, grid, ["a", "b", "c"]).write(folder / "fields.npz")
    model = load_run(folder / "run", NativeModel, small_config)
    code = inference.encode(model, inference.Photo(noise[0]))
    inference.save_code(folder / "code.gblsr", code)
    for number, image in enumerate(noise):
        (folder / f"{number}.png").write_bytes(image.tobytes())
    with tarfile.open(folder / "set.tar.gz", "w:gz") as tape:
        for number in range(3):
            tape.add(folder / f"{number}.png", f"{number}.png")
    with zipfile.ZipFile(folder / "set.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(3):
            packed.write(folder / f"{number}.png", f"{number}.png")
    return folder


def weights(folder, settings):
    return [
        p.detach().numpy().tobytes()
        for p in load_run(folder / "run", NativeModel, settings).parameters()
    ]


def code(folder, _):
    found = inference.load_code(folder / "code.gblsr")
    return [found.coefficients.tolist(), found.bandwidth.tolist(), found.size, found.top]


def array_of(folder, _):
    arrays = ImageArray.open(folder / "train.npy")
    return [arrays.images.tobytes(), arrays.index]


def unpacked(name):
    """Return the reader of an archive: the files that come out, which must be true ones."""

    def read(folder, _):
        with TemporaryDirectory(dir=folder, prefix="set") as out:
            archives.unpack_archive(folder / name, Path(out), 100_000)
            for file in (path for path in Path(out).rglob("*") if path.is_file()):
                original = folder / file.name
                assert not original.exists() or file.read_bytes() == original.read_bytes()

    return read


READERS = {
    "set.tar.gz": unpacked("set.tar.gz"),
    "set.zip": unpacked("set.zip"),
    "train.npy": array_of,
    "train.csv": array_of,
    "run/weights.safetensors": weights,
    "state.pt": lambda folder, _: checkpoint.load_state(folder / "state.pt", {})["rows"],
    "fields.npz": lambda folder, _: [
        a.tobytes() for a in astuple(BandwidthFields.read(folder / "fields.npz"))],
    "code.gblsr": code,
}  # fmt: skip

TABLES = {
    "manifest.csv": manifest.read_manifest,
    "metrics.csv": lambda path: read_images(path, ("psnr",)),
    "latency.csv": read_latency,
    "native.csv": lambda path: read(path, "native"),
}


@pytest.mark.parametrize("name", READERS)
def test_damage_anywhere(stored, small_config, repeats, chance, name):
    def read():
        return READERS[name](stored, small_config)

    file = stored / name
    content, expected = file.read_bytes(), read()
    refused = 0
    for _ in range(TIMES * repeats):
        done = damage(file, chance)
        try:
            found = read()
        except UserError as error:
            refused += 1
            found, said = None, str(error)
            assert str(stored / name.partition(".")[0]) in said or str(stored / "run") in said
            assert "\n" not in said
        assert found in (None, expected), done
        file.write_bytes(content)
    assert refused


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table_is_read_or_refused_in_one_sentence(stored, repeats, chance, name):
    """A table has no checksum: what still fits its header is taken."""
    file = stored / name
    content = file.read_bytes()
    header = content[: content.index(b"\n") + 1]
    refusals = []
    for _ in range(TIMES * repeats):
        damage(file, chance)
        for damaged in (file.read_bytes(), header, content[: len(content) // 2 + 3]):
            file.write_bytes(damaged)
            try:
                TABLES[name](file)
            except UserError as error:
                refusals.append(str(error))
        file.write_bytes(content)
    assert refusals
    assert all(str(file) in said and "\n" not in said for said in refusals)


@pytest.mark.parametrize("content", ["[]", "{}", '{"hf_q1": "low"}'])
def test_thresholds_that_are_damaged_are_named(tmp_path, content):
    path = tmp_path / "validation_regions.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"validation_regions\.json is damaged .*; delete it"):
        RegionThresholds.read(path)
