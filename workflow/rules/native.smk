# Requires: the standardised arrays. Makes: trained arms with their records, per-image metrics,
# exemplar reconstructions, and the native aggregates.


rule train:
    """Train one arm with one seed; a killed run goes on from its last state."""
    input:
        array=f"{R}/native/arrays/train.npy",
        index=f"{R}/native/arrays/train.csv",
        record=f"{R}/native/arrays/train.json",
        code=code_of("native train"),
    output:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        log=f"{R}/native/runs/{{arm}}/seed{{seed}}/log.csv",
        record=f"{R}/native/runs/{{arm}}/seed{{seed}}/run.json",
    log:
        f"{R}/logs/train/{{arm}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: 1
    resources:
        **GPU,
        mem_mb=MEMORY["training"],
        runtime=MINUTES["training"],
    params:
        config=CONFIG,
        settings=settings("native train"),
        run=subpath(output.record, parent=True),
        state=f"{R}/native/state/{{arm}}/seed{{seed}}.pt",
    shell:
        "python -m gblsr_repro native train --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --array {input.array} --output {params.run}"
        " --state {params.state} 2>&1 | tee {log}"


rule evaluate:
    """Measure every image of every set for one trained arm: PSNR, SSIM, LPIPS, LSE, regions."""
    input:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        arrays=expand(f"{R}/native/arrays/{{array}}.npy", array=COLUMNS + ["validation"]),
        index=expand(f"{R}/native/arrays/{{array}}.csv", array=COLUMNS + ["validation"]),
        regions=f"{R}/native/arrays/regions.json",
        backbone=lpips_backbone,
        code=code_of("native evaluate"),
    output:
        metrics=expand(
            f"{R}/native/metrics/{{{{arm}}}}/seed{{{{seed}}}}/{{array}}.csv",
            array=COLUMNS + ["validation"],
        ),
        records=expand(
            f"{R}/native/metrics/{{{{arm}}}}/seed{{{{seed}}}}/{{array}}.json",
            array=COLUMNS + ["validation"],
        ),
        exemplars=expand(
            f"{R}/native/exemplars/{{{{arm}}}}/seed{{{{seed}}}}/{{column}}.png", column=COLUMNS
        ),
    log:
        f"{R}/logs/evaluate/{{arm}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: 1
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=runtime_by_attempt("evaluation"),
    params:
        config=CONFIG,
        settings=settings("native evaluate"),
        run=subpath(input.weights, parent=True),
        arrays=subpath(input.regions, parent=True),
        metrics=lambda wildcards, output: os.path.dirname(output.metrics[0]),
        exemplars=lambda wildcards, output: os.path.dirname(output.exemplars[0]),
    shell:
        "python -m gblsr_repro native evaluate --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --run {params.run} --arrays {params.arrays}"
        " --output {params.metrics} --exemplars {params.exemplars} 2>&1 | tee {log}"


rule ground_truth:
    """Write the images that the qualitative figure compares with."""
    input:
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
    output:
        expand(f"{R}/native/exemplars/ground_truth/{{column}}.png", column=COLUMNS),
    log:
        f"{R}/logs/ground_truth.log",
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        config=CONFIG,
        settings=settings("native exemplars"),
        arrays=lambda wildcards, input: os.path.dirname(input.arrays[0]),
        exemplars=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m gblsr_repro native exemplars --config {params.config} --arrays {params.arrays}"
        " --output {params.exemplars} 2>&1 | tee {log}"
