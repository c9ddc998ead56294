# Requires: the standardized arrays. Makes: trained arms with their records, per-image metrics,
# exemplar reconstructions.


rule train:
    """Train one arm with one seed; a stopped run goes on from its last state."""
    input:
        array=f"{R}/native/arrays/train.npy",
        index=f"{R}/native/arrays/train.csv",
        record=f"{R}/native/arrays/train.json",
    output:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        log=f"{R}/native/runs/{{arm}}/seed{{seed}}/log.csv",
        record=f"{R}/native/runs/{{arm}}/seed{{seed}}/run.json",
    log:
        f"{R}/logs/train/{{arm}}_seed{{seed}}.log",
    wildcard_constraints:
        arm=match_one_of(arm for arm in ARMS if arm not in IMPORTED),
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["training"],
        runtime=MINUTES["training"],
    params:
        depends_on=list_dependencies("train", "arm", ARMS),
        config=find_config,
        run=subpath(output.record, parent=True),
        state=f"{R}/native/state/{{arm}}/seed{{seed}}.pt",
    shell:
        "python -P -m gblsr_repro native train --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --array {input.array} --output {params.run}"
        " --state {params.state} > {log} 2>&1"


rule evaluate:
    """Measure every image of every set for one trained arm; a stopped job goes on where it was.

    PSNR, SSIM, LPIPS, LSE and the regions.
    """
    input:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
        regions=f"{R}/native/arrays/validation_regions.json",
    output:
        metrics=expand(
            f"{R}/native/metrics/{{arm}}/seed{{seed}}/{{column}}.csv",
            column=COLUMNS,
            allow_missing=True,
        ),
        records=expand(
            f"{R}/native/metrics/{{arm}}/seed{{seed}}/{{column}}.json",
            column=COLUMNS,
            allow_missing=True,
        ),
    log:
        f"{R}/logs/evaluate/{{arm}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=MINUTES["evaluation"],
    params:
        depends_on=list_dependencies("evaluate"),
        config=find_config,
        run=subpath(input.weights, parent=True),
        arrays=subpath(input.regions, parent=True),
        metrics=f"{R}/native/metrics/{{arm}}/seed{{seed}}",
        state=f"{R}/native/state/metrics/{{arm}}/seed{{seed}}",
        sets=lambda wildcards, output: [Path(path).stem for path in output.metrics],
    shell:
        "python -P -m gblsr_repro native evaluate --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --run {params.run} --arrays {params.arrays}"
        " --output {params.metrics} --state {params.state} --only {params.sets} > {log} 2>&1"


use rule evaluate as evaluate_validation with:
    input:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        arrays=f"{R}/native/arrays/validation.npy",
        index=f"{R}/native/arrays/validation.csv",
        regions=f"{R}/native/arrays/validation_regions.json",
    output:
        metrics=f"{R}/native/metrics/{{arm}}/seed{{seed}}/validation.csv",
        records=f"{R}/native/metrics/{{arm}}/seed{{seed}}/validation.json",
    log:
        f"{R}/logs/evaluate_validation/{{arm}}_seed{{seed}}.log",
    params:
        depends_on=list_dependencies("evaluate_validation"),
        config=find_config,
        run=subpath(input.weights, parent=True),
        arrays=subpath(input.regions, parent=True),
        metrics=f"{R}/native/metrics/{{arm}}/seed{{seed}}",
        state=f"{R}/native/state/metrics/{{arm}}/seed{{seed}}",
        sets="validation",


rule exemplars:
    """Draw the images of the qualitative figure: as they are, and reconstructed by every arm."""
    input:
        weights=expand(
            f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
            arm=BENCHMARK,
            allow_missing=True,
        ),
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
    output:
        EXEMPLARS,
    log:
        f"{R}/logs/exemplars/seed{{seed}}.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=lengthen_runtime("evaluation"),
    params:
        depends_on=list_dependencies("exemplars"),
        config=find_config,
        runs=lambda wildcards, input: [os.path.dirname(path) for path in input.weights],
        arrays=lambda wildcards, input: os.path.dirname(input.arrays[0]),
        exemplars=subpath(output[0], ancestor=2),
    shell:
        "python -P -m gblsr_repro native exemplars --config {params.config} --runs {params.runs}"
        " --arrays {params.arrays} --output {params.exemplars} > {log} 2>&1"
