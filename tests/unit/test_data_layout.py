"""The little language of the files column, and the table itself."""

import pytest

from gblsr_repro.config import datasets, load
from gblsr_repro.data.datasets import data_set, expand, find, matches
from gblsr_repro.data.sources import name_of

KINDS = {"archive", "files", "file", "package"}
ROLES = {"train", "evaluate", "weights"}


def test_braces_are_written_out():
    assert expand("a/{x,y}/b{08..10}.png") == [
        f"a/{folder}/b{number}.png" for folder in "xy" for number in ("08", "09", "10")
    ]
    assert expand("plain") == ["plain"]


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a/*/b.png", "a/c/b.png", True),
        ("a/*/b.png", "a/c/d/b.png", False),
        ("a/*.png", "a/.png", False),
        ("a/*.png", "a/xpng", False),
        ("a/{1..3}.png", "a/2.png", True),
        ("a/{1..3}.png", "a/4.png", False),
    ],
)
def test_matching(pattern, path, expected):
    assert matches(pattern, path) is expected


def test_finding_gives_files_in_name_order(tmp_path):
    for name in ("b/2.png", "b/1.png", "a/3.png", "a/note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a" / "folder.png").mkdir()
    assert find("*/*.png", tmp_path) == ["a/3.png", "b/1.png", "b/2.png"]
    assert find("b/{1..3}.png", tmp_path) == ["b/1.png", "b/2.png"]


@pytest.mark.parametrize("row", datasets().values(), ids=lambda row: row.dataset)
def test_row_is_sound(row):
    table = datasets()
    assert row.kind in KINDS
    assert row.role in ROLES
    assert row.license
    assert row.homepage.startswith("https://")
    assert row.stands_in_for in {"", *table}
    data = data_set(row.dataset, load())
    if row.images != "0" and "*" not in data.pattern:
        names = [name_of(path) for path in expand(data.pattern)]
        assert len(set(names)) == len(names) == int(row.images)
    if row.kind == "files":
        assert not row.url or "{path}" in row.url
        assert not row.url or "*" not in "".join(data.published)
    if row.kind in ("archive", "file"):
        algorithm, _, digest = row.checksum.partition(":")
        assert {"sha256": 64, "md5": 32}[algorithm] == len(digest)
    if row.kind != "package":
        assert int(row.bytes) > 0


def test_demo_trains_on_nothing_that_it_evaluates():
    table = datasets()
    used = {role: set() for role in ROLES}
    for row in (row for row in table.values() if row.kind == "package"):
        used[row.role].update(expand(data_set(row.dataset, load()).pattern))
    assert used["train"]
    assert used["evaluate"]
    assert not used["train"] & used["evaluate"]
    # the two views of the motorcycle are one scene
    assert not any("motorcycle" in name for name in used["train"])
    columns = [table[f"demo_{name}"] for name in ("kodak", "set14", "urban100")]
    shown = [path for row in columns for path in expand(data_set(row.dataset, load()).pattern)]
    assert len(set(shown)) == len(shown)
