"""Of an archive the chosen members come out, and nothing leaves the folder."""

import io
import tarfile
import zipfile

import pytest

from gblsr_repro.data.archives import extract_members
from gblsr_repro.errors import UserError


def tar(path, *members, **attributes):
    with tarfile.open(path, "w:gz") as packed:
        for name, content in members:
            info = tarfile.TarInfo(name)
            for key, value in attributes.items():
                setattr(info, key, value)
            info.size = len(content or b"")
            packed.addfile(info, io.BytesIO(content or b""))
    return path


def zipped(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return path


def unpack(archive, into, limit=10**6):
    return extract_members(archive, lambda name: into / name, limit, lambda temporary, target: None)


@pytest.mark.parametrize("make", [tar, zipped])
def test_chosen_members_come_out(make, tmp_path):
    archive = make(tmp_path / "archive", ("a/one.txt", b"1" * 5000), ("a/two.txt", b"2"))
    seen = []
    done = extract_members(
        archive,
        lambda name: tmp_path / "out" / name if name.endswith("one.txt") else None,
        10**6,
        lambda temporary, target: seen.append((temporary.read_bytes(), target)),
    )
    one = tmp_path / "out" / "a" / "one.txt"
    assert done == [one]
    assert one.read_bytes() == b"1" * 5000
    assert seen == [(b"1" * 5000, one)]
    assert [path.name for path in (tmp_path / "out" / "a").iterdir()] == ["one.txt"]


ESCAPES = ("../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:/evil")


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        *((name, b"x", "points outside") for name in ESCAPES),
        ("zeros", bytes(2_000_000), "unpacks to more than"),
    ],
)
def test_names_that_leave_the_folder_and_bombs_are_refused(make, name, content, sentence, tmp_path):
    """Damaged archives: tests/faults."""
    archive = make(tmp_path / "archive", (name, content))
    with pytest.raises(UserError, match=sentence):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "out").exists()


def test_links_devices_and_a_member_twice_are_refused(tmp_path):
    found = [tar(tmp_path / "twice", ("a", b"1"), ("a", b"2"))]
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
        link = {"type": kind, "linkname": "/etc/passwd"}
        found.append(tar(tmp_path / kind.decode(), ("a/link", None), **link))
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "zip", "w") as packed:
        packed.writestr(info, "/etc/passwd")
    for archive in (*found, tmp_path / "zip"):
        with pytest.raises(UserError, match="other than one plain file"):
            unpack(archive, tmp_path / "out")


def test_a_zip_that_understates_its_size_or_is_encrypted_is_refused(tmp_path):
    archive = zipped(tmp_path / "archive", ("zeros", bytes(2_000_000)))
    whole = archive.read_bytes()
    encrypted = bytearray(whole)
    for place in (6, whole.index(b"PK\x01\x02") + 8):
        encrypted[place] |= 1
    sizes = ((size).to_bytes(4, "little") for size in (2_000_000, 1000))
    for content in (whole.replace(*sizes), encrypted):
        archive.write_bytes(content)
        with pytest.raises(UserError, match="delete it and fetch again"):
            unpack(archive, tmp_path / "out", 10**7)
        assert not list((tmp_path / "out").iterdir())
