"""Every subcommand: its words and arguments, the function that does it, and what it does.

The two benchmarks of the paper, `native` and `asr`, have the same verbs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# A line "words: arguments -> module:function" and one that says what it does. Arguments are written
# as in a usage line, what may be left out in brackets; capitals stand for a path.
WITH_CONFIG = """
fetch: dataset [--output CSV] -> data.fetch:fetch
    Download a data set or find it in the mirror, and verify it.
check: -> preflight:check
    Check before any training: parameter budget, LPIPS at hand.
sources: -> data.fetch:list_sources
    List the data sets: where they are, how complete.

native standardize: name --output NPY -> data.standardize:make_array
    Crop a split's or set's images into one array.
native regions: --array NPY --output JSON -> evaluation.regions:write_thresholds
    Set the thresholds of smooth, edge, texture and mixed patches.
native train: --arm --seed --array NPY --output DIR --state PT -> training.native:train_run
    Train one arm with one seed, or go on with it.
native evaluate: --arm --seed --run DIR --arrays DIR --output DIR [--exemplars DIR]
        -> evaluation.native:evaluate
    Measure a trained run on every image of the evaluation sets and the validation split.
native exemplars: --arrays DIR --output DIR -> evaluation.native:write_exemplars
    Write the true images that the qualitative figure shows.
native latency: --arm --seed --arrays DIR --output CSV -> evaluation.native:time_arm
    Time one arm by the fixed protocol, with untrained weights.
native fields: --arm --seed --run DIR --array NPY --regions JSON --output NPZ
        -> evaluation.native:write_fields
    Write bandwidth and order of every patch of the validation images for a trained arm.

asr standardize: --output NPY -> data.superres:make_array
    Pack the training images into one array.
asr train: --method --seed --array NPY --output DIR --state PT -> training.asr:train_run
    Train one method with one seed, or go on with it.
asr evaluate: --method --seed --run DIR --output DIR -> evaluation.asr:evaluate
    Measure a trained run on every image of the evaluation sets.
asr bicubic: --dataset --output DIR -> evaluation.asr:evaluate_bicubic
    Measure plain bicubic upsampling.
asr latency: --method --seed --output CSV -> evaluation.asr_latency:time_method
    Time one method by the fixed protocol, with untrained weights.

aggregate: kind [--results DIR] --output FILE -> reporting.averaging:write
    Average measured rows over images and seeds.
readings: --aggregate CSV --output MD -> reporting.readings:write
    Set the readings of the baselines beside the paper's.
tables: [--aggregates DIR] [--output DIR] [--only] -> cli.reporting:tables
    Render the LaTeX tables that a folder of aggregates allows.
figures: [--aggregates DIR] [--output DIR] [--only] -> cli.reporting:figures
    Draw the figures that a folder of aggregates allows.
claims: [--aggregates DIR] [--output DIR] -> cli.reporting:claims
    Judge every claim of the paper on the aggregates of a run.
report: [--results DIR] [--output FILE] -> cli.reporting:report
    Write one self-contained HTML page about a results folder.
record: [--results DIR] --output DIR -> cli.reporting:record
    Gather a run's numbers, tables and figures in one folder.

plan: -> operations.plan:told
    Tell what is to be trained, the GPU-hours and the disk it takes; runs nothing.
status: -> operations.status:told
    Tell what is done, running and left; runs nothing.
summary: -> cli.reporting:summary
    Print the main numbers and where everything is.
record-gpu: --minutes [--device] -> operations.borrowed:run
    Time, train and evaluate on a borrowed GPU, in order of worth; needs torch alone.
"""
# One's own images, and the models that they take.
WITHOUT_CONFIG = """
reconstruct: input output [--model MODEL] [--device] [--keep-metadata] -> cli.inference:reconstruct
    Encode and decode images with a GB-LSR arm.
encode: input output [--model MODEL] [--device] [--keep-metadata] -> cli.inference:encode
    Store images as coefficients of a GB-LSR arm.
decode: input output [--scale] [--crop] -> cli.inference:decode
    Render stored images, at any scale.
upscale: input output [--model MODEL] [--device] [--keep-metadata] --scale [--crop]
        -> cli.inference:upscale
    Super-resolve images by any scale.
bundle: run_dir RUN --metrics DIR --trained-on --output FILE -> bundled:bundle
    Make the small weights file and its card that come along with the package.
export: model MODEL output FILE --scale -> export:export
    Write a super-resolution model for one integer scale as an ONNX file.
"""
GROUPS = {
    "native": "Native reconstruction: arms, trained with a seed each.",
    "asr": "Arbitrary-scale super-resolution: methods, trained with a seed each.",
}


class Below(NamedTuple):
    """A default: a file or folder in the results, those of --results or else the config's."""

    place: str


