"""The models as a tool: photographs in, photographs out, at any scale."""

import json
import re

import made
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save

from gblsr_repro import bundled, inference
from gblsr_repro.errors import UserError
from gblsr_repro.image_io import Photo
from gblsr_repro.image_io.photo import reduce
from gblsr_repro.inference import CODE_FORMAT
from gblsr_repro.models import bands
from gblsr_repro.models.asr import tiling
from gblsr_repro.weights import compute_checksum, parse_tensors


def off(one, other):
    """The largest difference of two photographs."""
    return np.abs(one.astype(int) - other.astype(int)).max()


def test_the_examples_of_the_page_on_photographs(tmp_path, repository, monkeypatch, make_run):
    page = (repository / "docs/images.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    make_run(tmp_path / "results/native/runs/gblsr_scalar/seed0", "gblsr_scalar")
    Image.fromarray(made.noise(210, 220, 3)).save(tmp_path / "photo.jpg")
    monkeypatch.chdir(tmp_path)
    content = (tmp_path / "photo.jpg").read_bytes()
    for example in examples:
        exec(example, {"content": content})
    assert Image.open("zoomed.png").size == (370, 370)
    assert Image.open("larger.png").size == (440, 420)
    assert Image.open("wide.png").size == (660, 630)


@pytest.mark.parametrize("arm", ["gblsr_scalar", "gblsr_full"])
def test_decoding_at_scale_one_is_the_reconstruction(tmp_path, photo_file, arm, make_run):
    model = inference.load_native(make_run(tmp_path / arm, arm))
    image = inference.read(photo_file)
    direct = inference.reconstruct(model, image)
    (tmp_path / "a.gblsr").symlink_to("b.gblsr")
    inference.save_code(tmp_path / "a.gblsr", inference.encode(model, image))
    stored = inference.decode(inference.load_code(tmp_path / "b.gblsr"))
    assert direct.rgb.std() > 5
    assert off(direct.rgb, stored.rgb) <= 1


def test_a_code_of_an_earlier_version_is_read(native_run, photo_file, tmp_path):
    """Its header has several entries; those of today have one, and the same bytes each time."""
    model, path = inference.load_native(native_run), tmp_path / "a.gblsr"
    inference.save_code(path, inference.encode(model, inference.read(photo_file)))
    header, tensors = parse_tensors(path.read_bytes())
    inference.save_code(tmp_path / "b.gblsr", inference.load_code(path))
    assert (tmp_path / "b.gblsr").read_bytes() == path.read_bytes()
    shown = inference.decode(inference.load_code(path)).rgb
    path.write_bytes(save(tensors, json.loads(header["code"])))
    assert np.array_equal(inference.decode(inference.load_code(path)).rgb, shown)
    for other in ("[1]", '{"format": "gblsr-code-2"}'):
        path.write_bytes(save(tensors, {"code": other}))
        with pytest.raises(UserError, match="is not an encoded image"):
            inference.load_code(path)
    text = '{"patch": 8}'  # as a program of somebody else may write it
    header = {"format": CODE_FORMAT, "image": text, "sha256": compute_checksum(tensors, text)}
    path.write_bytes(save(tensors, header))
    with pytest.raises(UserError, match="lacks a part of an encoded image"):
        inference.load_code(path)


def test_a_crop_is_a_part_of_the_whole_in_bands_too(native_run, photo_file, monkeypatch):
    code = inference.encode(inference.load_native(native_run), inference.read(photo_file))
    whole = inference.decode(code, scale=2)
    part = inference.decode(code, scale=2, crop=(5, 10, 25, 40))
    assert np.array_equal(part.rgb, whole.rgb[10:50, 20:80])
    monkeypatch.setattr(bands, "BAND_PIXELS", 1000)
    assert np.array_equal(inference.decode(code, scale=2).rgb, whole.rgb)


def test_gray_and_alpha_survive(native_run, tmp_path):
    rgba = made.noise(33, 40, 4)
    Image.fromarray(made.noise(33, 40)).save(tmp_path / "gray.png")
    Image.fromarray(rgba, "RGBA").save(tmp_path / "clear.png")
    model = inference.load_native(native_run)
    for name, mode in (("gray.png", "L"), ("clear.png", "RGBA")):
        photo = inference.read(tmp_path / name)
        inference.save_code(tmp_path / "c.gblsr", inference.encode(model, photo))
        stored = inference.decode(inference.load_code(tmp_path / "c.gblsr"))
        for one in (inference.reconstruct(model, photo), stored):
            inference.write(tmp_path / f"out_{name}", one)
            with Image.open(tmp_path / f"out_{name}") as image:
                assert image.mode == mode
                assert image.size == (40, 33)
    with Image.open(tmp_path / "out_clear.png") as image:
        assert np.array_equal(np.array(image)[..., 3], rgba[..., 3])
    photo = inference.read(tmp_path / "gray.png")
    colors = inference.reconstruct(model, Photo(photo.rgb)).rgb
    assert np.abs(inference.reconstruct(model, photo).rgb - colors.mean(2)[..., None]).max() < 1
    part = inference.decode(inference.load_code(tmp_path / "c.gblsr"), crop=(5, 10, 25, 30))
    assert np.array_equal(part.alpha, rgba[5:25, 10:30, 3])


def test_what_cannot_be_decoded_or_encoded(native_run, photo_file, tmp_path, make_run):
    image = inference.read(photo_file)
    code = inference.encode(inference.load_native(native_run), image)
    for crop in ((0, 0, 46, 70), (0, 0, 45, 71), (0, -1, 45, 70), (5, 0, 5, 70), (0, 9, 45, 9)):
        with pytest.raises(UserError, match="does not lie inside the image of 70 x 45 pixels"):
            inference.decode(code, crop=crop)
    with pytest.raises(UserError, match="use a GB-LSR arm"):
        inference.encode(inference.load_native(make_run(tmp_path / "wire", "wire")), image)
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        inference.load_code(tmp_path)


@pytest.mark.parametrize("method", ["gblsr_asr", "lte_swinir"])
def test_upscaling_a_crop_is_a_part_of_the_whole(superres_run, photo_file, method):
    model = inference.load_superres(superres_run(method))
    image = inference.read(photo_file)
    whole = inference.upscale(model, image, scale=2)
    part = inference.upscale(model, image, scale=2, crop=(5, 10, 25, 40))
    assert whole.size == (90, 140)
    assert off(part.rgb, whole.rgb[10:50, 20:80]) <= 1


@pytest.mark.parametrize(("scale", "crop"), [(2, None), (3.3, (3.5, 20, 40, 66.5)), (0.7, None)])
@pytest.mark.parametrize(
    "method", ["gblsr_asr", "gblsr_asr_nole", "liif_rdn", "lte_rdn", "lte_swinir"]
)
def test_a_large_photo_is_upscaled_in_parts(
    superres_run, photo_file, method, scale, crop, monkeypatch
):
    model = inference.load_superres(superres_run(method))
    image = inference.read(photo_file)
    whole = inference.upscale(model, image, scale, crop)
    monkeypatch.setattr(tiling, "_compute_side", lambda *_: 20)
    seen = []
    monkeypatch.setattr(tiling, "MEMORY", 1)
    parts = inference.upscale(model, image, scale, crop, lambda x: seen.extend(x) or x)
    assert len(seen) >= 6
    assert whole.size == parts.size
    assert off(whole.rgb, parts.rgb) <= 1
    assert (whole.rgb != parts.rgb).mean() < 0.01
    assert whole.rgb.std() > 5


# --- sizes and scales below 1 --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "scale", "crop", "expected"),
    [
        ((7, 9), 1.5, None, (11, 14)),  # 10.5 and 13.5
        ((100, 101), 1.005, None, (101, 102)),  # 100.5, which is less in binary, and 101.505
        ((5, 3), 0.5, None, (3, 2)),
        ((3, 1), 0.1, None, (1, 1)),
        ((40, 40), 3, (0.1, 0, 0.6, 0.7), (2, 2)),  # 1.5 and 2.1
        ((45, 70), 2, None, (90, 140)),
        ((20_000, 10_000), 1, None, (20_000, 10_000)),  # 200 megapixels, the most
    ],
)
def test_sizes_are_rounded_half_up(size, scale, crop, expected):
    assert inference.select_window(size, scale, crop).size == expected


