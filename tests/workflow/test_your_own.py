"""One class and one row make an arm, one row makes a data set: as docs/your-own.md says."""

import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from PIL import Image

pytestmark = pytest.mark.slow

OVERLAY = {
    "seeds": [0],
    "native": {
        "arms": ["gblsr_scalar", "flat"],
        "data": {"evaluate": {"mine": "my_photos", "set14": None, "urban100": None}},
        "training": {"steps": 4, "checkpoint_every": 2},
    },
}


def documented_class(checkout):
    """The class that the page tells a reader to write."""
    page = (checkout / "docs" / "your-own.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.S)[1]
    return "\n".join(line.removeprefix("   ") for line in code.splitlines())


def test_an_arm_and_a_data_set(checkout):
    (checkout / "src" / "my_arm.py").write_text(
        "import torch\nfrom torch import nn\n"
        "from gblsr_repro.models.decoders import COLORS, PatchDecoder\n"
        + documented_class(checkout)
    )
    names = ["flat", "my_arm:FlatDecoder", "", "Flat", "Flat"]
    arm = [*names, "baseline", "yes", "", "8", "One colour."]
    with (checkout / "config" / "arms.tsv").open("a") as table:
        table.write("\t".join(arm) + "\n")
    photos = ["my_photos", "My photos", "evaluate", "files", "", "mine/{a,b}.png", "2", "1000000"]
    with (checkout / "config" / "datasets.tsv").open("a") as table:
        table.write("\t".join([*photos, "", "mine", "", "", ""]) + "\n")
    folder = checkout / "resources" / "mine"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name in "ab":
        pixels = rng.integers(0, 256, (120, 130, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{name}.png")
    overlay = OVERLAY | {"native": OVERLAY["native"]}
    overlay["native"]["data"]["exemplars"] = {"mine": "a"}
    (checkout / "mine.yaml").write_text(yaml.safe_dump(overlay))

    snakemake = [sys.executable, "-m", "snakemake", "--cores", "2"]
    overlays = ["--configfile", "config/demo.yaml", "mine.yaml"]
    targets = ["main_mine", "main_kodak", "fairness", "per_dataset"]

    def make():
        done = subprocess.run(
            [*snakemake, *overlays, "--", *targets],
            cwd=checkout,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr[-4000:] + done.stdout[-2000:]

    make()
    tables = checkout / "results" / "demo" / "tables"
    main = (tables / "main_mine.tex").read_text()
    assert re.search(r"Flat & (\\textbf\{)?\d+\.\d{3}", main), main
    assert "GB-LSR-Scalar" in main
    assert "Flat" in (tables / "main_kodak.tex").read_text()
    assert r"28{,}931" in (tables / "fairness.tex").read_text()
    assert (checkout / "results" / "demo" / "figures" / "per_dataset.png").is_file()

    runs = checkout / "results" / "demo" / "native" / "runs"
    weights = [runs / arm / "seed0" / "weights.safetensors" for arm in ("gblsr_scalar", "flat")]
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in weights]
    code = checkout / "src" / "my_arm.py"
    code.write_text(code.read_text().replace("self.color(features)", "(2 * self.color(features))"))
    make()
    after = [(path.stat().st_mtime_ns, path.read_bytes()) for path in weights]
    assert after[0] == before[0]
    assert after[1][1] != before[1][1]
    assert (tables / "main_mine.tex").read_text() != main
