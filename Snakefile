# The one entry. Stages are in workflow/rules/, one file each; read them in the order below.
from snakemake.utils import min_version

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


workdir: workflow.basedir


include: "workflow/rules/common.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/native.smk"
include: "workflow/rules/diagnostics.smk"
include: "workflow/rules/asr.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/report.smk"
