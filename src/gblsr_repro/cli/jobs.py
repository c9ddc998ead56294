"""Commands that rules of the workflow run, from fetching a data set to averaging over seeds.

The two benchmarks of the paper, `native` and `asr`, have the same subcommands.
"""

from __future__ import annotations

from .commands import CONFIG, argument, declare, parse_seed, path, path_in_results

ARM = argument("--arm", required=True, help="row of config/arms.tsv")
METHOD = argument("--method", required=True, help="row of config/methods.tsv")
SEED = argument(
    "--seed", type=parse_seed, required=True, help="seed of initialization and shuffling"
)
RUN = path("--run", "DIR", "folder of a trained run")
RUNS = path("--runs", "RUN", "run folders of trained arms or methods", nargs="+")
PICTURES = path("--output", "DIR", "folder for the images")
ARRAY = path("--array", "NPY", "training array")
VALIDATION = path("--array", "NPY", "validation array")
ARRAYS = path("--arrays", "DIR", "folder of the arrays and of the thresholds of the regions")
STATE = path("--state", "PT", "state from which an interrupted run resumes")
KEPT = path(
    "--state", "DIR", "folder in which finished images are kept, from which a stopped job goes on"
)
NEW_RUN = path("--output", "DIR", "run folder to write")
NEW_SCORES = path("--output", "DIR", "folder for the scores")
NEW_TIMES = path("--output", "DIR", "folder for the times")
ADDRESS = argument(
    "address", metavar="PATH", help="file, folder or hub address (hf://OWNER/NAME/FOLDER)"
)
TRAINED_SEED = argument(
    "--seed", type=parse_seed, required=True, help="seed that they were trained with"
)

# --- data sets, and checks before any training --------------------------------------------------

declare(
    "fetch",
    "data.fetch:fetch_dataset",
    "Download a data set, or find it in the mirror, and verify its files.",
    CONFIG,
    argument("dataset", metavar="DATASET", help="name in the first column of config/datasets.tsv"),
    path("--output", "CSV", "write a copy of the manifest to this file", required=False),
)

declare(
    "check",
    "preflight:check",
    "Check the config, its arms and methods, and the parameter budget before any training.",
    CONFIG,
)

declare(
    "sources",
    "data.fetch:list_datasets",
    "List the data sets with their folders and how complete they are.",
    CONFIG,
)

# --- native reconstruction ----------------------------------------------------------------------

declare(
    "native standardize",
    "data.standardize:standardize_arrays",
    "Crop the images of splits or evaluation sets to one size and store each as an array.",
    CONFIG,
    argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="train, validation or a column of native.data.evaluate",
    ),
    path("--output", "DIR", "folder for the arrays"),
)

declare(
    "native regions",
    "evaluation.regions:write_thresholds",
    "Compute the thresholds of smooth, edge, texture and mixed patches.",
    CONFIG,
    VALIDATION,
    path("--output", "JSON", "file to write"),
)

declare(
    "native train",
    "training.runs:check_and_train_arm",
    "Train an arm with one seed, or resume its training.",
    CONFIG,
    ARM,
    SEED,
    ARRAY,
    NEW_RUN,
    STATE,
    uses_gpu=True,
)

declare(
    "native evaluate",
    "evaluation.native:evaluate_run",
    "Score a trained run on all images of the evaluation sets and the validation split.",
    CONFIG,
    ARM,
    SEED,
    RUN,
    ARRAYS,
    NEW_SCORES,
    KEPT,
    argument(
        "--only",
        nargs="+",
        default=[],
        metavar="SET",
        help="score these sets only (default: all evaluation sets and the validation split)",
    ),
    uses_gpu=True,
)

declare(
    "native exemplars",
    "evaluation.exemplars:write_exemplars",
    "Write the images that are compared: originals and reconstructions by trained runs.",
    CONFIG,
    RUNS,
    ARRAYS,
    PICTURES,
    uses_gpu=True,
)

declare(
    "native latency",
    "evaluation.native_latency:time_arm",
    "Time an arm by the fixed protocol, with untrained weights.",
    CONFIG,
    ARM,
    SEED,
    ARRAYS,
    NEW_TIMES,
    KEPT,
    uses_gpu=True,
)

declare(
    "native fields",
    "evaluation.native_fields:write_fields",
    "Write the bandwidth and order of all patches of the validation images for trained arms.",
    CONFIG,
    RUNS,
    VALIDATION,
    path("--regions", "JSON", "thresholds of the regions", dest="thresholds"),
    path("--output", "DIR", "folder for the fields"),
    uses_gpu=True,
)

# --- super-resolution ---------------------------------------------------------------------------

declare(
    "asr standardize",
    "data.superres:pack_training_sets",
    "Store the training images in one array.",
    CONFIG,
    path("--output", "NPY", "array to write"),
)

declare(
    "asr train",
    "training.runs:train_method",
    "Train a method with one seed, or resume its training.",
    CONFIG,
    METHOD,
    SEED,
    ARRAY,
    NEW_RUN,
    STATE,
    uses_gpu=True,
)

declare(
    "asr evaluate",
    "evaluation.asr:evaluate_run",
    "Score a trained run on all images of the evaluation sets.",
    CONFIG,
    METHOD,
    SEED,
    RUN,
    NEW_SCORES,
    KEPT,
    uses_gpu=True,
)

declare(
    "asr bicubic",
    "evaluation.asr_scores:evaluate_bicubic",
    "Score bicubic upsampling on all images of the evaluation sets.",
    CONFIG,
    NEW_SCORES,
    KEPT,
)

declare(
    "asr exemplars",
    "evaluation.exemplars:write_enlarged",
    "Write the images that are compared: originals and enlarged by trained runs and without one.",
    CONFIG,
    RUNS,
    PICTURES,
    uses_gpu=True,
)

declare(
    "asr latency",
    "evaluation.asr_latency:time_method",
    "Time a method by the fixed protocol, with untrained weights.",
    CONFIG,
    METHOD,
    SEED,
    NEW_TIMES,
    KEPT,
    uses_gpu=True,
)

# --- weights that others trained, and averages --------------------------------------------------

declare(
    "import",
    "released.importing:import_run",
    "Import released weights as a run of an arm or a method, without training.",
    CONFIG,
    ADDRESS,
    argument(
        "--as",
        dest="row",
        metavar="ROW",
        help="row of config/arms.tsv or config/methods.tsv (default: that in config/released.tsv)",
    ),
    TRAINED_SEED,
    path("--output", "RUN", "run folder to write"),
    argument(
        "--colors",
        choices=("normalized", "unit"),
        help="range of colors of a super-resolution network (default: that in config/released.tsv)",
    ),
    argument(
        "--overwrite", action="store_true", help="replace a run in the folder that is another"
    ),
)

declare(
    "check-released",
    "released.importing:check_release",
    "Check released weights as their import will, without writing a run.",
    CONFIG,
    ADDRESS,
    argument("--as", dest="row", metavar="ROW", required=True, help="row that they are of"),
    TRAINED_SEED,
    path("--output", "JSON", "file that says what they are"),
)

declare(
    "aggregate",
    "analysis.aggregate:write_all",
    "Average scores over images and seeds.",
    CONFIG,
    argument(
        "names", nargs="+", metavar="NAME", help="name of an aggregate: native, asr_quality, ..."
    ),
    path_in_results("--results", ""),
    path_in_results("--output", "aggregates"),
)
