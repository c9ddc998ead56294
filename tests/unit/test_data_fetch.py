"""A data set comes from a server, a mirror or an archive whole, or what is wrong is named."""

import gzip
import hashlib
import io
import re
import tarfile
import threading

import made
import pytest
from data_server import serve
from PIL import Image

from gblsr_repro.data import download, fetch, sources
from gblsr_repro.errors import UserError

FACTS = {"title": "Set", "role": "evaluate", "kind": "files", "images": "3", "bytes": "20000"}
SET = made.dataset(dataset="set", files="set/img_{1..3}.png", **FACTS)
PATHS = [f"set/img_{number}.png" for number in (1, 2, 3)]


def png(seed):
    stream = io.BytesIO()
    Image.fromarray(made.noise(20, 30, 3, seed=seed)).save(stream, format="PNG")
    return stream.getvalue()


def put(root, path, content):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)


@pytest.fixture
def rows(monkeypatch):
    """The table of data sets, for a test to change."""
    table = {"set": SET}
    monkeypatch.setattr("gblsr_repro.config.tables.read_datasets", lambda: table)
    return table


@pytest.fixture
def online(tmp_path):
    """A config without a mirror."""
    folders = {name: str(tmp_path / name) for name in ("resources", "results")}
    return {**folders, "mirror": None, "accept_partial": []}


@pytest.fixture
def mirror(tmp_path, rows, online):
    """A config with a mirror that holds the whole set."""
    for number, path in enumerate(PATHS):
        put(tmp_path / "mirror", path, png(number))
    return online | {"mirror": str(tmp_path / "mirror")}


@pytest.fixture
def server(monkeypatch, rows):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)
    with serve() as running:
        for number, path in enumerate(PATHS):
            running.content[f"/{path}"] = png(number)
        rows["set"] = made.changed(SET, urls=f"{running.url}/set/{{path}}")
        yield running


def sentence(config, action=fetch.fetch_dataset):
    with pytest.raises(UserError) as caught:
        action("set", config)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


# --- mirror ---------------------------------------------------------------------------------------


def test_mirror_is_used_in_place_and_recorded(mirror, tmp_path):
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "mirror").rglob("*")}
    manifest = fetch.fetch_dataset("set", mirror)
    assert made.located("set", mirror) == [tmp_path / "mirror" / path for path in PATHS]
    lines = manifest.read_text().splitlines()
    digest = hashlib.sha256(png(0)).hexdigest()
    assert lines[0] == "path,bytes,sha256,width,height,mode"
    assert lines[1] == f"set/img_1.png,{len(png(0))},{digest},30,20,RGB"
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "mirror").rglob("*")} == before


def test_what_no_mirror_can_give_is_named(mirror, tmp_path, rows):
    assert "gblsr-repro fetch set" in sentence(mirror, made.located)
    assert "typo does not exist" in sentence(mirror | {"mirror": str(tmp_path / "typo")})
    row, rows["set"] = rows["set"], made.changed(SET, files="set/*.png", images="2")
    assert "has 3 images" in sentence(mirror)
    rows["set"] = made.changed(SET, images="5")
    assert "has 3 of 5 images" in sentence(mirror)
    rows["set"] = row
    put(tmp_path / "mirror", PATHS[2], b"<html>")
    assert "img_3.png is not an image" in sentence(mirror)
    put(tmp_path / "mirror", PATHS[2], png(2)[:-200])
    assert "img_3.png is a damaged image" in sentence(mirror)
    for path in PATHS:
        (tmp_path / "mirror" / path).unlink()
    assert "none of its files" in sentence(mirror | {"accept_partial": ["set"]})


def test_missing_file_is_named_unless_partial_is_accepted(mirror, tmp_path):
    (tmp_path / "mirror" / PATHS[1]).unlink()
    text = sentence(mirror)
    assert f"lacks {PATHS[1]}" in text
    assert "accept_partial" in text
    mirror["accept_partial"] = ["set"]
    fetch.fetch_dataset("set", mirror)
    assert [path.stem for path in made.located("set", mirror)] == ["img_1", "img_3"]
    mirror["accept_partial"] = []
    assert f"lacks {PATHS[1]}" in sentence(mirror, made.located)


