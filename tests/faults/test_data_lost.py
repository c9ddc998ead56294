"""Sources that vanish, stall or are odd between the steps that use them."""

import shutil
import time

import numpy as np
import pytest
from data_server import serve
from PIL import Image

from gblsr_repro import cli, config
from gblsr_repro.config import Dataset
from gblsr_repro.data import datasets as located
from gblsr_repro.data.arrays import Arrays
from gblsr_repro.data.download import download, new_session

PHOTOGRAPHS = {
    "one_pixel": Image.new("RGB", (1, 1), (10, 20, 30)),
    "a_line": Image.new("RGB", (200, 1), (10, 20, 30)),
    "sixteen_bits": Image.fromarray(np.full((40, 50), 40_000, np.uint16)),
    "palette": Image.new("RGB", (40, 50), (250, 3, 7)).quantize(4),
    "grey": Image.new("L", (90, 80), 100),
    "bilevel": Image.new("1", (90, 80), 1),
    "transparent": Image.new("RGBA", (70, 80), (1, 2, 3, 0)),
    "cmyk": Image.new("CMYK", (70, 80), (255, 0, 0, 0)),
}
FIRST_PIXEL = {
    "one_pixel": (10, 20, 30),
    "a_line": (10, 20, 30),
    "sixteen_bits": (156, 156, 156),
    "palette": (250, 3, 7),
    "grey": (100, 100, 100),
    "bilevel": (255, 255, 255),
    "transparent": (255, 255, 255),
}


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror of one data set of odd photographs, and the config that names it."""
    folder = tmp_path / "mirror" / "odd"
    folder.mkdir(parents=True)
    for name, image in PHOTOGRAPHS.items():
        ending = "jpg" if image.mode == "CMYK" else "png"
        image.save(folder / f"{name}.{ending}", quality=100)
    row = dict.fromkeys(Dataset.__dataclass_fields__, "")
    row |= {"dataset": "odd", "title": "Odd", "kind": "files", "bytes": "1000000"}
    row |= {"files": "odd/*.*", "images": str(len(PHOTOGRAPHS))}
    monkeypatch.setattr(located, "datasets", lambda: {"odd": Dataset(**row)})
    settings = config.load()
    settings["native"]["data"] |= {"image_size": 32, "evaluate": {"kodak": "odd"}}
    settings |= {"resources": str(tmp_path / "resources"), "mirror": str(tmp_path / "mirror")}
    config.write_resolved(settings, tmp_path / "config.yaml")
    return tmp_path / "mirror"


def command(tmp_path, *words):
    return cli.main([words[0], *words[1:], "--config", str(tmp_path / "config.yaml")])


def test_odd_photographs_become_an_array(mirror, tmp_path):
    output = tmp_path / "kodak.npy"
    assert command(tmp_path, "fetch", "odd") == 0
    assert command(tmp_path, "native", "standardize", "kodak", "--output", str(output)) == 0
    arrays = Arrays.open(output)
    first = dict(zip(arrays.names, (tuple(image[0, 0]) for image in arrays.images), strict=True))
    assert arrays.images.shape == (len(PHOTOGRAPHS), 32, 32, 3)
    assert {name: first[name] for name in FIRST_PIXEL} == FIRST_PIXEL


@pytest.mark.parametrize("lost", ["mirror", "mirror/odd", "mirror/odd/grey.png"])
def test_lost_between_fetch_and_standardize(mirror, tmp_path, capsys, lost):
    """As when a network folder is no longer mounted; when it is back, the same command works."""
    assert command(tmp_path, "fetch", "odd") == 0
    (tmp_path / lost).rename(tmp_path / "away")
    if lost == "mirror":
        (tmp_path / lost).mkdir()  # an empty mount point
    capsys.readouterr()
    output = tmp_path / "kodak.npy"
    assert command(tmp_path, "native", "standardize", "kodak", "--output", str(output)) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert "is missing; put it there." in said
    assert not output.exists()
    if lost == "mirror":
        (tmp_path / lost).rmdir()
    (tmp_path / "away").rename(tmp_path / lost)
    assert command(tmp_path, "native", "standardize", "kodak", "--output", str(output)) == 0


def test_lost_while_standardizing(mirror, tmp_path, capsys, monkeypatch):
    from gblsr_repro.data import standardize

    assert command(tmp_path, "fetch", "odd") == 0
    crop = standardize.center_crop

    def lose(pixels, size):
        shutil.rmtree(mirror / "odd", ignore_errors=True)
        return crop(pixels, size)

    monkeypatch.setattr(standardize, "center_crop", lose)
    capsys.readouterr()
    output = tmp_path / "out" / "kodak.npy"
    assert command(tmp_path, "native", "standardize", "kodak", "--output", str(output)) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("gblsr-repro: ")
    assert str(mirror / "odd") in said
    assert list((tmp_path / "out").iterdir()) == []


# --- a download that is killed --------------------------------------------------------------------

CONTENT = np.random.default_rng(0).bytes(2_000_000)


def fetch(url, target):
    session = new_session()
    session.trust_env = False  # this machine is reached without a proxy
    download(session, url, target, 10**7, lambda part: None)


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
