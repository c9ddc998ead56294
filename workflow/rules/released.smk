# Requires: weights that others, or earlier versions, trained: files, folders or hub addresses, named
# under `released` in the config. Makes: runs like trained ones, for every later stage. A missing file,
# and an import in place of a trained run, are refused while planning; where an import fails, the run
# that it would replace stays (`update`).


rule import_arm:
    """Import the weights of one native arm with one seed, instead of training it."""
    input:
        lambda wildcards: find_released(wildcards.arm, wildcards.seed),
    output:
        weights=update(f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors"),
        log=update(f"{R}/native/runs/{{arm}}/seed{{seed}}/log.csv"),
        record=update(f"{R}/native/runs/{{arm}}/seed{{seed}}/run.json"),
    log:
        f"{R}/logs/import/{{arm}}_seed{{seed}}.log",
    wildcard_constraints:
        arm=match_one_of(arm for arm in ARMS if arm in IMPORTED),
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("import_arm", "arm", ARMS),
        known=lambda wildcards: list_known(wildcards.arm),
        config=find_config,
        address=lambda wildcards: get_address(wildcards.arm, wildcards.seed, config),
        run=subpath(output.record, parent=True),
    shell:
        "python -P -m gblsr_repro import {params.address:q} --config {params.config}"
        " --as {wildcards.arm} --seed {wildcards.seed} --output {params.run} --overwrite > {log} 2>&1"


rule import_method:
    """Import the weights of one super-resolution method with one seed, instead of training it."""
    input:
        lambda wildcards: find_released(wildcards.method, wildcards.seed),
    output:
        weights=update(f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors"),
        log=update(f"{R}/asr/runs/{{method}}/seed{{seed}}/log.csv"),
        record=update(f"{R}/asr/runs/{{method}}/seed{{seed}}/run.json"),
    log:
        f"{R}/logs/import/{{method}}_seed{{seed}}.log",
    wildcard_constraints:
        method=match_one_of(method for method in METHODS if method in IMPORTED),
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("import_method", "method", METHODS),
        known=lambda wildcards: list_known(wildcards.method),
        config=find_config,
        address=lambda wildcards: get_address(wildcards.method, wildcards.seed, config),
        run=subpath(output.record, parent=True),
    shell:
        "python -P -m gblsr_repro import {params.address:q} --config {params.config}"
        " --as {wildcards.method} --seed {wildcards.seed} --output {params.run} --overwrite > {log} 2>&1"
