"""Commands and settings on the pages for readers: planned, parsed or taken, none is run."""

import re

import pages
import pytest
import your_own
from planning import run

from gblsr_repro.cli import build_parser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(clone, tmp_path_factory):
    """A copy of the project with what the pages take for given.

    A mirror, released weights, and what docs/your-own.md has its reader write.
    """
    folder = clone(tmp_path_factory.mktemp("pages") / "checkout")
    your_own.follow(folder)
    (folder / "data").mkdir()
    (folder / "weights.pth").touch()
    return folder


def without_environment(words):
    """The words of a command without the variables before them, and without `timeout` or python."""
    words = [word for word in words if not re.fullmatch(r"[A-Z_]+=\S*", word)]
    if words[0] == "timeout":
        words = words[2:]
    return words[words.index("-m") + 1 :] if words[0] == "python" else words


@pytest.mark.parametrize("page", pages.GUIDES, ids=pages.name)
def test_the_commands_of_a_page(page, copy):
    for words in pages.read_commands(page.read_text(encoding="utf-8")):
        program, *rest = without_environment(words)
        if program == "snakemake" and "--report" not in rest:  # which is of finished jobs
            run(copy, "snakemake", "--dry-run", *rest)
        elif program in ("gblsr-repro", "gblsr_repro"):
            build_parser().parse_args(rest)  # exits where it refuses them
        elif program == "make":
            assert f"\n{rest[0]}:" in (copy / "Makefile").read_text()


@pytest.mark.parametrize("page", pages.GUIDES, ids=pages.name)
def test_settings_on_a_page_are_taken(page, copy, tmp_path):
    for block in pages.read_blocks(page.read_text(encoding="utf-8")):
        if block.language == "yaml":
            overlay = tmp_path / f"{block.line}.yaml"
            overlay.write_text(block.text)
            run(copy, "gblsr_repro", "plan", "--config", overlay)
