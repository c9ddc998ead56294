"""Sources that vanish, stall or are odd between the steps that use them."""

import shutil
import time

import made
import numpy as np
import pytest
from data_server import serve
from PIL import Image

from gblsr_repro import cli, config
from gblsr_repro.data import standardize
from gblsr_repro.data.download import download_file, open_session


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror of one data set of odd photographs, and the config that names it."""
    folder = tmp_path / "mirror" / "odd"
    folder.mkdir(parents=True)
    for name in ("grey", "other"):
        Image.new("L", (90, 80), 100).save(folder / f"{name}.png")
    facts = {"title": "Odd", "kind": "files", "bytes": "1000000", "images": "2"}
    row = made.dataset(dataset="odd", files="odd/*.*", **facts)
    rows = config.read_datasets() | {"odd": row}
    for module in ("tables", "checks"):
        monkeypatch.setattr(f"gblsr_repro.config.{module}.read_datasets", lambda: rows)
    settings = config.load()
    settings["native"]["data"] |= {"image_size": 32, "evaluate": {"kodak": "odd"}}
    settings |= {"resources": str(tmp_path / "resources"), "mirror": str(tmp_path / "mirror")}
    config.write_resolved(settings, tmp_path / "config.yaml")
    return tmp_path / "mirror"


@pytest.fixture
def standardized(mirror, tmp_path):
    """Fetch the set, and let it be standardized into out/kodak.npy; the command's status."""
    config_file = ["--config", str(tmp_path / "config.yaml")]
    output = ["--output", str(tmp_path / "out")]
    assert cli.main(["fetch", "odd", *config_file]) == 0
    return lambda: cli.main(["native", "standardize", "kodak", *output, *config_file])


def test_lost_between_fetch_and_standardize(standardized, mirror, tmp_path, capsys):
    """As when a network folder is no longer mounted; when it is back, the same command works."""
    mirror.rename(tmp_path / "away")
    mirror.mkdir()  # an empty mount point
    capsys.readouterr()
    assert standardized() == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert "is missing; restore its files." in said
    assert not (tmp_path / "out").exists()
    mirror.rmdir()
    (tmp_path / "away").rename(mirror)
    assert standardized() == 0


def test_lost_while_standardizing(standardized, mirror, tmp_path, capsys, monkeypatch):
    crop = standardize.crop_center

    def lose(pixels, size):
        shutil.rmtree(mirror / "odd", ignore_errors=True)
        return crop(pixels, size)

    monkeypatch.setattr(standardize, "crop_center", lose)
    capsys.readouterr()
    assert standardized() == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("gblsr-repro: ")
    assert str(mirror / "odd") in said
    assert list((tmp_path / "out").iterdir()) == []


# --- a download that is killed --------------------------------------------------------------------

CONTENT = np.random.default_rng(0).bytes(2_000_000)


def fetch(url, target):
    session = open_session()
    session.trust_env = False  # this machine is reached without a proxy
    download_file(session, url, target, 10**7, lambda part: None)


def test_killed_download(processes, repeats, chance, tmp_path):
    """SIGKILL at random moments; every next attempt asks only for what is still missing."""
    with serve() as server:
        server.content["/file"] = CONTENT
        url = f"{server.url}/file"
        for number in range(repeats):
            target = tmp_path / str(number) / "file"
            part = target.with_name(".file.part")
            for _ in range(3):
                server.cut["/file"] = [chance.randrange(100_000) for _ in range(3)]
                process = processes.Process(target=fetch, args=(url, target))
                process.start()
                while not part.exists() and process.is_alive():
                    time.sleep(0.001)
                process.join(chance.uniform(0, 0.5))
                process.kill()
                process.join()
                assert not target.exists() or target.read_bytes() == CONTENT
            server.cut["/file"] = []
            already = part.stat().st_size if part.exists() else 0
            server.asked.clear()
            fetch(url, target)
            assert server.asked == [("/file", f"bytes={already}-" if already else None)]
            assert target.read_bytes() == CONTENT
            assert [p.name for p in target.parent.iterdir()] == ["file"]
