"""The pages for readers: their blocks of code, commands and links."""

from __future__ import annotations

import re
import shlex
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

FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
NAMED_FILE = re.compile(r"# ([\w/]+\.(?:py|yaml))")
ROWS = re.compile(r"^\| column of `(config/\w+\.tsv)` \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


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


def read_files(text: str) -> dict[str, str]:
    """Read the files that a page has its reader write: blocks whose first line names the file."""
    named = ((NAMED_FILE.fullmatch(block.lines[0]), block.text) for block in read_blocks(text))
    return {name[1]: content for name, content in named if name}


def read_rows(text: str) -> list[tuple[str, dict[str, str]]]:
    """Read the rows that a page has its reader add to tables of the config: the table, the cells.

    They stand in tables with a line for each column: its name, the cells of one or more rows, and
    what the column means.
    """
    rows = []
    for table, body in ROWS.findall(text):
        lines = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in body.splitlines()]
        names, *cells, _ = zip(*lines, strict=True)
        rows += [(table, dict(zip(names, row, strict=True))) for row in cells]
    return rows


def remove_blocks(text: str) -> str:
    """Remove the blocks of code of a page, but not their line ends."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def read_commands(text: str) -> list[list[str]]:
    """Read the words of the commands in the blocks of a page that are tagged `sh`, one a line."""
    lines = [line for b in read_blocks(text) if b.language == "sh" for line in b.lines]
    return [words for line in lines if (words := shlex.split(line, comments=True))]
