"""The files column of config/datasets.tsv names what it says, and its rows are sound."""

import pytest

from gblsr_repro.config import load, read_datasets
from gblsr_repro.data.datasets import derive_image_name, locate_dataset
from gblsr_repro.data.patterns import expand_braces, find_files


def test_braces_are_written_out():
    assert expand_braces("a/{x,y}/b{08..10}.png") == [
        f"a/{folder}/b{number}.png" for folder in "xy" for number in ("08", "09", "10")
    ]
    assert expand_braces("plain") == ["plain"]


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a/*/b.png", "a/c/b.png", True),
        ("a/*/b.png", "a/c/d/b.png", False),
        ("a/*.png", "a/xpng", False),
        ("a/{1..3}.png", "a/2.png", True),
        ("a/{1..3}.png", "a/4.png", False),
        ("a/*.{jpg,JPG}", "a/x.JPG", True),
        ("a/*.jpg", "a/x.JPG", False),
        ("a/x[1].jpg", "a/x[1].jpg", True),
    ],
)
def test_matching(pattern, path, expected, tmp_path):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    assert find_files(pattern, tmp_path) == [path] * expected


@pytest.mark.parametrize("row", read_datasets().values(), ids=lambda row: row.dataset)
def test_row_is_sound(row):
    table = read_datasets()
    assert row.license
    assert row.homepage.startswith("https://")
    assert row.stands_in_for in {"", *table}
    data = locate_dataset(row.dataset, load())
    if "*" not in data.image_pattern:
        names = [derive_image_name(path) for path in expand_braces(data.image_pattern)]
        assert len(set(names)) == len(names) == row.images
    if row.kind == "files":
        assert all("{path}" in url for url in row.urls)
        assert not row.urls or "*" not in "".join(row.files)
    assert row.checksum or row.kind != "archive"
    assert row.bytes or row.kind == "package"


def test_demo_trains_on_nothing_that_it_evaluates():
    table = read_datasets()
    used = {role: set() for role in ("train", "evaluate")}
    for row in (row for row in table.values() if row.kind == "package"):
        used[row.role].update(expand_braces(locate_dataset(row.dataset, load()).image_pattern))
    assert all(used.values())
    assert not used["train"] & used["evaluate"]
