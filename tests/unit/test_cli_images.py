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
    assert cli.main(["decode", str(codes), "-o", str(images), "--scale", "1.5"]) == 0
    assert Image.open(images / "photo.png").size == (105, 68)
    weights = ["--model", str(native_run / "weights.safetensors"), "--overwrite"]
    assert cli.main(["reconstruct", str(photo_file), "-o", str(images), *weights]) == 0
    assert Image.open(images / "photo.png").size == (70, 45)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reconstruct", "none.png", "--model", "RUN"], "none.png does not exist"),
        (["upscale", "PHOTO", "o.png", "--model", "RUN"], "o.png does not exist"),
        (["reconstruct", "PHOTO", "-o", "PHOTO", "--model", "RUN"], "would overwrite an input"),
        (["reconstruct", "PHOTO", "--model", "none"], "is no trained run"),
        (["upscale", "PHOTO", "--model", "RUN", "--scale", "2"], "holds no asr run"),
        (["decode", "PHOTO"], "is not an encoded image"),
        (["encode", "PHOTO", "-o", "o.png"], "whose name ends in .gblsr; name o.gblsr"),
        (["upscale", "\0"], "does not exist"),
        (["upscale", "PHOTO", "-o", "\0.png"], "is no name of a file"),
        (["upscale", "x" * 4000], "File name too long"),
        (["upscale", "PHOTO", "-o", "x" * 4000], "File name too long"),
        (["upscale", "loop"], "does not exist"),
        (["upscale", "PHOTO", "-o", "loop"], "loop is no folder"),
        (["upscale", "PHOTO", "--scale", "1e9"], "choose a smaller scale"),
    ],
)
def test_mistakes_are_one_sentence(
    native_run, photo_file, tmp_path, capsys, monkeypatch, arguments, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
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
    enlarge = build_upsampler(
        type("Model", (), {"render": fails})(), config.load(), torch.device("cpu")
    )
    with pytest.raises(UserError, match=r"5x4 pixels enlarged to 10x8 does not fit the memory"):
        enlarge(np.zeros((4, 5, 3), np.uint8), 8, 10)


def test_any_scale_and_alpha(tmp_path, superres_run):
    Image.fromarray(made.noise(20, 30, 4), "RGBA").save(tmp_path / "clear.png")
    run = superres_run("gblsr_asr_nole")
    source, target = str(tmp_path / "clear.png"), str(tmp_path / "big.png")
    assert cli.main(["upscale", source, "-o", target, "--model", str(run), "--scale", "3.7"]) == 0
    with Image.open(target) as image:
        assert (image.size, image.mode) == ((111, 74), "RGBA")


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


@pytest.mark.parametrize(
    ("command", "outputs"),
    [
        ("upscale", ["a-x2.png", "b-x2.png"]),
        ("reconstruct", ["a-reconstructed.png", "b-reconstructed.png"]),
        ("encode", ["a.gblsr", "b.gblsr"]),
        ("decode", ["a-decoded.png", "b-decoded.png"]),
    ],
)
def test_a_command_for_several_files_goes_on_where_it_was_stopped(
    native_run, superres_run, tmp_path, caplog, monkeypatch, command, outputs
):
    """As the shell writes `*.png`, which the second time names the outputs as well."""
    folder = tmp_path / "photos"
    folder.mkdir()
    monkeypatch.chdir(folder)
    ending = ".gblsr" if command == "decode" else ".png"
    model = ["--model", str(superres_run("gblsr_asr") if command == "upscale" else native_run)]
    for name in ("a.png", "b.png"):
        image_io.write(name, image_io.Photo(made.noise(20, 24, 3)))
    if command == "decode":
        assert cli.main(["encode", "a.png", "b.png", *model]) == 0
        model = []
    given = {path.name: path.read_bytes() for path in folder.iterdir()}

    def run():
        inputs = sorted(path.name for path in folder.iterdir() if path.suffix == ending)
        return cli.main([command, *inputs, *model])

    assert run() == 0
    done = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(done.keys() - given.keys()) == outputs
    assert given.items() <= done.items()
    (folder / outputs[1]).unlink()
    (folder / outputs[0]).write_bytes(b"kept")
    caplog.clear()
    assert run() == 0
    kept = f"kept, as they exist already (--overwrite replaces them): {outputs[0]}"
    assert kept in caplog.messages
    stopped = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert stopped == done | {outputs[0]: b"kept"}
    again = [path for path in given if path.endswith(ending)]
    assert cli.main([command, *again, *model, "--overwrite"]) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == done


@pytest.mark.parametrize("command", ["reconstruct", "upscale", "decode"])
def test_formats_are_checked_before_any_work(
    native_run, superres_run, tmp_path, capsys, monkeypatch, command
):
    """What each format cannot hold: test_image_io.py."""
    source = tmp_path / "wide.png"
    Image.fromarray(np.zeros((1, 16384, 3), np.uint8)).save(source)
    model = ["--model", str(superres_run("gblsr_asr") if command == "upscale" else native_run)]
    if command == "decode":
        code = str(tmp_path / "wide.gblsr")
        assert cli.main(["encode", str(source), *model]) == 0
        source, model = code, []
    monkeypatch.setattr(inference, command, lambda *_, **__: pytest.fail("work began"))
    scale = [] if command == "reconstruct" else ["--scale", "1"]
    output = ["-o", str(tmp_path / "o.webp")]
    assert cli.main([command, str(source), *output, *model, *scale]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "a side of a WebP file has at most 16383" in said


@pytest.mark.parametrize("command", ["reconstruct", "upscale", "decode"])
def test_quality_is_an_option_of_every_command_that_writes_images(
    native_run, superres_run, photo_file, tmp_path, capsys, command
):
    source = str(photo_file)
    model = ["--model", str(superres_run("gblsr_asr") if command == "upscale" else native_run)]
    if command == "decode":
        source = str(tmp_path / "a.gblsr")
        assert cli.main(["encode", str(photo_file), "-o", source, *model]) == 0
        model = []
    sizes = []
    for quality in ("10", "90"):
        target = tmp_path / f"{quality}.jpg"
        assert cli.main([command, source, "-o", str(target), *model, "--quality", quality]) == 0
        sizes.append(target.stat().st_size)
    assert sizes[0] < sizes[1] / 2
    for wrong in ("0", "101", "best", "-3", "9.5"):
        with pytest.raises(SystemExit) as stopped:
            cli.main([command, source, *model, f"--quality={wrong}"])
        assert stopped.value.code == 2
        assert f"{wrong} is not a whole number from 1 to 100" in capsys.readouterr().err


def test_a_photograph_smaller_than_a_patch_is_stored(native_run, tmp_path):
    Image.fromarray(made.noise(7, 9, 3)).save(tmp_path / "a.png")
    assert cli.main(["encode", str(tmp_path / "a.png"), "--model", str(native_run)]) == 0
    assert cli.main(["decode", str(tmp_path / "a.gblsr"), "--scale", "1.5"]) == 0
    assert Image.open(tmp_path / "a-decoded.png").size == (14, 11)