def test_what_changes_later_is_named(mirror, rows, tmp_path):
    fetch.fetch_dataset("set", mirror)
    file = tmp_path / "mirror" / PATHS[1]
    content = file.read_bytes()
    for partial in ([], ["set"]):
        mirror["accept_partial"] = partial
        for action in (fetch.fetch_dataset, made.located):
            file.write_bytes(content[:-10])
            assert f"{file} is not the file that was recorded" in sentence(mirror, action)
            file.unlink()
            assert PATHS[1] in sentence(mirror, action)
    file.write_bytes(content[:-30] + bytes([content[-30] ^ 1]) + content[-29:])
    found = sources.list_source_images("set", mirror)
    assert found[0].load().shape == (20, 30, 3)
    with pytest.raises(UserError, match=r"img_2\.png is not the file that was recorded"):
        found[1].load()
    assert "img_2.png is not the file that was recorded" in sentence(mirror)
    file.unlink()  # as in a network folder that is no longer mounted
    with pytest.raises(UserError, match=r"img_2\.png does not exist; check the name or fetch it"):
        found[1].load()
    file.write_bytes(content)
    rows["set"] = made.changed(SET, files="set/img_{1,2}.png", images="2")
    assert "img_3.png is no longer among `files` of set" in sentence(mirror)
    rows["set"] = made.changed(SET, files="set/*.png", images="5")
    put(tmp_path / "mirror", "set/img_4.png", png(4))
    assert "img_4.png did not exist" in sentence(mirror)


def test_images_of_other_pixels_than_were_measured_are_named(mirror, tmp_path, monkeypatch, caplog):
    measured = [made.noise(20, 30, 3, seed=number) for number in range(3)]
    digests = [hashlib.sha256(b"20x30x3\n" + pixels.tobytes()).hexdigest() for pixels in measured]
    pins = dict(zip(PATHS, digests, strict=True))
    monkeypatch.setattr(sources, "read_pins", lambda: pins)
    Image.fromarray(measured[0]).save(tmp_path / "mirror" / PATHS[0], compress_level=1)
    measured[1][7, 5, 2] ^= 1
    Image.fromarray(measured[1]).save(tmp_path / "mirror" / PATHS[1])
    del pins[PATHS[2]]  # nothing is said of an image that was not measured
    fetch.fetch_dataset("set", mirror)
    assert sources.describe_pixels("set", mirror)["other_pixels"] == ["img_2"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "Set: other pixels than this project measured on in img_2; " in warnings[0]


def test_two_images_of_one_name_are_refused_when_they_are_fetched(mirror, rows, tmp_path):
    rows["set"] = made.changed(SET, files="set/{a,b}/*.{png,jpg}", images="2")
    for first, second in (("a/1.png", "a/1.jpg"), ("a/1.png", "b/1.png")):
        for path in (first, second):
            put(tmp_path / "mirror/set", path, png(1))
        said = sentence(mirror)
        assert re.search(
            f"set/{first} and .*set/{second} have one name|{second} and .*{first}", said
        )
        assert not list((tmp_path / "resources").rglob("set.csv"))
        (tmp_path / "mirror/set" / second).unlink()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "path,bytes,sha256,width,height,mode\n",
        f"path,bytes,sha256,width,height,mode\n../x.png,1,{'0' * 64},1,1,L\n",
    ],
)
def test_damaged_manifest_is_named(mirror, content):
    manifest = fetch.fetch_dataset("set", mirror)
    manifest.write_text(content)
    for action in (fetch.fetch_dataset, made.located):
        assert "delete it and fetch again" in sentence(mirror, action)


