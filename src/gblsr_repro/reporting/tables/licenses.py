"""Build the table of licenses and terms of data and code."""

from __future__ import annotations

from ...analysis.reader import Aggregates
from ...config import read_assets
from ..layout import DASH
from .sheet import Sheet, SheetColumn, SheetGroup, SheetRow


def build_licenses(source: Aggregates) -> list[Sheet]:
    """Build Table 18: licenses and terms of the data sets the config uses, and of code.

    Data sets stand in the order of their use, the native benchmark's first, as in the paper.
    """
    sections = source.config["native"]["data"], source.config["asr"]
    names = [name for s in sections for name in (*s["train"], *s["evaluate"].values())]
    sets = [source.datasets[name] for name in dict.fromkeys(names)]
    parts = {
        "*Data sets*": {row.title: (row.license, row.homepage) for row in sets},
        "*Code and architectures*": {row.title: (row.license, row.url) for row in read_assets()},
    }
    terms = {title: cells for part in parts.values() for title, cells in part.items()}
    columns = [
        SheetColumn("license", "License or terms of use", lambda title: terms[title][0], "p1.1"),
        SheetColumn("address", "URL", lambda title: _format_link(terms[title][1]), "p1.26"),
    ]
    groups = [
        SheetGroup([SheetRow((title,), title) for title in part], heading)
        for heading, part in parts.items()
    ]
    return [Sheet("licenses", "p0.64", ["Asset"], columns, groups)]


def _format_link(address: str) -> str:
    return f"<{address}>" if address.startswith("http") else address or DASH
