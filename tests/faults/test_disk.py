"""A disk that is full: one sentence, the old file as it was, nothing half-written."""

import re

import numpy as np
import pytest
import torch
from faulty import outcome, unfinished

from gblsr_repro import cli, files
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.exemplars import write_png
from gblsr_repro.evaluation.fields import BandwidthFields
from gblsr_repro.training import checkpoint
from gblsr_repro.training.runs import train_arm

NOISE = torch.rand(3, 120, 120, generator=torch.Generator().manual_seed(0))
GRID = np.random.default_rng(0).random((4, 60, 60))

WRITERS = {
    "text": lambda path: files.write_text(path, "x" * 100_000),
    "state": lambda path: checkpoint.save_state(path, {"identity": {}, "model": {"w": NOISE}}),
    "fields": lambda path: BandwidthFields(GRID, GRID, GRID, ["a"] * 4).write(path),
    "png": lambda path: write_png(path, NOISE),
}


@pytest.mark.parametrize("name", WRITERS)
def test_full_disk(disk, repeats, chance, name):
    write = WRITERS[name]
    path = disk.folder / "file"
    write(path)
    size, old = path.stat().st_size, path.read_bytes()
    refusals = []
    for _ in range(repeats):
        disk.leave(chance.randrange(size // 1024))
        try:
            write(path)
        except UserError as error:
            refusals.append(str(error))
        disk.free()
        assert path.read_bytes() == old
        assert unfinished(disk.folder) == []
    assert refusals
    for said in refusals:
        assert re.fullmatch(r"Cannot write \S*file\S*: No space left on device.*; free .*\.", said)


def test_training_goes_on_when_the_disk_has_room_again(disk, job, undisturbed, repeats, chance):
    weights = (undisturbed / "weights.safetensors").stat().st_size // 1024
    for number in range(repeats):
        folder = disk.folder / str(number)
        disk.leave(chance.randrange(6 * weights))  # two states and a third half need nine times it
        with pytest.raises(UserError, match="No space left on device"):
            train_arm(*job(folder))
        disk.free()
        assert not (folder / "run" / "run.json").exists()
        train_arm(*job(folder))
        assert outcome(folder / "run") == outcome(undisturbed)
        assert unfinished(folder) == []


def test_an_unforeseen_error_of_the_system_is_one_sentence_too(monkeypatch, tmp_path, capsys):
    def fail(name, config, output):
        raise OSError(5, "Input/output error", str(tmp_path / "photo.png"))

    monkeypatch.setattr("gblsr_repro.data.standardize.standardize_images", fail)
    assert cli.main(["native", "standardize", "train", "--output", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith(f"gblsr-repro: {tmp_path}/photo.png cannot be read or written")
    assert "\n" not in said
