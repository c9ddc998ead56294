# Requires: rows and records of the runs. Makes: aggregates, tables, figures, claims, report.
# None is tried again: the retries of the profile for clusters are for trainings.


rule aggregate:
    """Mean, standard deviation and number of seeds of one kind of number."""
    input:
        inputs_of_aggregate,
    output:
        f"{R}/aggregates/{{aggregate}}.csv",
    log:
        f"{R}/logs/aggregate/{{aggregate}}.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        follows=follows("aggregate", "aggregate"),
        results=lambda wildcards: R,
    shell:
        "python -m gblsr_repro aggregate {wildcards.aggregate} --config {params.config}"
        " --results {params.results} --output {output} > {log} 2>&1"


use rule aggregate as provenance with:
    output:
        f"{R}/aggregates/{{aggregate}}.json",
    log:
        f"{R}/logs/aggregate/{{aggregate}}.json.log",
    params:
        config=CONFIG,
        follows=follows("provenance"),
        results=lambda wildcards: R,


rule readings:
    """The readings of the baselines side by side (config/readings.yaml)."""
    input:
        rows=f"{R}/aggregates/readings.csv",
        tables=TABLES_SHOWN,
    output:
        f"{R}/readings.md",
    log:
        f"{R}/logs/readings.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        follows=follows("readings"),
    shell:
        "python -m gblsr_repro readings --config {params.config} --aggregate {input.rows}"
        " --output {output} > {log} 2>&1"


for (benchmark, needs), names in drawn_together("table").items():

    rule:
        """The LaTeX tables from the same aggregates, also beside the paper's values."""
        name:
            f"tables_of_{needs.replace(' ', '_and_') or 'nothing'}"
        input:
            rows=aggregates_of(benchmark, needs),
            tables=TABLES_SHOWN,
        output:
            [
                report(
                    f"{R}/tables/{name}.tex",
                    caption="../report/table.rst",
                    category="Tables",
                    **described(name),
                )
                for name in compared(names)
            ],
        log:
            f"{R}/logs/tables/{needs.replace(' ', '_') or 'nothing'}.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            config=CONFIG,
            follows=follows("tables"),
            aggregates=lambda wildcards: f"{R}/aggregates",
            tables=lambda wildcards, output: os.path.dirname(output[0]),
            names=compared(names),
        shell:
            "python -m gblsr_repro tables --config {params.config}"
            " --aggregates {params.aggregates} --output {params.tables}"
            " --only {params.names} > {log} 2>&1"


for (benchmark, needs), names in drawn_together("figure").items():

    rule:
        """The figures from the same aggregates, as PDF and PNG."""
        name:
            f"figures_of_{needs.replace(' ', '_and_')}"
        input:
            inputs_of_figures(names),
            rows=aggregates_of(benchmark, needs),
            tables=TABLES_SHOWN,
        output:
            pdf=expand(f"{R}/figures/{{name}}.pdf", name=names),
            png=[
                report(
                    f"{R}/figures/{name}.png",
                    caption="../report/figure.rst",
                    category="Figures",
                    **described(name),
                )
                for name in names
            ],
        log:
            f"{R}/logs/figures/{needs.replace(' ', '_')}.log",
        retries: 0
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            config=CONFIG,
            follows=follows("figures"),
            aggregates=lambda wildcards: f"{R}/aggregates",
            figures=lambda wildcards, output: os.path.dirname(output.pdf[0]),
            names=names,
        shell:
            "python -m gblsr_repro figures --config {params.config}"
            " --aggregates {params.aggregates} --output {params.figures}"
            " --only {params.names} > {log} 2>&1"


rule claims:
    """Every number the paper claims: paper, measured, verdict."""
    input:
        AGGREGATES,
        TABLES_SHOWN,
    output:
        report(
            f"{R}/claims.csv",
            caption="../report/claims.rst",
            category="Claims",
            labels={"what": "every claim with its verdict"},
        ),
    log:
        f"{R}/logs/claims.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        follows=follows("claims"),
        aggregates=lambda wildcards: f"{R}/aggregates",
    shell:
        "python -m gblsr_repro claims --config {params.config} --aggregates {params.aggregates}"
        " --output {output} > {log} 2>&1"


use rule claims as native_claims with:
    input:
        NATIVE_AGGREGATES,
        TABLES_SHOWN,
    output:
        f"{R}/native/claims.csv",
    log:
        f"{R}/logs/native_claims.log",


use rule claims as asr_eval_claims with:
    input:
        ASR_EVAL_AGGREGATES,
        TABLES_SHOWN,
    output:
        f"{R}/asr/claims.csv",
    log:
        f"{R}/logs/asr_eval_claims.log",


rule claims_page:
    """The same as Markdown, by topic."""
    input:
        rules.claims.output,
    output:
        f"{R}/claims.md",
    log:
        f"{R}/logs/claims_page.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        follows=follows("claims_page"),
    shell:
        "python -m gblsr_repro claims-page --config {params.config} --claims {input}"
        " --output {output} > {log} 2>&1"


use rule claims_page as native_claims_page with:
    input:
        rules.native_claims.output,
    output:
        f"{R}/native/claims.md",
    log:
        f"{R}/logs/native_claims_page.log",


use rule claims_page as asr_eval_claims_page with:
    input:
        rules.asr_eval_claims.output,
    output:
        f"{R}/asr/claims.md",
    log:
        f"{R}/logs/asr_eval_claims_page.log",


rule report:
    """One page with claims, tables, figures, provenance and cost."""
    input:
        items_of("native"),
        items_of("asr"),
        items_of("both"),
        rules.claims_page.output,
        claims=rules.claims.output,
    output:
        report(
            f"{R}/report.html",
            caption="../report/page.rst",
            category="Claims",
            labels={"what": "the page for readers: claims, tables, figures, cost"},
        ),
    log:
        f"{R}/logs/report.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        follows=follows("report"),
        results=lambda wildcards: R,
    shell:
        "python -m gblsr_repro report --config {params.config} --results {params.results}"
        " --claims {input.claims} --output {output} > {log} 2>&1"


use rule report as native_report with:
    input:
        items_of("native"),
        rules.native_claims_page.output,
        claims=rules.native_claims.output,
    output:
        report(
            f"{R}/native/report.html",
            caption="../report/page.rst",
            category="Claims",
            labels={"what": "the page of the native benchmark alone"},
        ),
    log:
        f"{R}/logs/native_report.log",


use rule report as asr_eval_report with:
    input:
        items_of("asr", timed=False),
        rules.asr_eval_claims_page.output,
        claims=rules.asr_eval_claims.output,
    output:
        report(
            f"{R}/asr/report.html",
            caption="../report/page.rst",
            category="Claims",
            labels={"what": "the page of super-resolution without timing"},
        ),
    log:
        f"{R}/logs/asr_eval_report.log",