def test_list_chooses_images_and_their_order(mirror, rows, tmp_path):
    rows["set"] = made.changed(SET, files="set/*.png @set/list.txt", images="2")
    assert "lacks set/list.txt" in sentence(mirror)
    put(tmp_path / "mirror", "set/list.txt", b"\xef\xbb\xbfimg_3.png \r\nimg_1.png\r\n")
    fetch.fetch_dataset("set", mirror)
    assert [path.stem for path in made.located("set", mirror)] == ["img_3", "img_1"]
    put(tmp_path / "mirror", "set/list.txt", b"img_1.png\nimg_3.png\n")
    assert "list.txt is not the file that was recorded" in sentence(mirror, made.located)


def test_without_its_list_a_partial_set_is_used_by_name(mirror, rows):
    rows["set"] = made.changed(SET, files="set/*.png @set/list.txt")
    mirror["accept_partial"] = ["set"]
    fetch.fetch_dataset("set", mirror)
    assert [path.stem for path in made.located("set", mirror)] == ["img_1", "img_2", "img_3"]


@pytest.mark.parametrize("held", ["set/x3_{1..3}.png", "set/lines.png"])
def test_mirror_may_hold_the_alternative(mirror, rows, tmp_path, held):
    rows["set"] = made.changed(SET, files="set/img_{1..3}.png set/x3_{1..3}.png|set/lines.png")
    assert "lacks set/x3_1.png" in sentence(mirror)
    for path in ["set/x3_1.png", "set/x3_2.png", "set/x3_3.png"] if "x3" in held else [held]:
        put(tmp_path / "mirror", path, png(7))
    fetch.fetch_dataset("set", mirror)
    assert len(made.located("set", mirror)) == 3


# --- downloads ------------------------------------------------------------------------------------


def test_download_brings_only_what_is_missing_and_later_the_same(server, online, tmp_path):
    put(tmp_path / "resources", PATHS[0], png(0))
    fetch.fetch_dataset("set", online)
    assert [path for path, _ in server.asked] == ["/set/img_2.png", "/set/img_3.png"]
    assert made.located("set", online) == [tmp_path / "resources" / path for path in PATHS]
    (tmp_path / "resources" / PATHS[1]).unlink()
    fetch.fetch_dataset("set", online)
    assert len(server.asked) == 3
    assert (tmp_path / "resources" / PATHS[1]).read_bytes() == png(1)
    (tmp_path / "resources" / PATHS[1]).unlink()
    server.content["/set/img_2.png"] = png(5)
    assert "another set/img_2.png" in sentence(online)
    assert not (tmp_path / "resources" / PATHS[1]).exists()


def test_downloaded_page_that_is_no_image_is_discarded(server, online, tmp_path):
    server.content["/set/img_2.png"] = b"<html>log in first</html>"
    assert "did not bring a readable image set/img_2.png" in sentence(online)
    assert [p.name for p in (tmp_path / "resources" / "set").iterdir()] == ["img_1.png"]
    server.content["/set/img_2.png"] = png(1)
    fetch.fetch_dataset("set", online)
    assert len(made.located("set", online)) == 3


def test_set_larger_than_its_row_says_is_refused(server, online, rows):
    rows["set"] = made.changed(rows["set"], bytes=str(int(2.5 * len(png(0)) / 1.5)))
    assert "img_3.png is larger than" in sentence(online)


def test_photographs_put_into_resources_need_no_address(rows, online, tmp_path):
    mine = {**FACTS, "images": "2", "bytes": "0"}
    rows["mine"] = made.dataset(dataset="mine", files="my_photos/*.{jpg,JPG}", **mine)
    with pytest.raises(UserError, match=r"has none of its files, my_photos/.* put them there"):
        fetch.fetch_dataset("mine", online)
    put(tmp_path / "resources", "my_photos/a.JPG", png(0))
    put(tmp_path / "resources", "my_photos/b.jpg", png(1))
    fetch.fetch_dataset("mine", online)
    names = [image.name for image in sources.list_source_images("mine", online)]
    assert names == ["a", "b"]


