"""Hub addresses, by the hub's real client against a small hub on this machine."""

import os
import subprocess
import sys

import made
import published_weights as published
import pytest
import yaml
from hub_server import Hub, serve, sha
from safetensors.torch import save

from gblsr_repro import config as configuration
from gblsr_repro.errors import UserError
from gblsr_repro.released.hub import download

pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
pytestmark = pytest.mark.slow

REPOSITORY = "authors/gblsr"
FILE = "gblsr-scalar/model.safetensors"
# Wide enough for a file of more than one piece of a download (10 MB).
WIDE = configuration.merge(made.SMALL, {"native": {"model": {"features": 400}}})
SETTINGS = configuration.merge(configuration.load(), WIDE)
CONTENT = save(published.weights("gblsr_scalar", SETTINGS).theirs)
FACTS = b'{"seed": 0, "trained_steps": 2000}'


@pytest.fixture
def hub():
    files = {
        "README.md": b"---\nlicense: cc-by-nc-4.0\n---\n",
        FILE: CONTENT,
        "gblsr-scalar/config.json": FACTS,
        "gblsr-scalar-asr/model.safetensors": CONTENT[::-1],
    }
    with serve(Hub(REPOSITORY, files)) as running:
        yield running


# What planning says of an address, and the files of an address, without what takes long to import.
PLAN = """
import sys
from pathlib import Path
from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.released.importing import check_before_import
name, address = sys.argv[1:]
try:
    settings = config.load() | {"released": {name: address}}
    check_before_import(config.find_row(name), 0, Path("nowhere"), settings)
except UserError as error:
    sys.exit(f"gblsr-repro: {error}")
"""
FETCH = """
import sys
from gblsr_repro.config import parse_address
from gblsr_repro.errors import UserError
from gblsr_repro.released.hub import download
try:
    download(parse_address(sys.argv[1]))
except UserError as error:
    sys.exit(f"gblsr-repro: {error}")
"""


def run(folder, hub, words, **variables):
    """Run Python in a process of its own, which alone reads HF_ENDPOINT."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "home"), **variables}
    environment |= {"NO_PROXY": "127.0.0.1,localhost", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return subprocess.run(
        [sys.executable, *words],
        env=environment,
        cwd=configuration.find_repository_root(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def client(folder, hub, address, **variables):
    """Import an address as a user does."""
    overlay = folder / "small.yaml"
    overlay.write_text(yaml.safe_dump({**WIDE, "resources": str(folder / "resources")}))
    words = ["-m", "gblsr_repro", "import", address, "--as", "gblsr_scalar", "--seed", "0"]
    configs = ["--config", "config/config.yaml", "--config", overlay]
    return run(folder, hub, [*words, "--output", folder / "run", *configs], **variables)


def find_in_cache(folder, hub):
    """The file of weights in the cache of the hub's client."""
    snapshots = folder / "home" / "hub" / "models--authors--gblsr" / "snapshots"
    return snapshots / hub.commit / FILE


def test_a_folder_of_a_repository_comes_in_with_its_commit_and_license(hub, tmp_path):
    """Large files are redirected; a connection that broke off goes on where it was."""
    hub.cut = [12_000_000]
    address = f"hf://{REPOSITORY}/gblsr-scalar"
    done = client(tmp_path, hub, address)
    assert done.returncode == 0, done.stderr
    record = made.record(tmp_path / "run" / "run.json")["released"]
    assert record["address"] == address
    assert record["revision"] == hub.commit
    assert record["license"] == "cc-by-nc-4.0"
    assert record["file"] == FILE.rpartition("/")[2]
    assert record["sha256"] == sha(CONTENT)
    assert record["says"] == {"seed": 0, "trained_steps": 2000}
    assert not [path for _, path, _ in hub.asked if path.endswith("asr/model.safetensors")]
    asked = [wanted for verb, path, wanted in hub.asked if "/stored/" in path and verb == "GET"]
    assert asked[0] is None
    assert len(asked) == 2
    assert 0 < int(asked[1].removeprefix("bytes=").rstrip("-")) <= 12_000_000

    # What is there is not fetched again, also under another name of the commit.
    hub.asked.clear()
    done = client(tmp_path, hub, f"hf://{REPOSITORY}@v1/{FILE}")
    assert done.returncode == 0, done.stderr
    assert not [path for _, path, _ in hub.asked if "/stored/" in path]

    # It does without a network.
    for nowhere in ({"HF_ENDPOINT": "http://127.0.0.1:9"}, {"HF_HUB_OFFLINE": "1"}):
        done = client(tmp_path, hub, address, **nowhere)
        assert done.returncode == 0, done.stderr

    # One that was changed since is refused, and then fetched again.
    file = find_in_cache(tmp_path, hub)
    file.write_bytes(CONTENT[:-1] + b"?")
    assert "has another checksum than the hub lists" in client(tmp_path, hub, address).stderr
    assert client(tmp_path, hub, address).returncode == 0
    assert file.read_bytes() == CONTENT


