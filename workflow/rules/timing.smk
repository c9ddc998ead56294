# Requires: arrays or image sizes; no trained weights. Makes: latency by the fixed protocol.
# A timed job takes all local cores, so that nothing else runs beside it. What was timed of the same
# images by the same code on the same device stays as it is; to time again delete it and ask for
# native_timing or asr_timing.


rule latency:
    """Time one native arm by the fixed protocol, with a record of the device."""
    input:
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
    output:
        rows=[update(f"{R}/native/latency/{{arm}}/seed{{seed}}/{column}.csv") for column in COLUMNS],
        records=[
            update(f"{R}/native/latency/{{arm}}/seed{{seed}}/{column}.json") for column in COLUMNS
        ],
    log:
        f"{R}/logs/latency/{{arm}}_seed{{seed}}.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=lengthen_runtime("timing"),
    params:
        config=CONFIG,
        follows=describe_dependencies("latency", "arm", ARMS),
        times=lambda wildcards, output: os.path.dirname(output.rows[0]),
        arrays=lambda wildcards, input: os.path.dirname(input.arrays[0]),
    shell:
        "python -m gblsr_repro native latency --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --arrays {params.arrays} --output {params.times} > {log} 2>&1"


rule asr_latency:
    """Time one super-resolution method by the fixed protocol, with a record of the device."""
    input:
        find_sources_of_timing,
    output:
        rows=[
            update(f"{R}/asr/latency/{{method}}/seed{{seed}}/{dataset}.csv")
            for dataset in ASR_TIMED
        ],
        records=[
            update(f"{R}/asr/latency/{{method}}/seed{{seed}}/{dataset}.json")
            for dataset in ASR_TIMED
        ],
    log:
        f"{R}/logs/asr_latency/{{method}}_seed{{seed}}.log",
    retries: 1
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["asr_evaluation"],
        runtime=lengthen_runtime("timing"),
    params:
        config=CONFIG,
        follows=describe_dependencies("asr_latency", "method", METHODS),
        times=lambda wildcards, output: os.path.dirname(output.rows[0]),
    shell:
        "python -m gblsr_repro asr latency --config {params.config} --method {wildcards.method}"
        " --seed {wildcards.seed} --output {params.times} > {log} 2>&1"
