"""The rows that the paper prints, in the columns of the measured tables.

Published numbers that are aggregates go through the table's own maker. These here the paper
prints without what they are computed from, such as speed ratios over a set whose times it does
not list. Each function returns the floats of a measured table with the published rows instead; a
row or cell that the paper lacks is absent or a dash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..config import protocol
from .layout import DASH, Float, Line, Table
from .markup import plain
from .published import folder
from .source import Source
from .table_cost import clock, groups_of
from .tidy import Row, read_rows, scale_key

Cells = Sequence[str]

REMARKS = re.compile(r" \((?:base|main|F1 anchor)\)$")
GROUPS_SHOWN = "The paper's total is that of the groups shown, without its reruns and pilots"
NOTES = {
    "compute_native": f"{GROUPS_SHOWN}; its log-space ablation is of three arms",
    "compute_asr": GROUPS_SHOWN,
}


def winners(source: Source, measured: Table) -> list[Float]:
    """Table 4."""
    published = {row["dataset"].lower(): row for row in _rows("winners", "dataset")}
    rows = {}
    for column in source.evaluate:
        if column in published:
            row = published[column]
            # The paper sets a gap in bold where the main arm is ahead.
            psnr, lpips = row["delta_psnr"], row["delta_lpips"]
            rows[source.title("native", column)] = [
                *(_typeset(row[f"best_psnr_{among}"]) for among in ("any", "baseline")),
                _strong(psnr, psnr.startswith("+")),
                *(_typeset(row[f"best_lpips_{among}"]) for among in ("any", "baseline")),
                _strong(lpips, lpips.startswith("-")),
            ]
    return _instead(measured, rows)


def fairness(source: Source, measured: Table) -> list[Float]:
    """Table 8; the notes stay ours."""
    rows = {
        _name(row["arm"]): [f"{int(row['params']):,}", _typeset(row["ratio"]), ""]
        for row in _rows("params", "arm")
    }
    return _instead(measured, rows)


def locality(source: Source, measured: Table) -> list[Float]:
    """Table 9."""
    columns = ("tests_met", "psnr", "delta_psnr", "delta_lpips", "criteria")
    rows = {row["arm"]: [_typeset(row[c]) for c in columns] for row in _rows("ablation", "arm")}
    return _instead(measured, rows)


def asr_latency(source: Source, measured: Table) -> list[Float]:
    """Table 6; the columns follow the timed sets and baselines of the config."""
    timing = source.config["asr"]["timing"]
    shown = list(dict.fromkeys((timing["datasets"][0], timing["datasets"][-1])))
    place = [f"{dataset}_x{scale_key(timing['scale'])}" for dataset in shown]
    columns = [f"{kind}_{where}" for kind in ("psnr_y", "ms") for where in place]
    keys = {f"vs {method.name}": name for name, method in source.methods.items()}
    references = measured.floats[0].header[-1][1 + len(columns) :]
    if _timed_as_published(source):
        columns += [f"speed_vs_{keys[str(heading)]}" for heading in references]
    else:
        columns += [""] * len(references)
    rows = {
        _name(row["method"]): [_typeset(row.get(column, DASH)) for column in columns]
        for row in _rows("asr_latency", "method")
    }
    return _instead(measured, rows)


def asr_pareto(source: Source, measured: Table) -> list[Float]:
    """Tables 7 and 12."""
    quality = ("params_m", "delta_psnr_y_id", "delta_psnr_y_ood", "worst_cell_delta")
    efficiency = ("mean_speedup", "urban100_peak_mb", "mean_memory_reduction")
    known = _timed_as_published(source)
    rows = {
        _name(row["variant"]): [
            *(_typeset(row[column]) for column in quality),
            *(_typeset(row[column]) if known else DASH for column in efficiency),
        ]
        for row in _rows("asr_pareto", "variant")
        if row["table"] == measured.name
    }
    return _instead(measured, rows)


def compute(source: Source, measured: Table) -> list[Float]:
    """Tables 16 and 17: the groups of runs that are measured here too."""
    half = measured.name.removeprefix("compute_")
    groups = groups_of(source, half)
    published = [row for row in _rows("compute", "benchmark") if row["benchmark"] == half]
    body, bottom = measured.floats[0].groups
    chosen: list[Row] = []
    lines: list[Line] = []
    for line in body:
        members = next(m for title, m in groups.items() if str(line[0]).startswith(f"{title} ("))
        row = next((r for r in published if set(r["subjects"].split()) <= set(members)), None)
        if row is not None:
            chosen.append(row)
            lines.append([line[0], row["runs"], _span(row), clock(float(row["total_seconds"]))])
    total = sum(float(row["total_seconds"]) for row in chosen)
    runs = sum(int(row["runs"]) for row in chosen)
    last = [[bottom[0][0], f"**{runs}**", "", f"**{clock(total)}**"]] if chosen else []
    return [replace(measured.floats[0], groups=[lines, last])]


def _span(row: Row) -> str:
    return "–".join(clock(float(row[f"{which}_seconds"])) for which in ("shortest", "longest"))


def _timed_as_published(source: Source) -> bool:
    """Say whether the config times the sets, at the scale, that the paper's means are over."""
    own, paper = source.config["asr"]["timing"], protocol()["asr"]["timing"]
    return all(own[key] == paper[key] for key in ("datasets", "scale"))


def _rows(name: str, key: str) -> list[Row]:
    return read_rows(folder() / f"{name}.csv", (key,))


def _name(label: str) -> str:
    """Return the name of an arm or method without marks and without what it is here."""
    return REMARKS.sub("", plain(label))


def _typeset(text: str) -> str:
    """Return a number with the signs that tables print."""
    text = text.replace(r"\approx", "≈").replace("-", "−")
    return re.sub(r"x$", "×", text)


def _strong(text: str, strong: bool) -> str:
    return f"**{_typeset(text)}**" if strong else _typeset(text)


def _instead(measured: Table, rows: Mapping[str, Cells]) -> list[Float]:
    """Return the floats with the published cells of every row whose name `rows` has."""
    return [
        replace(part, groups=[_known(group, rows) for group in part.groups])
        for part in measured.floats
    ]


def _known(group: Sequence[Line], rows: Mapping[str, Cells]) -> list[Line]:
    names = {_name(str(line[0])): line[0] for line in group}
    return [[label, *rows[name]] for name, label in names.items() if name in rows]
