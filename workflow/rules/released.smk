# Requires: weights that others, or earlier versions, trained: files, folders or hub addresses, named
# under `released` in the config. Makes: runs like trained ones, for every later stage. A missing file,
# and an import in place of a trained run, are refused while planning; where an import fails, the run
# that it would replace stays (`update`).


for kind, half, rows in (("arm", "native", ARMS), ("method", "asr", METHODS)):

    rule:
        """Import the weights of one arm or method with one seed, instead of training it."""
        name:
            f"import_{kind}"
        input:
            lambda wildcards: find_released(wildcards.row, wildcards.seed),
        output:
            weights=update(f"{R}/{half}/runs/{{row}}/seed{{seed}}/weights.safetensors"),
            log=update(f"{R}/{half}/runs/{{row}}/seed{{seed}}/log.csv"),
            record=update(f"{R}/{half}/runs/{{row}}/seed{{seed}}/run.json"),
        log:
            f"{R}/logs/import/{{row}}_seed{{seed}}.log",
        wildcard_constraints:
            row=match_one_of(row for row in rows if row in IMPORTED),
        localrule: True
        conda:
            "../../envs/gblsr.yaml"
        params:
            depends_on=list_dependencies(f"import_{kind}", "row", rows),
            known=lambda wildcards: list_known(wildcards.row),
            config=find_config,
            address=lambda wildcards: get_address(wildcards.row, wildcards.seed, config),
            run=subpath(output.record, parent=True),
        shell:
            "python -P -m gblsr_repro import {params.address:q} --config {params.config}"
            " --as {wildcards.row} --seed {wildcards.seed} --output {params.run} --overwrite"
            " > {log} 2>&1"
