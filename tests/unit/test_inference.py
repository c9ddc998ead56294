"""The models as a tool: photographs in, photographs out, at any scale."""

import re
import shutil

import made
import numpy as np
import pytest
import torch
from PIL import Image, ImageCms
from safetensors.torch import load_file

from gblsr_repro import bundled, cli, config, inference
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.asr import upsampler
from gblsr_repro.files import write_csv, write_json
from gblsr_repro.models.asr import tiling
from gblsr_repro.weights import write_weights

SETTINGS = config.merge(
    config.load(),
    {"native": {"model": {"features": 16, "hidden": 16, "modes": 6}}, "asr": {"model": made.ASR}},
)


def untrained(folder, name, **more):
    return made.run(folder, name, SETTINGS, **({"spread": 0.1} | more))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return untrained(tmp_path_factory.mktemp("runs") / "scalar", "gblsr_scalar", told=False)


@pytest.fixture(scope="module")
def superres(tmp_path_factory):
    """Super-resolution runs by method, made when they are asked for."""
    folder = tmp_path_factory.mktemp("superres")

    return lambda method: untrained(folder / method, method)


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(made.noise(45, 70, 3)).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def off(one, other):
    """The largest difference of two photographs."""
    return np.abs(one.astype(int) - other.astype(int)).max()


def test_the_readme_s_example(tmp_path, repository, monkeypatch):
    section = (repository / "README.md").read_text().partition("\n## Your own images")[2]
    example = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    untrained(tmp_path / "results/native/runs/gblsr_scalar/seed0", "gblsr_scalar")
    Image.fromarray(made.noise(210, 220, 3)).save(tmp_path / "photo.jpg")
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    assert Image.open("zoomed.png").size == (370, 370)


@pytest.mark.parametrize("arm", ["gblsr_scalar", "gblsr_full"])
def test_decoding_at_scale_one_is_the_reconstruction(tmp_path, photo, arm):
    model = inference.load_native(untrained(tmp_path / arm, arm))
    image = inference.read(photo)
    direct = inference.reconstruct(model, image)
    inference.save_code(tmp_path / "a.gblsr", inference.encode(model, image))
    stored = inference.decode(inference.load_code(tmp_path / "a.gblsr"))
    assert direct.rgb.std() > 5
    assert off(direct.rgb, stored.rgb) <= 1


def test_a_crop_is_a_part_of_the_whole_which_bands_do_not_change(run, photo, monkeypatch):
    code = inference.encode(inference.load_native(run), inference.read(photo))
    whole = inference.decode(code, scale=2)
    part = inference.decode(code, scale=2, crop=(5, 10, 25, 40))
    assert np.array_equal(part.rgb, whole.rgb[10:50, 20:80])
    monkeypatch.setattr(inference, "BAND_PIXELS", 1000)
    assert np.array_equal(inference.decode(code, scale=2).rgb, whole.rgb)


def test_gray_and_alpha_survive(run, tmp_path):
    rgba = made.noise(33, 40, 4)
    Image.fromarray(made.noise(33, 40)).save(tmp_path / "grey.png")
    Image.fromarray(rgba, "RGBA").save(tmp_path / "clear.png")
    model = inference.load_native(run)
    for name, mode in (("grey.png", "L"), ("clear.png", "RGBA")):
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


