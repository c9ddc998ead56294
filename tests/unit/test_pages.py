"""Pages for readers, records included: what they link to and name is there."""

import re
from pathlib import Path

import pages
import pytest

FOLDERS = ("docs", "config", "benchmarks", "src", "tools", "results")
PAGES = [
    *pages.ROOT.glob("*.md"),
    *(page for name in FOLDERS for page in (pages.ROOT / name).rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
NAMED = re.compile(r"\[`([\w.]+)`\]\((\S+\.py)\)")


def read(page: Path) -> str:
    """The page without its blocks of code."""
    return pages.remove_blocks(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", read(page), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", PAGES, ids=pages.name)
def test_links_lead_somewhere(page: Path) -> None:
    for name, anchor in LINK.findall(read(page)):
        target = page.parent / name if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("page", pages.GUIDES, ids=pages.name)
def test_functions_and_classes_that_a_page_names_are_in_the_file_it_links(page: Path) -> None:
    for name, file in NAMED.findall(read(page)):
        *module, word = name.split(".")
        code = (page.parent / file).read_text(encoding="utf-8")
        assert not module or Path(file).stem == module[-1], name
        assert re.search(rf"^(def|class) {word}\b", code, re.M), name


def test_every_page_is_reached_from_the_readme() -> None:
    text = (pages.ROOT / "README.md").read_text(encoding="utf-8")
    linked = {name for name, _ in LINK.findall(text)}
    guides = {pages.name(page) for page in pages.GUIDES} - {"README.md"}
    assert guides <= linked
