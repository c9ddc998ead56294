"""Find the weights that come along with the package; make such a file of a trained run.

A bundled file is a weights file like any other, with its larger tensors in half precision. What
its record says beyond a run's is what one has to know of a model that somebody else trained:
the row of its table (no checkout is needed to build it), steps, training images, quality, commit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from statistics import fmean

from .config import RELEASED
from .errors import UserError
from .files import read_csv, read_json, write_bytes, write_text
from .progress import log
from .runs import kind_of
from .weights import metadata, read_weights, serialized

LIMIT = 4_000_000  # bytes of a file
# Columns of the metrics that are told, with their names and units; the first is the one in short.
MEASURES = {
    "native": {"psnr": "PSNR (dB)", "ssim": "SSIM", "lpips": "LPIPS"},
    "asr": {"psnr_y": "PSNR-Y (dB)", "ssim_y": "SSIM-Y"},
}
TOLD = 3  # measurements in one line
# What the quality in a file was measured on, unless its record says otherwise.
MEASURED_ON = "the run's weights, before they were rounded to half precision"
VALIDATION = "validation"  # rows on training images' neighbors: no measure of quality


def find_bundled_model(kind: str) -> Path:
    """Return the weights file of a kind, "native" or "asr"; `UserError` when none comes along."""
    path = Path(str(resources.files("gblsr_repro.models") / "bundled" / f"{kind}.safetensors"))
    if not path.is_file():
        raise UserError(
            f"No {kind} weights come with this version yet; name a trained run's folder or a "
            "weights file with --model."
        )
    return path


def describe_model(path: Path | str) -> str:
    """Return in one line which model a bundled file holds and how good it was measured to be.

    Of many measurements those on the smallest set stand for all; the card has every one.
    """
    record, _ = read_weights(path)
    kind, measured = kind_of(record), record["quality"]
    column, name = next(iter(MEASURES[kind.benchmark].items()))
    fewest = min(means["images"] for means in measured.values())
    quality = ", ".join(
        f"{data.replace('_', ' ')} {means[column]:.2f}"
        for data, means in measured.items()
        if len(measured) <= TOLD or means["images"] == fewest
    )
    return (
        f"{record[kind.subject]}, {record['steps']:,} steps on {record['trained_on']}, commit "
        f"{record['commit'][:12]}; {name}: {quality}"
    )


def bundle(run_dir: Path | str, metrics: Path | str, trained_on: str, output: Path | str) -> None:
    """Write the weights of a run to `output` (.safetensors) in half precision, and a card (.md).

    `metrics` is the folder of rows that evaluation wrote of this very run; `trained_on` says in
    words which images it was trained on. Tensors with two axes or more are rounded, the others
    (biases, norms, bandwidths) stay as they are. Raises `UserError` when the run was not measured,
    its code is not known, or the file would take more than `LIMIT` bytes.
    """
    run_dir, output = Path(run_dir), Path(output)
    trained, weights = read_weights(run_dir)
    kind = kind_of(trained)
    if RELEASED in trained:
        raise UserError(
            f"{run_dir} holds weights by {trained[RELEASED]['by']}, which are not bundled; name a "
            "run that was trained here."
        )
    if output.suffix != ".safetensors":
        raise UserError(f"{output} must end in .safetensors.")
    commit = trained.get("git", {}).get("commit")
    if not commit or "steps" not in trained:
        raise UserError(f"{run_dir} does not record steps and commit; train it from a checkout.")
    facts = {
        "row": asdict(kind.row(trained[kind.subject])),
        "steps": trained["steps"],
        "trained_on": trained_on,
        "commit": commit + ("+" if trained["git"].get("modified") else ""),
        "quality": _read_quality(
            Path(metrics), MEASURES[kind.benchmark], trained["weights_sha256"]
        ),
        "run_sha256": trained["weights_sha256"],
    }
    large = {name for name, t in weights.items() if t.is_floating_point() and t.ndim > 1}
    tensors = {name: t.half() if name in large else t for name, t in weights.items()}
    content = serialized(tensors, metadata(trained, tensors, facts))
    if len(content) > LIMIT:
        raise UserError(
            f"{run_dir} takes {len(content) / 1e6:.1f} MB in half precision, more than the "
            f"{LIMIT / 1e6:g} MB of a bundled file; train a smaller model."
        )
    write_bytes(output, content)
    write_text(output.with_suffix(".md"), format_card(output))
    log.info("%s: %s", output, describe_model(output))


def format_card(path: Path | str) -> str:
    """Return the page of a bundled file, from what the file says of itself."""
    record, tensors = read_weights(path)
    kind = kind_of(record)
    measures = MEASURES[kind.benchmark]
    lines = [
        f"# {Path(path).name}: {record[kind.subject]}",
        "",
        f"- trained for {record['steps']:,} steps on {record['trained_on']}, seed {record['seed']}",
        f"- {sum(t.numel() for t in tensors.values()):,} values, those of matrices and kernels in "
        "half precision",
        f"- code: commit {record['commit']}; weights of the run: SHA-256 {record['run_sha256']}",
        "",
        f"Measured on {record.get('measured_on', MEASURED_ON)}:",
        "",
        "| Data | Images | " + " | ".join(measures.values()) + " |",
        "| --- " * (2 + len(measures)) + "|",
    ]
    for data, means in record["quality"].items():
        cells = [data.replace("_", " "), str(means["images"])]
        cells += [
            f"{means[c]:.{2 if 'dB' in measures[c] else 4}f}" if c in means else "-"
            for c in measures
        ]
        lines.append("| " + " | ".join(cells) + " |")
    settings = ", ".join(f"{k} {v}" for k, v in record["config"]["model"].items())
    return "\n".join([*lines, "", f"Settings: {settings}.", ""])


def _read_quality(
    metrics: Path, measures: Mapping[str, str], weights_sha256: str
) -> dict[str, dict[str, float]]:
    """Return the means of every data set that a folder of metrics holds of these weights."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(metrics.glob("*.csv")):
        if path.stem == VALIDATION:
            continue
        if read_json(path.with_suffix(".json")).get("weights_sha256") != weights_sha256:
            raise UserError(f"{path} was measured on other weights; evaluate this run first.")
        rows = read_csv(path)
        means = {
            column: fmean(float(row[column]) for row in rows)
            for column in measures
            if rows and all(row.get(column) for row in rows)
        }
        if next(iter(measures)) not in means or not all(map(math.isfinite, means.values())):
            raise UserError(f"{path} holds no quality of images; evaluate this run again.")
        found[path.stem] = {"images": len(rows), **means}
    if not found:
        raise UserError(f"{metrics} holds no measured rows; evaluate the run first.")
    return found
