"""Write aggregates/provenance_*.json: what was run, and how it differs from the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from ...config import (
    Config,
    Scope,
    get_dataset_title,
    list_short_names,
    load_protocol,
    read_paper_device,
)
from ...files import write_json
from ...metadata import Images, ReleasedOrigin
from ...wording import join_words, list_some
from ..schemas import list_inputs
from .conditions import (
    SCOPES,
    MetadataByFile,
    RunMetadata,
    collect_seeds,
    list_devices,
    read_inputs,
)
from .differences import (
    DEVICE,
    SHARED_GPU,
    Difference,
    Effect,
    Provenance,
)
from .settings import collect_settings, compare_settings

TRAINED_ON = ("quality", "locality", "ablation")  # scopes that rest on the training images
VALIDATED = ("locality", "ablation")  # scopes that are measured on the validation images
# A stand-in with the very pixels that the protocol reads of the set itself qualifies a verdict and
# leaves it; images of another size block one anyhow.
CENTER_CROPS = {"urban100_center256"}
RELEASED_WEIGHTS = "scores of released weights, not their training"
EARLIER = "weights of an earlier version, not trained here"


def write_provenance(name: str, results: Path, config: Config, output: Path) -> None:
    """Write a provenance file of `SCHEMAS` as JSON, from the metadata below `results`."""
    provenance = build_provenance(name, read_inputs(name, results, config), config)
    write_json(output, provenance.model_dump(mode="json"))


def compare_all(metadata: MetadataByFile, config: Config) -> Provenance:
    """Compare all that runs recorded with the paper, without files."""
    made = (name for name in SCOPES if not metadata.keys().isdisjoint(list_inputs(name, config)))
    return Provenance.join(build_provenance(name, metadata, config) for name in sorted(made))


def build_provenance(name: str, metadata: MetadataByFile, config: Config) -> Provenance:
    """Build the content of a provenance file from the metadata of runs."""
    run = RunMetadata(name, metadata, config)
    return Provenance(
        preset=config["preset"],
        scopes=(Scope.STRUCTURE, *run.scopes),
        differences=_list_differences(run),
        seeds={run.benchmark: collect_seeds(run.runs)},
        timed_on={run.benchmark: list_devices(run.timings)},
        warmup=config["latency"]["warmup"],
        passes=config["latency"]["passes"],
        remarks=tuple(_list_remarks(run)),
        versions=_collect_versions(run),
    )


def _list_differences(run: RunMetadata) -> tuple[Difference, ...]:
    """List the differences between the conditions of `run` and the paper's.

    Images and devices that were not recorded count as different.
    """
    differences = [
        *_compare_weights(run),
        *compare_settings(collect_settings(run)),
        *_compare_training_images(run),
        *_compare_evaluated_images(run),
        *_compare_devices(run),
    ]
    return tuple(difference for difference in differences if difference.scopes)


def _compare_weights(run: RunMetadata) -> Iterator[Difference]:
    """Name the weights that were not trained here: they qualify a verdict and leave it."""
    scopes = run.select_scopes(*TRAINED_ON)
    earlier = [subject for subject in run.imported if subject not in run.foreign]
    for subjects, sentence in ((run.foreign, RELEASED_WEIGHTS), (earlier, EARLIER)):
        if subjects:
            yield Difference("released", sentence, scopes, Effect.QUALIFIES, tuple(subjects))


def _compare_training_images(run: RunMetadata) -> Iterator[Difference]:
    """Compare the images of training and validation.

    DIV2K is the one thing that a reader can add: other images to train or validate on qualify a
    verdict and leave it.
    """
    paper = _get_paper_images(run)["train"]
    trained = tuple(subject for subject in collect_seeds(run.runs) if subject not in run.foreign)
    subjects = trained if run.foreign else None
    for words, array, concerned, measures in (
        ("trained on", "train", subjects, TRAINED_ON),
        ("validated on", "validation", None, VALIDATED),
    ):
        sets = run.read_array(array)
        if concerned != () and (text := _compare_image_sets(sets, paper)):
            effect = Effect.QUALIFIES if sets else Effect.BLOCKS
            scopes = run.select_scopes(*measures)
            yield Difference("images", f"{words} {text}", scopes, effect, concerned)


def _compare_evaluated_images(run: RunMetadata) -> Iterator[Difference]:
    """Compare the images of every evaluation column, those of the paper's with its own sets."""
    paper = _get_paper_images(run)["evaluate"]
    # Times of super-resolution depend on the sizes of the images; native images have one size.
    sized = run.benchmark == "asr" and not _is_of_blank_images(run)
    scopes = run.select_scopes(*(("quality", "latency") if sized else ("quality",)))
    for column, sets in run.read_evaluated().items():
        others = [f"other pixels in {list_some(i.other_pixels)}" for i in sets if i.other_pixels]
        is_crop = bool(sets) and all(i.dataset in CENTER_CROPS and i.complete for i in sets)
        effect = Effect.QUALIFIES if is_crop and not others else Effect.BLOCKS
        names = [paper[column]] if column in paper else []
        for text in filter(None, [_compare_image_sets(sets, names), *others]):
            yield Difference("images", f"{column}: {text}", scopes, effect, columns=(column,))


