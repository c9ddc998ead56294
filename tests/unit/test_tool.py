"""The models as a tool: photographs in, photographs out, at any scale."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import cli, config, photos, tool
from gblsr_repro.errors import UserError
from gblsr_repro.models.native import build
from gblsr_repro.weights import write_weights


@pytest.fixture(scope="module")
def settings():
    loaded = config.load()
    loaded["native"]["model"] |= {"features": 16, "hidden": 16, "modes": 6}
    return loaded


def make_run(folder, settings, arm):
    """A run folder with untrained but lively weights."""
    model = build(config.arms()[arm], settings, 0)
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    folder.mkdir(parents=True)
    record = {"arm": arm, "seed": 0, "config": {"model": settings["native"]["model"]}}
    record["weights_sha256"] = write_weights(folder, model)
    (folder / "run.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory, settings):
    return make_run(tmp_path_factory.mktemp("runs") / "scalar", settings, "gblsr_scalar")


@pytest.fixture
def photo(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (45, 70, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def test_three_lines(run, photo, tmp_path):
    model = tool.load_native(run)
    code = tool.encode(model, tool.read(photo))
    tool.write(tmp_path / "zoomed.png", tool.decode(code, scale=3.7, crop=(10, 20, 30, 60)))
    assert Image.open(tmp_path / "zoomed.png").size == (148, 74)


@pytest.mark.parametrize("arm", ["gblsr_scalar", "gblsr_full"])
def test_decoding_at_scale_one_is_the_reconstruction(tmp_path, settings, photo, arm):
    model = tool.load_native(make_run(tmp_path / arm, settings, arm))
    image = tool.read(photo)
    direct = tool.reconstruct(model, image)
    tool.save_code(tmp_path / "a.gblsr", tool.encode(model, image))
    stored = tool.decode(tool.load_code(tmp_path / "a.gblsr"))
    difference = np.abs(direct.rgb.astype(int) - stored.rgb.astype(int))
    assert direct.rgb.std() > 5
    assert difference.max() <= 1


def test_a_crop_is_a_part_of_the_whole(run, photo):
    code = tool.encode(tool.load_native(run), tool.read(photo))
    whole = tool.decode(code, scale=2)
    part = tool.decode(code, scale=2, crop=(5, 10, 25, 40))
    assert np.array_equal(part.rgb, whole.rgb[10:50, 20:80])


def test_grey_and_alpha_survive(run, tmp_path):
    rng = np.random.default_rng(1)
    grey = rng.integers(0, 256, (33, 40), dtype=np.uint8)
    rgba = rng.integers(0, 256, (33, 40, 4), dtype=np.uint8)
    Image.fromarray(grey).save(tmp_path / "grey.png")
    Image.fromarray(rgba, "RGBA").save(tmp_path / "clear.png")
    model = tool.load_native(run)
    for name, mode in (("grey.png", "L"), ("clear.png", "RGBA")):
        photo = tool.read(tmp_path / name)
        tool.save_code(tmp_path / "c.gblsr", tool.encode(model, photo))
        for made in (
            tool.reconstruct(model, photo),
            tool.decode(tool.load_code(tmp_path / "c.gblsr")),
        ):
            tool.write(tmp_path / f"out_{name}", made)
            with Image.open(tmp_path / f"out_{name}") as image:
                assert image.mode == mode
                assert image.size == (40, 33)
    with Image.open(tmp_path / "out_clear.png") as image:
        assert np.array_equal(np.array(image)[..., 3], rgba[..., 3])


def test_photos_come_upright(tmp_path):
    pixels = np.arange(6 * 4 * 3, dtype=np.uint8).reshape(6, 4, 3)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pixels).save(tmp_path / "turned.png", exif=exif)
    assert np.array_equal(photos.read(tmp_path / "turned.png").rgb, np.rot90(pixels, -1))


def test_command_line_takes_folders(run, photo, tmp_path):
    codes, images = tmp_path / "codes", tmp_path / "images"
    assert cli.main(["encode", str(photo.parent), str(codes), "--model", str(run)]) == 0
    assert (codes / "photo.gblsr").is_file()
    assert cli.main(["decode", str(codes), str(images), "--scale", "1.5"]) == 0
    assert Image.open(images / "photo.png").size == (105, 68)
    weights = str(run / "weights.safetensors")
    assert cli.main(["reconstruct", str(photo), str(images), "--model", weights]) == 0
    assert Image.open(images / "photo.png").size == (70, 45)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reconstruct", "none.png", "o.png", "--model", "RUN"], "none.png does not exist"),
        (["reconstruct", "PHOTO", "PHOTO", "--model", "RUN"], "would overwrite its input"),
        (["reconstruct", "PHOTO", "o.xyz", "--model", "RUN"], "no ending of a format to write"),
        (["reconstruct", "PHOTO", "o.png", "--model", "none"], "is no trained run"),
        (["upscale", "PHOTO", "o.png", "--model", "RUN", "--scale", "2"], "holds no run of the"),
        (["decode", "PHOTO", "o.png"], "is not an encoded image"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(run, photo, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    filled = [{"RUN": str(run), "PHOTO": str(photo)}.get(a, a) for a in arguments]
    assert cli.main(filled) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_impossible_crops_and_scales(run, photo):
    code = tool.encode(tool.load_native(run), tool.read(photo))
    with pytest.raises(UserError, match="must be more than 0"):
        tool.decode(code, scale=0)
    with pytest.raises(UserError, match="does not lie inside the image of 45 x 70"):
        tool.decode(code, crop=(0, 0, 46, 70))
    with pytest.raises(UserError, match="choose a smaller scale"):
        tool.decode(code, scale=1000)


def test_arms_without_coefficients_cannot_encode(tmp_path, settings, photo):
    model = tool.load_native(make_run(tmp_path / "wire", settings, "wire"))
    with pytest.raises(UserError, match="use a GB-LSR arm"):
        tool.encode(model, tool.read(photo))


SMALL_ASR = {
    "rdn_features": 4,
    "rdn_blocks": 1,
    "rdn_layers": 2,
    "rdn_growth": 4,
    "swinir_embed": 12,
    "swinir_depths": [1],
    "swinir_heads": 2,
    "hidden": 8,
    "modes": 5,
}


def make_superres(folder, method):
    """A super-resolution run folder with untrained weights."""
    from gblsr_repro.models.asr import model as asr

    settings = config.load()
    settings["asr"]["model"] |= SMALL_ASR
    made = asr.build(config.methods()[method], settings, 0)
    folder.mkdir(parents=True)
    digest = write_weights(folder, made)
    section = {name: settings["asr"][name] for name in ("model", "training")}
    record = {"method": method, "seed": 0, "config": section, "weights_sha256": digest}
    (folder / "run.json").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize("method", ["gblsr_asr", "lte_swinir"])
def test_upscaling_a_crop_is_a_part_of_the_whole(tmp_path, photo, method):
    model = tool.load_superres(make_superres(tmp_path / method, method))
    image = tool.read(photo)
    whole = tool.upscale(model, image, scale=2)
    part = tool.upscale(model, image, scale=2, crop=(5, 10, 25, 40))
    difference = np.abs(part.rgb.astype(int) - whole.rgb[10:50, 20:80].astype(int))
    assert whole.size == (90, 140)
    assert difference.max() <= 1


def test_any_scale_and_alpha(tmp_path):
    rgba = np.random.default_rng(2).integers(0, 256, (20, 30, 4), dtype=np.uint8)
    Image.fromarray(rgba, "RGBA").save(tmp_path / "clear.png")
    run = make_superres(tmp_path / "run", "gblsr_asr_nole")
    source, target = str(tmp_path / "clear.png"), str(tmp_path / "big.png")
    assert cli.main(["upscale", source, target, "--model", str(run), "--scale", "3.7"]) == 0
    with Image.open(target) as image:
        assert (image.size, image.mode) == ((111, 74), "RGBA")
