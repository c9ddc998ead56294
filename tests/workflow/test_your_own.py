"""One class and one row make an arm, one row makes a data set: as docs/your-own.md says."""

import re

import made
import pytest
import yaml
from finished_run import OWN, documented
from PIL import Image
from planning import Planner

pytestmark = pytest.mark.slow

OVERLAY = {
    "results": "results/mine",
    "native": {
        "arms": ["gblsr_scalar", "flat"],
        "data": {
            "evaluate": {"mine": "my_photos", "kodak": None, "set14": None, "urban100": None},
            "exemplars": {"mine": "a"},
        },
        "training": {"steps": 4, "batch_size": 1, "checkpoint_every": 2},
    },
}
ARM = ["flat", "my_arm:FlatDecoder", "", "Flat", "Flat", "own", "yes", "", "8", "One color."]
PHOTOS = ["my_photos", "My photos", "evaluate", "files", "", "mine/{a,b}.png", "2", "1000000", "",
          "mine", "", "", ""]  # fmt: skip


def test_an_arm_and_a_data_set(checkout):
    """That it is trained again after an edit: test_reruns.py."""
    (checkout / "src" / "my_arm.py").write_text(OWN + documented(checkout, "docs/your-own.md"))
    for name, row in (("arms", ARM), ("datasets", PHOTOS)):
        with (checkout / "config" / f"{name}.tsv").open("a") as table:
            table.write("\t".join(row) + "\n")
    folder = checkout / "resources" / "mine"
    folder.mkdir(parents=True)
    for seed, name in enumerate("ab"):
        Image.fromarray(made.noise(120, 130, 3, seed=seed)).save(folder / f"{name}.png")
    (checkout / "mine.yaml").write_text(yaml.safe_dump(OVERLAY))

    planner = Planner(checkout)
    files = ["--configfile", "config/demo.yaml", "mine.yaml"]
    targets = ["main_mine", "fairness", "per_dataset"]
    done = planner.run("snakemake", "--cores", 2, *files, "--", *targets)
    planner.close()
    assert done.status == 0, done.said[-4000:]
    tables = checkout / "results" / "mine" / "tables"
    main = (tables / "main_mine.tex").read_text()
    assert re.search(r"Flat & (\\textbf\{)?\d+\.\d{3}", main), main
    assert "GB-LSR-Scalar" in main
    assert r"28{,}931" in (tables / "fairness.tex").read_text()
    assert (checkout / "results" / "mine" / "figures" / "per_dataset.png").is_file()
