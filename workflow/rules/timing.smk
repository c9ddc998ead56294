# Requires: arrays or image sizes; no trained weights. Makes: latency by the fixed protocol.
# A timed job takes all local cores, so that nothing else runs beside it.


rule latency:
    """Time one native arm by the fixed protocol, with a record of the device."""
    input:
        arrays=expand(f"{R}/native/arrays/{{column}}.npy", column=COLUMNS),
        index=expand(f"{R}/native/arrays/{{column}}.csv", column=COLUMNS),
        code=code_of("native latency"),
    output:
        rows=f"{R}/native/latency/{{arm}}/seed{{seed}}.csv",
        record=f"{R}/native/latency/{{arm}}/seed{{seed}}.json",
    log:
        f"{R}/logs/latency/{{arm}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["evaluation"],
        runtime=runtime_by_attempt("timing"),
    params:
        config=CONFIG,
        settings=settings("native latency"),
        arrays=lambda wildcards, input: os.path.dirname(input.arrays[0]),
    shell:
        "python -m gblsr_repro native latency --config {params.config} --arm {wildcards.arm}"
        " --seed {wildcards.seed} --arrays {params.arrays} --output {output.rows} 2>&1 | tee {log}"


rule asr_latency:
    """Time one super-resolution method by the fixed protocol, with a record of the device."""
    input:
        sources_of_timing,
        code=code_of("asr latency"),
    output:
        rows=f"{R}/asr/latency/{{method}}/seed{{seed}}.csv",
        record=f"{R}/asr/latency/{{method}}/seed{{seed}}.json",
    log:
        f"{R}/logs/asr_latency/{{method}}_seed{{seed}}.log",
    conda:
        "../../envs/gblsr.yaml"
    threads: ALL_CORES
    resources:
        **GPU,
        mem_mb=MEMORY["asr_evaluation"],
        runtime=runtime_by_attempt("timing"),
    params:
        config=CONFIG,
        settings=settings("asr latency"),
    shell:
        "python -m gblsr_repro asr latency --config {params.config} --method {wildcards.method}"
        " --seed {wildcards.seed} --output {output.rows} 2>&1 | tee {log}"
