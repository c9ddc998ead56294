"""Every kind of image file has the samples of its picture; what only looks like one is named."""

import io
import zlib

import made
import numpy as np
import pytest
import tifffile
from PIL import Image, PngImagePlugin

from gblsr_repro import image_io
from gblsr_repro.data.images import read_image
from gblsr_repro.errors import UserError

RAMP = np.arange(48, dtype=np.uint8).reshape(6, 8) * 5
COLOR = np.stack([RAMP, RAMP[::-1], RAMP[:, ::-1]], axis=2)


def palette():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 0])
    image.putpixel((1, 0), 1)
    return image


NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
GRAY, SIXTEEN = Image.fromarray(RAMP), np.array([[0, 255, 256], [0x1234, 0xFF00, 0xFFFF]], "u2")
COLORS = [[[10, 20, 30], [200, 100, 0]]]
HALF = Image.new("RGBA", (1, 1), (100, 0, 200, 128))
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
    "half clear": (HALF, "png", {}, [[[177, 127, 227]]]),  # composited over white
    "CMYK": (Image.new("CMYK", (1, 1), (255, 0, 0, 0)), "tiff", {}, [[[0, 255, 255]]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_those_of_the_picture(kind, tmp_path):
    image, suffixes, options, expected = KINDS[kind]
    for suffix in suffixes.split():
        image.save(tmp_path / f"a.{suffix}", **options)
        np.testing.assert_array_equal(read_image(tmp_path / f"a.{suffix}"), expected)


def content(image, form, **options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def png_header(side):
    header = 2 * side.to_bytes(4) + bytes([8, 2, 0, 0, 0])
    return made.png({b"IHDR": header, b"IDAT": zlib.compress(bytes(1000)), b"IEND": b""})


def with_zeros(form, **options):
    """Return a JPEG with a thumbnail, whose second half is zeros: what a broken transfer leaves."""
    exif = Image.Exif()
    exif[0x927C] = content(NOISE, "JPEG")
    stored = content(NOISE, form, quality=100, subsampling=0, exif=exif, **options)
    half = (len(exif.tobytes()) + len(stored)) // 2
    return stored[:half] + bytes(len(stored) - half)


def with_text(size):
    """Return a PNG with so many letters of text."""
    text = PngImagePlugin.PngInfo()
    text.add_text("prompt", "x" * size, zip=True)
    return content(NOISE, "PNG", pnginfo=text)


def flipped():
    """Return a PNG with one bit of its compressed pixels flipped."""
    stored = bytearray(content(Image.fromarray(COLOR), "PNG"))
    stored[stored.index(b"IDAT") + 6] ^= 4
    return bytes(stored)


def with_wrong_checksum():
    """Return a PNG with a changed pixel, of which zlib's own checksum stands in another chunk."""
    rows = b"".join(b"\0" + row.tobytes() for row in COLOR)
    header = COLOR.shape[1].to_bytes(4) + COLOR.shape[0].to_bytes(4) + bytes([8, 2, 0, 0, 0])
    pixels = zlib.compress(rows, 0)
    stored = bytearray(made.png({b"IHDR": header, b"IDAT": pixels[:-4]}))
    stored[-10] ^= 255
    return bytes(stored) + made.png({b"IDAT": pixels[-4:], b"IEND": b""})[8:]


def tiff_in_planes(samples):
    """Return a TIFF file whose 16-bit colors are all equal, and lie one plane after the other."""
    stream = io.BytesIO()
    tifffile.imwrite(stream, np.stack([samples] * 3), photometric="rgb", planarconfig="separate")
    return stream.getvalue()


FRAMES = [Image.new("RGB", (4, 4), color) for color in ("red", "blue", "green")]
REFUSED = {
    "floating-point": [content(Image.fromarray(np.zeros((2, 2), np.float32)), "TIFF")],
    "wider than 16 bits": [content(Image.fromarray(np.full((2, 2), 70_000, np.int32)), "TIFF")],
    "signed": [content(Image.fromarray(pixels), "TIFF", tiffinfo={339: 2})
               for pixels in (SIXTEEN, RAMP)],
    "white at 0": [content(Image.fromarray(SIXTEEN), "TIFF", tiffinfo={262: 0})],
    "in uncompressed planes": [tiff_in_planes(SIXTEEN)],
    "a small preview": [content(NOISE, "TIFF", tiffinfo={254: 1})],
    "3 frames or pages": [content(FRAMES[0], form, save_all=True, append_images=FRAMES[1:])
                          for form in ("GIF", "PNG", "WEBP", "TIFF")],
    "is ": [(whole := content(NOISE, form))[: len(whole) * 2 // 3]
            for form in ("PNG", "JPEG", "TIFF", "WEBP", "BMP")],
    "damaged image": [flipped(), with_wrong_checksum(), with_zeros("JPEG"), with_zeros("MPO")],
    "more than 64 MB; save it": [with_text(65 << 20)],
    "is not an image": [b"", b"<html>Not found</html>", b"%!PS-Adobe-3.0 EPSF-3.0\n"],
    "larger than 200 megapixels": [png_header(14_200), png_header(100_000)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "refused"), [(said, one) for said, all_ in REFUSED.items() for one in all_]
)
def test_what_is_no_single_whole_photograph_is_named(sentence, refused, tmp_path):
    (tmp_path / "a.png").write_bytes(refused)
    with pytest.raises(UserError, match=rf"a\.png .*{sentence}") as caught:
        read_image(tmp_path / "a.png")
    assert "\n" not in str(caught.value)


def test_absent_file_and_folder_are_named(tmp_path):
    with pytest.raises(UserError, match=r"a\.png does not exist"):
        read_image(tmp_path / "a.png")
    with pytest.raises(UserError, match="cannot be read"):
        read_image(tmp_path)


def test_much_text_or_a_large_profile_is_no_damage(tmp_path):
    """As programs that draw pictures put into them, and scanners."""
    profile = content(NOISE, "PNG", icc_profile=bytes(3 << 20))
    for stored in (with_text(5 << 20), profile):
        (tmp_path / "a.png").write_bytes(stored)
        np.testing.assert_array_equal(read_image(tmp_path / "a.png"), np.asarray(NOISE))
        np.testing.assert_array_equal(image_io.read(tmp_path / "a.png").rgb, np.asarray(NOISE))
