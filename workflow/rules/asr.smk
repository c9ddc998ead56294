# Requires: DIV2K and the evaluation sets. Makes: trained methods, PSNR-Y and SSIM-Y per image,
# pictures, and the bicubic row that proves the protocol.


rule asr_standardize:
    """Pack the high-resolution training images into one memory-mapped array."""
    input:
        expand(f"{R}/sources/{{dataset}}.csv", dataset=config["asr"]["train"]),
    output:
        array=f"{R}/asr/arrays/train.npy",
        index=f"{R}/asr/arrays/train.csv",
        record=f"{R}/asr/arrays/train.json",
    log:
        f"{R}/logs/asr_standardize.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    resources:
        mem_mb=MEMORY["other"],
        runtime=lengthen_runtime("other"),
    params:
        depends_on=list_dependencies("asr_standardize"),
        config=find_config,
    shell:
        "python -P -m gblsr_repro asr standardize --config {params.config}"
        " --output {output.array} > {log} 2>&1"


rule asr_train_run:
    """Train one super-resolution method with one seed; a stopped run goes on from its last state."""
    input:
        # The run's last state is kept: what Snakemake asks for again without need is written from
        # it at once; what has other images, settings or code is trained anew.
        array=f"{R}/asr/arrays/train.npy",
        index=f"{R}/asr/arrays/train.csv",
        record=f"{R}/asr/arrays/train.json",
        # Of the validation curve: no run is made again for another one.
        validation=ancient(f"{R}/sources/{ASR_SETS[0]}.csv"),
    output:
        weights=f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors",
        log=f"{R}/asr/runs/{{method}}/seed{{seed}}/log.csv",
        record=f"{R}/asr/runs/{{method}}/seed{{seed}}/run.json",
    log:
        f"{R}/logs/asr_train/{{method}}_seed{{seed}}.log",
    wildcard_constraints:
        method=match_one_of(method for method in METHODS if method not in IMPORTED),
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["asr_training"],
        runtime=MINUTES["asr_training"],
    params:
        depends_on=list_dependencies("asr_train_run", "method", METHODS),
        config=find_config,
        run=subpath(output.record, parent=True),
        state=f"{R}/asr/state/{{method}}/seed{{seed}}.pt",
    shell:
        "python -P -m gblsr_repro asr train --config {params.config} --method {wildcards.method}"
        " --seed {wildcards.seed} --array {input.array} --output {params.run}"
        " --state {params.state} > {log} 2>&1"


rule asr_evaluate:
    """Measure every image at every scale for one trained method; a stopped job goes on.

    PSNR-Y and SSIM-Y.
    """
    input:
        weights=f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors",
        sources=expand(f"{R}/sources/{{dataset}}.csv", dataset=ASR_SETS),
    output:
        expand(
            f"{R}/asr/metrics/{{method}}/seed{{seed}}/{{dataset}}_x{{scale}}.{{ending}}",
            dataset=ASR_SETS,
            scale=SCALES,
            ending=["csv", "json"],
            allow_missing=True,
        ),
    log:
        f"{R}/logs/asr_evaluate/{{method}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["asr_evaluation"],
        runtime=MINUTES["asr_evaluation"],
    params:
        depends_on=list_dependencies("asr_evaluate"),
        config=find_config,
        run=subpath(input.weights, parent=True),
        metrics=subpath(output[0], parent=True),
        state=f"{R}/asr/state/metrics/{{method}}/seed{{seed}}",
    shell:
        "python -P -m gblsr_repro asr evaluate --config {params.config} --method {wildcards.method}"
        " --seed {wildcards.seed} --run {params.run} --output {params.metrics}"
        " --state {params.state} > {log} 2>&1"


rule asr_exemplars:
    """Draw the images that the page compares: as they are, and enlarged in every way."""
    input:
        weights=expand(
            f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors",
            method=METHODS,
            allow_missing=True,
        ),
        sources=expand(f"{R}/sources/{{dataset}}.csv", dataset=ASR_SETS),
    output:
        ASR_EXEMPLARS,
    log:
        f"{R}/logs/asr_exemplars/seed{{seed}}.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    resources:
        **GPU,
        mem_mb=MEMORY["asr_evaluation"],
        runtime=lengthen_runtime("evaluation"),
    params:
        depends_on=list_dependencies("asr_exemplars"),
        config=find_config,
        runs=lambda wildcards, input: [os.path.dirname(path) for path in input.weights],
        exemplars=subpath(output[0], ancestor=2),
    shell:
        "python -P -m gblsr_repro asr exemplars --config {params.config} --runs {params.runs}"
        " --output {params.exemplars} > {log} 2>&1"


rule bicubic:
    """The bicubic row alone, per image: checks the super-resolution protocol without training."""
    input:
        expand(f"{R}/sources/{{dataset}}.csv", dataset=ASR_SETS),
    output:
        expand(
            f"{R}/asr/metrics/bicubic/{{dataset}}_x{{scale}}.{{ending}}",
            dataset=ASR_SETS,
            scale=SCALES,
            ending=["csv", "json"],
        ),
    log:
        f"{R}/logs/bicubic.log",
    conda:
        "../../envs/gblsr.yaml"
    resources:
        mem_mb=MEMORY["other"],
        runtime=MINUTES["asr_evaluation"],
    params:
        depends_on=list_dependencies("asr_bicubic"),
        config=find_config,
        metrics=subpath(output[0], parent=True),
        state=f"{R}/asr/state/metrics/bicubic",
    shell:
        "python -P -m gblsr_repro asr bicubic --config {params.config} --output {params.metrics}"
        " --state {params.state} > {log} 2>&1"
