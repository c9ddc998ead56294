"""Write aggregates/provenance_*.json: what was run, and how it differs from the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...config import (
    Config,
    get_dataset_title,
    list_short_names,
    load_protocol,
    read_datasets,
    read_paper_device,
)
from ...files import write_json
from ...metadata import Images, ReleasedOrigin
from ...wording import join_words, list_some
from .conditions import RunConditions, gather, read_inputs
from .differences import (
    DEVICE,
    PAPER_PRESET,
    RELEASED_PRESET,
    SHARED_GPU,
    Benchmark,
    Difference,
    Effect,
    Fact,
    Provenance,
    Scope,
)
from .settings import compare_settings

TRAINED_ON = ("quality", "locality", "ablation")  # scopes that rest on the training images
VALIDATED = ("locality", "ablation")  # scopes that are measured on the validation images
# A stand-in with the very pixels that the protocol reads of the set itself qualifies a verdict and
# leaves it; images of another size block one anyhow.
CENTER_CROPS = {"urban100_center256"}
RELEASED_WEIGHTS = "scores of released weights, not their training"
EARLIER = "weights of an earlier version, not trained here"


def write_provenance(name: str, results: Path, config: Config, output: Path) -> None:
    """Write a provenance file of `SCHEMAS` as JSON, from the metadata below `results`."""
    metadata = read_inputs(name, results, config)
    write_json(output, build_provenance(gather(name, metadata, config)).model_dump(mode="json"))


def build_provenance(run: RunConditions) -> Provenance:
    """Build the content of a provenance file: facts of the run, and differences from the paper."""
    return Provenance(
        preset=run.preset,
        scopes=(Scope.STRUCTURE, *run.scopes),
        differences=_list_differences(run),
        benchmarks={
            run.benchmark: Benchmark(run.seeds, run.timed_on, *run.passes, _list_facts(run))
        },
        versions=run.versions,
        git=run.git,
    )


def _list_differences(run: RunConditions) -> tuple[Difference, ...]:
    """List the differences between the conditions of `run` and the paper's.

    Images and devices that were not recorded count as different.
    """
    differences = [
        *_compare_preset(run),
        *_compare_weights(run),
        *compare_settings(run.settings),
        *_compare_images(run),
        *_compare_devices(run),
    ]
    return tuple(difference for difference in differences if difference.scopes)


def _compare_preset(run: RunConditions) -> Iterator[Difference]:
    if run.preset not in (PAPER_PRESET, RELEASED_PRESET):
        # What a preset changes is compared one by one: its name alone blocks no verdict.
        scopes = (Scope.STRUCTURE, *run.scopes)
        yield Difference("preset", f"preset {run.preset}", scopes, Effect.NONE)


def _compare_weights(run: RunConditions) -> Iterator[Difference]:
    """Name the weights that were not trained here: they qualify a verdict and leave it."""
    scopes = run.select_scopes(*TRAINED_ON)
    earlier = [subject for subject in run.imported if subject not in run.foreign]
    for subjects, sentence in ((run.foreign, RELEASED_WEIGHTS), (earlier, EARLIER)):
        if subjects:
            yield Difference("released", sentence, scopes, Effect.QUALIFIES, tuple(subjects))


def _compare_images(run: RunConditions) -> Iterator[Difference]:
    """Compare the images of training and validation, and those of every evaluation column.

    DIV2K is the one thing that a reader can add: other images to train or validate on qualify a
    verdict and leave it.
    """
    protocol = load_protocol()
    data = protocol["native"]["data"] if run.benchmark == "native" else protocol["asr"]
    trained = tuple(subject for subject in run.seeds if subject not in run.foreign)
    subjects = trained if run.foreign else None
    for words, sets, concerned, measures in (
        ("trained on", run.train, subjects, TRAINED_ON),
        ("validated on", run.validation, None, VALIDATED),
    ):
        if concerned != () and (text := _compare_image_sets(sets, data["train"])):
            effect = Effect.QUALIFIES if sets else Effect.BLOCKS
            scopes = run.select_scopes(*measures)
            yield Difference("images", f"{words} {text}", scopes, effect, concerned)
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    sized = run.benchmark == "asr" and not run.sizes_only
    scopes = run.select_scopes("quality", *["latency"] * sized)
    for column, sets in run.evaluate.items():
        others = [f"other pixels in {list_some(i.other_pixels)}" for i in sets if i.other_pixels]
        is_crop = bool(sets) and all(i.dataset in CENTER_CROPS and i.complete for i in sets)
        effect = Effect.QUALIFIES if is_crop and not others else Effect.BLOCKS
        for text in filter(None, [_compare_image_sets(sets), *others]):
            yield Difference("images", f"{column}: {text}", scopes, effect, columns=(column,))


def _compare_image_sets(sets: Sequence[Images], names: Sequence[str] = ()) -> str:
    """Name the sets that replace the paper's, or are part of one; empty where there are none.

    With `names`, those of the paper's sets, other whole sets count, too.
    """
    if not sets:
        return "images not recorded"
    texts = []
    for images in sets:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {get_dataset_title(images.stands_in_for)}")
        elif not images.complete:
            texts.append(f"{images.count} images of {images.title}")
    if names and not texts and [images.dataset for images in sets] != [*names]:
        texts = [images.title for images in sets]
    return join_words(texts) if texts else ""


def _compare_devices(run: RunConditions) -> Iterator[Difference]:
    """Compare the devices of trainings and timings, and how timings were taken."""
    paper, timed = read_paper_device(), run.select_scopes("latency")
    for words, devices, scopes in (
        ("trained on", run.devices, run.select_scopes("cost")),
        ("timed on", run.timed_on, timed),
    ):
        for device in devices or ["not recorded"]:
            if device != paper:
                yield Difference(DEVICE, f"{words}: {device} (paper: {paper})", scopes)
    if run.shared_gpu:
        sentence = "timed on a shared GPU, and so not judged"
        yield Difference(SHARED_GPU, sentence, timed, subjects=tuple(run.shared_gpu))
    if run.sizes_only:
        sentence = "timed on blank images of the sets' sizes"
        yield Difference("images", sentence, timed, Effect.NONE)


# --- facts ----------------------------------------------------------------------------------------


def _list_facts(run: RunConditions) -> dict[str, Fact]:
    """List facts of a run by label: devices, image sets, and why a number is absent."""
    names, device = list_short_names(run.benchmark), read_paper_device()
    protocol = load_protocol()
    data = protocol["native"]["data"] if run.benchmark == "native" else protocol["asr"]
    imported = (
        f"{names.get(subject, subject)}, {_describe_weights(weights)}"
        for subject, weights in run.imported.items()
    )
    facts = {
        "trained on": Fact(", ".join(run.devices), device),
        "timed on": Fact(", ".join(run.timed_on), device),
        "imported": Fact("; ".join(imported), ""),
        "training images": _describe_images(run.train, data["train"]),
    }
    for column, sets in run.evaluate.items():
        published = [data["evaluate"][column]] if column in data["evaluate"] else []
        facts[f"measured on {column}"] = _describe_images(sets, published)
    not_timed = (
        f"{names.get(subject, subject)} on {column} by the clock {clock}: {reason}"
        for subject, clock, column, reason in run.not_timed
    )
    facts["not timed"] = Fact("; ".join(not_timed), "")
    return {label: fact for label, fact in facts.items() if fact.here}


def _describe_weights(weights: ReleasedOrigin) -> str:
    """Describe who released weights, the license and the commit."""
    commit = weights.revision and f"commit {weights.revision}"
    return ", ".join(filter(None, (f"by {weights.by}", weights.license, commit)))


def _describe_images(sets: Sequence[Images], published: Sequence[str]) -> Fact:
    """Describe image sets beside the paper's, which config/datasets.tsv has."""
    rows = [read_datasets()[name] for name in published]
    paper = [f"{row.title}, {row.images:,} images" for row in rows]
    return Fact("; ".join(map(_describe_image_set, sets)), "; ".join(paper))


def _describe_image_set(images: Images) -> str:
    text = f"{images.title}, {images.count} images"
    if images.stands_in_for:
        text += f", in place of {get_dataset_title(images.stands_in_for)}"
    return text
