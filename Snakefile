# The one entry. Stages are in workflow/rules/, one file each; read them in the order below.
from snakemake.utils import min_version

min_version("9.12")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/native.smk"
include: "workflow/rules/released.smk"
include: "workflow/rules/diagnostics.smk"
include: "workflow/rules/asr.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/report.smk"


# Here and not in an included file, whose default target Snakemake forgets.
rule all:
    """Everything: both benchmarks of the paper, claims and report."""
    default_target: True
    input:
        list_items("native"),
        list_items("asr"),
        rules.claims.output,
        f"{R}/report.html",


onsuccess:
    for page in ("report.html", "native/report.html", "asr/report.html"):
        if os.path.exists(f"{R}/{page}"):
            print(f"Page: {R}/{page}", file=sys.stderr)
