"""Renew the tables of this project's README and docs/results.md: copies of the record's tables.

Run as `python -m gblsr_repro.record` in a checkout after `gblsr-repro record` wrote docs/record.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..config import find_repository_root
from ..errors import UserError
from ..files import write_text

QUOTING_PAGES = ("README.md", "docs/results.md")
RECORD_PAGE = "docs/record/README.md"
COPY = re.compile(r"<!-- from docs/record: (?P<title>.*?) -->\n.*?<!-- end -->", re.DOTALL)


def renew_tables(text: str, record: str) -> str:
    """Replace the marked tables of a page by those of the record page, found by their title.

    Raises `UserError` for a title that the record page does not have.
    """

    def renew(copy: re.Match[str]) -> str:
        title = copy["title"]
        table = extract_table(record, title)
        return f"<!-- from docs/record: {title} -->\n\n{table}\n\n<!-- end -->"

    return COPY.sub(renew, text)


def extract_table(record: str, title: str) -> str:
    """Extract the table of a section from the text of the record page. Raises `UserError`."""
    _, found, rest = record.partition(f"\n## {title}\n")
    if not found:
        raise UserError(f"{RECORD_PAGE} has no section {title!r}; mend the mark of the table.")
    lines = rest.partition("\n## ")[0].splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def renew_pages(root: Path) -> None:
    """Renew the tables of all pages of a checkout."""
    record = (root / RECORD_PAGE).read_text(encoding="utf-8")
    for name in QUOTING_PAGES:
        path = root / name
        write_text(path, renew_tables(path.read_text(encoding="utf-8"), record))


if __name__ == "__main__":
    renew_pages(find_repository_root())