@pytest.mark.parametrize(
    ("image", "size", "expected"),
    [
        ((1080, 1920), (2160, None), (2160, 3840)),
        ((45, 70), (128, 199), (128, 199)),  # each is the nearest of the other
        ((45, 70), (129, 200), (129, 200)),  # the height is the nearest of the width, 128.6
        ((45, 70), (129, 201), (129, 201)),  # the width is the nearest of the height, 200.7
        ((1000, 1), (None, 1), (1000, 1)),
        ((1000, 1), (1300, 1), (1300, 1)),
        ((7, 9), (3, 4), (3, 4)),  # smaller, of 3.1 x 3.9
    ],
)
def test_sizes_that_fit_an_image(image, size, expected):
    window = inference.select_window(image, size=size)
    assert window.size == expected
    assert window.drawn == (expected if expected >= image else image)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"size": (128, 200)}, "70x45 pixels .* nearest sizes that fit are 200x129 and 199x128"),
        ({"size": (12, 21), "crop": (0, 0, 10.5, 20)}, "20x10.5 pixels .* are 21x11 and 23x12"),
        ({"size": (None, None)}, "a height, a width or both"),
        ({"size": (0, 100)}, "of at least one pixel"),
        ({"size": (None, 50_000)}, "megapixels; choose a smaller size or crop"),
        ({"size": (90, 140), "scale": 2}, "a scale or a size, not both"),
    ],
)
def test_a_size_that_does_not_fit_is_one_sentence(asked, sentence):
    with pytest.raises(UserError, match=sentence):
        inference.select_window((45, 70), **asked)


