# Reads and checks the config, derives what runs from the tables, holds the input functions.
# Requires: config/*.yaml, config/*.tsv. Makes: nothing but names that the other files use.
import json
import os
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, os.path.join(workflow.basedir, "src"))

from gblsr_repro import config as settings_module
from gblsr_repro import devices
from gblsr_repro.config import code_of
from gblsr_repro.errors import UserError
from gblsr_repro.files import check_dates
from gblsr_repro.reporting import kinds

# Jobs find the package and the interpreter that runs Snakemake, whether or not it is activated.
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        filter(None, [os.path.join(workflow.basedir, "src"), os.getenv("PYTHONPATH")])
    ),
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.getenv("PATH", "")]),
)

try:
    settings_module.validate(config)
    ARMS = settings_module.selected_arms(config)
    METHODS = settings_module.selected_methods(config)
    DATASETS = settings_module.selected_datasets(config)
    ITEMS = settings_module.selected_items(config)
    settings_module.mirror_of(config)
except UserError as error:
    sys.exit(f"gblsr-repro: {error}")

R = config["results"]
S = config["resources"]
CONFIG = f"{R}/config.json"  # read without PyYAML and pydantic, which take a while to import
SEEDS = config["seeds"]
COLUMNS = list(config["native"]["data"]["evaluate"])
SPLITS = ["train", "validation"]
BENCHMARK = [arm for arm, row in ARMS.items() if row.in_benchmark]
ASR_COLUMNS = list(config["asr"]["evaluate"])
SCALES = config["asr"]["scales"]
JUDGED = {name: kind for name, kind in kinds.KINDS.items() if kind.judged}
AGGREGATES = [f"{R}/{kinds.file_of(name)}" for name in JUDGED]
NATIVE_AGGREGATES = [
    f"{R}/{kinds.file_of(name)}" for name, kind in JUDGED.items() if kind.half == "native"
]
CLAIMS_CODE = sorted(
    os.path.relpath(path, workflow.basedir)
    for path in Path(workflow.basedir, "src/gblsr_repro/reporting/claims").glob("*.py")
)
TABLES = [name for name, item in ITEMS.items() if item.kind == "table"]
COMPARED = [f"{name}_vs_paper" for name, item in ITEMS.items() if item.compared == "yes"]
BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution", "both": "Both"}
FIGURES = [name for name, item in ITEMS.items() if item.kind == "figure"]
CONFIG_TABLES = sorted(
    os.path.relpath(path, workflow.basedir)
    for pattern in ("*.tsv", "paper/*")
    for path in Path(workflow.basedir, "config").glob(pattern)
)
# All that --cores gives. A cluster's job has one, at submission and when it reads this again there.
ALL_CORES = 1 if workflow.remote_exec else workflow.resource_settings.cores or 1
# Without a cluster every job that computes takes a GPU for itself (see `gblsr_repro.devices`), and
# as many run at once as there are, or as --resources gpu=N asks for: then some share one.
LOCAL = workflow.local_exec and not workflow.remote_exec
GPU = {"gpu": 1} if LOCAL else config["cluster"]["gpu"]
if LOCAL and config["device"] != "cpu" and (gpus := len(devices.visible())):
    if workflow.global_resources.get("gpu").value is None:
        workflow.register_resource("gpu", gpus)
    jobs = max(workflow.global_resources["gpu"].value, 1)
    os.environ[devices.JOBS_PER_GPU] = str(-(-jobs // gpus))
MINUTES = config["cluster"]["minutes"]
MEMORY = config["cluster"]["memory_mb"]


wildcard_constraints:
    dataset="[A-Za-z0-9_]+",
    array="|".join(SPLITS + COLUMNS),
    arm="|".join(ARMS),
    method="|".join(METHODS),
    seed="|".join(map(str, SEEDS)),
    column="|".join(ASR_COLUMNS),
    scale="[0-9.]+",
    aggregate="|".join(kinds.KINDS),


def settings(job):
    """Return as text what a job of that kind follows from: it runs again when that changes."""
    rows = {"arm": ARMS, "method": METHODS, "dataset": settings_module.datasets()}

    @cache
    def text(kind, name):
        row = rows[kind][name] if kind in rows else name
        return json.dumps(settings_module.settings_of(job, row, config), sort_keys=True)

    def of(wildcards):
        names = {k: v for k, v in wildcards.items() if k in (*rows, "array", "column")}
        return text(*next(iter(names.items()), (None, None)))

    return of


def runtime_by_attempt(kind):
    """Return the minutes of a job that starts anew when it is tried again: each time more."""
    return lambda wildcards, attempt: attempt * MINUTES[kind]


def sources_of_array(wildcards):
    """Return the manifests of the data sets that an array is made from."""
    data = config["native"]["data"]
    names = data["train"] if wildcards.array in SPLITS else [data["evaluate"][wildcards.array]]
    return [f"{R}/sources/{name}.csv" for name in names]


def lpips_backbone(wildcards):
    """Return the AlexNet backbone's manifest where LPIPS needs the download."""
    given = config["lpips_backbone"] or os.environ.get("GBLSR_LPIPS_BACKBONE")
    return [] if given or not config["require_lpips"] else [f"{R}/sources/alexnet.csv"]


def sources_of_validation(wildcards):
    """Return the manifest of the set that the validation curve is measured on."""
    return f"{R}/sources/{config['asr']['evaluate'][ASR_COLUMNS[0]]}.csv"


def sources_of_column(wildcards):
    """Return the manifest of the data set behind a column of the super-resolution tables."""
    return f"{R}/sources/{config['asr']['evaluate'][wildcards.column]}.csv"


def sources_of_timing(wildcards):
    """Return the manifests of the timed sets that have been fetched or whose sizes are not known.

    Where config/sizes.tsv knows the sizes, they alone do.
    """
    known = settings_module.sized_datasets()
    columns = config["asr"]["timing"]["datasets"]
    names = [config["asr"]["evaluate"].get(column, column) for column in columns]
    paths = {name: f"{R}/sources/{name}.csv" for name in names}
    return [path for name, path in paths.items() if name not in known or os.path.isfile(path)]


def inputs_of_aggregate(wildcards):
    """Return the rows and records that one aggregate is made from."""
    name = wildcards.aggregate
    return [f"{R}/{path}" for path in kinds.inputs(name, config)] + kinds.code_inputs(name)


def drawn_together(kind):
    """Return the items of a kind, "table" or "figure", by their benchmark and the aggregates they need.

    One job makes them all: to start it takes longer than to draw.
    """
    groups = {}
    for name, item in ITEMS.items():
        if item.kind == kind:
            groups.setdefault((item.benchmark, item.needs), []).append(name)
    return groups


def compared(names):
    """Return tables, each followed by itself beside the paper's values where there is one."""
    return [n for name in names for n in (name, f"{name}_vs_paper") if n in TABLES + COMPARED]


def aggregates_of(benchmark, needs):
    """Return the aggregates and the provenance files that items are drawn from.

    Parameters are counted on untrained arms, so their table needs no provenance.
    """
    untrained = needs in ("", "budget")
    told = ["native", "asr"] if benchmark == "both" else [] if untrained else [benchmark]
    told += ["asr_timing"] if "asr_latency" in needs.split() else []
    record = [f"{R}/aggregates/provenance_{each}.json" for each in told]
    return [f"{R}/aggregates/{name}.csv" for name in needs.split()] + record


def described(name):
    """Return how Snakemake's report files an item: its benchmark, its name, its number and title."""
    item = ITEMS[name.removesuffix("_vs_paper")]
    beside = ", beside the paper's values" if name.endswith("_vs_paper") else ""
    what = f"{item.paper}: {item.title}{beside}"
    return {
        "subcategory": BENCHMARKS[item.benchmark],
        "labels": {"item": name, "what": what},
    }


def inputs_of_figures(names):
    """Return what figures are drawn from beside the aggregates."""
    inputs = {
        "qualitative": expand(
            f"{R}/native/exemplars/{{arm}}/seed{SEEDS[0]}/{{column}}.png",
            arm=BENCHMARK,
            column=COLUMNS,
        )
        + expand(f"{R}/native/exemplars/ground_truth/{{column}}.png", column=COLUMNS),
        "cov_hist": expand(
            f"{R}/native/fields/{{arm}}/seed{{seed}}.npz",
            arm=kinds.subjects("locality", config),
            seed=SEEDS,
        ),
    }
    return [path for name in names for path in inputs.get(name, [])]


def files_of(name):
    """Return the files of one table or figure."""
    kind = ITEMS[name].kind
    return [
        f"{R}/{kind}s/{name}.{extension}"
        for extension in (["tex"] if kind == "table" else ["pdf", "png"])
    ]


def items_of(benchmark, timed=True):
    """Return the files of all tables and figures of one benchmark, or of those without times."""
    names = [name for name, item in ITEMS.items() if item.benchmark == benchmark]
    names = [name for name in names if timed or "asr_latency" not in ITEMS[name].needs.split()]
    beside = [f"{R}/tables/{name}_vs_paper.tex" for name in names if f"{name}_vs_paper" in COMPARED]
    return [path for name in names for path in files_of(name)] + beside


onstart:
    # Snakemake's limit of jobs per second sets a timer at every round of scheduling, which brings
    # another round: the more jobs have ended, the more rounds a second. No limit is needed here.
    if LOCAL:
        workflow.scheduler.job_rate_limiter = None
    # A profile's many retries are for trainings, which go on from their saved state.
    for each in workflow.rules:
        if each.name not in ("train", "asr_train_run"):
            each.restart_times = min(each.restart_times, 1)
    try:
        settings_module.write_resolved(config, CONFIG)
        check_dates(Path(R).glob("**/*"))
        rules = {job.rule.name for job in workflow.dag.needrun_jobs()}
        if "train" in rules:
            from gblsr_repro import preflight

            # Not a job that training waits for: Snakemake overlooks what else has changed of a job
            # when one before it runs, even behind `ancient`.
            fetched = all(map(os.path.isfile, lpips_backbone(None)))
            preflight.check(config, fetches_backbone=not fetched)
        # The GPU-hours and the disk it takes, before days of training start.
        if "asr_train_run" in rules:
            from gblsr_repro.operations import plan

            print(plan.text(plan.survey(config)), flush=True)
    except UserError as error:
        raise WorkflowError(str(error)) from None
