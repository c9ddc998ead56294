# Reads and checks the config, derives what runs from the tables, holds the input functions.
# Requires: config/*.yaml, config/*.tsv. Makes: nothing but names that the other files use.
import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

# Code and tables lie beside the workflow; results and resources lie in the working directory.
ROOT = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from gblsr_repro import config as settings_module
from gblsr_repro import dependencies
from gblsr_repro.config import get_address
from gblsr_repro.errors import UserError
from gblsr_repro.files import check_dates
from gblsr_repro.locks import require_locks
from gblsr_repro.analysis import schemas
from gblsr_repro.analysis.provenance.recorded import SCOPES

# Jobs find the package and the interpreter that runs Snakemake, whether or not it is activated, and
# modules of the user's where Snakemake was started with --directory, too.
FOLDERS = [name for name in os.getenv("PYTHONPATH", "").split(os.pathsep) if name]
FOLDERS = [os.path.join(workflow.rundir, name) for name in FOLDERS]
os.environ.update(
    PYTHONPATH=os.pathsep.join([str(ROOT / "src"), *FOLDERS]),
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.getenv("PATH", "")]),
)

try:
    require_locks()
    for path in workflow.configfiles:  # of a key that comes twice Snakemake takes the last
        settings_module.read_yaml(path)
    config.update(settings_module.complete(config))
    ARMS = settings_module.list_arms(config)
    METHODS = settings_module.list_methods(config)
    DATASETS = settings_module.list_datasets(config)
    ITEMS = settings_module.list_items(config)
    settings_module.find_mirror(config)
except (UserError, OSError) as error:
    sys.exit(f"gblsr-repro: {error}")

R = config["results"]
# Validated here, once for all jobs. A job on a node of a cluster reads the Snakefile again and gets
# what the workflow was planned with, or says that the settings have changed since.
CONFIG, PLANNED = settings_module.plan_settings(config, R)
if workflow.is_main_process:
    os.environ.update(PLANNED)
SEEDS = config["seeds"]
IMPORTED = config["released"]  # arms and methods whose weights are imported and not trained
COLUMNS = list(config["native"]["data"]["evaluate"])
SPLITS = ["train", "validation"]
BENCHMARK = [arm for arm, row in ARMS.items() if row.in_benchmark]
ASR_COLUMNS = {dataset: column for column, dataset in config["asr"]["evaluate"].items()}
ASR_SETS = list(ASR_COLUMNS)
ASR_TIMED = list(
    dict.fromkeys(
        config["asr"]["evaluate"].get(name, name) for name in config["asr"]["timing"]["datasets"]
    )
)
SCALES = config["asr"]["scales"]


def list_aggregate_files(names):
    """Return the paths of aggregates, and of the files that compare a run with the paper's."""
    return [f"{R}/{schemas.aggregate_path(name)}" for name in names]


JUDGED = {name: schema for name, schema in schemas.SCHEMAS.items() if schema.in_claims}
AGGREGATES = list_aggregate_files(JUDGED)
BENCHMARK_AGGREGATES = {
    "native": list_aggregate_files(
        n for n, schema in JUDGED.items() if schema.benchmark == "native"
    ),
    # Quality alone: no aggregate that waits for timing.
    "asr": list_aggregate_files(
        name
        for name, schema in JUDGED.items()
        if name == "structure"
        or (schema.benchmark == "asr" and not any(schemas.TIMES in path for path in schema.inputs))
    ),
}
TABLES = [name for name, item in ITEMS.items() if item.kind == "table"]
COMPARED = [name for name, item in ITEMS.items() if item.compared == "yes"]
BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution", "both": "Both"}
FIGURES = [name for name, item in ITEMS.items() if item.kind == "figure"]
TABLES_SHOWN = sorted(
    os.path.relpath(path)
    for pattern in ("*.tsv", "*.mplstyle", "paper/*")
    for path in (ROOT / "config").glob(pattern)
    if path.name not in ("sizes.tsv", "released.tsv", "pixels.tsv")
    and not path.name.startswith(".")  # nor an editor's lock
)
TABLES_READ = [
    os.path.relpath(ROOT / "config" / name)
    for name in ("arms.tsv", "methods.tsv", "paper/protocol.yaml")
]
# Timed jobs run alone: they take all that --cores gives. The profile for clusters gives them one.
ALL_CORES = 10_000
# As many jobs that take a GPU run at once as --resources gpu=N allows; each locks one for itself
# (see `gblsr_repro.devices`), so that too many wait and do not disturb each other.
GPU = config["cluster"]["gpu"]
# The pictures of the qualitative figure, of one seed.
EXEMPLARS = expand(
    f"{R}/native/exemplars/seed{{seed}}/{{name}}/{{column}}.png",
    name=["ground_truth", *BENCHMARK],
    column=COLUMNS,
    allow_missing=True,
)
LINEAR = [arm for arm, row in ARMS.items() if row.diagnostic == "linear"]
# Whose mean colors the page of a demo begins with.
DEMO_ARRAYS = expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS)
DEMO_ARRAYS = DEMO_ARRAYS if config["preset"] == "demo" else []
MINUTES = config["cluster"]["minutes"]
MEMORY = config["cluster"]["memory_mb"]


