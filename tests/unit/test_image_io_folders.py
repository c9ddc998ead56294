"""Folders of photographs: what can be read is converted, what cannot be is named."""

import errno
import os
from pathlib import Path

import made
import numpy as np
import pytest
from PIL import Image

from gblsr_repro import errors, files, image_io
from gblsr_repro.errors import UserError
from gblsr_repro.image_io import Photo
from gblsr_repro.image_io.folders import convert_files, plan_outputs

COLORS = made.noise(6, 4, 3)


def copy(source, target):
    image_io.write(target, image_io.read(source))


def duplicate(source, target):
    files.write_bytes(target, source.read_bytes())


def plan(*sources, to=None, addition="", ending=None, overwrite=False):
    return plan_outputs(sources, to, addition, ending, overwrite=overwrite)


@pytest.fixture
def folder(tmp_path):
    """A folder with a photograph of every kind and much else."""
    folder = tmp_path / "photos"
    (folder / "inner").mkdir(parents=True)
    image = Image.fromarray(COLORS)
    for name in ("a.png", "B.JPG", "c.gif", "e.tif"):
        image.save(folder / name)
    image.save(folder / "d.jfif", "JPEG")
    image.save(folder / "f", "PNG")
    image.save(folder / "inner" / "g.png")
    (folder / "._a.png").write_bytes(b"\0\5\x16\7" + bytes(100))
    (folder / "Thumbs.db").write_bytes(bytes(100))
    (folder / "notes.txt").write_text("text")
    return folder


def names(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in files)


def test_every_image_is_converted_and_what_is_passed_over_named(folder, tmp_path, caplog):
    (folder / "inner" / "notes.txt").write_text("text")
    (folder / "gone.png").symlink_to(tmp_path / "unmounted" / "gone.png")
    convert_files(plan(folder, to=tmp_path / "out"), copy)
    made_of = ["B.JPG", "a.png", "c.png", "d.jfif", "e.tif", "inner/g.png"]
    assert names(tmp_path / "out") == made_of
    [line] = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert line.endswith("photos: ._a.png, Thumbs.db, f, gone.png, inner/notes.txt and notes.txt")


def test_hidden_folders_links_and_the_outputs_are_not_looked_into(folder, caplog):
    out = folder / "inner" / "out"
    for hidden in (folder / ".thumbs", folder / "inner" / ".git"):
        image_io.write(hidden / "h.png", Photo(COLORS))
    (folder / "inner" / "up").symlink_to(folder)
    (folder / "shelf").symlink_to(folder / "inner")
    for _ in range(2):  # the second time there are outputs, in a folder below the inputs
        convert_files(plan(folder, to=out, overwrite=True), copy)
        assert len(names(out)) == 6
    said = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert ": ._a.png, .thumbs/h.png, Thumbs.db, f, inner/.git/h.png and notes.txt" in said[-1]


def test_no_file_takes_the_output_of_another(folder, tmp_path):
    (folder / "c.png").touch()
    with pytest.raises(UserError, match=r"c\.gif and .*c\.png would both become .*; rename one"):
        plan(folder, to=tmp_path / "out")


@pytest.mark.parametrize("overwrite", [False, True])
def test_inputs_are_never_overwritten(folder, overwrite):
    """Not by their own output and not by that of another file."""
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for sources, target in (([folder], folder), ([folder / "a.png"], folder)):
        with pytest.raises(UserError, match=r"would overwrite an input"):
            plan(*sources, to=target, overwrite=overwrite)
    one, other = folder / "a.png", folder / "inner" / "g.png"
    with pytest.raises(UserError, match=r"g\.png is one file; name a folder"):
        plan(one, folder / "B.JPG", to=other, overwrite=overwrite)
    with pytest.raises(UserError, match=r"ALL\.GBLSR is one file; name a folder"):
        plan(one, folder / "B.JPG", to=folder / "ALL.GBLSR", overwrite=overwrite)
    linked = folder / "a-x2.png"
    linked.hardlink_to(other)
    if overwrite:
        with pytest.raises(UserError, match=r"a-x2\.png would overwrite an input"):
            plan(one, other, addition="-x2", overwrite=True)
    else:
        assert plan(one, other, addition="-x2") == {}
    assert before.items() <= {p: p.read_bytes() for p in folder.iterdir() if p.is_file()}.items()


