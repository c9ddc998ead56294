"""Files are written whole or not at all."""

import os

import pytest

from gblsr_repro import files
from gblsr_repro.errors import UserError


def test_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(ValueError, match="boom"), files.write_atomically(path) as temporary:
        temporary.write_text("half")
        raise ValueError("boom")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(UserError, match=r"Cannot write .*free some space or make the folder"):
        files.write_text(path / "inside.txt", "text")


def test_csv_keeps_full_precision_and_empty_cells(tmp_path):
    files.write_csv(tmp_path / "a.csv", ["x", "y"], [{"x": 0.1 + 0.2, "y": None}, (1, "b")])
    assert (tmp_path / "a.csv").read_text() == "x,y\n0.30000000000000004,\n1,b\n"


def test_json_refuses_nan_and_names_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        files.write_json(tmp_path / "a.json", {"x": float("nan")})
    with pytest.raises(UserError, match="does not exist"):
        files.read_json_map(tmp_path / "a.json")


def test_the_name_of_a_file_that_is_no_text_is_one_sentence(tmp_path):
    """As an archive from a system with another alphabet leaves it."""
    photograph = os.fsdecode(b"photos/caf\xe9.png")
    with pytest.raises(UserError, match=r"a\.csv cannot hold 'photos/caf\\udce9'.*; rename what"):
        files.write_csv(tmp_path / "a.csv", ["path"], [[photograph]])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["n" * 255, "ä" * 127, "[a-z]*?"])
def test_names_as_long_as_the_file_system_takes(tmp_path, name):
    files.write_text(tmp_path / name, "text")
    files.write_text(tmp_path / name, "other")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "other"
