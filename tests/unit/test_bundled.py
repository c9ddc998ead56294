"""The weights that come with the package are whole, measured, small, and the default."""

import made
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from gblsr_repro import bundled, cli, config, inference
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_csv, write_json
from tools import bundle_weights


@pytest.fixture
def bundle(make_run):
    """Bundle a run that records what training does, with rows as evaluation leaves them."""

    def bundle_run(folder, name, columns, values, output, of=None):
        run, metrics = make_run(folder / name, name), folder / f"{name} metrics"
        record = made.record(run / "run.json")
        git = {"commit": "0123456789abcdef", "modified": False}
        write_json(run / "run.json", record | {"steps": 1234, "git": git})
        metrics.mkdir(exist_ok=True)
        for data, value in values.items():
            rows = [["a", value, 0.5], ["b", value, 1]]
            write_csv(metrics / f"{data}.csv", ("image", *columns), rows)
            weights = {"weights_sha256": of or record["weights_sha256"]}
            write_json(metrics / f"{data}.json", weights)
        bundle_weights.bundle(run, metrics, "noise", output)

    return bundle_run


@pytest.mark.parametrize("kind", ["native", "asr"])
def test_the_weights_that_come_along_are_whole_and_their_cards_true(kind):
    path = bundled.find_bundled_model(kind)
    {"native": inference.load_native, "asr": inference.load_superres}[kind](path)
    assert path.with_suffix(".md").read_text() == bundle_weights.format_card(path)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package folder in which bundled weights are looked for."""
    monkeypatch.setattr(bundled.resources, "files", lambda _: tmp_path / "package")
    return tmp_path / "package" / "bundled"


def test_bundled_weights_are_the_default(
    tmp_path, photo_file, package, bundle, caplog, monkeypatch
):
    quality = {"kodak": 22.25, "validation": 99}
    native, asr = package / "native.safetensors", package / "asr.safetensors"
    bundle(tmp_path, "gblsr_scalar", ("psnr", "ssim"), quality, native)
    quality = {"set5_x2": 36.5}
    bundle(tmp_path, "gblsr_asr_nole", ("psnr_y", "ssim_y"), quality, asr)
    card = (package / "native.md").read_text()
    assert "| kodak | 2 | 22.25 | 0.7500 | — |" in card
    assert "0123456789abcdef" in card

    monkeypatch.chdir("/")  # outside a checkout: the file brings all that is needed along
    monkeypatch.setattr(config, "find_repository_root", None)
    caplog.set_level("INFO")
    caplog.clear()
    image = inference.read(photo_file)
    assert cli.main(["reconstruct", str(photo_file), "-o", str(tmp_path / "r.png")]) == 0
    assert cli.main(["upscale", str(photo_file), "-o", str(tmp_path / "u.png")]) == 0
    said = caplog.text
    assert "gblsr_scalar, 1,234 steps on noise, commit 0123456789ab" in said
    assert "gblsr_asr_nole, 1,234 steps on noise" in said
    for name, size in (("r", (70, 45)), ("u", (140, 90))):
        with Image.open(tmp_path / f"{name}.png") as shown:
            assert shown.size == size
    monkeypatch.undo()
    full = inference.reconstruct(inference.load_native(tmp_path / "gblsr_scalar"), image).rgb
    shown = inference.read(tmp_path / "r.png").rgb
    assert np.abs(full.astype(int) - shown).max() <= 2
    stored = load_file(native)
    assert {t.dtype for t in stored.values() if t.ndim > 1} == {torch.float16}
    assert {t.dtype for t in stored.values() if t.ndim < 2} == {torch.float32}


@pytest.mark.parametrize(
    ("values", "of", "sentence"),
    [
        ({"kodak": 20.0}, "0" * 64, "was measured on other weights"),
        ({}, None, "holds no measured rows"),
    ],
)
def test_only_a_measured_run_is_bundled(tmp_path, bundle, values, of, sentence):
    output = tmp_path / "native.safetensors"
    with pytest.raises(UserError, match=sentence):
        bundle(tmp_path, "gblsr_scalar", ("psnr", "ssim"), values, output, of)
    assert not output.exists()
