"""Every subcommand: its words, what it does, and the function that does it.

The two benchmarks of the paper, `native` and `asr`, have the same verbs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

Argument = tuple[str, dict[str, Any]]


class Below(str):
    """A default: a file or folder in the results, those of --results or else the config's."""


class Command(NamedTuple):
    """A subcommand; `name` is also the job's in config/jobs.py, where it is one of the workflow.

    `target`, "module:function", is called with the arguments by their names, an arm's or method's
    being its row, and with `config` where it is `configured`.
    """

    name: str
    text: str
    target: str
    arguments: tuple[Argument, ...] = ()
    configured: bool = True


def path(name: str, metavar: str, text: str | None = None, **more: Any) -> Argument:
    """Return an option that names a file or a folder; required, unless `more` says otherwise."""
    facts = {"type": Path, "required": "default" not in more, "metavar": metavar, "help": text}
    return f"--{name}", facts | more


def below(name: str, metavar: str, place: str, text: str = "") -> Argument:
    """Return an option that names a file or a folder, by default one of the results."""
    where = f"{place} in the results" if place else "the config's results"
    return path(name, metavar, f"{text}default: {where}", default=Below(place))


GROUPS = {
    "native": "Native reconstruction: arms, trained with a seed each.",
    "asr": "Arbitrary-scale super-resolution: methods, trained with a seed each.",
}
SEED: Argument = (
    "--seed",
    {"type": int, "required": True, "help": "drives initialization and shuffling"},
)
METHOD = (("--method", {"required": True, "help": "row of config/methods.tsv"}), SEED)
ARM = (("--arm", {"required": True, "help": "row of config/arms.tsv"}), SEED)
TRAINED = (
    path("array", "NPY", "training array"),
    path("output", "DIR", "run folder"),
    path("state", "PT", "where an interrupted run goes on"),
)
RUN, METRICS = path("run", "DIR"), path("output", "DIR", "metrics folder")
ARRAYS, CSV, NPY = (
    path("arrays", "DIR", "arrays and regions.json"),
    *(path("output", kind) for kind in ("CSV", "NPY")),
)
VALIDATION = path("array", "NPY", "validation array")
ARRAY = {"metavar": "NAME", "help": "train, validation or a column of native.data.evaluate"}
COLUMN = {"metavar": "COLUMN", "help": "column of asr.evaluate", "dest": "column", "required": True}
DRAWN = path("exemplars", "DIR", "write the reconstructions drawn in figures", default=None)

RESULTS, AGGREGATES = below("results", "DIR", ""), below("aggregates", "DIR", "aggregates")
ONLY: Argument = (
    "--only",
    {"nargs": "+", "default": [], "metavar": "NAME", "help": "make these, or fail"},
)

FILES: tuple[Argument, ...] = (
    ("input", {"type": Path, "help": "a file, or a folder of files"}),
    ("output", {"type": Path, "help": "a file or a folder"}),
)
WITH = "a run folder or a weights file"
NETWORK: tuple[Argument, ...] = (
    path("model", "MODEL", f"{WITH} (default: the weights that come along)", default=None),
    ("--device", {"choices": ("auto", "cpu", "cuda"), "default": "auto"}),
    (
        "--keep-metadata",
        {
            "action": "store_true",
            "help": "keep camera, time, place, author (EXIF); the color profile is always kept",
        },
    ),
)
SCALE = {"type": float, "help": "output pixels per image pixel"}
CROP: Argument = (
    "--crop",
    {
        "type": float,
        "nargs": 4,
        "metavar": ("TOP", "LEFT", "BOTTOM", "RIGHT"),
        "help": "render only this part, in pixels of the original",
    },
)