def test_two_processes_download_once(server, online):
    threads = [threading.Thread(target=fetch.fetch_dataset, args=("set", online)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path for path, _ in server.asked) == [f"/{path}" for path in PATHS]


def archive_of(*paths):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as packed:
        for number, path in enumerate(paths):
            info = tarfile.TarInfo(path)
            content = png(number) if path.endswith(".png") else b"img_3.png\nimg_1.png\n"
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo(f"{paths[0]}.png")
        link.type, link.linkname = tarfile.SYMTYPE, "list.txt"
        packed.addfile(link)
    return stream.getvalue()


@pytest.fixture
def packed(server, rows):
    """A data set in an archive, with a list of images to use."""
    content = archive_of("s/img_1.png", "s/img_2.png", "s/img_3.png", "s/list.txt", "s/other.doc")
    server.content["/set.tar.gz"] = content
    rows["set"] = made.changed(
        SET,
        kind="archive",
        urls=f"{server.url}/set.tar.gz",
        files="set/s/*.png @set/s/list.txt",
        images="2",
        bytes=str(20 * len(content)),
        checksum="sha256:" + hashlib.sha256(content).hexdigest(),
    )
    return content


def test_archive_gives_only_what_is_needed(packed, server, online, tmp_path):
    put(tmp_path / "resources", "set/s/img_2.png", png(7))  # by hand
    put(tmp_path / "resources", "archives/set-set.tar.gz.unpacked/set/s/img_9.png", png(9))
    fetch.fetch_dataset("set", online)
    assert (tmp_path / "resources/set/s/img_2.png").read_bytes() == png(7)
    assert [path.stem for path in made.located("set", online)] == ["img_3", "img_1"]
    unpacked = {p.name for p in (tmp_path / "resources" / "set" / "s").iterdir()}
    assert unpacked == {"img_1.png", "img_2.png", "img_3.png", "list.txt"}
    assert not list((tmp_path / "resources" / "archives").iterdir())
    fetch.fetch_dataset("set", online)
    (tmp_path / "resources/manifests/set.csv").unlink()  # as of a copy that was put there by hand
    fetch.fetch_dataset("set", online)
    assert len(server.asked) == 1
    lost = tmp_path / "resources" / "set" / "s" / "img_3.png"
    for again in (packed, None):  # what an interruption left is unpacked, else it comes anew
        if again:
            put(tmp_path / "resources", "archives/set-set.tar.gz", again)
        lost.unlink()
        fetch.fetch_dataset("set", online)
        assert lost.read_bytes() == png(2)
        assert len(server.asked) == (1 if again else 2)


def test_an_archive_much_larger_than_its_row_says_is_refused(packed, server, online, rows):
    """By more than a half where it is downloaded, and more than twofold where it is unpacked."""
    unpacked = len(gzip.decompress(packed))
    rows["set"] = made.changed(rows["set"], bytes=str(int(len(packed) / 1.5) - 1))
    assert "set.tar.gz is larger than the" in sentence(online)
    rows["set"] = made.changed(rows["set"], bytes=str((unpacked - 1) // 2))
    assert f"unpacks to more than the {unpacked // 2 * 2 - 2} bytes" in sentence(online)
    rows["set"] = made.changed(rows["set"], bytes=str(unpacked // 2))
    fetch.fetch_dataset("set", online)


def test_an_archive_that_lies_there_is_compared_with_its_checksum(packed, server, online, tmp_path):
    archive = archive_of("s/other_1.png", "s/other_2.png", "s/list.txt")
    put(tmp_path / "resources", "archives/set-set.tar.gz", archive)
    assert "instead of the published" in sentence(online)
    assert not server.asked


def test_an_archive_without_the_files_of_its_row_is_kept_and_told(
    packed, server, online, rows, tmp_path
):
    rows["set"] = made.changed(rows["set"], files="set/photos/*.png")
    for _ in range(2):
        with pytest.raises(UserError, match=r"holds no file set/photos/\*\.png"):
            fetch.fetch_dataset("set", online)
    assert len(server.asked) == 1
    rows["set"] = made.changed(rows["set"], files="set/s/*.png", images="3")
    fetch.fetch_dataset("set", online)
    assert len(server.asked) == 1