wildcard_constraints:
    dataset="[A-Za-z0-9_]+",
    array="|".join(SPLITS + COLUMNS),
    arm="|".join(ARMS),
    method="|".join(METHODS),
    seed="|".join(map(str, SEEDS)),
    scale="[0-9.]+",
    aggregate="|".join(schemas.SCHEMAS),
    benchmark="|".join(BENCHMARK_AGGREGATES),


def match_one_of(names):
    """Return the pattern of a wildcard that stands for one of some names, none for no names."""
    return "|".join(names) or "(?!)"


def follow(rule, wildcard=None, subjects=None):
    """Return parameters, one for each thing that the output of a rule follows from.

    Jobs run again when one changes, and a dry-run names it. What a job is about stands in a
    wildcard, by its name or as one of `subjects`.
    """

    @cache
    def collect(name):
        subject = subjects[name] if subjects else name
        try:
            return dependencies.collect_dependencies(rule, subject, config)
        except UserError as error:
            sys.exit(f"gblsr-repro: {error}")

    def describe(name):
        def text(wildcards):
            found = collect(wildcards[wildcard] if wildcard else None)
            return f"{name}: {json.dumps(found[name], sort_keys=True)}" if name in found else ""

        return text

    return {name: describe(name) for name in dependencies.list_names(rule, config)}


@cache
def check_arms():
    """Exit with an error if an arm is outside the budget."""
    from gblsr_repro import preflight

    try:
        preflight.check_native_benchmark(config)
    except UserError as error:
        sys.exit(f"gblsr-repro: {error}")


def check_before_training(wildcards):
    """Check all arms before the first of them is trained, not when the last one is evaluated."""
    if not os.path.isfile(f"{R}/native/runs/{wildcards.arm}/seed{wildcards.seed}/run.json"):
        check_arms()


def lengthen_runtime(kind):
    """Return the minutes of a job that starts anew when it is tried again: each time more."""
    return lambda wildcards, attempt: attempt * MINUTES[kind]


def find_sources_of_array(wildcards):
    """Return the manifests of the data sets that an array is made from."""
    data = config["native"]["data"]
    names = data["train"] if wildcards.array in SPLITS else [data["evaluate"][wildcards.array]]
    return [f"{R}/sources/{name}.csv" for name in names]


@cache
def check_released(benchmark, name, seed):
    """Return the files at hand of released weights; exit with an error if no run can be made of them.

    That is before Snakemake removes anything.
    """
    from gblsr_repro.released.importing import check_before_import

    row = (ARMS if benchmark == "native" else METHODS)[name]
    try:
        return check_before_import(
            row, seed, Path(f"{R}/{benchmark}/runs/{name}/seed{seed}"), config
        )
    except UserError as error:
        sys.exit(f"gblsr-repro: {error}")


def find_files_to_import(wildcards):
    """Return the files at hand of one run's weights: none where they are on the hub."""
    if "arm" in wildcards.keys():
        return check_released("native", wildcards.arm, int(wildcards.seed))
    return check_released("asr", wildcards.method, int(wildcards.seed))


def find_sources_of_timing(wildcards):
    """Return the manifests of the timed sets whose sizes are not in config/sizes.tsv.

    Of the others the sizes suffice; images that have been fetched are timed all the same.
    """
    known = settings_module.list_sized_datasets()
    return [f"{R}/sources/{name}.csv" for name in ASR_TIMED if name not in known]


