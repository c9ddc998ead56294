# Requires: arrays or image sizes; no trained weights. Makes: latency by the fixed protocol.
# A timed job takes all local cores, so that nothing else runs beside it. What was timed of the same
# images by the same code on the same device is kept; to time it again delete
# <results>/native/state/latency and run with `--forcerun latency -- native_timing`, or
# <results>/asr/state/latency with `--forcerun asr_latency -- asr_timing`.


rule latency:
    """Time one native arm by the fixed protocol, with a record of the device."""
    input:
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
    output:
        expand(
            f"{R}/native/latency/{{arm}}/seed{{seed}}/{{column}}.{{ending}}",
            column=COLUMNS,
            ending=["csv", "json"],
            allow_missing=True,
        ),
    log:
        f"{R}/logs/latency/{{arm}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=MINUTES["timing"],
    params:
        depends_on=list_dependencies("latency", "arm", ARMS),
        config=find_config,
        times=subpath(output[0], parent=True),
        state=f"{R}/native/state/latency/{{arm}}/seed{{seed}}",
        arrays=lambda wildcards, input: os.path.dirname(input.arrays[0]),
    shell:
        "python -P -m gblsr_repro native latency --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --arrays {params.arrays} --output {params.times}"
        " --state {params.state} > {log} 2>&1"


rule asr_latency:
    """Time one super-resolution method by the fixed protocol, with a record of the device."""
    input:
        find_sources_of_timing,
    output:
        expand(
            f"{R}/asr/latency/{{method}}/seed{{seed}}/{{dataset}}.{{ending}}",
            dataset=ASR_TIMED,
            ending=["csv", "json"],
            allow_missing=True,
        ),
    log:
        f"{R}/logs/asr_latency/{{method}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["asr_evaluation"],
        runtime=MINUTES["timing"],
    params:
        depends_on=list_dependencies("asr_latency", "method", METHODS),
        config=find_config,
        times=subpath(output[0], parent=True),
        state=f"{R}/asr/state/latency/{{method}}/seed{{seed}}",
    shell:
        "python -P -m gblsr_repro asr latency --config {params.config} --method {wildcards.method}"
        " --seed {wildcards.seed} --output {params.times} --state {params.state} > {log} 2>&1"
