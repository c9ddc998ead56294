"""Hub addresses, by the hub's real client against a small hub on this machine."""

import sys

import made
import published_weights as published
import pytest
from data_server import serve
from hub_server import Handler, Hub, sha
from safetensors.torch import save

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.released.hub import download
from gblsr_repro.released.importing import import_run

client = pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
constants = pytest.importorskip("huggingface_hub.constants")

REPOSITORY = "authors/gblsr"
ADDRESS = f"hf://{REPOSITORY}/gblsr-scalar"
FILE = "gblsr-scalar/model.safetensors"
SETTINGS = configuration.merge(configuration.load(), made.SMALL)
CONTENT = save(published.weights("gblsr_scalar", SETTINGS).theirs)
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def ask(monkeypatch):
    """Let the client ask an address, or nobody, as HF_ENDPOINT and HF_HUB_OFFLINE do."""

    def ask_there(url, offline=False):
        monkeypatch.setattr(constants, "ENDPOINT", url)
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)

    return ask_there


@pytest.fixture
def hub(ask, monkeypatch, tmp_path):
    """A hub that the client asks, and an empty cache."""
    files = {
        "README.md": b"a card",
        FILE: CONTENT,
        "gblsr-scalar/config.json": b"{}",
        "gblsr-scalar-asr/model.safetensors": CONTENT[::-1],
    }
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with serve(Handler, Hub(REPOSITORY, files)) as running:
        ask(running.url)
        yield running


def bring_in(folder, address):
    """Import an address; return what the record says of it."""
    settings = SETTINGS | {"released": {"gblsr_scalar": address}}
    import_run(address, configuration.find_row("gblsr_scalar"), 0, folder / "run", settings)
    return made.record(folder / "run" / "run.json")["released"]


def test_a_folder_of_a_repository_comes_in_with_its_commit(hub, ask, tmp_path):
    record = bring_in(tmp_path, ADDRESS)
    assert record["address"] == ADDRESS
    assert record["revision"] == hub.commit
    assert record["file"] == FILE.rpartition("/")[2]
    assert record["sha256"] == sha(CONTENT)
    others = ("asr/model.safetensors", ".md", ".json")
    assert not [path for _, path in hub.asked if path.endswith(others) and "/resolve/" in path]

    # What is there is not fetched again, also under another name of the commit.
    hub.asked.clear()
    bring_in(tmp_path, f"hf://{REPOSITORY}@v1/{FILE}")
    assert not [path for verb, path in hub.asked if verb == "GET" and path.endswith(FILE)]

    # It does without a network.
    for offline in (False, True):
        ask(NOWHERE, offline)
        bring_in(tmp_path, ADDRESS)

    # One that was changed since is refused, and then fetched again.
    ask(hub.url)
    (file,) = (tmp_path / "cache").glob(f"*/snapshots/{hub.commit}/{FILE}")
    file.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(UserError, match="has another checksum than the hub lists"):
        bring_in(tmp_path, ADDRESS)
    bring_in(tmp_path, ADDRESS)
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("hf://authors/gblsr-2/a", "Repository Not Found"),
        (f"hf://{REPOSITORY}@v2/gblsr-scalar", "Revision Not Found"),
        (f"hf://{REPOSITORY}/gblsr-full", "/gblsr-full is no file of weights"),
        (f"hf://{REPOSITORY}", "gblsr is no file of weights"),
    ],
)
def test_what_is_not_there_is_one_sentence(hub, tmp_path, address, said):
    with pytest.raises(UserError, match=said) as refused:
        download(configuration.parse_address(address))
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "cache").rglob("*.safetensors"))


@pytest.mark.parametrize("refusal", [(403, "GatedRepo"), (404, "Broken"), None])
def test_what_the_hub_refuses_or_no_network_brings_is_one_sentence(hub, ask, refusal):
    hub.refusal = refusal
    ask(hub.url if refusal else NOWHERE)
    with pytest.raises(UserError, match="cannot be had from the hub") as refused:
        download(configuration.parse_address(ADDRESS))
    assert "or name a local folder with the files instead of the address" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_the_client_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"huggingface_hub; install it with pip .* or name a local"):
        download(configuration.parse_address(ADDRESS))


def test_addresses():
    parse = configuration.parse_address
    assert parse("weights/model.pth") is None
    found = parse("hf://a/b-c_d.e@main/f/g.safetensors")
    assert (found.repository, found.revision, found.path) == (
        "a/b-c_d.e",
        "main",
        "f/g.safetensors",
    )
    assert parse("hf://a/b/").path == ""
    for wrong in ("hf://a", "hf://a/b@", "hf://a/../b", "hf://a/b/../c", "hf://a/b/c d", "hf://"):
        with pytest.raises(UserError, match="is no address on the hub"):
            parse(wrong)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:1", "http://127.0.0.1:port"])
def test_a_wrong_proxy_is_named(tmp_path, monkeypatch, proxy):
    """The hub is asked by another client than data sets are."""
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", proxy)
    client.close_session()
    with pytest.raises(UserError, match=r"cannot be had from the hub.* HTTP_PROXY"):
        bring_in(tmp_path, ADDRESS)
    client.close_session()