COMMANDS = (
    Command(
        "fetch",
        "Download a data set or find it in the mirror, and verify it.",
        "data.fetch:fetch",
        (
            ("dataset", {"metavar": "DATASET", "help": "row of config/datasets.tsv"}),
            path("output", "CSV", "copy of the manifest to write", default=None),
        ),
    ),
    Command(
        "check",
        "Check before any training: parameter budget, LPIPS at hand.",
        "preflight:check",
    ),
    Command(
        "sources",
        "List the data sets: where they are, how complete.",
        "data.fetch:list_sources",
    ),
    # --- the benchmarks ---
    Command(
        "native standardize",
        "Crop a split's or set's images into one array.",
        "data.standardize:make_array",
        (("name", ARRAY), NPY),
    ),
    Command(
        "native regions",
        "Set the thresholds of smooth, edge, texture and mixed patches.",
        "evaluation.regions:write_thresholds",
        (VALIDATION, path("output", "JSON")),
    ),
    Command(
        "native train",
        "Train one arm with one seed, or go on with it.",
        "training.native:train_run",
        (*ARM, *TRAINED),
    ),
    Command(
        "native evaluate",
        "Measure a trained run on every image of the evaluation sets and the validation split.",
        "evaluation.native:evaluate",
        (*ARM, RUN, ARRAYS, METRICS, DRAWN),
    ),
    Command(
        "native exemplars",
        "Write the true images that the qualitative figure shows.",
        "evaluation.native:write_exemplars",
        (ARRAYS, path("output", "DIR")),
    ),
    Command(
        "native latency",
        "Time one arm by the fixed protocol, with untrained weights.",
        "evaluation.native:time_arm",
        (*ARM, ARRAYS, CSV),
    ),
    Command(
        "native fields",
        "Write bandwidth and order of every patch of the validation images for a trained arm.",
        "evaluation.native:write_fields",
        (*ARM, RUN, VALIDATION, path("regions", "JSON", dest="thresholds"), path("output", "NPZ")),
    ),
    Command(
        "asr standardize",
        "Pack the training images into one array.",
        "data.superres:make_array",
        (NPY,),
    ),
    Command(
        "asr train",
        "Train one method with one seed, or go on with it.",
        "training.asr:train_run",
        (*METHOD, *TRAINED),
    ),
    Command(
        "asr evaluate",
        "Measure a trained run on every image of the evaluation sets.",
        "evaluation.asr:evaluate",
        (*METHOD, RUN, METRICS),
    ),
    Command(
        "asr bicubic",
        "Measure plain bicubic upsampling.",
        "evaluation.asr:evaluate_bicubic",
        (("--dataset", COLUMN), METRICS),
    ),
    Command(
        "asr latency",
        "Time one method by the fixed protocol, with untrained weights.",
        "evaluation.asr_latency:time_method",
        (*METHOD, CSV),
    ),
    # --- reporting ---
    Command(
        "aggregate",
        "Average measured rows over images and seeds.",
        "reporting.averaging:write",
        (
            ("kind", {"help": "aggregate to make: native, asr_quality, ..."}),
            RESULTS,
            path("output", "FILE"),
        ),
    ),
    Command(
        "readings",
        "Set the readings of the baselines beside the paper's.",
        "reporting.readings:write",
        (path("aggregate", "CSV"), path("output", "MD")),
    ),
    Command(
        "tables",
        "Render the LaTeX tables that a folder of aggregates allows.",
        "cli.reporting:tables",
        (AGGREGATES, below("output", "DIR", "tables"), ONLY),
    ),
    Command(
        "figures",
        "Draw the figures that a folder of aggregates allows.",
        "cli.reporting:figures",
        (AGGREGATES, below("output", "DIR", "figures"), ONLY),
    ),
    Command(
        "preview",
        "Compile all tables and figures into one PDF; needs LaTeX.",
        "cli.reporting:preview",
        (RESULTS, below("output", "FILE", "preview.pdf")),
    ),
    Command(
        "claims",
        "Judge every claim of the paper on the aggregates of a run.",
        "cli.reporting:claims",
        (AGGREGATES, below("output", "DIR", "", "folder for claims.csv and claims.md; ")),
    ),
    Command(
        "report",
        "Write one self-contained HTML page about a results folder.",
        "cli.reporting:report",
        (RESULTS, below("output", "FILE", "report.html")),
    ),
    Command(
        "record",
        "Gather a run's numbers, tables and figures in one folder.",
        "cli.reporting:record",
        (RESULTS, path("output", "DIR", "new folder, as docs/records/<date>-<device>")),
    ),
    # --- a run as a whole ---
    Command(
        "plan",
        "Tell what is to be trained, the GPU-hours and the disk it takes; runs nothing.",
        "operations.plan:told",
    ),
    Command(
        "status", "Tell what is done, running and left; runs nothing.", "operations.status:told"
    ),
    Command(
        "summary", "Print the main numbers and where everything is.", "operations.summary:summary"
    ),
    Command(
        "record-gpu",
        "Time, train and evaluate on a borrowed GPU, in order of worth; needs torch alone.",
        "operations.borrowed:run",
        (
            ("--minutes", {"type": float, "required": True, "help": "how long it may take"}),
            (
                "--device",
                {"choices": ("cuda", "cpu"), "default": "cuda", "help": "cpu: to try the command"},
            ),
        ),
    ),
    # --- one's own images, and the models that they take ---
    Command(
        "reconstruct",
        "Encode and decode images with a GB-LSR arm.",
        "cli.inference:reconstruct",
        (*FILES, *NETWORK),
        configured=False,
    ),
    Command(
        "encode",
        "Store images as coefficients of a GB-LSR arm.",
        "cli.inference:encode",
        (*FILES, *NETWORK),
        configured=False,
    ),
    Command(
        "decode",
        "Render stored images, at any scale.",
        "cli.inference:decode",
        (*FILES, ("--scale", SCALE | {"default": 1.0}), CROP),
        configured=False,
    ),
    Command(
        "upscale",
        "Super-resolve images by any scale.",
        "cli.inference:upscale",
        (*FILES, *NETWORK, ("--scale", SCALE | {"required": True}), CROP),
        configured=False,
    ),
    Command(
        "bundle",
        "Make the small weights file and its card that come along with the package.",
        "bundled:bundle",
        (
            ("run_dir", {"type": Path, "metavar": "RUN", "help": "folder of a trained run"}),
            path("metrics", "DIR", "rows measured of this run"),
            path("trained-on", "TEXT", "the training images, in words", type=str),
            path("output", "FILE", ".safetensors"),
        ),
        configured=False,
    ),
    Command(
        "export",
        "Write a super-resolution model for one integer scale as an ONNX file.",
        "export:export",
        (
            ("model", {"type": Path, "metavar": "MODEL", "help": WITH}),
            ("output", {"type": Path, "metavar": "FILE", "help": "file to write (.onnx)"}),
            ("--scale", {"type": int, "required": True, "help": "a whole number"}),
        ),
        configured=False,
    ),
)
