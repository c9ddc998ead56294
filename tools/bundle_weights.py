"""Make the small weights file, and its card, that are bundled with the package, from a trained run.

From the checkout: python tools/bundle_weights.py RUN --metrics DIR --trained-on TEXT --output FILE
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import safetensors.torch

from gblsr_repro.analysis.metrics import SUPERRES, list_shown
from gblsr_repro.bundled import describe_model
from gblsr_repro.config import locate_row
from gblsr_repro.errors import UserError
from gblsr_repro.files import read_csv, write_bytes, write_text
from gblsr_repro.metadata import read_metadata
from gblsr_repro.reporting.layout import format_number
from gblsr_repro.reporting.page import PageSection, build_simple_table, render_markdown
from gblsr_repro.runs import find_row_of_run
from gblsr_repro.weights import build_metadata, read_weights
from gblsr_repro.wording import format_commit

# Columns of the metrics that a card shows, with their names and units.
MEASURES = {
    "native": {metric.name: metric.heading for metric in list_shown("record")},
    "asr": {metric.name: metric.heading for metric in SUPERRES},
}
# What the quality in a file was measured on, unless its record says otherwise.
MEASURED_ON = "the run's weights, before they were rounded to half precision"
VALIDATION = "validation"  # rows on training images' neighbors: no measure of quality


def bundle(run_dir: Path | str, metrics: Path | str, trained_on: str, output: Path | str) -> None:
    """Write the weights of a run to `output` (.safetensors) in half precision, and a card (.md).

    `metrics` is the folder of rows that evaluation wrote of this very run; `trained_on` says in
    words which images it was trained on. Tensors with two axes or more are rounded, the others
    (biases, norms, bandwidths) stay as they are. Raises `UserError` when the run was not trained
    here or not measured, its code is not known, or `output` ends otherwise.
    """
    if Path(output).suffix != ".safetensors":
        raise UserError(f"{output} must end in .safetensors.")
    trained, weights = read_weights(run_dir)
    row = find_row_of_run(trained)
    commit = format_commit(trained.get("git", {}))
    if not commit or "steps" not in trained:
        raise UserError(f"{run_dir} does not record steps and commit; train it from a checkout.")
    sha256 = trained["weights_sha256"]
    facts = {
        "row": row.model_dump(mode="json"),
        "steps": trained["steps"],
        "trained_on": trained_on,
        "commit": commit,
        "quality": _read_quality(Path(metrics), MEASURES[locate_row(row)[0]], sha256),
        "run_sha256": sha256,
    }
    large = {name for name, t in weights.items() if t.is_floating_point() and t.ndim > 1}
    tensors = {name: t.half() if name in large else t for name, t in weights.items()}
    write_bytes(output, safetensors.torch.save(tensors, build_metadata(trained, tensors, facts)))
    write_text(Path(output).with_suffix(".md"), format_card(output))
    print(f"{output}: {describe_model(output)}")


def format_card(path: Path | str) -> str:
    """Return the page of a bundled file, from what the file says of itself."""
    record, tensors = read_weights(path)
    benchmark, _, row = locate_row(find_row_of_run(record))
    measures = MEASURES[benchmark]
    text = (
        f"Trained for {record['steps']:,} steps on {record['trained_on']}, seed {record['seed']}. "
        f"{sum(t.numel() for t in tensors.values()):,} values, those of matrices and kernels in "
        f"half precision. Code: commit {record['commit']}; weights of the run: SHA-256 "
        f"{record['run_sha256']}."
    )
    rows = []
    for data, means in record["quality"].items():
        numbers = [
            format_number(means.get(name, math.nan), "{:.2f}" if "dB" in title else "{:.4f}")
            for name, title in measures.items()
        ]
        rows.append([data.replace("_", " "), str(means["images"]), *numbers])
    table = build_simple_table(("Data", "Images", *measures.values()), rows)
    measured_on = f"Measured on {record.get('measured_on', MEASURED_ON)}."
    inside = [PageSection("Quality", measured_on, [table])]
    if "color_cast" in record:
        inside.append(PageSection("Color cast", _describe_color_cast(record["color_cast"])))
    settings = ", ".join(f"{k} {v}" for k, v in record["config"]["model"].items())
    inside.append(PageSection("Settings", f"{settings}."))
    return render_markdown(PageSection(f"{Path(path).name}: {row}", text, inside=inside))


def _describe_color_cast(cast: Mapping[str, Any]) -> str:
    """Describe in one sentence the measured color cast of a model."""
    red, blue = (
        f"{mean:+.1f} ({lowest:+.1f} to {highest:+.1f})"
        for mean, lowest, highest in (cast["red"], cast["blue"])
    )
    return (
        f"Color cast of `reconstruct`, measured on {cast['photographs']} photographs made gray "
        f"({cast['of']}): the mean of red differs from that of green by {red} levels of 255, the "
        f"mean of blue by {blue}; averages over photographs, and the lowest and the highest. "
        "A file with one channel for all colors stays gray."
    )


def _read_quality(
    metrics: Path, measures: Mapping[str, str], weights_sha256: str
) -> dict[str, dict[str, float]]:
    """Return the means of every data set that a folder of metrics holds of these weights."""
    quality: dict[str, dict[str, float]] = {}
    for path in sorted(metrics.glob("*.csv")):
        if path.stem == VALIDATION:
            continue
        if read_metadata(path.with_suffix(".json")).get("weights_sha256") != weights_sha256:
            raise UserError(f"{path} was measured on other weights; evaluate this run first.")
        rows = read_csv(path)
        means = {
            column: fmean(float(row[column]) for row in rows)
            for column in measures
            if rows and all(row.get(column) for row in rows)
        }
        if next(iter(measures)) not in means or not all(map(math.isfinite, means.values())):
            raise UserError(f"{path} holds no quality of images; evaluate this run again.")
        quality[path.stem] = {"images": len(rows), **means}
    if not quality:
        raise UserError(f"{metrics} holds no measured rows; evaluate the run first.")
    return quality


def parse_arguments() -> argparse.Namespace:
    """Parse the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run_dir", type=Path, metavar="RUN", help="folder of a trained run")
    parser.add_argument(
        "--metrics", type=Path, metavar="DIR", required=True, help="rows measured of this run"
    )
    parser.add_argument(
        "--trained-on", metavar="TEXT", required=True, help="the training images, in words"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", required=True, help="file to write (.safetensors)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    try:
        bundle(**vars(parse_arguments()))
    except UserError as error:
        sys.exit(f"Error: {error}")
