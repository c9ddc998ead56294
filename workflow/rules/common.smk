# Reads and checks the config, derives what runs from the tables, holds the input functions.
# Requires: config/*.yaml, config/*.tsv. Makes: nothing but names that the other files use.
import json
import os
import re
import shutil
import sys
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# Code and tables lie beside the workflow; results and resources lie in the working directory.
ROOT = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from gblsr_repro import config as settings_module
from gblsr_repro import dependencies, evaluation
from gblsr_repro.config import get_address, parse_address
from gblsr_repro.errors import UserError
from gblsr_repro.analysis import schemas
from gblsr_repro.released.folder import check_replaced_run, find_weights
from gblsr_repro.released.known import list_known_files
from gblsr_repro.reporting.compiler import require_compiler
from gblsr_repro.reporting.items import QUALITATIVE, group_items, list_jobs

# Jobs find the package, and modules of the user's where Snakemake was started with --directory, too.
FOLDERS = [name for name in os.getenv("PYTHONPATH", "").split(os.pathsep) if name]
FOLDERS = [os.path.join(workflow.rundir, name) for name in FOLDERS]
os.environ.update(PYTHONPATH=os.pathsep.join([str(ROOT / "src"), *FOLDERS]))
# They run by the interpreter that runs Snakemake, activated or not, if it has what the package
# needs; else by the one of `--software-deployment-method conda`, or the first on PATH.
if find_spec("torch"):
    BIN = os.path.dirname(sys.executable)
    os.environ.update(PATH=os.pathsep.join([BIN, os.getenv("PATH", "")]))


# A job whose log cannot be written, as on a full disk, says why it failed here.
shell.prefix("exec 3>&2; ")
os.environ.update(GBLSR_TERMINAL="3")


@contextmanager
def exit_at_mistakes():
    """Exit with the one sentence of a mistake of the user's."""
    try:
        yield
    except (UserError, OSError) as error:
        sys.exit(f"gblsr-repro: {error}")


# Of an option that comes twice Snakemake takes the last alone.
for option, values, spelled in (
    ("--configfile", "A B", r"--configf\w*(=|$)"),
    ("--config", "A=1 B=2", r"--config(=|$)|-C"),
):
    if sum(re.match(spelled, word) is not None for word in sys.argv) > 1:
        sys.exit(f"gblsr-repro: `{option}` comes twice; write all after one: `{option} {values}`.")
with exit_at_mistakes():
    for path in workflow.configfiles:  # of a key that comes twice Snakemake takes the last
        settings_module.read_yaml(path)
    config.update(settings_module.complete(config))
    ARMS = settings_module.list_arms(config)
    METHODS = settings_module.list_methods(config)
    ITEMS = settings_module.list_items(config)
    settings_module.find_mirror(config)

# Snakemake knows files by their paths: under an absolute one it forgets what they were made with.
R = config["results"].removeprefix(f"{os.getcwd()}/")


def changes_paths(modifier):
    """Return whether Snakemake writes results elsewhere than jobs, which read the config, do.

    Of `replace_prefix` any entry may be about a folder within the results.
    """
    if modifier is None:
        return False
    changes_all = modifier.modify(R) != R
    return changes_all or modifier.modifies_prefixes or changes_paths(modifier.inner_modifier)


if changes_paths(workflow.modifier.path_modifier):
    sys.exit(
        "gblsr-repro: a module's `prefix` or `replace_prefix`, or a storage provider, changes paths, "
        "which jobs do not know; name another folder as `results` in its config instead."
    )
# Validated here, once for all jobs. A job on a node of a cluster reads the Snakefile again and gets
# what the workflow was planned with, or says that the settings have changed since.
CONFIG, PLANNED = settings_module.plan_settings(config, R)
if workflow.is_main_process:
    os.environ.update(PLANNED)