def _get_paper_images(run: RunMetadata) -> Config:
    """Get the section of the protocol that names the image sets of a benchmark."""
    protocol = load_protocol()
    return protocol["native"]["data"] if run.benchmark == "native" else protocol["asr"]


def _compare_image_sets(sets: Sequence[Images], paper: Sequence[str]) -> str:
    """Name the sets that replace the paper's, or are part of one; empty where there are none.

    `paper` has the names of the paper's sets, in their order; none where it has no such images.
    """
    if not sets:
        return "images not recorded"
    texts = []
    for images in sets:
        if images.stands_in_for:
            texts.append(f"{images.title} in place of {get_dataset_title(images.stands_in_for)}")
        elif not images.complete:
            texts.append(f"{images.count} images of {images.title}")
    names = {images.dataset: images.title for images in sets}
    if paper and not texts and [*names] != [*paper]:
        texts = [*names.values()]
    return join_words([*dict.fromkeys(texts)]) if texts else ""


def _compare_devices(run: RunMetadata) -> Iterator[Difference]:
    """Compare the devices of trainings and timings, and how timings were taken."""
    paper, timed = read_paper_device(), run.select_scopes("latency")
    for words, measured, scopes in (
        ("trained on", run.trained, run.select_scopes("cost")),
        ("timed on", run.timings, timed),
    ):
        for device in list_devices(measured):
            if device != paper:
                yield Difference(DEVICE, f"{words}: {device} (paper: {paper})", scopes)
    if shared := [timing["subject"] for timing in run.timings if timing.get("gpu_shared")]:
        sentence = "timed on a shared GPU, and so not judged"
        yield Difference(SHARED_GPU, sentence, timed, subjects=tuple(dict.fromkeys(shared)))
    if _is_of_blank_images(run):
        sentence = "timed on blank images of the sets' sizes"
        yield Difference("images", sentence, timed, Effect.NONE)


def _is_of_blank_images(run: RunMetadata) -> bool:
    return run.benchmark == "asr" and any(timing.get("sizes_only") for timing in run.timings)


# --- beside the differences -----------------------------------------------------------------------


def _list_remarks(run: RunMetadata) -> Iterator[tuple[str, str]]:
    """List where imported weights come from, and why a time is absent."""
    names = list_short_names(run.benchmark)
    for subject, weights in run.imported.items():
        yield "imported", f"{names[subject]}, {_describe_weights(weights)}"
    for timing in run.timings:
        for clock, reason in (timing.get("not_timed") or {}).items():
            subject = names[timing["subject"]]
            yield "not timed", f"{subject} on {timing['timed']} by the clock {clock}: {reason}"


def _describe_weights(weights: ReleasedOrigin) -> str:
    """Describe who released weights, the license and the commit."""
    commit = weights.revision and f"commit {weights.revision}"
    return ", ".join(filter(None, (f"by {weights.by}", weights.license, commit)))


def _collect_versions(run: RunMetadata) -> dict[str, list[str]]:
    """Collect the versions of every package that trainings and timings used."""
    versions: dict[str, list[str]] = {}
    recorded = [each.get("versions") or {} for each in (*run.runs, *run.timings)]
    for package, version in dict.fromkeys(chain.from_iterable(each.items() for each in recorded)):
        if version is not None:
            versions.setdefault(package, []).append(version)
    return versions
