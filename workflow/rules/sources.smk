# Requires: config/datasets.tsv, the network or a mirror.
# Makes: verified source images with their checksums, standardized arrays, region thresholds.


rule fetch:
    """Download one data set, or find it in the mirror; verify it; note its checksums."""
    output:
        f"{R}/sources/{{dataset}}.csv",
    log:
        f"{R}/logs/fetch/{{dataset}}.log",
    priority: 1  # what cannot be had is told before any training
    retries: 1
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("fetch", "dataset", settings_module.read_datasets()),
        config=find_config,
    shell:
        "python -P -m gblsr_repro fetch {wildcards.dataset} --config {params.config}"
        " --output {output} > {log} 2>&1"


for job, arrays in ARRAYS.items():

    rule:
        """Crop the images of both splits, or of an evaluation set, to one size: memory-mapped arrays."""
        name:
            f"standardize_{job}"
        input:
            list_sources_of_arrays(job),
        output:
            expand(
                f"{R}/native/arrays/{{array}}.{{ending}}",
                array=arrays,
                ending=["npy", "csv", "json"],
            ),
        log:
            f"{R}/logs/standardize/{job}.log",
        retries: 1
        conda:
            "../../envs/gblsr.yaml"
        resources:
            mem_mb=MEMORY["other"],
            runtime=lengthen_runtime("other"),
        params:
            depends_on=list_dependencies("standardize", subject=job),
            config=find_config,
            arrays=arrays,
            folder=subpath(output[0], parent=True),
        shell:
            "python -P -m gblsr_repro native standardize {params.arrays} --config {params.config}"
            " --output {params.folder} > {log} 2>&1"


rule regions:
    """Set the thresholds of the smooth, edge, texture and mixed regions by the validation images."""
    input:
        array=f"{R}/native/arrays/validation.npy",
        index=f"{R}/native/arrays/validation.csv",
    output:
        f"{R}/native/arrays/validation_regions.json",
    log:
        f"{R}/logs/regions.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    resources:
        mem_mb=MEMORY["other"],
        runtime=lengthen_runtime("other"),
    params:
        depends_on=list_dependencies("regions"),
        config=find_config,
    shell:
        "python -P -m gblsr_repro native regions --config {params.config} --array {input.array}"
        " --output {output} > {log} 2>&1"
