"""Files of tables: what can be written, what is missing, and that LaTeX takes them."""

import re
import shutil
import subprocess

import pytest
from table_aggregates import (
    list_native_rows,
    list_quality_rows,
    list_timing_rows,
)

from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.cli import main
from gblsr_repro.config import list_items, load, read_items
from gblsr_repro.errors import UserError
from gblsr_repro.reporting.tables import build


def test_every_possible_table_is_written_and_the_rest_explained(aggregates, tmp_path):
    aggregates.write_native()
    output = tmp_path / "tables"
    written, skipped = build.write(aggregates.root, output, aggregates.config)
    assert {path.stem for path in output.iterdir()} == set(written)
    assert {*written, *skipped} == {*build.list_builders(aggregates.config)}
    compared = {f"{name}_vs_paper" for name, item in read_items().items() if item.compared == "yes"}
    assert compared <= {*written, *skipped}
    assert "asr_quality.csv" in skipped["asr_quality_x2_x3_x4_main"]


def test_named_tables_fail_with_their_reason(aggregates, tmp_path):
    aggregates.write_native()
    root, output = aggregates.root, tmp_path / "out"
    arguments = ["tables", "--aggregates", str(root), "--output", str(output)]
    assert main([*arguments, "--only", "main_kodak", "lse"]) == 0
    assert {path.name for path in output.iterdir()} == {"lse.tex", "main_kodak.tex"}
    with pytest.raises(UserError, match="no table 'main_kodk'"):
        build.write(root, tmp_path, aggregates.config, ["main_kodk"])
    with pytest.raises(UserError, match=r"runs\.csv does not exist"):
        build.write(root, tmp_path, aggregates.config, ["compute_native"])


@pytest.mark.parametrize(
    "arms", [["liif", "lte"], ["global_fourier_mlp"], ["gblsr_scalar"], ["gblsr_fixed", "wire"]]
)
def test_a_run_of_few_arms_has_every_table_that_its_config_allows(aggregates, arms):
    """The workflow makes every table that a config allows: none may fail."""
    config = aggregates.config
    config["native"]["arms"] = arms
    aggregates.write_native(list_native_rows(arms=arms))
    source, builders = Aggregates(aggregates.root, config), build.list_builders(config)
    names = [
        name
        for name, item in list_items(config).items()
        if item.needs == "native" and item.kind == "table"
    ]
    assert {"main_kodak", "winners", "lse"} & {*names}
    assert all(builders[name](source) for name in names)


def test_licenses_follow_the_config(aggregates):
    sets, code = aggregates.build("licenses").groups
    titles = [row.cells[0] for row in sets[1:]]
    paper = ["DTD", "DIV2K", "Kodak", "Set14", "Urban100", "Set5", "B100"]
    assert [title for title in titles if title in paper] == paper
    assert {"LIIF", "LPIPS"} <= {row.cells[0] for row in code}
    assert "BSDS500" not in titles
    aggregates.config["native"]["data"]["train"] = ["bsds500"]
    titles = {*aggregates.build_cells("licenses")}
    assert "BSDS500" in titles
    assert "DTD" not in titles


DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[textwidth=7in,textheight=9in]{geometry}
\usepackage{booktabs,rotating}
\extrafloats{500}
\begin{document}
TABLES
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("overlays", [[], ["demo.yaml"]])
def test_tables_compile_without_overfull_lines(aggregates, repository, tmp_path, overlays):
    paths = [repository / "config" / name for name in ("config.yaml", *overlays)]
    aggregates.config = load(paths)
    quality = list_quality_rows(["liif_rdn", "gblsr_asr"], scales=(2, 3, 4, 6, 8))
    aggregates.write("asr_quality", quality)
    times = {"liif_rdn": 140.0, "lte_rdn": 140.0, "lte_swinir": 300.0, "gblsr_asr": 90.0}
    aggregates.write("asr_latency", list_timing_rows(times))
    aggregates.write_runs()
    aggregates.write_ablation({"psnr": 0.3})
    aggregates.write_budget()
    aggregates.write_native()
    _, skipped = build.write(aggregates.root, tmp_path / "tables", aggregates.config)
    assert not skipped
    texts = "\n".join(path.read_text() for path in sorted((tmp_path / "tables").iterdir()))
    # Floats that may only stand at the top of a page would be too many to hold.
    texts = re.sub(r"(\\begin\{table\})\[\w+\]", r"\1[!htbp]", texts)
    (tmp_path / "all.tex").write_text(DOCUMENT.replace("TABLES", texts))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"^Overfull.*", (tmp_path / "all.log").read_text(errors="replace"), re.M)