def _below(place: str, text: str = "") -> dict[str, Any]:
    where = f"{place} in the results" if place else "the config's results"
    return {"default": Below(place), "help": f"{text}default: {where}"}


# What argparse is told of an argument; where one command has its own, with that before it.
FACTS: dict[str, dict[str, Any]] = {
    "dataset": {"metavar": "DATASET", "help": "row of config/datasets.tsv"},
    "fetch --output": {"help": "copy of the manifest to write"},
    "name": {"metavar": "NAME", "help": "train, validation or a column of native.data.evaluate"},
    "--arm": {"help": "row of config/arms.tsv"},
    "--method": {"help": "row of config/methods.tsv"},
    "--seed": {"type": int, "help": "drives initialization and shuffling"},
    "--array": {"help": "validation array"},
    "native train --array": {"help": "training array"},
    "native train --output": {"help": "run folder"},
    "asr train --array": {"help": "training array"},
    "asr train --output": {"help": "run folder"},
    "--arrays": {"help": "arrays and regions.json"},
    "--state": {"help": "where an interrupted run goes on"},
    "--exemplars": {"help": "write the reconstructions drawn in figures"},
    "--regions": {"dest": "thresholds"},
    "--dataset": {"metavar": "COLUMN", "dest": "column", "help": "column of asr.evaluate"},
    "kind": {"help": "aggregate to make: native, asr_quality, ..."},
    "--results": _below(""),
    "--aggregates": _below("aggregates"),
    "tables --output": _below("tables"),
    "figures --output": _below("figures"),
    "claims --output": _below("", "folder for claims.csv and claims.md; "),
    "report --output": _below("report.html"),
    "record --output": {"help": "new folder, as docs/records/<date>-<device>"},
    "--only": {"nargs": "+", "default": [], "metavar": "NAME", "help": "make these, or fail"},
    "--minutes": {"type": float, "help": "how long it may take"},
    "record-gpu --device": {
        "choices": ("cuda", "cpu"),
        "default": "cuda",
        "help": "cpu: to try the command",
    },
    "input": {"type": Path, "help": "a file, or a folder of files"},
    "output": {"type": Path, "help": "a file or a folder"},
    "--model": {"help": "a run folder or a weights file (default: the weights that come along)"},
    "--device": {"choices": ("auto", "cpu", "cuda"), "default": "auto"},
    "--keep-metadata": {
        "action": "store_true",
        "help": "keep camera, time, place, author (EXIF); the color profile is always kept",
    },
    "--scale": {"type": float, "help": "output pixels per image pixel"},
    "decode --scale": {"type": float, "default": 1.0, "help": "output pixels per image pixel"},
    "export --scale": {"type": int, "help": "a whole number"},
    "--crop": {
        "type": float,
        "nargs": 4,
        "metavar": ("TOP", "LEFT", "BOTTOM", "RIGHT"),
        "help": "render only this part, in pixels of the original",
    },
    "run_dir": {"help": "folder of a trained run"},
    "--metrics": {"help": "rows measured of this run"},
    "--trained-on": {"metavar": "TEXT", "help": "the training images, in words"},
    "bundle --output": {"help": ".safetensors"},
    "model": {"help": "a run folder or a weights file"},
    "export output": {"help": "file to write (.onnx)"},
}


class Command(NamedTuple):
    """A subcommand; `name` is also the job's in config/jobs.py, where it is one of the workflow.

    `target`, "module:function", is called with the arguments by their names, an arm's or method's
    being its row, and with `config` where it is `configured`. `text` says what it does.
    """

    name: str
    target: str
    text: str
    arguments: list[tuple[str, dict[str, Any]]]
    configured: bool


def _read(table: str, configured: bool) -> Iterator[Command]:
    for name, usage, target, text in re.findall(r"([\w -]+):([^>]*)-> (\S+)\n +(.*)\n", table):
        words = re.findall(r"(\[?)([a-z_-]+)(?: ([A-Z]+))?", usage)
        arguments = [(word, _facts(name, bool(left), word, kind)) for left, word, kind in words]
        yield Command(name, target, text, arguments, configured)


def _facts(name: str, may_be_left_out: bool, word: str, kind: str) -> dict[str, Any]:
    facts = FACTS.get(f"{name} {word}", FACTS.get(word, {}))
    if kind:
        facts = {"type": Path, "metavar": kind} | facts
    needed = word.startswith("--") and not may_be_left_out
    return facts | {"required": True} if needed else facts


COMMANDS = (*_read(WITH_CONFIG, True), *_read(WITHOUT_CONFIG, False))
