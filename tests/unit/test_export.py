"""A super-resolution model as an ONNX file computes the same."""

import numpy as np
import pytest
import torch

from gblsr_repro import cli, inference


@pytest.mark.parametrize(
    ("method", "scale"), [("gblsr_asr", 4), ("gblsr_asr", 3), ("gblsr_asr_nole", 2)]
)
@pytest.mark.filterwarnings("error::torch.jit.TracerWarning")  # a size taken for a constant
def test_an_exported_model_computes_the_same(tmp_path, superres_run, capsys, method, scale):
    pytest.importorskip("onnx", reason="needs the extra `export`")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra `export`")
    folder = superres_run(method)
    file = tmp_path / "model.onnx"
    assert cli.main(["export", str(folder), str(file), "--scale", str(scale)]) == 0
    before = file.read_bytes()
    assert cli.main(["export", str(folder), str(file), "--scale", "1"]) == 2
    assert "model.onnx exists already; add --overwrite" in capsys.readouterr().err
    assert file.read_bytes() == before
    link = tmp_path / "link.onnx"
    link.symlink_to(file)
    again = ["export", str(folder), str(link), "--scale", str(scale), "--overwrite"]
    file.write_bytes(b"earlier")
    assert cli.main(again) == 0
    assert link.is_symlink()
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
    ("method", "scale", "sentence"),
    [
        ("lte_swinir", "2", "SwinIR is not made of convolutions"),
        ("liif_rdn", "2", "LIIF is not made of convolutions"),
        ("gblsr_asr", "0", "must be a whole number above 0"),
        ("gblsr_asr", "2", "photo.png does not end in .onnx"),
    ],
)
def test_a_model_that_cannot_be_exported_is_one_sentence(
    photo_file, superres_run, capsys, method, scale, sentence
):
    before = photo_file.read_bytes()
    words = ["export", str(superres_run(method)), str(photo_file), "--scale", scale]
    assert cli.main([*words, "--overwrite"]) == 2
    assert sentence in capsys.readouterr().err
    assert photo_file.read_bytes() == before
