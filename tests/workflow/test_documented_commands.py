"""Every command of Snakemake, gblsr-repro and make on a page for readers works.

A command without a mark is run. One with a mark (`# needs a GPU`, `# needs a network`, `# minutes`,
`# hours`) goes as far as it can without: Snakemake plans it, gblsr-repro parses it.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import made
import pages
import published_weights as published
import pytest
import yaml
import your_own
from PIL import Image
from planning import Planner

from gblsr_repro import config
from gblsr_repro.cli import build_parser

pytestmark = pytest.mark.slow

RUNS = {"gblsr_scalar": "results/native/runs", "gblsr_asr": "results/asr/runs"}
SMALL = config.merge(made.SMALL, {"seeds": [0], "native": {"criteria": {"parameter_band": 9}}})
# Stands in sentences for what the reader has in mind.
PLACEHOLDERS = {"TARGET": "main_kodak", "NAME": "kodak"}


class Checkout:
    """A copy of the project with small models and one seed, and what the pages take for given:

    photographs, trained runs, released weights, a mirror, what docs/your-own.md
    has its reader write.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: dict[tuple[str, ...], str] = {}
        settings = config.merge(config.load(), SMALL)
        settings["native"]["arms"].append("flat")
        settings["asr"]["methods"].append("blend_rdn")
        (folder / "config/config.yaml").write_text(yaml.safe_dump(settings))
        your_own.follow(folder)
        (folder / "data").mkdir()
        (folder / "photos").mkdir()
        for place in ("photo.jpg", "photos/a.jpg", "photos/b.jpg"):
            Image.fromarray(made.noise(210, 220, 3)).save(folder / place)
        for row, place in RUNS.items():
            made.run(folder / place / row / "seed0", row, settings, spread=0.1)
        theirs = published.weights("liif_rdn", settings).theirs
        published.write_checkpoint(folder / "weights.pth", "liif_rdn", theirs)
        self.planner = Planner(folder)

    def run(self, *words: str) -> str | None:
        """Run a command of Snakemake or gblsr-repro once; return what it said if it failed."""
        if words not in self.said:
            status, said = self.planner.run(*words)
            self.said[words] = said[-2000:] or f"exit status {status}" if status else ""
        return self.said[words] or None

    def plan(self, *words: str) -> str | None:
        """Plan a command of Snakemake; return what it said if it failed."""
        return self.run("snakemake", "--dry-run", *words)

    def call(self, *words: str) -> str | None:
        """Run a program in the checkout; return what it said if it failed."""
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        return done.stdout + done.stderr if done.returncode else None


@pytest.fixture(scope="module")
def checkout(
    clone: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Checkout]:
    ready = Checkout(clone(tmp_path_factory.mktemp("pages") / "checkout"))
    yield ready
    ready.planner.close()


# --- one command ----------------------------------------------------------------------------------


def fail_of_command(command: pages.Command, checkout: Checkout) -> str | None:
    """Check a command as far as it goes; return why it is wrong, if it is."""
    words = list(command.words)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        name = words.pop(0).partition("=")[0]
        sources = (p for top in ("src", "tests") for p in (checkout.folder / top).rglob("*.py"))
        if not any(f'"{name}"' in path.read_text() for path in sources):
            return f"nothing reads {name}"
    if words[0] == "timeout":
        words = words[2:]
    if words[0] == "python":
        words = words[words.index("-m") + 1 :]
    check = PROGRAMS.get(words[0])
    return check(words[1:], command.mark, checkout) if check else None


def fail_of_snakemake(words: list[str], mark: str | None, checkout: Checkout) -> str | None:
    return checkout.plan(*words) if mark else checkout.run("snakemake", *words)


def fail_of_gblsr(words: list[str], mark: str | None, checkout: Checkout) -> str | None:
    if not mark:
        return checkout.run("gblsr-repro", *words)
    try:
        options = build_parser().parse_args(words)
    except SystemExit:
        return "its arguments are refused"
    dataset = vars(options).get("dataset")
    if dataset and dataset not in config.read_datasets():
        return f"no data set {dataset}"
    return None


def fail_of_make(words: list[str], mark: str | None, checkout: Checkout) -> str | None:
    tested = (checkout.folder / ".ci/run").read_text()
    if not mark and f"make {' '.join(words)}\n" not in tested:
        return "it is not in .ci/run, which tests it"
    return checkout.call("make", "--dry-run", *words)


PROGRAMS: dict[str, Callable[[list[str], str | None, Checkout], str | None]] = {
    "snakemake": fail_of_snakemake,
    "gblsr-repro": fail_of_gblsr,
    "gblsr_repro": fail_of_gblsr,
    "make": fail_of_make,
}


def fail_of_mention(command: pages.Command, checkout: Checkout) -> str | None:
    """Check a command in a sentence: Snakemake plans it, of others the words and options exist."""
    program, *words = (PLACEHOLDERS.get(word, word) for word in command.words)
    if program == "snakemake":
        return checkout.plan(*words)
    if program == "make":
        return checkout.call("make", "--dry-run", *words)
    options = [word for word in words if word.startswith("--")]
    named = words[: words.index(options[0])] if options else words
    helped = io.StringIO()
    with contextlib.redirect_stdout(helped), contextlib.suppress(SystemExit):
        build_parser().parse_args([*named, "--help"])
    said = helped.getvalue()
    there = said and all(option in said for option in options)
    return None if there else "the command line has no such command or option"


# --- the pages ------------------------------------------------------------------------------------


def fails_of_page(text: str, checkout: Checkout) -> list[str]:
    """Check all commands of a page, in their order; return what is wrong."""
    fails = []
    for read, check in (
        (pages.read_commands, fail_of_command),
        (pages.read_mentions, fail_of_mention),
    ):
        for command in read(text):
            reason = check(command, checkout)
            if reason:
                fails.append(f"{command}\n{reason}")
    return fails


@pytest.mark.parametrize("page", pages.GUIDES, ids=pages.name)
def test_the_commands_of_a_page(page, checkout):
    fails = fails_of_page(page.read_text(encoding="utf-8"), checkout)
    assert not fails, "\n\n".join(fails)


@pytest.mark.parametrize("page", pages.GUIDES, ids=pages.name)
def test_settings_on_a_page_are_taken(page, checkout):
    for block in pages.read_blocks(page.read_text(encoding="utf-8")):
        place = f"{pages.name(page)}, line {block.line}"
        if block.language == "yaml":
            overlay = f"{page.stem}_{block.line}.yaml"
            (checkout.folder / overlay).write_text(block.text)
            assert checkout.run("gblsr-repro", "plan", "--config", overlay) is None, place
