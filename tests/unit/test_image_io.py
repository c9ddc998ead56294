"""A user's photographs: read upright, written in any format that is read, folder by folder."""

import made
import numpy as np
import pytest
import torch
from PIL import ExifTags, Image, ImageCms, ImageOps

from gblsr_repro import image_io
from gblsr_repro.errors import UserError

SIXTEEN = (np.arange(24, dtype=np.uint16) * 2700).reshape(6, 4)
RGBA = made.noise(6, 4, 4)
ENDINGS = [".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".ppm"]


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


@pytest.mark.parametrize(("ending", "clear"), [("png", None), ("tiff", None), ("png", 2700)])
def test_sixteen_bits_keep_their_high_byte_when_turned(tmp_path, ending, clear):
    path = tmp_path / f"grey.{ending}"
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


@pytest.mark.parametrize("gray", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_that_is_read_is_written(tmp_path, ending, gray):
    flat = np.full((5, 7, 3), (90, 90, 90) if gray else (200, 90, 20), np.uint8)
    path = tmp_path / f"a{ending}"
    image_io.write(path, image_io.Photo(flat, gray=gray))
    back = image_io.read(path)
    assert back.size == (5, 7)
    assert back.gray == (gray and ending != ".webp")
    assert np.abs(back.rgb.astype(int) - flat).max() <= 3


def fails(error):
    def work(*_):
        raise error

    return work


def test_two_inputs_of_one_output_are_refused(tmp_path):
    for name in ("a.png", "a.jpg", "b.png"):
        image_io.write(tmp_path / name, image_io.Photo(RGBA[..., :3]))
    with pytest.raises(UserError, match=r"a\.jpg and .*a\.png would both become .*a\.gblsr"):
        image_io.convert(tmp_path, tmp_path / "codes", fails(AssertionError()), ending=".gblsr")
    assert image_io.convert(tmp_path, tmp_path / "out", lambda *_: None) == 3


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        ("photo.gif", "out", "no ending of a format to write"),
        ("photo.png", "out.xyz", "no ending of a format to write"),
        ("clear.png", "out.jpg", "cannot hold transparency"),
        ("clear.png", "out.bmp", "cannot hold transparency"),
    ],
)
def test_targets_are_checked_before_any_work(tmp_path, source, target, sentence):
    for name in ("photo.gif", "photo.png"):
        Image.fromarray(RGBA[..., :3]).save(tmp_path / name)
    Image.fromarray(RGBA).save(tmp_path / "clear.png")
    with pytest.raises(UserError, match=sentence):
        image_io.convert(tmp_path / source, tmp_path / target, fails(AssertionError()))


TOLD = r"a\.png does not fit the memory; use a smaller image"
REFUSAL = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory"


@pytest.mark.parametrize(
    ("work", "error", "sentence"),
    [
        (fails(MemoryError()), UserError, TOLD),
        (fails(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate.")), UserError, TOLD),
        (fails(RuntimeError(REFUSAL)), UserError, TOLD),
        (lambda *_: torch.ones(1 << 60), UserError, TOLD),
        (lambda *_: torch.ones(-1), RuntimeError, "negative"),
    ],
)
def test_an_image_that_does_not_fit_the_memory_is_named(tmp_path, work, error, sentence):
    image_io.write(tmp_path / "a.png", image_io.Photo(RGBA[..., :3]))
    with pytest.raises(error, match=sentence):
        image_io.convert(tmp_path / "a.png", tmp_path / "b.png", work)


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
TAKEN = "2020:01:01 00:00:00"


def exif():
    told = turned(6)
    told[ExifTags.Base.Make] = "Maker"
    told[ExifTags.Base.Compression] = 5  # of the file, not of the picture
    told[ExifTags.IFD.Exif] = {
        ExifTags.Base.DateTimeOriginal: TAKEN,
        ExifTags.Base.ExifImageWidth: 77,
    }
    told[ExifTags.IFD.GPSInfo] = {1: "N", 2: (1.0, 2.0, 3.0)}
    return told.tobytes()


@pytest.mark.parametrize("ending", [".png", ".jpg", ".webp", ".tiff"])
@pytest.mark.parametrize("metadata", [True, False])
def test_profiles_are_kept_and_metadata_when_asked_for(tmp_path, ending, metadata):
    Image.fromarray(RGBA).convert("RGB").save(tmp_path / "a.jpg", exif=exif(), icc_profile=PROFILE)
    photo = image_io.read(tmp_path / "a.jpg", metadata)
    image_io.write(tmp_path / f"b{ending}", photo)
    with Image.open(tmp_path / f"b{ending}") as image:
        image.load()
        told = image.getexif()
        assert image.info["icc_profile"] == PROFILE
        assert image.size == (6, 4)  # upright
        assert told.get(ExifTags.Base.Orientation, 1) == 1
        inner = dict(told.get_ifd(ExifTags.IFD.Exif))
        place = dict(told.get_ifd(ExifTags.IFD.GPSInfo))
        assert told.get(ExifTags.Base.Make) == ("Maker" if metadata else None)
        assert inner == ({ExifTags.Base.DateTimeOriginal: TAKEN} if metadata else {})
        assert place == ({1: "N", 2: (1.0, 2.0, 3.0)} if metadata else {})
        assert told.get(ExifTags.Base.Compression) != 5


def test_a_profile_that_is_not_for_these_pixels_is_left_out(tmp_path):
    """The pixels of a CMYK file become RGB: its profile would say something false of them."""
    cmyk = PROFILE[:16] + b"CMYK" + PROFILE[20:]
    Image.fromarray(RGBA, "CMYK").save(tmp_path / "a.jpg", icc_profile=cmyk)
    Image.fromarray(RGBA[..., 0]).save(tmp_path / "b.png", icc_profile=PROFILE)
    assert image_io.read(tmp_path / "a.jpg").profile is None
    assert image_io.read(tmp_path / "b.png").profile is None  # grey, with a profile for colours


def test_a_format_without_room_for_a_profile_says_so(tmp_path, caplog):
    image_io.write(tmp_path / "a.bmp", image_io.Photo(RGBA[..., :3], profile=PROFILE))
    assert "a.bmp cannot hold color profile" in caplog.text
    assert image_io.read(tmp_path / "a.bmp").size == (6, 4)
