"""Commands that rules of the workflow run, from fetching a data set to averaging over seeds.

The two benchmarks of the paper, `native` and `asr`, have the same subcommands.
"""

from __future__ import annotations

from ..config import find_row
from .commands import CONFIG, Options, argument, command, parse_seed, path, path_in_results

ARM = argument("--arm", required=True, help="row of config/arms.tsv")
METHOD = argument("--method", required=True, help="row of config/methods.tsv")
SEED = argument(
    "--seed", type=parse_seed, required=True, help="seed of initialization and shuffling"
)
RUN = path("--run", "DIR", "folder of a trained run")
RUNS = path("--runs", "RUN", "run folders of trained arms", nargs="+")
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


@command(
    "fetch",
    CONFIG,
    argument("dataset", metavar="DATASET", help="name in the first column of config/datasets.tsv"),
    path("--output", "CSV", "write a copy of the manifest to this file", required=False),
)
def fetch(options: Options) -> None:
    """Download a data set, or find it in the mirror, and verify its files."""
    from ..data.fetch import fetch_dataset

    fetch_dataset(**vars(options))


@command("check", CONFIG)
def check(options: Options) -> None:
    """Check the config, its arms and methods, and the parameter budget before any training."""
    from ..preflight import check_methods, check_native_benchmark

    check_methods(options.config)
    print(check_native_benchmark(options.config))


@command("sources", CONFIG)
def list_sources(options: Options) -> None:
    """List the data sets with their folders and how complete they are."""
    from ..data.fetch import list_datasets

    print(list_datasets(options.config))


# --- native reconstruction ----------------------------------------------------------------------


@command(
    "native standardize",
    CONFIG,
    argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="train, validation or a column of native.data.evaluate",
    ),
    path("--output", "DIR", "folder for the arrays"),
)
def standardize_native(options: Options) -> None:
    """Crop the images of splits or evaluation sets to one size and store each as an array."""
    from ..data.standardize import standardize_images

    for name in options.names:
        standardize_images(name, options.config, options.output / f"{name}.npy")


@command("native regions", CONFIG, VALIDATION, path("--output", "JSON", "file to write"))
def write_regions(options: Options) -> None:
    """Compute the thresholds of smooth, edge, texture and mixed patches."""
    from ..evaluation.regions import write_thresholds

    write_thresholds(**vars(options))


@command("native train", CONFIG, ARM, SEED, ARRAY, NEW_RUN, STATE, uses_gpu=True)
def train_arm(options: Options) -> None:
    """Train an arm with one seed, or resume its training."""
    from ..preflight import check_native_benchmark
    from ..training.runs import train_arm

    check_native_benchmark(options.config)  # all arms, before the first of them takes its time
    train_arm(**vars(options))


@command(
    "native evaluate",
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
def evaluate_arm(options: Options) -> None:
    """Score a trained run on all images of the evaluation sets and the validation split."""
    from ..evaluation.native import evaluate_run

    evaluate_run(**vars(options))


@command(
    "native exemplars",
    CONFIG,
    RUNS,
    ARRAYS,
    path("--output", "DIR", "folder for the images"),
    uses_gpu=True,
)
def write_exemplars(options: Options) -> None:
    """Write the images of the qualitative figure: originals and reconstructions by trained runs."""
    from ..evaluation.exemplars import write_exemplars

    write_exemplars(**vars(options))


@command("native latency", CONFIG, ARM, SEED, ARRAYS, NEW_TIMES, KEPT, uses_gpu=True)
def time_arm(options: Options) -> None:
    """Time an arm by the fixed protocol, with untrained weights."""
    from ..evaluation.native_latency import time_arm

    time_arm(**vars(options))


@command(
    "native fields",
    CONFIG,
    RUNS,
    VALIDATION,
    path("--regions", "JSON", "thresholds of the regions", dest="thresholds"),
    path("--output", "DIR", "folder for the fields"),
    uses_gpu=True,
)
def write_fields(options: Options) -> None:
    """Write the bandwidth and order of all patches of the validation images for trained arms."""
    from ..evaluation.native_fields import write_fields

    write_fields(**vars(options))


# --- super-resolution ---------------------------------------------------------------------------


@command("asr standardize", CONFIG, path("--output", "NPY", "array to write"))
def standardize_asr(options: Options) -> None:
    """Store the training images in one array."""
    from ..data.superres import pack_training_sets

    pack_training_sets(**vars(options))


@command("asr train", CONFIG, METHOD, SEED, ARRAY, NEW_RUN, STATE, uses_gpu=True)
def train_method(options: Options) -> None:
    """Train a method with one seed, or resume its training."""
    from ..training.runs import train_method

    train_method(**vars(options))


@command("asr evaluate", CONFIG, METHOD, SEED, RUN, NEW_SCORES, KEPT, uses_gpu=True)
def evaluate_method(options: Options) -> None:
    """Score a trained run on all images of the evaluation sets."""
    from ..evaluation.asr import evaluate_run

    evaluate_run(**vars(options))


@command("asr bicubic", CONFIG, NEW_SCORES, KEPT)
def evaluate_bicubic(options: Options) -> None:
    """Score bicubic upsampling on all images of the evaluation sets."""
    from ..evaluation.asr_scores import evaluate_bicubic, map_datasets_to_columns

    for dataset in map_datasets_to_columns(options.config):
        evaluate_bicubic(options.config, dataset, options.output, options.state)


@command("asr latency", CONFIG, METHOD, SEED, NEW_TIMES, KEPT, uses_gpu=True)
def time_method(options: Options) -> None:
    """Time a method by the fixed protocol, with untrained weights."""
    from ..evaluation.asr_latency import time_method

    time_method(**vars(options))


# --- weights that others trained, and averages --------------------------------------------------


@command(
    "import",
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
def import_weights(options: Options) -> None:
    """Import released weights as a run of an arm or a method, without training."""
    from ..released.importing import import_run

    options.row = find_row(options.row) if options.row else None
    import_run(**vars(options))


@command(
    "check-released",
    CONFIG,
    ADDRESS,
    argument("--as", dest="row", metavar="ROW", required=True, help="row that they are of"),
    TRAINED_SEED,
    path("--output", "JSON", "file that says what they are"),
)
def check_released(options: Options) -> None:
    """Check released weights as their import will, without writing a run."""
    from ..released.importing import check_release

    options.row = find_row(options.row)
    check_release(**vars(options))


@command(
    "aggregate",
    CONFIG,
    argument(
        "names", nargs="+", metavar="NAME", help="name of an aggregate: native, asr_quality, ..."
    ),
    path_in_results("--results", ""),
    path_in_results("--output", "aggregates"),
)
def aggregate(options: Options) -> None:
    """Average scores over images and seeds."""
    from ..analysis import aggregate

    aggregate.write_all(**vars(options))
