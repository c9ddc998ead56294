"""Values that no run can have are refused in one sentence, before anything is made."""

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.config import Arm, Dataset, Item, Method, load, read_items, read_table, read_yaml
from gblsr_repro.config.checks import PROJECT_FOLDERS
from gblsr_repro.errors import UserError
from gblsr_repro.reporting.figures import style
from gblsr_repro.reporting.items import build_item
from gblsr_repro.weights import read_weights

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"asr": {"scales": [1, 2, 3, 4]}}, "asr.scales.0 is 1, but must be more than 1."),
        (
            {"claims": {"seed_noise_sigmas": 9}},
            "claims.seed_noise_sigmas is 9, but must be at most 8.",
        ),
        ({"seeds": [2**32]}, "seeds.0 is 4294967296, but must be at most 4294967295."),
        ({"results": "-rf"}, "results is '-rf', but must be a name without"),
        ({"results": "~/x"}, "results is '~/x', but must be a name without"),
        ({"results": "."}, "results is '.', but must be a folder below"),
        ({"results": "../outside"}, "results is '../outside', but must be a folder below"),
        ({"results": "src"}, "results is 'src', a folder of the project itself"),
        ({"results": "README.md"}, "results is 'README.md', which is a file"),
        ({"threads": 10**6}, "threads is 1000000, but must be at most 1024"),
        ({"native": {"model": {"modes": 10**9}}}, "native.model.modes is 1000000000, but must be"),
        ({"asr": {"model": {"modes": 10**9}}}, "asr.model.modes is 1000000000, but must be"),
    ],
)
def test_a_setting_that_no_run_can_have(overlay, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    path = tmp_path / "overlay.yaml"
    path.write_text(yaml.safe_dump(overlay))
    with pytest.raises(UserError, match=re.escape(sentence)):
        load(["config/config.yaml", path])


def test_resources_may_lie_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    path = tmp_path / "overlay.yaml"
    path.write_text("resources: ~/images\n")
    loaded = load([ROOT / "config/config.yaml", path])
    assert loaded["resources"] == "/home/someone/images"


def test_no_folder_of_the_project_can_hold_results():
    there = {path.name for path in ROOT.iterdir() if path.is_dir()}
    assert {"src", "config", "tests", "workflow"} <= there & {*PROJECT_FOLDERS}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"native:\n  x: 1\n  x: 2\n", "line 3, column 3: the key 'x' comes twice"),
        ("a: caf\u00e9\n".encode("latin-1"), "cannot be read"),
    ],
)
def test_an_overlay_that_is_not_what_it_seems(content, sentence, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(sentence)):
        read_yaml(path)


def edited(row: type, name: str, column: str, value: str) -> str:
    """A table of the project, with another value in a column of its first row."""
    head, first, *rest = (ROOT / "config" / f"{name}.tsv").read_text().split("\n")
    cells = first.split("\t")
    cells[[field.name for field in fields(row)].index(column)] = value
    return "\n".join([head, "\t".join(cells), *rest])


@pytest.mark.parametrize(
    ("row", "name", "column", "sentence"),
    [
        (Arm, "arms", "benchmark", "line 2: benchmark is 'perhaps'; use one of yes, no."),
        (Arm, "arms", "group", "line 2: group is 'perhaps'; use one of family, control"),
        (Method, "methods", "group", "line 2: group is 'perhaps'; use one of baseline, base"),
        (Dataset, "datasets", "kind", "line 2: kind is 'perhaps'; use one of archive, files"),
        (Item, "items", "kind", "line 2: kind is 'perhaps'; use one of table, figure."),
    ],
)
def test_a_word_that_a_table_does_not_know(row, name, column, sentence, tmp_path):
    path = tmp_path / f"{name}.tsv"
    path.write_text(edited(row, name, column, "perhaps"))
    with pytest.raises(UserError, match=re.escape(sentence)):
        read_table(path, row, name.removesuffix("s"))


def test_an_item_whose_maker_does_not_exist():
    item = replace(read_items()["winners"], maker="tables.native:build_winer")
    with pytest.raises(UserError, match=r"maker of 'winners' is '.*build_winer'"):
        build_item(item, Aggregates(Path(), load()))


def test_a_table_with_a_byte_order_mark_is_read_and_one_in_latin_1_is_not(tmp_path):
    text = edited(Arm, "arms", "name", "Caf\u00e9")
    path = tmp_path / "arms.tsv"
    path.write_text(text, encoding="utf-8-sig")
    assert "Caf\u00e9" in {arm.name for arm in read_table(path, Arm, "arm").values()}
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        read_table(path, Arm, "arm")


def test_a_run_record_that_is_none(tmp_path):
    (tmp_path / "weights.safetensors").write_bytes(b"")
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(UserError, match=r"run\.json is not the record of a run"):
        read_weights(tmp_path)


def test_a_color_that_is_none(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    text = (ROOT / "config" / "looks.tsv").read_text()
    (tmp_path / "config" / "looks.tsv").write_text(text.replace("#0072B2", "blurple", 1))
    monkeypatch.setattr(style, "find_repository_root", lambda: tmp_path)
    with pytest.raises(UserError, match="'blurple', not one of matplotlib"):
        style.read_looks(Aggregates(tmp_path, load()))
