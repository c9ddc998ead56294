"""Every kind of image file a user may have, and files that only look like images."""

import io
import zlib

import numpy as np
import pytest
from PIL import Image

from gblsr_repro.data.images import decode_native, open_native, open_rgb
from gblsr_repro.errors import UserError

RAMP = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
COLOR = np.stack([RAMP, RAMP[::-1], RAMP[:, ::-1]], axis=2)


def saved(path, image, **options):
    image.save(path, **options)
    return path


def palette():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 0])
    image.putpixel((1, 0), 1)
    return image


GRAY, SIXTEEN = Image.fromarray(RAMP), np.array([[0, 255, 256], [0x1234, 0xFF00, 0xFFFF]], "u2")
COLORS = [[[10, 20, 30], [200, 100, 0]]]
KINDS = {
    "RGB as stored": (Image.fromarray(COLOR), "png bmp ppm tiff", {}, COLOR),
    "RGB, opaque": (Image.fromarray(COLOR).convert("RGBA"), "png", {}, COLOR),
    "one channel": (GRAY, "png", {}, RAMP),
    "one channel, opaque": (GRAY.convert("LA"), "png", {}, RAMP),
    "one pixel": (Image.new("RGB", (1, 1), (1, 2, 3)), "png", {}, [[[1, 2, 3]]]),
    "two levels": (Image.fromarray(RAMP > 100), "png", {}, (RAMP > 100) * np.uint8(255)),
    "sixteen bits": (Image.fromarray(SIXTEEN), "png tiff pgm", {}, SIXTEEN >> 8),
    "palette": (palette(), "png gif", {}, COLORS),
    "clear in a palette": (palette(), "png", {"transparency": 0}, [[[255] * 3, COLORS[0][1]]]),
    "CMYK": (Image.new("CMYK", (1, 1), (255, 0, 0, 0)), "tiff", {}, [[[0, 255, 255]]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_those_of_the_picture(kind, tmp_path):
    image, suffixes, options, expected = KINDS[kind]
    for suffix in suffixes.split():
        file = saved(tmp_path / f"a.{suffix}", image, **options)
        native, rgb = open_native(file), open_rgb(file)
        np.testing.assert_array_equal(native, expected)
        np.testing.assert_array_equal(
            rgb, native if native.ndim == 3 else np.stack([native] * 3, axis=2)
        )


def test_alpha_is_composited_over_white(tmp_path):
    half = Image.new("RGBA", (1, 1), (100, 0, 200, 128))
    pixel = open_rgb(saved(tmp_path / "a.png", half))[0, 0]
    expected = np.array([100, 0, 200]) * 128 / 255 + 255 * 127 / 255
    assert np.abs(pixel - expected).max() <= 1


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        (np.zeros((2, 2), np.float32), "floating-point"),
        (np.full((2, 2), 70_000, np.int32), "wider than 16 bits"),
    ],
)
def test_other_samples_are_refused(samples, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        open_rgb(saved(tmp_path / "a.tiff", Image.fromarray(samples)))


@pytest.mark.parametrize("suffix", ["gif", "png", "webp", "tiff"])
def test_several_frames_are_refused(suffix, tmp_path):
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue", "green")]
    file = saved(tmp_path / f"a.{suffix}", frames[0], save_all=True, append_images=frames[1:])
    with pytest.raises(UserError, match="3 frames or pages"):
        open_rgb(file)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tiff", "webp", "bmp"])
def test_truncated_file_is_named(suffix, tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    file = saved(tmp_path / f"a.{suffix}", Image.fromarray(noise))
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    with pytest.raises(UserError, match=f"a.{suffix} is ") as caught:
        open_rgb(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"<html>Not found</html>", b"%!PS-Adobe-3.0 EPSF-3.0\n"])
def test_what_is_no_image_is_named(content, tmp_path):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.png is not an image"):
        open_rgb(tmp_path / "a.png")


def test_absent_file_and_folder_are_named(tmp_path):
    with pytest.raises(UserError, match=r"a\.png does not exist"):
        open_rgb(tmp_path / "a.png")
    with pytest.raises(UserError, match="cannot be read"):
        open_rgb(tmp_path)


def _png_header(width, height):
    def chunk(kind, body):
        framed = kind + body
        return len(body).to_bytes(4, "big") + framed + zlib.crc32(framed).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [14_200, 100_000])
def test_decompression_bomb_is_refused_before_decoding(side, tmp_path):
    (tmp_path / "a.png").write_bytes(_png_header(side, side))
    with pytest.raises(UserError, match="larger than 200 megapixels"):
        open_rgb(tmp_path / "a.png")


def test_multi_picture_jpeg_gives_the_photograph(tmp_path):
    first, second = (Image.new("RGB", (16, 16), color) for color in ("white", "black"))
    file = tmp_path / "a.jpg"
    first.save(file, format="MPO", save_all=True, append_images=[second])
    assert open_rgb(file).min() > 250


def test_bytes_decode_as_files_do():
    stream = io.BytesIO()
    Image.fromarray(COLOR).save(stream, format="PNG")
    np.testing.assert_array_equal(decode_native(stream.getvalue(), "given"), COLOR)
    with pytest.raises(UserError, match="given is "):
        decode_native(stream.getvalue()[:50], "given")
