"""One photograph: read upright with its opacity, written in every format without loss if it can."""

import struct
import zlib

import made
import numpy as np
import pytest
from PIL import Image, ImageOps

from gblsr_repro import image_io
from gblsr_repro.errors import UserError
from gblsr_repro.image_io import Photo, formats

SIXTEEN = (np.arange(24, dtype=np.uint16) * 2700).reshape(6, 4)
RGBA = made.noise(6, 4, 4)
LOSSLESS = [".png", ".webp", ".tif", ".tiff", ".bmp", ".ppm"]
JPEG = [".jpg", ".jpeg", ".jpe", ".jfif"]


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize(("ending", "clear"), [("png", None), ("tiff", None), ("png", 2700)])
def test_sixteen_bits_keep_their_high_byte_when_turned(tmp_path, ending, clear):
    path = tmp_path / f"gray.{ending}"
    Image.fromarray(SIXTEEN).save(path, exif=turned(6), transparency=clear)
    photo = image_io.read(path)
    assert photo.gray
    assert np.array_equal(photo.rgb[..., 0], np.rot90(SIXTEEN >> 8, -1))
    if clear:
        assert np.array_equal(photo.alpha == 0, np.rot90(SIXTEEN == 2700, -1))


@pytest.mark.parametrize("ending", [".png", ".tiff"])
@pytest.mark.parametrize("orientation", range(10))
def test_every_orientation(tmp_path, ending, orientation):
    path = tmp_path / f"a{ending}"
    for mode in ("RGB", "RGBA"):
        Image.fromarray(RGBA).convert(mode).save(path, exif=turned(orientation))
        with Image.open(path) as image:
            expected = np.array(ImageOps.exif_transpose(image))
        photo = image_io.read(path)
        assert np.array_equal(photo.rgb, expected[..., :3])
        assert photo.alpha is None if mode == "RGB" else (photo.alpha == expected[..., 3]).all()


# --- transparent colors of PNG -------------------------------------------------------------------


def png(path, samples, bits, color_type, clear):
    """Write samples (H, W) or (H, W, 3) as PNG with a chunk tRNS, by hand: Pillow has no such."""

    def rows():
        for row in samples.reshape(len(samples), -1):
            if bits == 16:
                yield b"\0" + row.astype(">u2").tobytes()
            else:
                each = np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, 8 - bits :]
                yield b"\0" + np.packbits(each).tobytes()

    height, width = samples.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0)
    palette = {b"PLTE": bytes(range(3 * 2 ** min(bits, 6)))} if color_type == 3 else {}
    pixels = {b"IDAT": zlib.compress(b"".join(rows())), b"IEND": b""}
    path.write_bytes(made.png({b"IHDR": header, **palette, b"tRNS": clear, **pixels}))


@pytest.mark.parametrize(
    ("color_type", "bits"),
    [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8)],
)
def test_the_transparent_color_of_every_kind_of_png(tmp_path, color_type, bits):
    highest = 2 ** min(bits, 6) - 1 if color_type == 3 else 2**bits - 1
    shape = (11, 13, 3) if color_type == 2 else (11, 13)
    samples = np.random.default_rng(0).integers(0, highest + 1, shape)
    value = samples[2, 3].copy()
    samples[5:7, 5] = value
    samples[7, 7] = value ^ 1  # at 16 bits: the same high byte, another color
    clear = bytes([255] * int(value) + [0]) if color_type == 3 else np.array(value, ">u2").tobytes()
    png(tmp_path / "a.png", samples, bits, color_type, clear)
    photo = image_io.read(tmp_path / "a.png")
    same = samples == value
    expected = same.all(axis=2) if color_type == 2 else same
    assert 3 <= expected.sum() < expected.size
    assert np.array_equal(photo.alpha, np.where(expected, 0, 255))
    if color_type != 3:
        shown = (samples * 255 // highest if bits < 8 else samples >> (bits - 8)).astype(np.uint8)
        assert photo.gray == (color_type == 0)
        assert np.array_equal(photo.rgb[..., 0], shown if color_type == 0 else shown[..., 0])


# --- formats -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gray", [True, False])
@pytest.mark.parametrize("ending", LOSSLESS)
def test_formats_are_lossless_where_they_can_be(tmp_path, ending, gray):
    rgb = np.repeat(made.noise(5, 7, 1), 3, axis=2) if gray else made.noise(5, 7, 3)
    path = tmp_path / f"a{ending}"
    image_io.write(path, Photo(rgb, gray=gray))
    back = image_io.read(path)
    assert np.array_equal(back.rgb, rgb)
    assert back.gray == (gray and ending != ".webp")


@pytest.mark.parametrize("gray", [True, False])
@pytest.mark.parametrize("ending", JPEG)
def test_jpeg_keeps_the_resolution_of_colors(tmp_path, ending, gray):
    stripes = np.full((16, 16, 3), 90, np.uint8)
    if not gray:
        stripes[:, ::2] = (200, 90, 20)
    image_io.write(tmp_path / f"a{ending}", Photo(stripes, gray=gray))
    back = image_io.read(tmp_path / f"a{ending}")
    assert back.gray == gray
    assert np.abs(back.rgb.astype(int) - stripes).max() <= 12


@pytest.mark.parametrize("ending", [".jpg", ".webp", ".png", ".tif"])
def test_one_quality_for_all_formats(tmp_path, ending):
    smooth = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    photo = Photo(np.stack((smooth, smooth.T, 255 - smooth), axis=2) + made.noise(64, 64, 3) // 16)
    sizes = {}
    for quality in (20, 90, None):
        path = tmp_path / f"{quality}{ending}"
        image_io.write(path, photo, quality)
        sizes[quality] = path.stat().st_size
        is_lossless = np.array_equal(image_io.read(path).rgb, photo.rgb)
        assert is_lossless == (ending != ".jpg" and (ending != ".webp" or quality is None))
    assert sorted(sizes.values()) == list(sizes.values())
    assert (len(set(sizes.values())) == 3) == (ending in (".jpg", ".webp"))


@pytest.mark.parametrize("form", [form for form in formats.FORMATS if form.largest])
def test_the_limit_of_a_format_is_pillow_s(tmp_path, form):
    path = tmp_path / f"a{form.endings[0]}"
    image_io.write(path, Photo(np.zeros((1, form.largest, 3), np.uint8)), 50)
    assert image_io.read(path).size == (1, form.largest)
    for shape in ((1, form.largest + 1, 3), (form.largest + 1, 1, 3)):
        with pytest.raises(UserError, match=f"a side of a {form.name} file has at most"):
            image_io.write(path, Photo(np.zeros(shape, np.uint8)))
    with pytest.raises((OSError, ValueError)):
        Image.new("RGB", (form.largest + 1, 1)).save(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("out.xyz", "no ending of a format to write"),
        ("out.gif", "no ending of a format to write"),
        ("out.jpg", "cannot hold transparency"),
        ("out.bmp", "cannot hold transparency"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path, name, sentence):
    with pytest.raises(UserError, match=sentence):
        image_io.write(tmp_path / name, Photo(RGBA[..., :3], RGBA[..., 3]))
    assert list(tmp_path.iterdir()) == []


def test_exif_data_that_a_format_cannot_take_is_one_sentence(tmp_path):
    tags = image_io.Tags(exif=b"Exif\0\0" + bytes(70_000))
    with pytest.raises(UserError, match=r"a\.jpg cannot be written as JPEG .*write a \.png file"):
        image_io.write(tmp_path / "a.jpg", Photo(RGBA[..., :3], tags=tags))
    assert list(tmp_path.iterdir()) == []
