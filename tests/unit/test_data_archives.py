"""Of an archive the files come out, and nothing leaves the folder."""

import io
import tarfile
import zipfile

import pytest

from gblsr_repro.data.archives import unpack_archive
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


def list_files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_names_of_a_zip_that_leave_the_folder_are_cut(tmp_path):
    archive = zipped(tmp_path / "archive", ("../evil", b"x"), ("a/../../evil", b"x"))
    unpack_archive(archive, tmp_path / "out", 10**6)
    assert {path.split("/")[0] for path in list_files(tmp_path)} == {"archive", "out"}


@pytest.mark.parametrize("make", [tar, zipped])
def test_bombs_are_refused(make, tmp_path):
    """Damaged archives: tests/faults."""
    archive = make(tmp_path / "archive", ("zeros", bytes(2_000_000)))
    with pytest.raises(UserError, match="unpacks to more than"):
        unpack_archive(archive, tmp_path / "out", 10**6)
    assert not (tmp_path / "out").exists()


def test_a_tar_with_what_leaves_the_folder_or_a_device_is_refused(tmp_path):
    archives = [tar(tmp_path / "climbs", ("../evil", b"x"))]
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
        link = {"type": kind, "linkname": "/etc/passwd"}
        archives.append(tar(tmp_path / kind.decode(), ("a/link", None), **link))
    for archive in archives:
        with pytest.raises(UserError, match=r"cannot be unpacked \(.*\); delete it and fetch"):
            unpack_archive(archive, tmp_path / "out", 10**6)
        assert not list_files(tmp_path / "out")


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
            unpack_archive(archive, tmp_path / "out", 10**7)
