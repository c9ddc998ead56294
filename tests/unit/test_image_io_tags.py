"""What a file says of its pixels: color profile and EXIF data; kept, converted or reported."""

import itertools
import struct

import made
import numpy as np
import pytest
from PIL import ExifTags, Image, ImageCms

from gblsr_repro import image_io
from gblsr_repro.image_io import Photo, Tags

RGBA = made.noise(6, 4, 4)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
TAKEN = "2020:01:01 00:00:00"
BASE = ExifTags.Base
TEXTS = (BASE.ImageDescription, BASE.Make, BASE.Model, BASE.Software, BASE.Artist, BASE.Copyright)


def profile(space, pcs, *tags):
    """An ICC profile of version 2, by hand."""
    white = struct.pack(">3i", 63190, 65536, 54061)
    named = [
        (b"desc", b"desc\0\0\0\0" + struct.pack(">I", 2) + b"a\0" + bytes(78)),
        (b"cprt", b"text\0\0\0\0none\0"),
        (b"wtpt", b"XYZ \0\0\0\0" + white),
        *tags,
    ]
    table, body = b"", b""
    start = 132 + 12 * len(named)
    for name, content in named:
        table += struct.pack(">4sII", name, start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    kind = b"mntr" if space == b"GRAY" else b"prtr"
    head = struct.pack(">I4s4s4s4s4s", start + len(body), bytes(4), b"\2\x40\0\0", kind, space, pcs)
    head += struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + b"acsp" + bytes(28) + white
    return head.ljust(128, b"\0") + struct.pack(">I", len(named)) + table + body


LINEAR_GRAY = profile(
    b"GRAY", b"XYZ ", (b"kTRC", b"curv\0\0\0\0" + struct.pack(">IH", 1, 256))
)  # fmt: skip


def ink_profile(lightness):
    """A CMYK profile: paper is white, cyan ink a gray of this lightness, all other ink black."""
    ramp = bytes(range(256))
    shades = {(0, 0, 0, 0): 255, (1, 0, 0, 0): lightness}
    grid = b"".join(
        bytes([shades.get(inks, 0), 128, 128]) for inks in itertools.product((0, 1), repeat=4)
    )
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    table = b"mft1\0\0\0\0" + bytes([4, 3, 2, 0]) + identity + ramp * 4 + grid + ramp * 3
    return profile(b"CMYK", b"Lab ", (b"A2B0", table))


def exif():
    data = Image.Exif()
    data[BASE.Orientation] = 6
    data.update(dict.fromkeys(TEXTS, "Maker"))
    data[BASE.Compression] = 5  # of the file, not of the picture
    inner = {BASE.ExifImageWidth: 4, BASE.ExifImageHeight: 6, ExifTags.IFD.Interop: {1: "R98"}}
    data[ExifTags.IFD.Exif] = {BASE.DateTimeOriginal: TAKEN, **inner}
    data[ExifTags.IFD.GPSInfo] = {1: "N", 2: (1.0, 2.0, 3.0)}
    return data.tobytes()


def test_letters_of_every_language_are_kept(tmp_path):
    author = "Jürgen Müller".encode()
    data = Image.Exif()
    data[BASE.Artist] = author
    Image.fromarray(RGBA).convert("RGB").save(tmp_path / "a.jpg", exif=data)
    image_io.write(tmp_path / "b.jpg", image_io.read(tmp_path / "a.jpg", metadata=True))
    assert author in (tmp_path / "b.jpg").read_bytes()


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp", ".tiff"])
@pytest.mark.parametrize("metadata", [True, False])
def test_profiles_are_kept_and_metadata_when_asked_for(tmp_path, ending, metadata):
    image = Image.fromarray(RGBA).convert("RGB")
    image.save(tmp_path / "a.jpg", exif=exif(), icc_profile=SRGB)
    photo = image_io.read(tmp_path / "a.jpg", metadata)
    image_io.write(tmp_path / f"b{ending}", photo)
    with Image.open(tmp_path / f"b{ending}") as image:
        image.load()
        data = image.getexif()
        assert image.info["icc_profile"] == SRGB
        assert image.size == (6, 4)  # upright
        assert data.get(BASE.Orientation, 1) == 1
        inner = dict(data.get_ifd(ExifTags.IFD.Exif))
        place = dict(data.get_ifd(ExifTags.IFD.GPSInfo))
        assert {data.get(tag) for tag in TEXTS} == {"Maker" if metadata else None}
        assert inner == ({BASE.DateTimeOriginal: TAKEN} if metadata else {})
        assert place == ({1: "N", 2: (1.0, 2.0, 3.0)} if metadata else {})
        assert data.get(BASE.Compression) != 5


@pytest.mark.parametrize("ending", [".png", ".webp"])
def test_damaged_exif_data_does_not_keep_a_photograph_from_being_read(tmp_path, caplog, ending):
    Image.fromarray(RGBA).save(tmp_path / f"a{ending}", exif=b"Exif\0\0garbage", lossless=True)
    assert image_io.read(tmp_path / f"a{ending}").size == (6, 4)
    assert not caplog.text
    assert image_io.read(tmp_path / f"a{ending}", metadata=True).tags.exif is None
    assert "its EXIF data is damaged" in caplog.text


@pytest.mark.parametrize("ending", ["jpg", "tif"])
def test_cmyk_colors_are_converted_by_their_profile(tmp_path, caplog, ending):
    """With this profile cyan is a lightness of 50 %, which is sRGB 119; it is cyan by formula."""
    caplog.set_level("INFO")
    ink = np.zeros((8, 8, 4), np.uint8)
    ink[4:, :, 0] = 255
    path, turned = tmp_path / f"a.{ending}", Image.Exif()
    turned[BASE.Orientation] = 3
    image = Image.fromarray(ink, "CMYK")
    image.save(path, icc_profile=ink_profile(128), quality=100, exif=turned)
    photo = image_io.read(path)
    assert photo.rgb[4:].min() >= 253
    assert np.abs(photo.rgb[:4].astype(int) - 119).max() <= 3
    assert photo.tags.profile is None
    assert caplog.messages == [f"{path}: its CMYK colors are converted to sRGB by its profile."]


def test_a_cmyk_profile_that_is_damaged_is_reported(tmp_path, caplog):
    damaged = SRGB[:16] + b"CMYK" + SRGB[20:]
    Image.fromarray(RGBA, "CMYK").save(tmp_path / "a.jpg", icc_profile=damaged)
    assert image_io.read(tmp_path / "a.jpg").tags.profile is None
    assert "its CMYK colors are converted without its profile" in caplog.text


def test_a_profile_for_other_channels_is_left_out_and_reported(tmp_path, caplog):
    Image.fromarray(RGBA[..., 0]).save(tmp_path / "a.png", icc_profile=SRGB)
    assert image_io.read(tmp_path / "a.png").tags.profile is None
    assert "a.png: its color profile is not for gray pixels" in caplog.text


@pytest.mark.parametrize("ending", [".png", ".jpg", ".tif", ".webp", ".bmp", ".ppm"])
def test_gray_profiles_are_kept_or_converted(tmp_path, caplog, ending):
    """Half of the light, as the profile has it, is 188 in sRGB."""
    caplog.set_level("INFO")
    Image.fromarray(np.full((4, 4), 128, np.uint8)).save(
        tmp_path / "a.png", icc_profile=LINEAR_GRAY
    )
    image_io.write(tmp_path / f"b{ending}", image_io.read(tmp_path / "a.png"))
    back = image_io.read(tmp_path / f"b{ending}")
    kept = ending in (".png", ".jpg", ".tif")
    with Image.open(tmp_path / f"b{ending}") as image:
        assert image.info.get("icc_profile") == (LINEAR_GRAY if kept else None)
        assert image.mode == ("RGB" if ending == ".webp" else "L")
    assert np.abs(back.rgb.astype(int) - (128 if kept else 188)).max() <= 1
    assert ("colors are converted to sRGB" in caplog.text) == (not kept)


def test_a_damaged_profile_that_cannot_be_kept_is_reported(tmp_path, caplog):
    damaged = SRGB[:100] + bytes(200)
    image_io.write(tmp_path / "a.bmp", Photo(RGBA[..., :3], tags=Tags(damaged, exif())))
    assert "a.bmp: its colors may look different" in caplog.text
    assert "a.bmp cannot hold its EXIF data; write a .png file" in caplog.text
    assert np.array_equal(image_io.read(tmp_path / "a.bmp").rgb, RGBA[..., :3])
