# Requires: trained per-patch arms. Makes: bandwidth fields and the aggregates of the locality
# diagnostic and the log-space ablation.


rule fields:
    """Store bandwidth and order of every patch of the validation images for one trained arm."""
    input:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        array=f"{R}/native/arrays/validation.npy",
        index=f"{R}/native/arrays/validation.csv",
        regions=f"{R}/native/arrays/validation_regions.json",
    output:
        f"{R}/native/fields/{{arm}}/seed{{seed}}.npz",
    log:
        f"{R}/logs/fields/{{arm}}_seed{{seed}}.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    threads: 1
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=lengthen_runtime("evaluation"),
    params:
        **follow("fields"),
        config=find_config,
        run=subpath(input.weights, parent=True),
    shell:
        "python -m gblsr_repro native fields --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --run {params.run} --array {input.array}"
        " --regions {input.regions} --output {output} > {log} 2>&1"
