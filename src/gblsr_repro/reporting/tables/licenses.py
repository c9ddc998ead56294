"""Build the table of licenses and terms of data and code."""

from __future__ import annotations

from ...analysis.reader import Aggregates
from ...config import read_assets
from ..layout import DASH, Row, Span, Table, View


def build_licenses(source: Aggregates, view: View) -> list[Table]:
    """Build Table 18: licenses and terms of the data sets the config uses, and of code.

    Data sets stand in the order of their use, the native benchmark's first, as in the paper.
    """
    sections = source.config["native"]["data"], source.config["asr"]
    names = [name for s in sections for name in (*s["train"], *s["evaluate"].values())]
    sets = []
    for name in dict.fromkeys(names):
        row = source.datasets[name]
        sets.append(Row(name, [row.title, row.license, _format_link(row.homepage)]))
    code = [
        Row(asset.title, [asset.title, asset.license, _format_link(asset.url)])
        for asset in read_assets()
    ]
    header = ["Asset", "License or terms of use", "URL"]
    groups = [
        [Row("", [Span("*Data sets*", 3, "l")]), *sets],
        [Row("", [Span("*Code and architectures*", 3, "l")]), *code],
    ]
    return [Table("licenses", ["p0.64", "p1.1", "p1.26"], [header], groups)]


def _format_link(address: str) -> str:
    return f"<{address}>" if address.startswith("http") else address or DASH
