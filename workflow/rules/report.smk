# Requires: rows and records of the runs. Makes: aggregates, tables, figures, claims, report.
# None is tried again: the retries of the profile for clusters are for trainings. `use rule` takes over
# all of a rule but that it is local.


rule aggregate:
    """Compute mean, standard deviation and number of seeds of one kind of number."""
    input:
        find_inputs_of_aggregate,
    output:
        f"{R}/aggregates/{{aggregate}}.csv",
    log:
        f"{R}/logs/aggregate/{{aggregate}}.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        **follow("aggregate", "aggregate"),
        config=find_config,
    shell:
        "python -m gblsr_repro aggregate {wildcards.aggregate} --config {params.config}"
        " --output {output} > {log} 2>&1"


use rule aggregate as provenance with:
    output:
        f"{R}/aggregates/{{aggregate}}.json",
    log:
        f"{R}/logs/aggregate/{{aggregate}}.json.log",
    localrule: True
    params:
        **follow("provenance"),
        config=find_config,


rule readings:
    """Compare the readings of the baselines side by side (config/readings.yaml)."""
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
        **follow("readings"),
        config=find_config,
    shell:
        "python -m gblsr_repro readings --config {params.config} --aggregate {input.rows}"
        " --output {output} > {log} 2>&1"


rule table:
    """Set one table of the paper in LaTeX."""
    input:
        rows=find_aggregates_of_item,
        tables=TABLES_SHOWN,
    output:
        report(
            f"{R}/tables/{{item}}.tex",
            caption="../report/table.rst",
            category="Tables",
            subcategory=name_benchmark_of_item,
            labels=describe_item,
        ),
    log:
        f"{R}/logs/tables/{{item}}.log",
    wildcard_constraints:
        item=match_one_of(name for name in TABLES if name not in COMPARED),
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        **follow("table"),
        config=find_config,
        tables=subpath(output[0], parent=True),
        names=lambda wildcards, output: [Path(path).stem for path in output],
    shell:
        "python -m gblsr_repro tables --config {params.config} --output {params.tables}"
        " --only {params.names} > {log} 2>&1"


use rule table as compared_table with:
    output:
        report(
            f"{R}/tables/{{item}}.tex",
            caption="../report/table.rst",
            category="Tables",
            subcategory=name_benchmark_of_item,
            labels=describe_item,
        ),
        report(
            f"{R}/tables/{{item}}_vs_paper.tex",
            caption="../report/table.rst",
            category="Tables",
            subcategory=name_benchmark_of_item,
            labels=describe_comparison,
        ),
    wildcard_constraints:
        item=match_one_of(COMPARED),
    localrule: True


rule figure:
    """Draw one figure of the paper, as PDF and PNG."""
    input:
        find_inputs_of_figure,
        rows=find_aggregates_of_item,
        tables=TABLES_SHOWN,
    output:
        pdf=f"{R}/figures/{{item}}.pdf",
        png=report(
            f"{R}/figures/{{item}}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory=name_benchmark_of_item,
            labels=describe_item,
        ),
    log:
        f"{R}/logs/figures/{{item}}.log",
    wildcard_constraints:
        item=match_one_of(FIGURES),
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        **follow("figure"),
        config=find_config,
        figures=subpath(output.pdf, parent=True),
    shell:
        "python -m gblsr_repro figures --config {params.config} --output {params.figures}"
        " --only {wildcards.item} > {log} 2>&1"


rule claims:
    """Judge every number the paper claims: paper, measured, verdict."""
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
        **follow("claims"),
        config=find_config,
    shell:
        "python -m gblsr_repro claims --config {params.config} --output {output} > {log} 2>&1"


use rule claims as benchmark_claims with:
    input:
        find_aggregates_of_benchmark,
        TABLES_SHOWN,
    output:
        f"{R}/{{benchmark}}/claims.csv",
    log:
        f"{R}/logs/{{benchmark}}_claims.log",
    localrule: True


rule claims_page:
    """Write the claims as a Markdown page, by topic."""
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
        **follow("claims_page"),
        config=find_config,
    shell:
        "python -m gblsr_repro claims-page --config {params.config} --claims {input}"
        " --output {output} > {log} 2>&1"


use rule claims_page as benchmark_claims_page with:
    input:
        f"{R}/{{benchmark}}/claims.csv",
    output:
        f"{R}/{{benchmark}}/claims.md",
    log:
        f"{R}/logs/{{benchmark}}_claims_page.log",
    localrule: True


rule report:
    """Write one page with claims, tables, figures, provenance and cost."""
    input:
        list_items("native"),
        list_items("asr"),
        list_items("both"),
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
        **follow("report"),
        config=find_config,
    shell:
        "python -m gblsr_repro report --config {params.config} --claims {input.claims}"
        " --output {output} > {log} 2>&1"


use rule report as benchmark_report with:
    input:
        list_items_of_benchmark,
        f"{R}/{{benchmark}}/claims.md",
        claims=f"{R}/{{benchmark}}/claims.csv",
    output:
        report(
            f"{R}/{{benchmark}}/report.html",
            caption="../report/page.rst",
            category="Claims",
            labels=describe_benchmark,
        ),
    log:
        f"{R}/logs/{{benchmark}}_report.log",
    localrule: True


rule pdf:
    """Compile every table and figure, beside the paper's values, into one PDF by LaTeX."""
    input:
        check_compiler,
        list_items("native"),
        list_items("asr"),
        list_items("both"),
    output:
        report(
            f"{R}/report.pdf",
            caption="../report/document.rst",
            category="Claims",
            labels={"what": "every table and figure in one PDF"},
        ),
    log:
        f"{R}/logs/pdf.log",
    retries: 0
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        **follow("pdf"),
        config=find_config,
    shell:
        "python -m gblsr_repro pdf --config {params.config} --output {output} > {log} 2>&1"