def test_an_output_that_is_a_link_is_written_where_it_leads(folder, tmp_path):
    shelf = tmp_path / "shelf"
    (shelf / "big").mkdir(parents=True)
    (shelf / "a.png").write_bytes(b"earlier")
    out = tmp_path / "out"
    out.symlink_to(shelf / "big")
    (out / "a.png").symlink_to(shelf / "a.png")
    (out / "f.png").symlink_to(shelf / "later.png")  # leads nowhere yet
    assert plan(folder / "a.png", folder / "f", to=out) == {}
    plans = plan(folder / "a.png", folder / "f", to=out, overwrite=True)
    convert_files(plans, copy)
    assert all((out / name).is_symlink() for name in ("a.png", "f.png"))
    assert np.array_equal(image_io.read(shelf / "a.png").rgb, COLORS)
    assert np.array_equal(image_io.read(shelf / "later.png").rgb, COLORS)
    (out / "e.tif").symlink_to(out / "a.png")
    with pytest.raises(UserError, match=r"e\.tif would both become .*e\.tif; rename one"):
        plan(folder / "a.png", folder / "e.tif", to=out, overwrite=True)
    (out / "a.png").unlink()
    (out / "a.png").symlink_to(folder / "d.jfif")
    with pytest.raises(UserError, match=r"a\.png would overwrite an input"):
        plan(folder / "a.png", folder / "d.jfif", to=out, overwrite=True)


def test_a_folder_without_an_image_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="holds no file that this command reads"):
        plan(tmp_path)


def test_names_beside_the_input(folder, monkeypatch):
    for name, expected in (
        ("a.png", "a-x2.png"), ("B.JPG", "B-x2.JPG"), ("c.gif", "c-x2.png"), ("f", "f-x2.png")
    ):  # fmt: skip
        assert plan(folder / name, addition="-x2") == {folder / name: folder / expected}
    outputs = plan(folder, addition="-x3.7").values()
    beside = folder.with_name("photos-x3.7")
    assert {path.parent for path in outputs} == {beside, beside / "inner"}
    (folder / "v1.5" / "a.png").mkdir(parents=True)
    assert plan(folder / "f", to=folder / "v1.5") == {folder / "f": folder / "v1.5" / "f.png"}
    with pytest.raises(UserError, match=r"a\.png is a folder; name another output"):
        plan(folder / "a.png", to=folder / "v1.5", overwrite=True)
    monkeypatch.chdir(folder / "inner")
    (output,) = plan(Path("."), addition="-x2").values()
    assert output == folder / "inner-x2" / "g.png"


def test_a_place_that_cannot_be_written_is_told_before_any_work(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    out = Path("/proc/photos")  # where nobody can make a folder, root neither
    for target in (out, out / "x2"):
        with pytest.raises(UserError, match=r"^Cannot write /proc/photos/.*a\.png: .*; free some"):
            plan(tmp_path / "a.png", to=target)
    assert plan(tmp_path / "a.png", to=tmp_path / "new" / "folder")
    assert names(tmp_path) == ["a.png"]


@pytest.mark.parametrize(
    ("number", "sentence", "seen"),
    [
        (errno.ENOSPC, r"^Cannot write .*; free some space", 2),
        (errno.EINVAL, "5 of 6 files failed", 6),  # 12:30.png on a stick: another name may do
    ],
)
def test_a_batch_stops_where_no_output_can_be_written(folder, tmp_path, number, sentence, seen):
    """A night of work is not computed for nothing; the same command goes on."""
    outputs, made_of = plan(folder, to=tmp_path / "out"), []

    def fill(path, content):
        error = OSError(number, "no")
        raise errors.build_write_error(path, error) from error

    def convert(source, target):
        made_of.append(source)
        (duplicate if len(made_of) == 1 else fill)(source, target)

    with pytest.raises(UserError, match=sentence):
        convert_files(outputs, convert)
    assert len(made_of) == seen


def test_a_subfolder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.png").touch()
    scan = os.scandir

    def refuse(folder):
        if Path(folder).name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UserError, match=r"locked cannot be read \(Permission denied\); make it"):
        plan_outputs([tmp_path], None, "-x2")
