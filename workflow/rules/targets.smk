# The names a reader asks for: the paper, its benchmarks, every table and figure by its bare name.
# Requires: what the stages make. Makes: nothing of its own.


rule native:
    """The native benchmark with its diagnostic and ablation: tables and figures."""
    input:
        list_items("native"),


rule native_timing:
    """Time every arm of the native benchmark; needs no training."""
    input:
        expand(
            f"{R}/native/latency/{{arm}}/seed{{seed}}/{{column}}.csv",
            arm=BENCHMARK,
            seed=SEEDS,
            column=COLUMNS,
        ),


rule asr:
    """Arbitrary-scale super-resolution: tables and figures."""
    input:
        list_items("asr"),


rule asr_train:
    """Train every super-resolution method with every seed (1,232 GPU-hours in the paper)."""
    input:
        expand(
            f"{R}/asr/runs/{{method}}/seed{{seed}}/weights.safetensors",
            method=METHODS,
            seed=SEEDS,
        ),


rule asr_eval:
    """Super-resolution without timing: methods and bicubic, tables, figures, claims and page."""
    input:
        list_items("asr", timed=False),
        f"{R}/asr/report.html",


rule asr_timing:
    """Time every super-resolution method; needs no training."""
    input:
        list_aggregates(["asr_latency"]),


for item in ITEMS.values():

    rule:
        """One table or figure of the paper; a table also beside the paper's values."""
        name:
            item.item
        input:
            list_files_of_item(item),
        localrule: True