SEEDS = config["seeds"]
IMPORTED = config["released"]  # arms and methods whose weights are imported and not trained
COLUMNS = list(config["native"]["data"]["evaluate"])
# The arrays by the job that makes them: of both splits, and of each evaluation column.
ARRAYS = {"train": ["train", "validation"]} | {column: [column] for column in COLUMNS}
BENCHMARK = [arm for arm, row in ARMS.items() if row.in_benchmark]
ASR_SETS = list(config["asr"]["evaluate"].values())
ASR_TIMED = settings_module.list_timed_datasets(config)
SCALES = config["asr"]["scales"]
BENCHMARKS = {"native": "Native benchmark", "asr": "Super-resolution", "both": "Both"}
GROUPS = group_items(config)
AGGREGATED = {job: schemas.list_made(job, config) for job in schemas.JOBS}
# Timed jobs run alone: they take all that --cores gives. The profile for clusters gives them one.
ALL_CORES = 10_000
# As many jobs that take a GPU run at once as --resources gpu=N allows; each locks one for itself
# (see `gblsr_repro.devices`), so that too many wait and do not disturb each other.
GPU = config["cluster"]["gpu"]
# The pictures that are compared; those of the lowest seed are shown.
EXEMPLARS = expand(
    f"{R}/{schemas.EXEMPLAR}",
    subject=[evaluation.TRUTH, *BENCHMARK],
    column=COLUMNS,
    allow_missing=True,
)
ASR_EXEMPLARS = expand(
    f"{R}/{schemas.ASR_EXEMPLAR}",
    subject=[evaluation.TRUTH, evaluation.NEAREST, evaluation.BICUBIC, *METHODS],
    column=ASR_SETS,
    scale=map(schemas.format_scale, evaluation.list_compared_scales(config)),
    allow_missing=True,
)
SHOWN_EXEMPLARS = expand(EXEMPLARS, seed=min(SEEDS))
LINEAR = [arm for arm, row in ARMS.items() if row.diagnostic == "linear"]
ADAPTIVE = schemas.list_subjects("locality", config)
# Whose mean colors the page of a demo begins with.
DEMO_ARRAYS = expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS)
DEMO_ARRAYS = DEMO_ARRAYS if config["preset"] == "demo" else []
MINUTES = config["cluster"]["minutes"]
MEMORY = config["cluster"]["memory_mb"]


wildcard_constraints:
    dataset="|".join(settings_module.read_datasets()),
    arm="|".join(ARMS),
    method="|".join(METHODS),
    seed="|".join(map(str, SEEDS)),


def match_one_of(names):
    """Return the pattern of a wildcard that stands for one of some names, none for no names."""
    return "|".join(names) or "(?!)"


def list_dependencies(rule, wildcard=None, subjects=None, subject=None):
    """List what the output of a rule depends on, a text for each thing, as a parameter.

    Jobs run again when one changes, and a dry-run names it. The subject of a job stands in a
    wildcard, by its name or as one of `subjects`; `subject` is that of all jobs of a rule.
    """

    @cache
    @exit_at_mistakes()
    def collect(name):
        row = subjects[name] if subjects else name
        found = dependencies.collect_dependencies(rule, row, config)
        return sorted(f"{name}: {json.dumps(found[name], sort_keys=True)}" for name in found)

    return lambda wildcards: collect(wildcards[wildcard] if wildcard else subject)


def lengthen_runtime(kind):
    """Return the minutes of a job that starts anew when it is tried again: each time more."""
    return lambda wildcards, attempt: attempt * MINUTES[kind]


def list_sources_of_arrays(name):
    """Return the manifests of the data sets that arrays are made from."""
    data = config["native"]["data"]
    names = data["train"] if name == "train" else [data["evaluate"][name]]
    return [f"{R}/sources/{name}.csv" for name in names]