@pytest.fixture(scope="module")
def bundled_superres():
    return inference.load_superres(bundled.find_bundled_model("asr"))


@pytest.mark.parametrize("crop", [None, (8, 8, 40, 56)])
def test_reducing_averages_a_checkerboard(bundled_superres, crop):
    board = np.indices((48, 64)).sum(axis=0) % 2 * 255
    photo = Photo(np.repeat(board[..., None], 3, axis=2).astype(np.uint8))
    for scale in (0.5, 0.3, 0.75):
        small = inference.upscale(bundled_superres, photo, scale, crop).rgb
        assert abs(small.mean() - 127.5) < 2
        if scale == 0.5:
            assert np.abs(small - 127.5).max() < 8


def test_reducing_a_code_keeps_the_mean_of_what_it_shows(native_run, photo_file):
    code = inference.encode(inference.load_native(native_run), inference.read(photo_file))
    whole = inference.decode(code).rgb
    small = inference.decode(code, 0.4)
    assert small.size == (18, 28)
    assert whole.std() > 5
    assert np.abs(small.rgb.mean(axis=(0, 1)) - whole.mean(axis=(0, 1))).max() < 1
    part = inference.decode(code, 0.5, (10, 20, 30, 60))
    assert part.size == (10, 20)
    assert abs(part.rgb.mean() - whole[10:30, 20:60].mean()) < 2


# --- the border of an image ----------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (8, 8), (47, 20), (1, 60)])
@pytest.mark.parametrize(("scale", "crop"), [(2, None), (3.7, None), (4, (0, 0, 1, 1))])
def test_flat_colors_of_small_images_stay_flat(bundled_superres, size, scale, crop):
    for color in ((0, 0, 255), (255, 0, 0), (255, 255, 0), (0, 128, 255), (255, 255, 255)):
        flat = np.full((*size, 3), color, np.uint8)
        shown = inference.upscale(bundled_superres, Photo(flat), scale, crop).rgb
        assert off(shown, np.array(color)) <= 2


def test_a_smaller_photograph_is_continued_by_its_mirror_image(bundled_superres):
    pixels = made.noise(40, 44, 3)
    larger = np.pad(pixels, ((8, 8), (8, 8), (0, 0)), mode="symmetric")
    shown, part = (inference.upscale(bundled_superres, Photo(p), 2).rgb for p in (pixels, larger))
    assert off(shown, part[16:-16, 16:-16]) <= 1


