# Requires: trained per-patch arms. Makes: bandwidth fields, for the locality diagnostic and the
# log-space ablation.


if ADAPTIVE:

    rule fields:
        """Store bandwidth and order of every patch of the validation images for the trained arms."""
        input:
            weights=expand(
                f"{R}/native/runs/{{arm}}/seed{{seed}}/weights.safetensors",
                arm=ADAPTIVE,
                allow_missing=True,
            ),
            array=f"{R}/native/arrays/validation.npy",
            index=f"{R}/native/arrays/validation.csv",
            regions=f"{R}/native/arrays/validation_regions.json",
        output:
            expand(f"{R}/native/fields/{{arm}}/seed{{seed}}.npz", arm=ADAPTIVE, allow_missing=True),
        log:
            f"{R}/logs/fields/seed{{seed}}.log",
        retries: 1
        conda:
            "../../envs/gblsr.yaml"
        resources:
            **GPU,
            mem_mb=MEMORY["evaluation"],
            runtime=lengthen_runtime("evaluation"),
        params:
            depends_on=list_dependencies("fields"),
            config=find_config,
            runs=lambda wildcards, input: [os.path.dirname(path) for path in input.weights],
            fields=subpath(output[0], ancestor=2),
        shell:
            "python -P -m gblsr_repro native fields --config {params.config} --runs {params.runs}"
            " --array {input.array} --regions {input.regions} --output {params.fields} > {log} 2>&1"
