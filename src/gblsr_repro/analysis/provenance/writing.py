"""Writing aggregates/provenance_*.json: what was run, and in what it differs from the paper's."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...config import Config, dataset_title, short_names
from ...files import write_json
from .comparison import compare
from .differences import Scope
from .recorded import ImageSet, Recorded, gather, of_paper


def write(kind: str, results: Path, config: Config, output: Path) -> None:
    """Write a provenance file of `SCHEMAS`, from the records under `results`, as JSON."""
    write_json(output, content(gather(kind, results, config)))


def content(run: Recorded) -> dict[str, Any]:
    """Return what a provenance file says of what was run: facts for readers, and differences."""
    paper = of_paper(run.benchmark)
    published = facts(paper)
    return {
        "preset": run.preset,
        "benchmark": run.benchmark,
        "scopes": [Scope.STRUCTURE, *run.scopes],
        "seeds": run.seeds,
        "timed_on": run.timed_on,
        "passes": run.passes,
        "without_lpips": run.without_lpips,
        "facts": [[label, text, published.get(label, "")] for label, text in facts(run).items()],
        "differences": [asdict(difference) for difference in compare(run, paper)],
        "versions": run.versions,
        "git": run.git,
    }


def facts(run: Recorded) -> dict[str, str]:
    """Return what is known of a run by its name: devices, image sets, why something is absent."""
    called = short_names(run.benchmark)
    sets = {"training images": run.train}
    sets |= {f"measured on {column}": images for column, images in run.evaluate.items()}
    found = {"trained on": ", ".join(run.devices), "timed on": ", ".join(run.timed_on)}
    if run.passes:
        found["passes of a timing"] = "{} to warm up, {} timed".format(*run.passes)
    found |= {label: "; ".join(map(_image_set, images)) for label, images in sets.items()}
    found["not timed"] = "; ".join(
        f"{called.get(subject, subject)} on {column} by the clock {clock}: {reason}"
        for subject, clocks in run.not_timed.items()
        for clock, reasons in clocks.items()
        for column, reason in reasons.items()
    )
    found["LPIPS"] = run.without_lpips and f"not measured: {run.without_lpips}"
    return {label: text for label, text in found.items() if text}


def _image_set(images: ImageSet) -> str:
    text = f"{images.title}, {images.count} images"
    other = images.stands_in_for
    return f"{text}, in place of {dataset_title(other)}" if other else text