def test_command_line_takes_folders(run, photo, tmp_path):
    codes, images = tmp_path / "codes", tmp_path / "images"
    assert cli.main(["encode", str(photo.parent), str(codes), "--model", str(run)]) == 0
    assert inference.load_code(codes / "photo.gblsr").arm == "gblsr_scalar"
    assert cli.main(["decode", str(codes), str(images), "--scale", "1.5"]) == 0
    assert Image.open(images / "photo.png").size == (105, 68)
    weights = str(run / "weights.safetensors")
    assert cli.main(["reconstruct", str(photo), str(images), "--model", weights]) == 0
    assert Image.open(images / "photo.png").size == (70, 45)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reconstruct", "none.png", "o.png", "--model", "RUN"], "none.png does not exist"),
        (["reconstruct", "PHOTO", "PHOTO", "--model", "RUN"], "would overwrite its input"),
        (["reconstruct", "PHOTO", "o.png", "--model", "none"], "is no trained run"),
        (["upscale", "PHOTO", "o.png", "--model", "RUN", "--scale", "2"], "holds no asr run"),
        (["decode", "PHOTO", "o.png"], "is not an encoded image"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(run, photo, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    filled = [{"RUN": str(run), "PHOTO": str(photo)}.get(a, a) for a in arguments]
    assert cli.main(filled) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.parametrize("scale", ["inf", "nan", "-inf", "1e308", "1000", "0"])
def test_no_scale_without_end(run, superres, photo, tmp_path, capsys, scale):
    code, out = str(tmp_path / "a.gblsr"), str(tmp_path / "out.png")
    inference.save_code(code, inference.encode(inference.load_native(run), inference.read(photo)))
    upscale = ["upscale", str(photo), out, "--model", str(superres("gblsr_asr"))]
    for command in (["decode", code, out], upscale):
        assert cli.main([*command, f"--scale={scale}"]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "he scale is" in said or "choose a smaller scale" in said


def test_what_cannot_be_decoded_or_encoded(run, photo, tmp_path):
    image = inference.read(photo)
    code = inference.encode(inference.load_native(run), image)
    with pytest.raises(UserError, match="does not lie inside the image of 45 x 70"):
        inference.decode(code, crop=(0, 0, 46, 70))
    with pytest.raises(UserError, match="use a GB-LSR arm"):
        inference.encode(inference.load_native(untrained(tmp_path / "wire", "wire")), image)


@pytest.mark.parametrize(
    ("name", "load", "other"),
    [
        ("gblsr_scalar", inference.load_native, inference.load_superres),
        ("gblsr_asr", inference.load_superres, inference.load_native),
    ],
)
def test_the_weights_file_that_is_named_is_loaded(photo, tmp_path, name, load, other):
    def shown(path):
        model, image = load(path), inference.read(photo)
        if load is inference.load_native:
            return inference.reconstruct(model, image).rgb
        return inference.upscale(model, image, 2).rgb

    folder, another = untrained(tmp_path / "run", name), untrained(tmp_path, name, spread=0.3)
    mine = folder / "mine.safetensors"
    shutil.copy(another / "weights.safetensors", mine)
    assert np.array_equal(shown(another), shown(mine))
    with pytest.raises(UserError, match=r"holds no (asr|native) run"):
        other(mine)
    with pytest.raises(UserError, match=r"run\.json is not a weights file"):
        load(folder / "run.json")
    shutil.copy(mine, folder / "weights.safetensors")
    with pytest.raises(UserError, match=r"is not the file that .*run\.json records"):
        load(folder)


def test_weights_files_that_say_too_little_or_are_damaged(run, tmp_path):
    old = tmp_path / "old.safetensors"
    shutil.copy(run / "weights.safetensors", old)
    with pytest.raises(UserError, match="does not say which run it is of"):
        inference.load_native(old)
    shutil.copy(run / "run.json", tmp_path)
    inference.load_native(old)
    content = (untrained(tmp_path / "run", "gblsr_scalar") / "weights.safetensors").read_bytes()
    for damaged in (content[:-1] + b"\x55", content.replace(b"gblsr_scalar", b"gblsr_skalar")):
        old.write_bytes(damaged)
        with pytest.raises(UserError, match=r"old\.safetensors is damaged"):
            inference.load_native(old)
    old.write_bytes(content[:1000])
    with pytest.raises(UserError, match="is not a weights file"):
        inference.load_native(old)


def test_the_bytes_of_weights_do_not_depend_on_the_day(tmp_path):
    facts = {"arm": "liif", "seed": 0, "config": SETTINGS["native"]}
    model = made.model("liif", SETTINGS)
    one, two = (write_weights(tmp_path, model, facts | {"finished": day}) for day in ("one", "two"))
    assert one == two


def fails(*_, **__):
    raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: 9 bytes")


def test_no_memory_is_one_sentence(run, photo, tmp_path, capsys, monkeypatch):
    command = ["reconstruct", str(photo), str(tmp_path / "o.png"), "--model", str(run)]
    for name, said in (("reconstruct", str(photo)), ("load_native", "does not fit the memory")):
        monkeypatch.setattr(inference, name, fails)
        assert cli.main(command) == 2
        sentence = capsys.readouterr().err.splitlines()[-1]
        assert said in sentence
        assert "a machine with more memory" in sentence
    enlarge = upsampler(type("Model", (), {"render": fails})(), config.load(), torch.device("cpu"))
    with pytest.raises(UserError, match=r"5x4 pixels enlarged to 10x8 does not fit the memory"):
        enlarge(np.zeros((4, 5, 3), np.uint8), 8, 10)


@pytest.mark.parametrize("method", ["gblsr_asr", "lte_swinir"])
def test_upscaling_a_crop_is_a_part_of_the_whole(superres, photo, method):
    model = inference.load_superres(superres(method))
    image = inference.read(photo)
    whole = inference.upscale(model, image, scale=2)
    part = inference.upscale(model, image, scale=2, crop=(5, 10, 25, 40))
    assert whole.size == (90, 140)
    assert off(part.rgb, whole.rgb[10:50, 20:80]) <= 1


def test_any_scale_and_alpha(tmp_path, superres):
    Image.fromarray(made.noise(20, 30, 4), "RGBA").save(tmp_path / "clear.png")
    run = superres("gblsr_asr_nole")
    source, target = str(tmp_path / "clear.png"), str(tmp_path / "big.png")
    assert cli.main(["upscale", source, target, "--model", str(run), "--scale", "3.7"]) == 0
    with Image.open(target) as image:
        assert (image.size, image.mode) == ((111, 74), "RGBA")


@pytest.mark.parametrize(("scale", "crop"), [(2, None), (3.3, (3.5, 20, 40, 66.5)), (0.7, None)])
@pytest.mark.parametrize(
    "method", ["gblsr_asr", "gblsr_asr_nole", "liif_rdn", "lte_rdn", "lte_swinir"]
)
def test_a_large_photo_is_upscaled_in_parts(superres, photo, method, scale, crop, monkeypatch):
    model = inference.load_superres(superres(method))
    image = inference.read(photo)
    whole = inference.upscale(model, image, scale, crop)
    monkeypatch.setattr(tiling, "_side", lambda *_: 20)
    seen = []
    parts = inference.upscale(model, image, scale, crop, lambda x: seen.extend(x) or x, memory=1)
    assert len(seen) >= 6
    assert whole.size == parts.size
    assert off(whole.rgb, parts.rgb) <= 1
    assert (whole.rgb != parts.rgb).mean() < 0.01
    assert whole.rgb.std() > 5


def test_profile_and_metadata_go_through_a_code(run, tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(made.noise(40, 40, 3)).save(tmp_path / "a.png", exif=exif, icc_profile=profile)
    arguments = [str(tmp_path / name) for name in ("a.png", "a.gblsr")]
    model = ["--model", str(run), "--keep-metadata"]
    assert cli.main(["encode", *arguments, *model]) == 0
    assert cli.main(["decode", arguments[1], str(tmp_path / "b.png")]) == 0
    with Image.open(tmp_path / "b.png") as image:
        assert image.info["icc_profile"] == profile
        assert image.getexif()[0x010F] == "Maker"


# --- weights that come along -----------------------------------------------------------------


def bundle(folder, name, columns, values, output, of=None):
    """Bundle a run that records what training does, with rows as evaluation leaves them."""
    run, metrics = untrained(folder / name, name), folder / f"{name} metrics"
    record = made.record(run / "run.json")
    git = {"commit": "0123456789abcdef", "modified": False}
    write_json(run / "run.json", record | {"steps": 1234, "git": git})
    metrics.mkdir(exist_ok=True)
    for data, value in values.items():
        rows = [["a", value, 0.5], ["b", value, 1]]
        write_csv(metrics / f"{data}.csv", ("image", *columns), rows)
        write_json(metrics / f"{data}.json", {"weights_sha256": of or record["weights_sha256"]})
    return cli.main(
        ["bundle", str(run), "--metrics", str(metrics), "--trained-on", "noise",
         "--output", str(output)]
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["native", "asr"])
def test_the_weights_that_come_along_are_whole_and_their_cards_true(kind):
    path = bundled.find_bundled_model(kind)
    {"native": inference.load_native, "asr": inference.load_superres}[kind](path)
    assert path.with_suffix(".md").read_text() == bundled.format_card(path)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package folder in which bundled weights are looked for."""
    monkeypatch.setattr(bundled.resources, "files", lambda _: tmp_path / "package")
    return tmp_path / "package" / "bundled"


def test_bundled_weights_are_the_default(tmp_path, photo, package, caplog, monkeypatch):
    quality = {"kodak": 22.25, "validation": 99}
    native, asr = package / "native.safetensors", package / "asr.safetensors"
    assert bundle(tmp_path, "gblsr_scalar", ("psnr", "ssim"), quality, native) == 0
    quality = {"set5_x2": 36.5}
    assert bundle(tmp_path, "gblsr_asr_nole", ("psnr_y", "ssim_y"), quality, asr) == 0
    card = (package / "native.md").read_text()
    assert "| kodak | 2 | 22.25 | 0.7500 | - |" in card
    assert "0123456789abcdef" in card

    monkeypatch.chdir("/")  # outside a checkout: the file brings all that is needed along
    monkeypatch.setattr(config, "repository_root", fails)
    caplog.set_level("INFO")
    caplog.clear()
    image = inference.read(photo)
    assert cli.main(["reconstruct", str(photo), str(tmp_path / "r.png")]) == 0
    assert cli.main(["upscale", str(photo), str(tmp_path / "u.png"), "--scale", "2"]) == 0
    said = caplog.text
    assert "gblsr_scalar, 1,234 steps on noise, commit 0123456789ab; PSNR (dB): kodak 22.25" in said
    assert "gblsr_asr_nole, 1,234 steps on noise" in said
    assert "set5 x2 36.50" in said
    for name, size in (("r", (70, 45)), ("u", (140, 90))):
        with Image.open(tmp_path / f"{name}.png") as shown:
            assert shown.size == size
    monkeypatch.undo()
    full = inference.reconstruct(inference.load_native(tmp_path / "gblsr_scalar"), image).rgb
    assert off(full, inference.read(tmp_path / "r.png").rgb) <= 2
    stored = load_file(native)
    assert {t.dtype for t in stored.values() if t.ndim > 1} == {torch.float16}
    assert {t.dtype for t in stored.values() if t.ndim < 2} == {torch.float32}


def test_without_bundled_weights_the_commands_say_so(photo, package, capsys):
    for command in (["reconstruct"], ["encode"], ["upscale", "--scale", "2"]):
        arguments = [command[0], str(photo), "out.png", *command[1:]]
        assert cli.main(arguments) == 2
        said = capsys.readouterr().err
        assert "weights come with this version yet; name a trained run's folder" in said


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"of": "0" * 64}, "was measured on other weights"),
        ({"values": {}}, "holds no measured rows"),
        ({"output": "native.pt"}, "must end in .safetensors"),
        ({}, "train a smaller model"),
    ],
)
def test_only_a_small_measured_run_is_bundled(tmp_path, capsys, monkeypatch, change, sentence):
    monkeypatch.setattr(bundled, "LIMIT", 1000)
    chosen = {
        "columns": ("psnr", "ssim"),
        "values": {"kodak": 20.0},
        "output": "native.safetensors",
    }
    chosen |= change
    chosen["output"] = tmp_path / chosen["output"]
    assert bundle(tmp_path, "gblsr_scalar", **chosen) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.glob("native.*"))


# --- export ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "scale"), [("gblsr_asr", 4), ("gblsr_asr", 3), ("gblsr_asr_nole", 2)]
)
@pytest.mark.filterwarnings("error::torch.jit.TracerWarning")  # a size taken for a constant
def test_an_exported_model_computes_the_same(tmp_path, superres, method, scale):
    pytest.importorskip("onnx", reason="needs the extra `export`")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra `export`")
    folder = superres(method)
    file = tmp_path / "model.onnx"
    assert cli.main(["export", str(folder), str(file), "--scale", str(scale)]) == 0
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    model = inference.load_superres(folder)
    for batch, height, width in ((1, 16, 16), (2, 9, 31)):
        images = torch.rand(batch, 3, height, width)
        (found,) = session.run(None, {"image": images.numpy()})
        with torch.no_grad():
            expected = model.render(images, height * scale, width * scale, 10**6).numpy()
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 1e-4


@pytest.mark.parametrize(
    ("method", "scale", "name", "sentence"),
    [
        ("lte_swinir", "2", "m.onnx", "SwinIR is not made of convolutions"),
        ("liif_rdn", "2", "m.onnx", "LIIF is not made of convolutions"),
        ("gblsr_asr", "0", "m.onnx", "must be a whole number above 0"),
        ("gblsr_asr", "2", "m.pt", "must end in .onnx"),
    ],
)
def test_what_cannot_be_exported_is_told(tmp_path, superres, capsys, method, scale, name, sentence):
    assert cli.main(["export", str(superres(method)), str(tmp_path / name), "--scale", scale]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / name).exists()
