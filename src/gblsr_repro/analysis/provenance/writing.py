"""Write aggregates/provenance_*.json: what was run, and how it differs from the paper."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ...config import Config, get_dataset_title, list_short_names
from ...files import write_json
from ...metadata import Images, ReleasedOrigin
from ...wording import list_some
from .comparison import compare_with_paper
from .conditions import RunConditions, gather, read_inputs, read_paper
from .differences import Benchmark, Provenance, Scope


def write_provenance(name: str, results: Path, config: Config, output: Path) -> None:
    """Write a provenance file of `SCHEMAS` as JSON, from the metadata below `results`."""
    metadata = read_inputs(name, results, config)
    write_json(output, asdict(build_provenance(gather(name, metadata, config))))


def build_provenance(run: RunConditions) -> Provenance:
    """Build the content of a provenance file: facts of the run, and differences from the paper."""
    paper = read_paper(run.benchmark)
    facts, published = list_facts(run), list_facts(paper)
    pairs = {label: (text, published.get(label, "")) for label, text in facts.items()}
    return Provenance(
        run.preset,
        (Scope.STRUCTURE, *run.scopes),
        compare_with_paper(run, paper),
        {run.benchmark: Benchmark(run.seeds, run.timed_on, run.passes, pairs)},
        run.versions,
        run.git,
    )


def list_facts(run: RunConditions) -> dict[str, str]:
    """List facts of a run by label: devices, image sets, and why a number is absent."""
    names = list_short_names(run.benchmark)
    sets = {"training images": run.train}
    sets |= {f"measured on {column}": images for column, images in run.evaluate.items()}
    facts = {"trained on": ", ".join(run.devices), "timed on": ", ".join(run.timed_on)}
    facts["imported"] = "; ".join(
        f"{names.get(subject, subject)}, {_describe_weights(weights)}"
        for subject, weights in run.imported.items()
    )
    facts |= {label: "; ".join(map(_describe_image_set, images)) for label, images in sets.items()}
    facts["not timed"] = "; ".join(
        f"{names.get(subject, subject)} on {column} by the clock {clock}: {reason}"
        for subject, clock, column, reason in run.not_timed
    )
    return {label: text for label, text in facts.items() if text}


def _describe_weights(weights: ReleasedOrigin) -> str:
    """Describe who released weights, the license and the commit."""
    commit = weights.revision and f"commit {weights.revision}"
    return ", ".join(filter(None, (f"by {weights.by}", weights.license, commit)))


def _describe_image_set(images: Images) -> str:
    text = f"{images.title}, {images.count} images"
    if images.stands_in_for:
        text += f", in place of {get_dataset_title(images.stands_in_for)}"
    if images.other_pixels:
        text += (
            f", with other pixels than this project measured on in {list_some(images.other_pixels)}"
        )
    return text
