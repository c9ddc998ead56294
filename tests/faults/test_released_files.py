"""Hostile, damaged and wrong files of weights: one sentence each, nothing run, nothing written."""

import json
import os
import pickle
import shutil
from functools import partial
from pathlib import Path

import made
import published_weights as published
import pytest
import torch

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.released.importing import import_run

SETTINGS = configuration.merge(configuration.load(), made.SMALL)
SCALAR = published.weights("gblsr_scalar", SETTINGS).theirs


# --- safetensors files ----------------------------------------------------------------------------


def entry(start: int, end: int, shape: list[int], kind: str = "F32") -> dict:
    return {"dtype": kind, "shape": shape, "data_offsets": [start, end]}


def written(header: object, values: int = 64, length: int | None = None) -> bytes:
    """A file with a header, as text or as what JSON writes, and so many bytes after it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = (len(text) if length is None else length).to_bytes(8, "little")
    return size + text + bytes(values)


A, B = "decoder.global_s_raw", "decoder.coeff_proj.bias"
DAMAGED = "is damaged or no safetensors file"
SAFETENSORS = {
    "a header longer than the file": (written({A: entry(0, 64, [16])}, length=2**20), DAMAGED),
    "a tensor beyond the file": (written({A: entry(0, 128, [32])}), DAMAGED),
    "a shape beyond all memory": (written({A: entry(0, 64, [2**62, 2**62])}), DAMAGED),
    "a type that torch lacks": (written({A: entry(0, 64, [64], "F8_E8M0")}), DAMAGED),
    "metadata that is nothing": (
        written({"__metadata__": None, A: entry(0, 64, [16])}), "not hold the weights"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAFETENSORS)
def test_a_lying_safetensors_file(name, tmp_path):
    content, words = SAFETENSORS[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    refuse(path, tmp_path, words)


# --- torch's files --------------------------------------------------------------------------------


class Code:
    """Makes a file where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.marker),)


def save_code(path: Path, zipped: bool) -> None:
    content = {"state_dict": SCALAR, "config": Code(path.parent / "ran")}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)


def save_plain_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"state_dict": Code(path.parent / "ran")}))


def save_half(path: Path) -> None:
    torch.save({"state_dict": SCALAR}, path)
    path.write_bytes(path.read_bytes()[:-3000])


# A view that pretends to be large: the shapes are compared before anything reads it.
ENDLESS = torch.zeros(1).expand(2**40)
NO_FILE, NO_MAP = "is damaged or no file of torch", "holds no map of names to tensors"
PICKLES = {
    "code in a zip file": (partial(save_code, zipped=True), "could run code"),
    "code in an older file": (partial(save_code, zipped=False), "could run code"),
    "code in a plain pickle": (save_plain_pickle, "could run code"),
    "a file that was cut off": (save_half, NO_FILE),
    "nothing": (Path.touch, NO_FILE),
    "a page of HTML": (
        lambda path: path.write_text("\n<!DOCTYPE html>Sign in"), "such as a page or a pointer"),
    "no tensors": (partial(torch.save, [1, 2, 3]), NO_MAP),
    "a number among tensors": (partial(torch.save, {**SCALAR, A: 3.0}), NO_MAP),
    "a tensor without values": (
        partial(torch.save, {**SCALAR, B: torch.empty(48, device="meta")}), "not hold the weights"),
    "a tensor of a mad size": (
        partial(torch.save, {**SCALAR, B: ENDLESS}), "size mismatch for decoder.coefficients.bias"),
}  # fmt: skip


@pytest.mark.parametrize("name", PICKLES)
def test_a_hostile_checkpoint(name, tmp_path):
    write, words = PICKLES[name]
    path = tmp_path / "model.pth"
    write(path)
    refuse(path, tmp_path, words)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("name", ["model.safetensors", "model.pth"])
def test_a_file_of_60_gb_is_not_read(name, tmp_path):
    path = published.write_safetensors(tmp_path / "got", SCALAR).with_name(name)
    with path.open("wb") as stream:
        stream.truncate(60 * 10**9)
    folder = path if name.endswith("pth") else path.parent
    refuse(folder, tmp_path, f"{name} has 60,000,000,000 bytes, more than")


# --- weights that are not those of the row --------------------------------------------------------


def changed(**tensors: torch.Tensor | None) -> dict[str, torch.Tensor]:
    """The weights of GB-LSR-Scalar with some replaced, or left out."""
    names = {name.replace(".", "_"): name for name in SCALAR}
    other = {names.get(key, key): values for key, values in tensors.items()}
    return {name: values for name, values in (SCALAR | other).items() if values is not None}


NOT_FINITE = torch.full_like(SCALAR["encoder.net.0.bias"], torch.nan)
WRONG = {
    "a tensor less": (
        changed(decoder_global_s_raw=None), 'Missing key(s) in state_dict: "decoder.raw_bandw'),
    "a tensor more": (
        changed(**{"decoder.up.weight": torch.zeros(3)}), 'Unexpected key(s) in state_dict: "deco'),
    "another shape": (
        changed(encoder_net_0_bias=torch.zeros(9)), "size mismatch for encoder.layers.0.bias"),
    "half precision": (changed(encoder_net_0_bias=torch.zeros(8).half()), "as float16, not float"),
    "values that are not finite": (changed(encoder_net_0_bias=NOT_FINITE), "that are not finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_weights_of_something_else(name, tmp_path):
    tensors, words = WRONG[name]
    said = refuse(published.write_safetensors(tmp_path / "got", tensors), tmp_path, words)
    if "state_dict" in words:
        assert "does not hold the weights of gblsr_scalar (" in said
        assert "; import it as the row that it is of" in said


def test_a_folder_with_two_files_or_none(tmp_path):
    path = published.write_safetensors(tmp_path / "got", SCALAR)
    shutil.copy(path, path.with_name("older.safetensors"))
    refuse(path.parent, tmp_path, "holds model.safetensors, older.safetensors; name the file")
    for file in path.parent.iterdir():
        file.unlink()
    refuse(path.parent, tmp_path, "must hold one file of weights (.safetensors, .pt")
    refuse(path, tmp_path, "is no file of weights and no folder with one")


# --- what all of them come to ---------------------------------------------------------------------


def refuse(path: Path, folder: Path, words: str, row: str = "gblsr_scalar") -> str:
    """Import a file as a row: one sentence with some words, returned, and nothing written."""
    with pytest.raises(UserError) as refusal:
        import_run(str(path), configuration.find_row(row), 0, folder / "run", SETTINGS)
    said = str(refusal.value)
    assert words in said, said
    assert "\n" not in said
    assert said.endswith(".")
    assert len(said) < 600
    assert str(folder) in said
    assert not (folder / "run").exists()
    return said