@pytest.mark.parametrize("asked", [{"scale": 2.7}, {"size": (3, 10)}], ids=str)
def test_all_of_a_smaller_photograph_is_the_photograph(superres_run, asked):
    """The crop is drawn pixel by pixel, the whole axis by axis."""
    photo = Photo(made.noise(3, 9, 3))
    for method in ("gblsr_asr", "lte_rdn"):
        model = inference.load_superres(superres_run(method))
        whole = inference.upscale(model, photo, **asked)
        assert off(inference.upscale(model, photo, crop=(0, 0, 3, 9), **asked).rgb, whole.rgb) <= 1


@pytest.mark.parametrize("asked", [{"scale": 2}, {"scale": 3.7}, {"size": (113, 141)}], ids=str)
def test_larger_photographs_are_shown_as_images_are_scored(bundled_superres, asked):
    """At a size of a pixel more than the scale gives, too: no column is resampled."""
    pixels = made.noise(inference.TRAINED_SIDE, 60, 3)
    shown = inference.upscale(bundled_superres, Photo(pixels), **asked).rgb
    image = torch.from_numpy(pixels).permute(2, 0, 1)[None] / 255
    with torch.inference_mode():
        scored = bundled_superres.render(image, *shown.shape[:2], 1 << 20)
    assert off(shown, scored[0].permute(1, 2, 0).clamp(0, 1).mul(255).round().numpy()) <= 1


# --- transparency --------------------------------------------------------------------------------


def disc(hidden, alpha=0, shade=255):
    """A disc with a soft edge; around it a color under an opacity that shows next to nothing."""
    y, x = np.indices((40, 40)) - 19.5
    opacity = (np.clip(13.5 - np.hypot(y, x), 0, 1) * 255).round().astype(np.uint8)
    rgb = np.full((40, 40, 3), shade, np.uint8)
    rgb[opacity <= 1] = hidden
    return Photo(rgb, np.where(opacity <= 1, alpha, opacity).astype(np.uint8))


def over(photo, background):
    """A photograph over a color, in levels."""
    share = photo.alpha[..., None] / 255
    return photo.rgb * share + np.array(background) * (1 - share)


@pytest.fixture
def pipelines(native_run, superres_run, tmp_path):
    """Every way from a photograph to what is written, by name."""
    native = inference.load_native(native_run)
    superres = inference.load_superres(superres_run("gblsr_asr"))

    def through_a_code(photo, scale):
        inference.save_code(tmp_path / "a.gblsr", inference.encode(native, photo))
        return inference.decode(inference.load_code(tmp_path / "a.gblsr"), scale)

    return {
        "reconstruct": lambda photo: inference.reconstruct(native, photo),
        "encode, decode": lambda photo: through_a_code(photo, 3),
        "encode, reduce": lambda photo: through_a_code(photo, 0.5),
        "upscale": lambda photo: inference.upscale(superres, photo, 4),
        "upscale, reduce": lambda photo: inference.upscale(superres, photo, 0.5),
        "upscale a crop": lambda photo: inference.upscale(superres, photo, 2, (5, 5, 30, 30)),
    }


@pytest.mark.parametrize("alpha", [0, 1])
def test_hidden_colors_change_nothing_that_is_visible(pipelines, alpha):
    for name, show in pipelines.items():
        shown = [show(disc(color, alpha)) for color in (0, (0, 255, 0), (255, 0, 255))]
        for background in (0, 255, (200, 90, 20)):
            one, *others = (over(photo, background) for photo in shown)
            assert all(np.abs(one - other).max() <= 1 for other in others), name


def test_a_white_disc_stays_white_over_white(bundled_superres):
    shown = inference.upscale(bundled_superres, disc(0), 4)
    assert 0 in shown.alpha
    assert over(shown, 255).min() >= 254


def test_reducing_weighs_colors_by_their_opacity():
    """White beside a black that hardly shows: their average looks white."""
    columns = np.arange(16) % 2
    rgb = np.repeat(((1 - columns) * 255)[None, :, None], 16, axis=0).repeat(3, axis=2)
    alpha = np.repeat(np.where(columns, 6, 255)[None], 16, axis=0)
    photo = reduce(Photo(rgb.astype(np.uint8), alpha.astype(np.uint8)), (8, 8))
    assert photo.rgb.min() > 240
