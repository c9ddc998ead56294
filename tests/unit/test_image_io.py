"""One photograph: read upright with its opacity, written in every format without loss if it can."""

import struct
import zlib

import made
import numpy as np
import pytest
import torch
from PIL import Image

from gblsr_repro import image_io
from gblsr_repro.errors import UserError
from gblsr_repro.image_io import Photo, formats

SIXTEEN = (np.arange(24, dtype=np.uint16) * 2700).reshape(6, 4)
RGBA = made.noise(6, 4, 4)
TURNED = {  # upright, by the EXIF orientation of the file
    2: RGBA[:, ::-1],
    3: RGBA[::-1, ::-1],
    4: RGBA[::-1],
    5: RGBA.swapaxes(0, 1),
    6: RGBA[::-1].swapaxes(0, 1),
    7: RGBA[::-1, ::-1].swapaxes(0, 1),
    8: RGBA[:, ::-1].swapaxes(0, 1),
}
LOSSLESS = [".png", ".webp", ".tif", ".tiff", ".bmp", ".ppm"]
JPEG = [".jpg", ".jpeg", ".jpe", ".jfif"]


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize("ending", ["png", "tiff"])
def test_sixteen_bits_keep_their_high_byte_when_turned(tmp_path, ending, caplog):
    path = tmp_path / f"gray.{ending}"
    Image.fromarray(SIXTEEN).save(path, exif=turned(6))
    photo = image_io.read(path)
    assert photo.gray
    assert np.array_equal(photo.rgb[..., 0], np.rot90(SIXTEEN >> 8, -1))
    assert caplog.messages == [f"{path}: its 16 bits are read as 8."]


@pytest.mark.parametrize(("color_type", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_that_sixteen_bits_of_a_png_become_eight_is_said_once(
    tmp_path, caplog, color_type, channels
):
    for bits in (8, 16):
        header = struct.pack(">IIBBBBB", 4, 6, bits, color_type, 0, 0, 0)
        rows = bytes(6 * (1 + 4 * channels * bits // 8))
        chunks = {b"IHDR": header, b"IDAT": zlib.compress(rows), b"IEND": b""}
        (tmp_path / f"{bits}.png").write_bytes(made.png(chunks))
        assert image_io.read(tmp_path / f"{bits}.png").rgb.shape == (6, 4, 3)
    assert caplog.messages == [f"{tmp_path / '16.png'}: its 16 bits are read as 8."]


@pytest.mark.parametrize("ending", [".png", ".tiff"])
@pytest.mark.parametrize("orientation", range(10))
def test_every_orientation(tmp_path, ending, orientation):
    path = tmp_path / f"a{ending}"
    expected = TURNED.get(orientation, RGBA)
    for mode in ("RGB", "RGBA"):
        Image.fromarray(RGBA).convert(mode).save(path, exif=turned(orientation))
        photo = image_io.read(path)
        assert np.array_equal(photo.rgb, expected[..., :3])
        assert photo.alpha is None if mode == "RGB" else (photo.alpha == expected[..., 3]).all()


@pytest.mark.parametrize(("mode", "clear"), [("L", 7), ("RGB", (7, 8, 9)), ("P", 7)])
def test_the_transparent_color_of_a_png(tmp_path, mode, clear):
    image = Image.new(mode, (4, 6), clear)
    image.putpixel((2, 3), 1 if isinstance(clear, int) else (7, 8, 1))
    if mode == "P":
        image.putpalette(range(30))
    image.save(tmp_path / "a.png", transparency=clear)
    alpha = image_io.read(tmp_path / "a.png").alpha
    assert alpha[3, 2] == 255
    assert alpha.sum() == 255
    image.convert("RGB").convert("RGBA").save(tmp_path / "a.png")
    photo = image_io.read(tmp_path / "a.png", metadata=True)
    assert (photo.alpha, photo.tags) == (None, image_io.Tags())  # opaque, and says nothing


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
    if ending not in (".bmp", ".ppm"):
        clear = made.noise(5, 7) // 128 * 255
        image_io.write(path, Photo(rgb, clear, gray))
        back = image_io.read(path)
        assert np.array_equal(back.rgb, rgb)  # under the transparent pixels, too
        assert np.array_equal(back.alpha, clear)


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


@pytest.mark.parametrize(
    "rgb",
    [
        RGBA[..., :3] / np.float32(255),
        RGBA[..., :3].astype(np.uint16) * 257,
        RGBA[..., :3] > 100,
        RGBA[..., :3].astype(np.int64),
        RGBA[..., 0],
        RGBA,
        RGBA[:0, :, :3],
        RGBA[..., :3].tolist(),
        Image.fromarray(RGBA),
        torch.from_numpy(RGBA[..., :3].copy()),
    ],
    ids=lambda rgb: str(getattr(rgb, "dtype", type(rgb).__name__)),
)
def test_only_levels_of_8_bits_make_a_photograph(rgb):
    with pytest.raises(
        UserError, match=r"^Photo takes for rgb a numpy array of uint8.* \(H, W, 3\)"
    ):
        Photo(rgb)
    if isinstance(rgb, np.ndarray):
        with pytest.raises(UserError, match=r"^Photo takes for alpha "):
            Photo(RGBA[..., :3], rgb[..., 0] if rgb.dtype != np.uint8 else rgb[:1])
