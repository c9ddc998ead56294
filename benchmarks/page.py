"""Render a record as a page: a table for each group."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gblsr_repro.files import write_text

from .record import read_rows

Row = dict[str, str]

GROUPS = {
    "native": (
        "Native benchmark",
        "Batch 1, random weights. `plain` renders by the defining sum or query by query, `fast` is "
        "the model's own call.",
    ),
    "rendering": (
        "Super-resolution rendering",
        "Size is that of the low-resolution input. `plain` answers every pixel by itself, in one "
        "piece; the others give the same image.",
    ),
    "training": (
        "Training",
        "Steps are forward, backward, the gradient norm (clipped where the recipe clips) and the "
        "optimizer, as the trainer takes them; those of super-resolution make their batch with the "
        "trainer's sampler, from random images. The native loop is the trainer's own, on a random "
        "array, held on the device where that is a GPU; starting the process, reading and checking "
        "the array and writing the weights are left out. Of decoders alone forward and backward. "
        "The allocator's two variants run in processes of their own.",
    ),
    "upscalers": (
        "Upscalers",
        "A photograph is enlarged to 8 bits by the bundled model and by untrained LIIF "
        "and LTE decoders on the same encoder.",
    ),
    "data": ("Data and evaluation", "Batches as training reads them, images as evaluation does."),
}
HEAD = (
    "Case", "Size", "Scale", "Variant", "Speedup", "of single rounds", "Memory saving",
    "Median ms", "Per second", "Peak MiB", "Rounds",
)  # fmt: skip


def write_page(record: Path, page: Path) -> None:
    """Write the page of a record (.csv)."""
    write_text(page, render_page(read_rows(record)))


def render_page(rows: list[Row]) -> str:
    """Render the page of a record as Markdown."""
    parts = [f"# Benchmark of {rows[0]['date']} on {rows[0]['device']}", describe_conditions(rows)]
    for group, (title, text) in GROUPS.items():
        of_group = [row for row in rows if row["group"] == group]
        if of_group:
            parts += [f"## {title}", text, format_table(HEAD, map(format_cells, of_group))]
    notes = [
        f"- {row['case']} {row['size']}, {row['variant']}: {row['note']}."
        for row in rows
        if row["note"]
    ]
    parts += ["To be known:", "\n".join(notes)] if notes else []
    parts.append(
        "A speedup is the reference's time over the variant's: the median over rounds, in which "
        "the variants take turns; `of single rounds` are the quartiles. Peak memory is "
        "that of torch's tensors during one call, beyond what was held before (2^20 bytes); on "
        "the CPU the scratch memory of libraries is not seen."
    )
    return "\n\n".join(parts) + "\n"


def describe_conditions(rows: list[Row]) -> str:
    """Describe the device, the versions and what else kept the machine busy."""
    first = rows[0]
    text = f"{first['device']}, CPU threads: {first['threads']}, torch {first['torch']}"
    # Groups measured by later runs with --only may be of another commit.
    commits = dict.fromkeys(row["commit"] for row in rows if row["commit"])
    text += f", commit {' and '.join(commits)}." if commits else "."
    busy = [float(row["busy_elsewhere"]) for row in rows if row["busy_elsewhere"]]
    if busy:
        text += (
            f" Other processes kept {min(busy):.1f} to {max(busy):.1f} CPU cores busy meanwhile "
            f"(mean {sum(busy) / len(busy):.1f})"
        )
        text += ": the machine was shared." if sum(busy) / len(busy) > 0.1 else "."
    differences = [float(row["difference"]) for row in rows if row["difference"]]
    if differences:
        text += (
            " Where variants compute the same, they differed by at most "
            f"{max(differences):.0e} of the reference's largest value."
        )
    if first["gpu_shared"] == "yes":
        text += " Other processes used the GPU."
    return text


def format_cells(row: Row) -> list[str]:
    """Format the cells of a row below `HEAD`."""
    spread = f"{format_number(row['ratio_p25'])} - {format_number(row['ratio_p75'])}"
    ratios = [format_number(row["ratio_to_reference"], "x"), spread]
    ratios.append(format_number(row["memory_ratio"], "x"))
    if row["variant"] == row["reference"]:
        ratios = ["reference", "", ""]
    numbers = [format_number(row[c]) for c in ("median_ms", "items_per_s", "peak_mib")]
    place = [row["case"], row["size"], row["scale"], row["variant"]]
    return [*place, *ratios, *numbers, row["repeats"]]


def format_number(text: str, unit: str = "") -> str:
    """Format a number with three significant digits; empty text stays empty."""
    if not text:
        return ""
    x = float(text)
    digits = 0 if abs(x) >= 100 else 1 if abs(x) >= 10 else 2 if abs(x) >= 1 else 3
    return f"{x:.{digits}f}{unit}" if abs(x) >= 1e-3 or x == 0 else f"{x:.1e}{unit}"


def format_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Format a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
