"""The commands for a user's own images: files, folders, options and mistakes."""

import made
import numpy as np
import pytest
import torch
from PIL import Image, ImageCms

from gblsr_repro import cli, config, inference
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.asr import build_upsampler


def test_command_line_takes_folders(native_run, photo_file, tmp_path):
    codes, images = tmp_path / "codes", tmp_path / "images"
    assert cli.main(["encode", str(photo_file.parent), str(codes), "--model", str(native_run)]) == 0
    assert inference.load_code(codes / "photo.gblsr").arm == "gblsr_scalar"
    assert cli.main(["decode", str(codes), str(images), "--scale", "1.5"]) == 0
    assert Image.open(images / "photo.png").size == (105, 68)
    weights = str(native_run / "weights.safetensors")
    assert cli.main(["reconstruct", str(photo_file), str(images), "--model", weights]) == 0
    assert Image.open(images / "photo.png").size == (70, 45)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reconstruct", "none.png", "o.png", "--model", "RUN"], "none.png does not exist"),
        (["reconstruct", "PHOTO", "PHOTO", "--model", "RUN"], "would overwrite an input"),
        (["reconstruct", "PHOTO", "o.png", "--model", "none"], "is no trained run"),
        (["upscale", "PHOTO", "o.png", "--model", "RUN", "--scale", "2"], "holds no asr run"),
        (["decode", "PHOTO", "o.png"], "is not an encoded image"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(
    native_run, photo_file, tmp_path, capsys, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(tmp_path)
    filled = [{"RUN": str(native_run), "PHOTO": str(photo_file)}.get(a, a) for a in arguments]
    assert cli.main(filled) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.parametrize("scale", ["inf", "nan", "-inf", "1e308", "1000", "0"])
def test_no_scale_without_end(native_run, superres_run, photo_file, tmp_path, capsys, scale):
    code, out = str(tmp_path / "a.gblsr"), str(tmp_path / "out.png")
    model = inference.load_native(native_run)
    inference.save_code(code, inference.encode(model, inference.read(photo_file)))
    upscale = ["upscale", str(photo_file), out, "--model", str(superres_run("gblsr_asr"))]
    for command in (["decode", code, out], upscale):
        assert cli.main([*command, f"--scale={scale}"]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "he scale is" in said or "choose a smaller scale" in said


def fails(*_, **__):
    raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: 9 bytes")


def test_no_memory_is_one_sentence(native_run, photo_file, tmp_path, capsys, monkeypatch):
    command = ["reconstruct", str(photo_file), str(tmp_path / "o.png"), "--model", str(native_run)]
    said = {"reconstruct": str(photo_file), "load_native": "does not fit the memory"}
    for name in said:
        monkeypatch.setattr(inference, name, fails)
        assert cli.main(command) == 2
        sentence = capsys.readouterr().err.splitlines()[-1]
        assert said[name] in sentence
        assert "a machine with more memory" in sentence
    enlarge = build_upsampler(
        type("Model", (), {"render": fails})(), config.load(), torch.device("cpu")
    )
    with pytest.raises(UserError, match=r"5x4 pixels enlarged to 10x8 does not fit the memory"):
        enlarge(np.zeros((4, 5, 3), np.uint8), 8, 10)


def test_any_scale_and_alpha(tmp_path, superres_run):
    Image.fromarray(made.noise(20, 30, 4), "RGBA").save(tmp_path / "clear.png")
    run = superres_run("gblsr_asr_nole")
    source, target = str(tmp_path / "clear.png"), str(tmp_path / "big.png")
    assert cli.main(["upscale", source, target, "--model", str(run), "--scale", "3.7"]) == 0
    with Image.open(target) as image:
        assert (image.size, image.mode) == ((111, 74), "RGBA")


def test_profile_and_metadata_go_through_a_code(native_run, tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(made.noise(40, 40, 3)).save(tmp_path / "a.png", exif=exif, icc_profile=profile)
    arguments = [str(tmp_path / name) for name in ("a.png", "a.gblsr")]
    model = ["--model", str(native_run), "--keep-metadata"]
    assert cli.main(["encode", *arguments, *model]) == 0
    assert cli.main(["decode", arguments[1], str(tmp_path / "b.png")]) == 0
    with Image.open(tmp_path / "b.png") as image:
        assert image.info["icc_profile"] == profile
        assert image.getexif()[0x010F] == "Maker"


def test_upscale_without_more_doubles_beside_the_input(superres_run, photo_file, capsys):
    command = ["upscale", str(photo_file), "--model", str(superres_run("gblsr_asr"))]
    assert cli.main(command) == 0
    beside = photo_file.with_name("photo-x2.png")
    assert Image.open(beside).size == (140, 90)
    before = beside.read_bytes()
    assert cli.main(command) == 2
    assert "photo-x2.png exists already; to overwrite it" in capsys.readouterr().err
    assert beside.read_bytes() == before
    assert cli.main([*command[:2], str(beside), *command[2:]]) == 0
    assert cli.main([*command, "--scale", "1.5"]) == 0
    assert Image.open(photo_file.with_name("photo-x1.5.png")).size == (105, 68)


def test_a_folder_without_more_becomes_a_folder_beside_it(superres_run, tmp_path, capsys):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a.png", "b.jpg"):
        Image.fromarray(made.noise(8, 9, 3)).save(folder / name)
    (folder / "c.png").write_bytes((folder / "a.png").read_bytes()[:99])
    assert cli.main(["upscale", str(folder), "--model", str(superres_run("gblsr_asr"))]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        f"gblsr-repro: 1 of 3 files of {folder} failed: c.png; what to do about each is said above."
    )
    shown = {path.name: Image.open(path).size for path in (tmp_path / "photos-x2").iterdir()}
    assert shown == {"a.png": (18, 16), "b.jpg": (18, 16)}


@pytest.mark.parametrize("command", ["reconstruct", "upscale", "decode"])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("o.webp", "a side of a WebP file has at most 16383"),
        ("o.xyz", "has no ending of a format to write"),
        ("o.jpg", "cannot hold transparency"),
    ],
)
def test_formats_are_checked_before_any_work(
    native_run, superres_run, tmp_path, capsys, monkeypatch, command, name, sentence
):
    wide = np.zeros((1, 16384, 4 if name == "o.jpg" else 3), np.uint8)
    source = tmp_path / "wide.png"
    Image.fromarray(wide).save(source)
    model = ["--model", str(superres_run("gblsr_asr") if command == "upscale" else native_run)]
    if command == "decode":
        code = str(tmp_path / "wide.gblsr")
        assert cli.main(["encode", str(source), code, *model]) == 0
        source, model = code, []
    monkeypatch.setattr(inference, command, lambda *_, **__: pytest.fail("work began"))
    scale = [] if command == "reconstruct" else ["--scale", "1"]
    assert cli.main([command, str(source), str(tmp_path / name), *model, *scale]) == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("command", ["reconstruct", "upscale", "decode"])
def test_quality_is_an_option_of_every_command_that_writes_images(
    native_run, superres_run, photo_file, tmp_path, capsys, command
):
    source = str(photo_file)
    model = ["--model", str(superres_run("gblsr_asr") if command == "upscale" else native_run)]
    if command == "decode":
        source = str(tmp_path / "a.gblsr")
        assert cli.main(["encode", str(photo_file), source, *model]) == 0
        model = []
    sizes = []
    for quality in ("10", "90"):
        target = tmp_path / f"{quality}.jpg"
        assert cli.main([command, source, str(target), *model, "--quality", quality]) == 0
        sizes.append(target.stat().st_size)
    assert sizes[0] < sizes[1] / 2
    for wrong in ("0", "101", "best", "-3", "9.5"):
        with pytest.raises(SystemExit) as stopped:
            cli.main([command, source, "o.jpg", *model, f"--quality={wrong}"])
        assert stopped.value.code == 2
        assert f"{wrong} is not a whole number from 1 to 100" in capsys.readouterr().err


def test_a_photograph_smaller_than_a_patch_is_stored(native_run, tmp_path):
    Image.fromarray(made.noise(7, 9, 3)).save(tmp_path / "a.png")
    code, shown = str(tmp_path / "a.gblsr"), str(tmp_path / "b.png")
    assert cli.main(["encode", str(tmp_path / "a.png"), code, "--model", str(native_run)]) == 0
    assert cli.main(["decode", code, shown, "--scale", "1.5"]) == 0
    assert Image.open(shown).size == (14, 11)
