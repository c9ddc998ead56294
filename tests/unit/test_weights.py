"""The weights file that is named is loaded, and says itself what it is."""

import shutil

import numpy as np
import pytest
import torch

from gblsr_repro import inference
from gblsr_repro.errors import UserError
from gblsr_repro.weights import parse_tensors, write_weights


@pytest.mark.parametrize(
    ("name", "load", "other"),
    [
        ("gblsr_scalar", inference.load_native, inference.load_superres),
        ("gblsr_asr", inference.load_superres, inference.load_native),
    ],
)
def test_the_weights_file_that_is_named_is_loaded(
    photo_file, tmp_path, name, load, other, make_run
):
    def shown(path):
        model, image = load(path), inference.read(photo_file)
        if load is inference.load_native:
            return inference.reconstruct(model, image).rgb
        return inference.upscale(model, image, 2).rgb

    folder, another = make_run(tmp_path / "run", name), make_run(tmp_path, name, spread=0.3)
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


def test_weights_that_layers_share_are_written_for_each(tmp_path):
    layer = torch.nn.Linear(2, 2)
    model = torch.nn.Sequential(layer, layer)
    write_weights(tmp_path, model, {"config": {"model": {}}})
    _, tensors = parse_tensors((tmp_path / "weights.safetensors").read_bytes())
    assert tensors.keys() == model.state_dict().keys()
    assert all(torch.equal(tensors[name], value) for name, value in model.state_dict().items())


def test_weights_files_that_say_too_little_or_are_damaged(native_run, tmp_path, make_run):
    old = tmp_path / "old.safetensors"
    shutil.copy(native_run / "weights.safetensors", old)
    with pytest.raises(UserError, match=r"not say which run it is of.* `gblsr-repro import`"):
        inference.load_native(old)
    shutil.copy(native_run / "run.json", tmp_path)
    inference.load_native(old)
    content = (make_run(tmp_path / "run", "gblsr_scalar") / "weights.safetensors").read_bytes()
    for damaged in (content[:-1] + b"\x55", content.replace(b"gblsr_scalar", b"gblsr_skalar")):
        old.write_bytes(damaged)
        with pytest.raises(UserError, match=r"old\.safetensors is damaged"):
            inference.load_native(old)
    old.write_bytes(content[:1000])
    with pytest.raises(UserError, match="is not a weights file"):
        inference.load_native(old)


def test_weights_that_others_released_are_to_be_imported(tmp_path):
    """A file of torch's, and the folder that it lies in."""
    torch.save({"model": {"weight": torch.ones(3)}}, tmp_path / "released.pth")
    for path in (tmp_path / "released.pth", tmp_path):
        for load in (inference.load_native, inference.load_superres):
            with pytest.raises(UserError, match="by `gblsr-repro import`"):
                load(path)