def test_a_cache_that_the_client_filled_does_without_a_network(hub, tmp_path):
    fill = f"import huggingface_hub as hub; hub.hf_hub_download({REPOSITORY!r}, {FILE!r})"
    assert run(tmp_path, hub, ["-c", fill]).returncode == 0
    done = client(tmp_path, hub, f"hf://{REPOSITORY}/gblsr-scalar", HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr


def test_planning_checks_what_was_downloaded_and_downloads_nothing(hub, tmp_path):
    words = ["-c", PLAN, "gblsr_scalar", f"hf://{REPOSITORY}/gblsr-scalar"]
    done = run(tmp_path, hub, words)
    assert (done.returncode, hub.asked) == (0, []), done.stderr
    assert client(tmp_path, hub, words[-1]).returncode == 0
    said = run(tmp_path, hub, words).stderr
    assert "does not hold the weights of gblsr_scalar: its 'encoder.net.0.weight' is 400 x" in said


def refusals(hub, tmp_path, address, words, **variables):
    done = run(tmp_path, hub, ["-c", FETCH, address], **variables)
    assert done.returncode == 1, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("gblsr-repro: ")]
    assert len(lines) == 1, done.stderr
    assert words in lines[0]
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "home").rglob("*.safetensors"))
    return lines[0]


def test_what_is_not_there_is_one_sentence(hub, tmp_path):
    say = refusals(hub, tmp_path, "hf://authors/gblsr-2/a", "Repository Not Found")
    assert "or name a local folder with the files instead of the address" in say
    refusals(hub, tmp_path, f"hf://{REPOSITORY}@v2/gblsr-scalar", "Revision Not Found")
    refusals(hub, tmp_path, f"hf://{REPOSITORY}/gblsr-full", "/gblsr-full has no file of weights")
    refusals(hub, tmp_path, f"hf://{REPOSITORY}", "holds no file of weights")


@pytest.mark.parametrize("refusal", [(403, "GatedRepo"), (500, "Broken")])
def test_what_the_hub_refuses_is_one_sentence(hub, tmp_path, refusal):
    hub.refusal = refusal
    say = refusals(hub, tmp_path, f"hf://{REPOSITORY}/gblsr-scalar", "cannot be had from the hub")
    assert "or name a local folder with the files instead of the address" in say


def test_without_a_network_a_folder_does(hub, tmp_path):
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    address = f"hf://{REPOSITORY}/gblsr-scalar"
    refusals(hub, tmp_path, address, "cannot be had from the hub", **nowhere)
    path = published.write_safetensors(
        tmp_path / "folder", published.weights("gblsr_scalar", SETTINGS).theirs
    )
    assert client(tmp_path, hub, str(path.parent), **nowhere).returncode == 0


def test_a_file_that_is_too_large_is_not_downloaded(hub, tmp_path):
    hub.sizes[FILE] = 10**10
    address = f"hf://{REPOSITORY}/gblsr-scalar"
    refusals(hub, tmp_path, address, "has 10,000,000,000 bytes, more than the 2,000,000,000")


def test_without_the_client_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    address = configuration.parse_address(f"hf://{REPOSITORY}/gblsr-scalar")
    with pytest.raises(UserError, match=r"huggingface_hub; install it with pip .* or name a local"):
        download(address)


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
