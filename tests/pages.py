"""The pages for readers: their blocks of code, commands and links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Those that say how the project is used; records and the cards of models are written by commands.
GUIDES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "config/README.md",
    ROOT / "benchmarks/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
MARKS = ("needs a GPU", "needs a network", "minutes", "hours")
"""What the comment on a command's line begins with where no test runs the whole command."""

FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PROGRAMS = ("snakemake ", "gblsr-repro ", "make ")


@dataclass(frozen=True)
class Block:
    """A block of code on a page: the number of its first line, its language, its lines."""

    line: int
    language: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class Command:
    """A command on a page: its words, the number of its line, and its mark or None."""

    line: int
    words: tuple[str, ...]
    mark: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {shlex.join(self.words)}"


def name(page: Path) -> str:
    """The path of a page from the top of the checkout."""
    return page.relative_to(ROOT).as_posix()


def read_blocks(text: str) -> list[Block]:
    """Read the blocks of code of a page, without the indentation of lists."""
    blocks = []
    for found in FENCE.finditer(text):
        indent, language, body = found.groups()
        lines = tuple(line.removeprefix(indent) for line in body.splitlines())
        blocks.append(Block(text.count("\n", 0, found.start()) + 2, language, lines))
    return blocks


def remove_blocks(text: str) -> str:
    """Remove the blocks of code of a page, but not their line ends."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def read_commands(text: str) -> list[Command]:
    """Read the commands in the blocks of a page that are tagged `sh`, one a line."""
    commands = []
    for block in read_blocks(text):
        if block.language != "sh":
            continue
        for number, line in enumerate(block.lines, block.line):
            words = tuple(shlex.split(line, comments=True))
            comment = line.partition(" # ")[2]
            mark = next((mark for mark in MARKS if comment.startswith(mark)), None)
            if words:
                commands.append(Command(number, words, mark))
    return commands


def read_mentions(text: str) -> Iterator[Command]:
    """Read the commands that the sentences of a page mention."""
    for number, line in enumerate(remove_blocks(text).splitlines(), 1):
        for span in SPAN.findall(line):
            if span.startswith(PROGRAMS):
                yield Command(number, tuple(shlex.split(span)))
