"""Render a record as a page: targets first, then a table for each group."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gblsr_repro.files import write_text

from .measure import MET, MISSED, QUARTILE_ROUNDS, TOO_FEW, UNMEASURED
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
        "piece; the others give the same image. `plain, tiled` is the plain path in pieces, on the "
        "CPU where one piece would take more than 5 GB: ratios to its memory are lower for it.",
    ),
    "training": (
        "Training",
        "Steps are forward, backward, the gradient norm (clipped where the recipe clips) and the "
        "optimiser, as the trainer takes them; those of super-resolution make their batch with the "
        "trainer's sampler, from random images. The native loop is the trainer's own, on a random "
        "array, held on the device where that is a GPU; starting the process, reading and checking "
        "the array and writing the weights are left out. Of decoders alone forward and backward. "
        "The allocator's two variants run in processes of their own.",
    ),
    "upscalers": (
        "Upscalers",
        "PSNR-Y of the trained model, of Pillow's Lanczos and of plain bicubic interpolation, as "
        "evaluation measures it, beside values that others published of their own networks. Times "
        "are those of enlarging and scoring all images once. The photograph is enlarged to 8 bits "
        "by the model and by untrained LIIF and LTE decoders on the same encoder.",
    ),
    "data": ("Data and evaluation", "Batches as training reads them, images as evaluation does."),
}
HEAD = (
    "Case", "Size", "Scale", "Variant", "Speedup", "of single rounds", "Memory saving",
    "Median ms", "Per second", "Peak MiB", "Target", "Met", "Rounds",
)  # fmt: skip


def write_page(record: Path, page: Path, plot: Path | None) -> None:
    """Write the page of a record (.csv), with its plot where there is one."""
    write_text(page, render_page(read_rows(record), plot and plot.name))


def render_page(rows: list[Row], plot: str | None) -> str:
    """Render the page of a record as Markdown, with the file name of its plot, if any."""
    parts = [f"# Benchmark of {rows[0]['date']} on {rows[0]['device']}", describe_conditions(rows)]
    parts.append(list_targets(rows))
    if plot:
        parts.append(f"![Time against image size]({plot})")
    for group, (title, text) in GROUPS.items():
        of_group = [row for row in rows if row["group"] == group]
        if not of_group:
            continue
        scored = any(row.get("psnr_y") for row in of_group)  # no older record has the column
        head = (*HEAD, "PSNR-Y (dB)") if scored else HEAD
        lines = [[*format_cells(row), *([format_psnr(row)] if scored else [])] for row in of_group]
        parts += [f"## {title}", text, format_table(head, lines)]
        notes = [f"- {format_label(row)}: {row['note']}." for row in of_group if row["note"]]
        parts += ["Not measured, or to be known:", "\n".join(notes)] if notes else []
    parts.append(
        "A speedup is the reference's time over the variant's: the median over rounds, in which "
        "the variants take turns; `of single rounds` are the quartiles. Times of fewer than "
        f"{QUARTILE_ROUNDS} rounds neither meet nor miss a target. Peak memory is "
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


def list_targets(rows: list[Row]) -> str:
    """List every target with the measured number, after a count of the outcomes."""
    lines, met = [], []
    for row in rows:
        for target, verdict in zip(split_list(row["target"]), split_list(row["met"]), strict=True):
            met.append(verdict)
            lines.append(
                (format_label(row), target, format_measured(row, target), format_verdict(verdict))
            )
    if not met:
        return "No target was set for what was measured."
    text = f"Targets: {met.count(MET)} met, {met.count(MISSED)} missed, "
    text += f"{met.count(TOO_FEW)} of too few rounds, {met.count(UNMEASURED)} not measured."
    lines.sort(key=lambda line: line[3] == MET)
    return text + "\n\n" + format_table(("Case", "Target", "Measured", "Met"), lines)


def format_verdict(verdict: str) -> str:
    """Format whether a target is met."""
    return {MISSED: "**no**", UNMEASURED: "not measured"}.get(verdict, verdict)


def format_measured(row: Row, target: str) -> str:
    """Format the measured value of the quantity that a target bounds."""
    quantity = target.rpartition(" ")[0].rpartition(" ")[0]
    column, inverse = {
        "speedup": ("ratio_to_reference", False),
        "time ratio": ("ratio_to_reference", True),
        "memory saving": ("memory_ratio", False),
        "memory ratio": ("memory_ratio", True),
        "ms": ("median_ms", False),
    }[quantity]
    if not row[column]:
        return "-"
    return format_number(str(1 / float(row[column])) if inverse else row[column])


def split_list(text: str) -> list[str]:
    """Split a cell that holds a list."""
    return text.split("; ") if text else []


def format_label(row: Row) -> str:
    """Format the case, the size and the variant of a row."""
    scale = f" x{row['scale']}" if row["scale"] else ""
    parts = [f"{row['case']} {row['size']}".strip() + scale, row["variant"]]
    return ", ".join(part for part in parts if part)


def format_cells(row: Row) -> list[str]:
    """Format the cells of a row below `HEAD`."""
    reference = row["variant"] and row["variant"] == row["reference"]
    spread = f"{format_number(row['ratio_p25'])} - {format_number(row['ratio_p75'])}"
    ratios = ["reference", "", ""] if reference else [
        format_number(row["ratio_to_reference"], "x"),
        spread if row["ratio_p25"] else "",
        format_number(row["memory_ratio"], "x"),
    ]  # fmt: skip
    numbers = [format_number(row[c]) for c in ("median_ms", "items_per_s", "peak_mib")]
    met = ", ".join(format_verdict(verdict) for verdict in split_list(row["met"]))
    place = [row["case"], row["size"], row["scale"], row["variant"]]
    return [*place, *ratios, *numbers, row["target"].replace("; ", ", "), met, row["repeats"]]


def format_psnr(row: Row) -> str:
    """Format the PSNR-Y of a row in dB; empty where there is none."""
    return f"{float(row['psnr_y']):.2f}" if row["psnr_y"] else ""


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
