"""The commands for a user's own images do what they are asked, or name the mistake."""

import made
import numpy as np
import pytest
import torch
from PIL import Image, ImageCms

from gblsr_repro import cli, config, image_io, inference
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.asr import build_upsampler


def test_command_line_takes_folders(native_run, photo_file, tmp_path):
    codes, images = tmp_path / "codes", tmp_path / "images"
    model = ["--model", str(native_run)]
    assert cli.main(["encode", str(photo_file.parent), "-o", str(codes), *model]) == 0
    assert inference.load_code(codes / "photo.gblsr").arm == "gblsr_scalar"
    (codes / "photo.gblsr").rename(codes / "photo.GBLSR")
    assert cli.main(["decode", str(codes), "-o", str(images), "--scale", "1.5"]) == 0
    assert Image.open(images / "photo.png").size == (105, 68)
    weights = ["--model", str(native_run / "weights.safetensors"), "--overwrite"]
    assert cli.main(["reconstruct", str(photo_file), "-o", str(images), *weights]) == 0
    assert Image.open(images / "photo.png").size == (70, 45)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reconstruct", "none.png", "--model", "RUN"], "none.png does not exist"),
        (["reconstruct", "PHOTO", "-o", "PHOTO", "--model", "RUN"], "would overwrite an input"),
        (["reconstruct", "PHOTO", "--model", "none"], "is no trained run"),
        (["upscale", "PHOTO", "--model", "RUN", "--scale", "2"], "holds no asr run"),
        (["upscale", "PHOTO", "--size", "200x128"], "photo.png: 200x128 has another aspect than"),
        (["decode", "PHOTO"], "is not an encoded image"),
        (["encode", "PHOTO", "-o", "o.png"], "whose name ends in .gblsr; name o.gblsr"),
        (["upscale", "\0"], "does not exist"),
        (["upscale", "x" * 4000], "File name too long"),
        (["upscale", "PHOTO", "-o", "x" * 4000], "File name too long"),
    ],
)
def test_mistakes_are_one_sentence(
    native_run, photo_file, tmp_path, capsys, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(tmp_path)
    filled = [{"RUN": str(native_run), "PHOTO": str(photo_file)}.get(a, a) for a in arguments]
    assert cli.main(filled) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.parametrize("scale", ["nan", "inf", "1e308", "1000", "0"])
def test_no_scale_without_end(native_run, superres_run, photo_file, tmp_path, capsys, scale):
    code, out = str(tmp_path / "a.gblsr"), str(tmp_path / "out.png")
    model = inference.load_native(native_run)
    inference.save_code(code, inference.encode(model, inference.read(photo_file)))
    upscale = ["upscale", str(photo_file), "--model", str(superres_run("gblsr_asr"))]
    for command in (["decode", code], upscale):
        assert cli.main([*command, "-o", out, f"--scale={scale}"]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "he scale is" in said or "choose a smaller scale" in said


def fails(*_, **__):
    raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: 9 bytes")


def test_no_memory_is_one_sentence(native_run, photo_file, tmp_path, capsys, monkeypatch):
    command = ["reconstruct", str(photo_file), "--model", str(native_run)]
    said = {"reconstruct": str(photo_file), "load_native": "does not fit the memory"}
    for name in said:
        monkeypatch.setattr(inference, name, fails)
        assert cli.main(command) == 2
        sentence = capsys.readouterr().err.splitlines()[-1]
        assert said[name] in sentence
        assert "a machine with more memory" in sentence
    model = torch.nn.Linear(1, 1)
    model.render = fails
    enlarge = build_upsampler(model, config.load())
    with pytest.raises(UserError, match=r"5x4 pixels enlarged to 10x8 does not fit the memory"):
        enlarge(np.zeros((4, 5, 3), np.uint8), 8, 10)


def test_profile_and_metadata_go_through_a_code(native_run, tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(made.noise(40, 40, 3)).save(tmp_path / "a.png", exif=exif, icc_profile=profile)
    model = ["--model", str(native_run), "--keep-metadata"]
    assert cli.main(["encode", str(tmp_path / "a.png"), *model]) == 0
    assert cli.main(["decode", str(tmp_path / "a.gblsr")]) == 0
    with Image.open(tmp_path / "a-decoded.png") as image:
        assert image.info["icc_profile"] == profile
        assert image.getexif()[0x010F] == "Maker"


def test_upscale_without_more_doubles_beside_the_input(superres_run, photo_file, capsys):
    command = ["upscale", str(photo_file), "--model", str(superres_run("gblsr_asr"))]
    assert cli.main(command) == 0
    beside = photo_file.with_name("photo-x2.png")
    assert Image.open(beside).size == (140, 90)
    before = beside.read_bytes()
    assert cli.main(command) == 2
    assert "photo-x2.png exists already; add --overwrite" in capsys.readouterr().err
    assert cli.main([*command, "-o", str(beside)]) == 2
    assert beside.read_bytes() == before
    assert cli.main([*command, "--scale", "2.1", "-o", str(beside), "--overwrite"]) == 0
    assert Image.open(beside).size == (147, 95)
    assert cli.main([*command, "--scale", "1.5"]) == 0
    assert Image.open(photo_file.with_name("photo-x1.5.png")).size == (105, 68)


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        (["--size", "140x90"], (140, 90)),
        (["--size", "199x"], (199, 128)),  # 127.9
        (["--size", "x30"], (47, 30)),  # smaller: drawn, then reduced, as at a scale below 1
        (["--size", "21x", "--crop", "5", "10", "25", "24"], (21, 30)),
    ],
)
def test_upscale_to_a_size(superres_run, photo_file, asked, size):
    """Which sizes fit an image: test_inference.py."""
    command = ["upscale", str(photo_file), "--model", str(superres_run("gblsr_asr")), *asked]
    assert cli.main(command) == 0
    assert Image.open(photo_file.with_name(f"photo-{asked[1]}.png")).size == size


@pytest.mark.parametrize("wrong", ["x", "0x9", "3840", "9" * 5000 + "x"])
def test_a_size_that_is_none_is_one_sentence(photo_file, capsys, wrong):
    for words in ([f"--size={wrong}"], ["--size", "9x", "--scale", "2"]):
        with pytest.raises(SystemExit) as stopped:
            cli.main(["upscale", str(photo_file), *words])
        assert stopped.value.code == 2
        said = capsys.readouterr().err
        assert "is no size in pixels; write 3840x2160" in said or "not allowed with" in said


def test_a_folder_without_more_becomes_a_folder_beside_it(superres_run, tmp_path, capsys):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.png", "b.jpg"):
        Image.fromarray(made.noise(8, 9, 3)).save(folder / name)
    (folder / "c.png").write_bytes((folder / "a.png").read_bytes()[:99])
    assert cli.main(["upscale", str(folder), "--model", str(superres_run("gblsr_asr"))]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        f"gblsr-repro: 1 of 3 files failed: {folder}/c.png; what to do about each is said above."
    )
    shown = {path.name: Image.open(path).size for path in (tmp_path / "photos-x2").iterdir()}
    assert shown == {"a.png": (18, 16), "b.jpg": (18, 16)}


def test_a_command_for_several_files_goes_on_where_it_was_stopped(
    superres_run, tmp_path, caplog, monkeypatch
):
    """As the shell writes `*.png`, which the second time names the outputs as well."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.png", "b.png"):
        image_io.write(name, image_io.Photo(made.noise(20, 24, 3)))
    command = ["upscale", "--model", str(superres_run("gblsr_asr"))]

    def read_all():
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    given = read_all()
    assert cli.main([*command, *given]) == 0
    done = read_all()
    assert done.keys() - given.keys() == {"a-x2.png", "b-x2.png"}
    assert given.items() <= done.items()
    (tmp_path / "b-x2.png").unlink()
    (tmp_path / "a-x2.png").write_bytes(b"kept")
    caplog.clear()
    assert cli.main([*command, *read_all()]) == 0
    kept = "kept, as they exist already (--overwrite replaces them): a-x2.png"
    assert kept in caplog.messages
    assert read_all() == done | {"a-x2.png": b"kept"}
    assert cli.main([*command, *given, "--overwrite"]) == 0
    assert read_all() == done


def test_formats_are_checked_before_any_work(superres_run, tmp_path, capsys, monkeypatch):
    """What each format cannot hold: test_image_io.py."""
    Image.fromarray(np.zeros((1, 16384, 3), np.uint8)).save(tmp_path / "wide.png")
    monkeypatch.setattr(inference, "upscale", lambda *_, **__: pytest.fail("work began"))
    words = ["-o", str(tmp_path / "o.webp"), "--scale", "1"]
    model = ["--model", str(superres_run("gblsr_asr"))]
    assert cli.main(["upscale", str(tmp_path / "wide.png"), *words, *model]) == 2
    assert "a side of a WebP file has at most 16383" in capsys.readouterr().err


def test_quality_is_that_of_the_file(native_run, photo_file, tmp_path, capsys):
    command = ["reconstruct", str(photo_file), "--model", str(native_run)]
    sizes = []
    for quality in ("10", "90"):
        target = tmp_path / f"{quality}.jpg"
        assert cli.main([*command, "-o", str(target), "--quality", quality]) == 0
        sizes.append(target.stat().st_size)
    assert sizes[0] < sizes[1] / 2
    for wrong in ("0", "101", "best", "-3", "9.5"):
        with pytest.raises(SystemExit):
            cli.main([*command, f"--quality={wrong}"])
        assert f"{wrong} is not a whole number from 1 to 100" in capsys.readouterr().err


def test_a_photograph_smaller_than_a_patch_is_stored(native_run, tmp_path):
    Image.fromarray(made.noise(7, 9, 3)).save(tmp_path / "a.png")
    assert cli.main(["encode", str(tmp_path / "a.png"), "--model", str(native_run)]) == 0
    assert cli.main(["decode", str(tmp_path / "a.gblsr"), "--scale", "1.5"]) == 0
    assert Image.open(tmp_path / "a-decoded.png").size == (14, 11)
