"""A download that breaks off, lies or changes under way ends whole or in one sentence."""

import hashlib
import socket
from functools import partial
from urllib.parse import urlsplit

import pytest
import requests
from data_server import serve

from gblsr_repro.data import download as module
from gblsr_repro.data.download import BLOCK, check_checksum, download_file, open_session
from gblsr_repro.errors import UserError
from gblsr_repro.progress import Progress
from gblsr_repro.wording import NETWORK_SETTINGS

CONTENT = bytes(range(256)) * 4000


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    with serve() as running:
        running.content["/file"] = CONTENT
        yield running


def accept(url, part):
    pass


def compare(algorithm, published, url, part):
    check_checksum(part, f"{algorithm}:{hashlib.new(algorithm, published).hexdigest()}", url)


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def get(server, target, limit=10**7, check=accept, **more):
    download_file(open_session(), [f"{server.url}/file"], target, limit, check, **more)


def test_whole_file_arrives(server, tmp_path):
    progress = Progress("file", 1, "MB")
    get(server, tmp_path / "new" / "file", limit=len(CONTENT), progress=progress)
    assert (tmp_path / "new" / "file").read_bytes() == CONTENT
    assert leftovers(tmp_path / "new") == ["file"]
    assert progress.done == len(CONTENT) // 1_000_000


def test_broken_connection_is_resumed_where_it_stopped(server, tmp_path):
    server.cut["/file"] = [2 * BLOCK, 3 * BLOCK]
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    asked = [wanted for _, wanted in server.asked]
    assert asked == [None, f"bytes={2 * BLOCK}-", f"bytes={5 * BLOCK}-"]


def test_file_changed_between_attempts_is_taken_anew(server, tmp_path):
    server.cut["/file"] = [100_000, 0, 0, 0]
    with pytest.raises(UserError):
        get(server, tmp_path / "file")
    server.content["/file"], server.etag = CONTENT[::-1], '"two"'
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("missing", ["ranges", "etag"])
def test_server_that_cannot_resume_means_a_clean_retry(server, tmp_path, missing):
    setattr(server, missing, None)
    server.cut["/file"] = [123_456]
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("modified", [None, "Mon, 01 Jan 2024 00:00:00 GMT"])
def test_a_weak_tag_identifies_no_bytes_but_a_date_does(server, tmp_path, modified):
    server.etag, server.modified = 'W/"one"', modified
    server.cut["/file"] = [BLOCK]
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked[1] == ("/file", f"bytes={BLOCK}-" if modified else None)


def test_another_part_than_was_asked_for_is_not_taken(server, tmp_path):
    server.cut["/file"], server.shift = [BLOCK], 5
    with pytest.raises(UserError, match=rf"sent another range \(bytes {BLOCK + 5}-"):
        get(server, tmp_path / "file")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("too_many", [0, 9])
def test_part_that_is_already_whole_is_only_checked(server, tmp_path, too_many):
    (tmp_path / ".file.part").write_bytes(CONTENT + bytes(too_many))
    (tmp_path / ".file.part.tag").write_text(f'{server.url}/file\n"one"')
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert len(server.asked) == (2 if too_many else 1)


def test_busy_server_is_asked_again_and_a_part_without_its_tag_not_trusted(server, tmp_path):
    server.status["/file"] = [500, 503, 429]
    (tmp_path / ".file.part").write_bytes(b"x" * 1000)
    get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [("/file", None)] * 4


