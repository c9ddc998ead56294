# Requires: weights that others, or earlier versions, trained: files, folders or hub addresses, named
# under `released` in the config. Makes: runs like trained ones, for every later stage. A missing file,
# and an import in place of a trained run, are refused while planning.


rule check_released:
    """Check the weights of one arm or method with one seed as their import will.

    A wrong file fails here, before Snakemake removes an earlier run to import another.
    """
    input:
        find_weights_to_import,
    output:
        f"{R}/released/{{row}}/seed{{seed}}.json",
    log:
        f"{R}/logs/import/{{row}}_seed{{seed}}_check.log",
    wildcard_constraints:
        row=match_one_of(IMPORTED),
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies_of_import,
        known=lambda wildcards: list_known(wildcards.row),
        config=find_config,
        address=lambda wildcards: get_address(wildcards.row, wildcards.seed, config),
    shell:
        "python -P -m gblsr_repro check-released {params.address:q} --config {params.config}"
        " --as {wildcards.row} --seed {wildcards.seed} --output {output} > {log} 2>&1"


rule import_arm:
    """Import the weights of one native arm with one seed, instead of training it."""
    input:
        f"{R}/released/{{arm}}/seed{{seed}}.json",
    output:
        weights=f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
        log=f"{R}/native/runs/{{arm}}/seed{{seed}}/log.csv",
        record=f"{R}/native/runs/{{arm}}/seed{{seed}}/run.json",
    log:
        f"{R}/logs/import/{{arm}}_seed{{seed}}.log",
    wildcard_constraints:
        arm=match_one_of(arm for arm in ARMS if arm in IMPORTED),
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("import_arm", "arm", ARMS),
        config=find_config,
        address=lambda wildcards: get_address(wildcards.arm, wildcards.seed, config),
        run=subpath(output.record, parent=True),
    shell:
        "python -P -m gblsr_repro import {params.address:q} --config {params.config}"
        " --as {wildcards.arm} --seed {wildcards.seed} --output {params.run} --overwrite > {log} 2>&1"


rule import_method:
    """Import the weights of one super-resolution method with one seed, instead of training it."""
    input:
        f"{R}/released/{{method}}/seed{{seed}}.json",
    output:
        weights=f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors",
        log=f"{R}/asr/runs/{{method}}/seed{{seed}}/log.csv",
        record=f"{R}/asr/runs/{{method}}/seed{{seed}}/run.json",
    log:
        f"{R}/logs/import/{{method}}_seed{{seed}}.log",
    wildcard_constraints:
        method=match_one_of(method for method in METHODS if method in IMPORTED),
    localrule: True
    conda:
        "../../envs/gblsr.yaml"
    params:
        depends_on=list_dependencies("import_method", "method", METHODS),
        config=find_config,
        address=lambda wildcards: get_address(wildcards.method, wildcards.seed, config),
        run=subpath(output.record, parent=True),
    shell:
        "python -P -m gblsr_repro import {params.address:q} --config {params.config}"
        " --as {wildcards.method} --seed {wildcards.seed} --output {params.run} --overwrite > {log} 2>&1"