def find_inputs_of_aggregate(wildcards):
    """Return the rows and records that one aggregate is made from, and tables of the config.

    What was run is compared with all that these say of the paper.
    """
    name = wildcards.aggregate
    tables = TABLES_SHOWN if schemas.SCHEMAS[name].suffix == "json" else TABLES_READ
    return [f"{R}/{path}" for path in schemas.list_inputs(name, config)] + tables


def find_aggregates_of_item(wildcards):
    """Return the aggregates and the provenance files that a table or figure is made from.

    Parameters are counted on untrained arms, so their table needs no provenance.
    """
    item = ITEMS[wildcards.item]
    scopes = {*item.scopes.split()}
    records = [name for name, concerned in SCOPES.items() if not scopes.isdisjoint(concerned)]
    return list_aggregate_files([*item.needs.split(), *records])


def find_inputs_of_figure(wildcards):
    """Return what a figure is drawn from beside aggregates."""
    return {
        "qualitative": expand(EXEMPLARS, seed=min(SEEDS)),
        "cov_hist": expand(f"{R}/{schemas.FIELDS}", benchmark="native", subject=LINEAR, seed=SEEDS),
    }.get(wildcards.item, [])


def check_compiler(wildcards):
    """Exit with an error without LaTeX, before hours are spent on what it is to compile."""
    from gblsr_repro.reporting.document import require_compiler

    try:
        require_compiler()
    except UserError as error:
        sys.exit(f"gblsr-repro: {error}")
    return []


def name_benchmark_of_item(wildcards):
    """Return the heading under which Snakemake's report lists a table or figure."""
    return BENCHMARKS[ITEMS[wildcards.item].benchmark]


def describe_item(wildcards):
    """Return the labels of a table or figure in Snakemake's report."""
    item = ITEMS[wildcards.item]
    return {"item": item.item, "what": f"{item.paper}: {item.title}"}


def describe_comparison(wildcards):
    """Return the labels, in Snakemake's report, of a table beside the paper's values."""
    labels = describe_item(wildcards)
    return {
        "item": f"{labels['item']}_vs_paper",
        "what": f"{labels['what']}, beside the paper's values",
    }


def list_files_of_item(name):
    """Return the files of one table, also beside the paper's values, or of one figure."""
    if name in FIGURES:
        return [f"{R}/figures/{name}.{extension}" for extension in ("pdf", "png")]
    endings = ["", "_vs_paper"] if name in COMPARED else [""]
    return [f"{R}/tables/{name}{ending}.tex" for ending in endings]


def list_items(benchmark, timed=True):
    """Return the files that a page shows of one benchmark, or of what needs no times."""
    names = [name for name, item in ITEMS.items() if item.benchmark == benchmark]
    names = [name for name in names if timed or "asr_latency" not in ITEMS[name].needs.split()]
    arrays = DEMO_ARRAYS if benchmark == "native" else []
    return [path for name in names for path in list_files_of_item(name)] + arrays


def list_items_of_benchmark(wildcards):
    """Return the tables and figures on the page of a benchmark."""
    return list_items(wildcards.benchmark, timed=wildcards.benchmark == "native")


def find_aggregates_of_benchmark(wildcards):
    """Return the aggregates that the claims about a benchmark are judged by."""
    return BENCHMARK_AGGREGATES[wildcards.benchmark]


def describe_benchmark(wildcards):
    """Return the labels, in Snakemake's report, of the page of a benchmark."""
    pages = {"native": "the native benchmark alone", "asr": "super-resolution without timing"}
    return {"what": f"the page of {pages[wildcards.benchmark]}"}


def find_config(wildcards, output):
    """Return the file of settings; named by `output`, so that another path is no other parameter."""
    return CONFIG


def check_slurm():
    """Check that this host can submit jobs; without the commands each fails, and is tried again."""
    missing = [name for name in ("sbatch", "squeue") if not shutil.which(name)]
    if missing and workflow.executor_plugin.name == "slurm":
        raise WorkflowError(
            f"{' and '.join(missing)} not found on this host; submit from a host of the cluster, or "
            "leave `--profile slurm` away."
        )


onstart:
    check_slurm()
    try:
        settings_module.write_resolved(config, f"{R}/config.yaml")
        check_dates(Path(R).glob("**/*"))
    except UserError as error:
        raise WorkflowError(str(error)) from None