@cache
@exit_at_mistakes()
def find_released(name, seed):
    """Return the local file of released weights, none where it is on the hub.

    Exit with an error without it, and where a trained run would be replaced.
    """
    row, benchmark = (ARMS[name], "native") if name in ARMS else (METHODS[name], "asr")
    check_replaced_run(Path(f"{R}/{benchmark}/runs/{name}/seed{seed}"), row, int(seed))
    address = get_address(name, seed, config)
    return [] if parse_address(address) else find_weights(Path(address).expanduser())


@cache
@exit_at_mistakes()
def list_known(name):
    """List what config/released.tsv has of an arm or a method, as a parameter."""
    return [str(known) for known in list_known_files(name)]


def find_sources_of_timing(wildcards):
    """Return the manifests of the timed sets whose sizes are not in config/sizes.tsv.

    Of the others the sizes suffice; images that have been fetched are timed all the same.
    """
    known = {size.dataset for size in settings_module.read_image_sizes()}
    return [f"{R}/sources/{name}.csv" for name in ASR_TIMED if name not in known]


def list_aggregates(jobs):
    """Return the aggregates of some jobs, and the files that compare a run with the paper's."""
    names = [name for job in jobs for name in AGGREGATED[job]]
    return [f"{R}/{schemas.aggregate_path(name)}" for name in names]


def list_inputs_of_aggregates(job):
    """Return the rows and records that the aggregates of a job are made from."""
    paths = [path for name in AGGREGATED[job] for path in schemas.list_inputs(name, config)]
    return [f"{R}/{path}" for path in dict.fromkeys(paths)]


def list_inputs_of_items(items):
    """Return the aggregates that items of a group are made from, and what two figures show beside."""
    names = [item.item for item in items]
    pictures = SHOWN_EXEMPLARS if QUALITATIVE in names else []
    fields = expand(f"{R}/{schemas.FIELDS}", benchmark="native", subject=LINEAR, seed=SEEDS)
    return [
        *list_aggregates(list_jobs(items[0])),
        *pictures,
        *(fields if "cov_hist" in names else []),
    ]


@exit_at_mistakes()
def check_compiler(wildcards):
    """Exit with an error without LaTeX, before hours are spent on what it is to compile."""
    require_compiler()
    return []


def list_files_of_item(item):
    """Return the files of a table, also beside the paper's values, or of a figure."""
    if item.kind == "figure":
        return [f"{R}/figures/{item.item}.{ending}" for ending in ("png", "pdf")]
    names = [item.item, f"{item.item}_vs_paper"] if item.compared else [item.item]
    return [f"{R}/tables/{name}.tex" for name in names]


def list_reported_files(items):
    """Return the files of items, with what Snakemake's report says of them; of figures the PNG."""
    files = []
    for item in items:
        shown = {
            "caption": f"../report/{item.kind}.rst",
            "category": f"{item.kind}s".title(),
            "subcategory": BENCHMARKS[item.benchmark],
        }
        for path in list_files_of_item(item):
            labels = {"item": Path(path).stem, "what": f"{item.paper}: {item.title}"}
            files.append(path if path.endswith(".pdf") else report(path, labels=labels, **shown))
    return files


def list_items(*benchmarks, timed=True):
    """Return the files that a page shows of benchmarks, or of what needs no times."""
    items = [item for item in ITEMS.values() if item.benchmark in benchmarks]
    items = [item for item in items if timed or "asr_latency" not in item.needs]
    arrays = DEMO_ARRAYS if "native" in benchmarks else []
    return [path for item in items for path in list_files_of_item(item)] + arrays


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


# Not of a module, where jobs find out.
onstart:
    check_slurm()
    try:
        settings_module.write_resolved(config, f"{R}/config.yaml")
    except UserError as error:
        raise WorkflowError(str(error)) from None
    # What averages and shows counts as unfinished until it is made anew: if a job before it fails,
    # whose old output Snakemake deletes, the same command would otherwise leave it as it is.
    for job in workflow.dag.needrun_jobs():
        if job.rule.snakefile.endswith("report.smk"):
            workflow.persistence.started(job)