def test_absent_file_is_one_sentence_at_once(server, tmp_path):
    del server.content["/file"]
    server.status["/file"] = [404, 204]
    for status in (404, 204):
        with pytest.raises(UserError, match=f"answered {status}"):
            get(server, tmp_path / "file")
    assert len(server.asked) == 2
    assert leftovers(tmp_path) == []


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REQUESTS_CA_BUNDLE", "/nonexistent.pem"),
        ("HTTPS_PROXY", "http://127.0.0.1:1"),
        ("https_proxy", "http://"),
        ("ALL_PROXY", "ftp://127.0.0.1:1"),
    ],
)
def test_wrong_certificates_and_proxies_are_named(tmp_path, monkeypatch, name, value):
    for other in ("NO_PROXY", *NETWORK_SETTINGS):
        monkeypatch.delenv(other, raising=False)
        monkeypatch.delenv(other.lower(), raising=False)
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    told = f"^https://127.0.0.1:9/x cannot be fetched.* and {name} in the environment"
    with pytest.raises(UserError, match=told):
        download_file(open_session(), ["https://127.0.0.1:9/x"], tmp_path / "x", 10, accept)


def test_redirection_to_no_address_is_one_sentence(tmp_path, monkeypatch):
    """Which requests itself does not catch."""
    session = open_session()
    monkeypatch.setattr(session, "get", lambda url, **options: urlsplit("http://[::"))
    with pytest.raises(UserError, match="Invalid IPv6 URL; check the address"):
        download_file(session, ["http://host/f"], tmp_path / "f", 10, accept)


def test_a_server_that_falls_silent_is_asked_again(tmp_path, monkeypatch):
    session, asked = open_session(), []

    def wait(url, **options):
        asked.append(url)
        raise requests.ReadTimeout("read timed out")

    monkeypatch.setattr(session, "get", wait)
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    with pytest.raises(UserError, match="check the network"):
        download_file(session, ["http://host/f"], tmp_path / "f", 10, accept)
    assert len(asked) == 4


def test_no_server_is_one_sentence(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(UserError, match="check the network") as caught:
        download_file(open_session(), [f"http://127.0.0.1:{port}/f"], tmp_path / "f", 10, accept)
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="check the address"):
        download_file(open_session(), ["ftp://host/file"], tmp_path / "file", 10, accept)


@pytest.mark.parametrize("announced", [True, False])
def test_too_large_is_refused(server, tmp_path, announced, monkeypatch):
    if not announced:
        monkeypatch.setattr(module, "_read_extent", lambda answer, have: (0, None))
    progress = Progress("file", 1, "MB")
    with pytest.raises(UserError, match="larger than the 1000 bytes"):
        get(server, tmp_path / "file", limit=1000, progress=progress)
    assert progress.done == 0  # it was not read to its end
    assert not (tmp_path / "file").exists()
    assert not (tmp_path / ".file.part").exists()


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_refused_content_leaves_nothing(server, tmp_path, algorithm):
    with pytest.raises(UserError, match="instead of the published"):
        get(server, tmp_path / "file", check=partial(compare, algorithm, b"other"))
    assert leftovers(tmp_path) == []


# --- several addresses ----------------------------------------------------------------------------


def get_from_any(urls, target):
    download_file(open_session(), urls, target, 10**7, partial(compare, "sha256", CONTENT))


@pytest.mark.parametrize("fault", ["404", "503", "refused", "cut", "another file"])
def test_the_next_address_is_asked_where_one_fails(server, tmp_path, caplog, fault):
    first, second = f"{server.url}/first", f"{server.url}/file"
    server.status["/first"] = [503] * 9 if fault == "503" else []
    if fault in ("cut", "another file"):
        server.content["/first"] = CONTENT[::-1]
    server.cut["/first"] = [BLOCK] * 9 if fault == "cut" else []
    if fault == "refused":
        first = "http://127.0.0.1:9/first"
    get_from_any([first, second], tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["file"]
    [line] = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(f"{first} c")
    assert line.endswith(f" Next address: {second}")


def test_a_full_disk_is_not_the_fault_of_an_address(server, tmp_path):
    (tmp_path / "no_folder").write_text("")
    with pytest.raises(UserError, match=r"^Cannot write"):
        get_from_any([f"{server.url}/file"] * 2, tmp_path / "no_folder" / "file")
