# Requires: rows and records of the runs. Makes: aggregates, tables, figures, claims, report.
# None is tried again: the retries of the profile for clusters are for what goes on from its state.


for job, names in AGGREGATED.items():
    if not names:
        continue

    rule:
        """Means, standard deviations and numbers of seeds; how the run differs from the paper's."""
        name:
            f"aggregate_{job}"
        input:
            list_inputs_of_aggregates(job),
        output:
            list_aggregates([job]),
        log:
            f"{R}/logs/aggregate/{job}.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            depends_on=list_dependencies("aggregate", subject=job),
            config=find_config,
            names=names,
            aggregates=subpath(output[0], parent=True),
        shell:
            "python -P -m gblsr_repro aggregate {params.names} --config {params.config}"
            " --output {params.aggregates} > {log} 2>&1"


for group, items in GROUPS.items():

    rule:
        """All tables and figures that are made from the same aggregates."""
        name:
            f"show_{group}"
        input:
            list_inputs_of_items(items),
        output:
            list_reported_files(items),
        log:
            f"{R}/logs/show/{group}.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            depends_on=list_dependencies("show"),
            rows=[f"config/items.tsv {item.item}: {item}" for item in items],
            config=find_config,
            names=[item.item for item in items],
            results=subpath(output[0], ancestor=2),
        shell:
            "python -P -m gblsr_repro items --config {params.config} --output {params.results}"
            " --only {params.names} > {log} 2>&1"


NATIVE_JOBS = ["native", "structure", "runs", "diagnostics"]
NATIVE_PICTURES = SHOWN_EXEMPLARS if QUALITATIVE in ITEMS else []
ASR_PICTURES = expand(ASR_EXEMPLARS, seed=min(SEEDS))
# The page of everything, and of each benchmark alone, of super-resolution what needs no times, which
# take hours: what begins the names of its rules, its folder, the jobs that make the aggregates of its
# claims, the files of its items, and its pictures.
PAGES = (
    (
        "",
        R,
        [*NATIVE_JOBS, "asr_quality", "asr_latency"],
        list_items(*BENCHMARKS),
        [*NATIVE_PICTURES, *ASR_PICTURES],
    ),
    ("native_", f"{R}/native", NATIVE_JOBS, list_items("native"), NATIVE_PICTURES),
    (
        "asr_",
        f"{R}/asr",
        ["structure", "asr_quality"],
        list_items("asr", timed=False),
        ASR_PICTURES,
    ),
)
for page, folder, jobs, files, pictures in PAGES:

    rule:
        """Judge every number the paper claims: paper, measured, verdict."""
        name:
            f"{page}claims"
        input:
            list_aggregates(jobs),
        output:
            report(
                f"{folder}/claims.csv",
                caption="../report/claims.rst",
                category="Claims",
            ),
        log:
            f"{R}/logs/{page}claims.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            depends_on=list_dependencies("claims"),
            config=find_config,
            folder=subpath(output[0], parent=True),
        shell:
            "python -P -m gblsr_repro claims --config {params.config} --output {params.folder}"
            " > {log} 2>&1"

    rule:
        """Write one page with claims, pictures, tables, figures, provenance and cost."""
        name:
            f"{page}report"
        input:
            files,
            pictures,
            claims=f"{folder}/claims.csv",
        output:
            report(
                f"{folder}/report.html",
                caption="../report/page.rst",
                category="Claims",
            ),
        log:
            f"{R}/logs/{page}report.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            depends_on=list_dependencies("report"),
            config=find_config,
        shell:
            "python -P -m gblsr_repro report --config {params.config} --claims {input.claims}"
            " --output {output} > {log} 2>&1"


rule pdf:
    """Compile every table and figure, beside the paper's values, into one PDF by LaTeX."""
    input:
        check_compiler,
        list_items(*BENCHMARKS),
    output:
        report(
            f"{R}/report.pdf",
            caption="../report/document.rst",
            category="Claims",
        ),
    log:
        f"{R}/logs/pdf.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("report"),
        config=find_config,
    shell:
        "python -P -m gblsr_repro pdf --config {params.config} --output {output} > {log} 2>&1"
