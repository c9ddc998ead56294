"""Every table that can be made is written, the rest explained, and LaTeX takes them."""

import re
import shutil
import subprocess

import pytest
from made_up_runs import build_demo_run

from gblsr_repro.analysis.reader import BICUBIC, Aggregates
from gblsr_repro.cli import main
from gblsr_repro.config import list_methods, load, read_items
from gblsr_repro.errors import UserError
from gblsr_repro.reporting import document
from gblsr_repro.reporting.items import select_items
from gblsr_repro.reporting.tables import build
from gblsr_repro.reporting.writing import write_items
from results import Results

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")


def test_every_possible_item_is_written_and_the_rest_explained(results, tmp_path):
    results.set_native()
    told = write_items(results.write(), tmp_path / "out", results.config)
    skipped = dict(re.findall(r"^skipped (\w+): (.*)", told, re.MULTILINE))
    written = {*tmp_path.glob("out/*/*")}
    assert {*told.splitlines()[: -len(skipped)]} == {*map(str, written)}
    names = {path.stem for path in written}
    assert {name.removesuffix("_vs_paper") for name in names} | {*skipped} == {*read_items()}
    assert {"main_kodak", "main_kodak_vs_paper", "frontier", "licenses"} <= names
    assert "asr_quality.csv" in skipped["asr_quality_x2_x3_x4_main"]


def test_named_items_fail_with_their_reason(results, tmp_path):
    results.set_native()
    root, output = results.write(), tmp_path / "out"
    arguments = ["items", "--aggregates", str(root), "--output", str(output)]
    assert main([*arguments, "--only", "main_kodak", "lse"]) == 0
    names = {"lse.tex", "lse_vs_paper.tex", "main_kodak.tex", "main_kodak_vs_paper.tex"}
    assert {path.name for path in output.glob("*/*")} == names
    with pytest.raises(UserError, match="no table or figure 'main_kodk'"):
        write_items(root, tmp_path / "none", results.config, ["main_kodak", "main_kodk"])
    with pytest.raises(UserError, match=r"runs\.csv does not exist"):
        write_items(root, tmp_path / "none", results.config, ["compute_native"])
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "arms", [["liif", "lte"], ["global_fourier_mlp"], ["gblsr_scalar"], ["gblsr_fixed", "wire"]]
)
def test_a_run_of_few_arms_has_every_table_that_its_config_allows(results, arms):
    """The workflow makes every table that a config allows: none may fail."""
    config = results.config
    config["native"]["arms"] = arms
    results.set_native(arms=arms)
    assert {"main_kodak", "winners", "lse"} & results.build_allowed("native")


def test_licenses_follow_the_config(results):
    sets, code = results.build("licenses").groups
    titles = [row.cells[0] for row in sets[1:]]
    paper = ["DTD", "DIV2K", "Kodak", "Set14", "Urban100", "Set5", "B100"]
    assert [title for title in titles if title in paper] == paper
    assert {"LIIF", "LPIPS"} <= {row.cells[0] for row in code}
    assert "BSDS500" not in titles
    results.config["native"]["data"]["train"] = ["bsds500"]
    titles = {*results.build_cells("licenses")}
    assert "BSDS500" in titles
    assert "DTD" not in titles


PAGE = r"""\documentclass[10pt]{article}
\usepackage[textwidth=5.5in,textheight=9in]{geometry}  %% that of the paper
\usepackage{array,booktabs,float,tabularx}
\begin{document}
%s
\end{document}
"""


def fill_config(root, config):
    """Make up numbers with deviations for whatever a config runs."""
    run = Results(root)
    run.config = config
    methods = list_methods(config)
    run.add_quality([BICUBIC, *methods], scales=config["asr"]["scales"])
    for clock in ("paper", "fast"):
        run.add_times(dict.fromkeys(methods, 100.0), clock)
    run.set_runs()
    run.set_gaps({"psnr": 0.3, "lpips": 0.1})
    run.set_budget()
    run.set_native()
    return run


def find_overfull(document, folder):
    """Compile a document; return what LaTeX says of boxes that do not fit."""
    (folder / "all.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    return re.findall(r"^Overfull.*", (folder / "all.log").read_text(errors="replace"), re.M)


@needs_latex
@pytest.mark.parametrize("overlays", [[], ["demo.yaml"]])
def test_every_table_fits_the_text_width_of_the_paper(repository, tmp_path, overlays):
    config = load([repository / "config" / name for name in overlays])
    source = Aggregates(fill_config(tmp_path, config).write(), config)
    for item in select_items("table", config).values():
        build.write_table(item, source, tmp_path / "tables")
    texts = [path.read_text() for path in sorted((tmp_path / "tables").iterdir())]
    # Floats that may only stand at the top of a page would be too many to hold.
    here = re.sub(r"(\\begin\{table\})\[t\]", r"\1[H]", "\\clearpage\n".join(texts))
    assert not find_overfull(PAGE % here, tmp_path)


@needs_latex
def test_one_pdf_has_every_table_and_figure_in_the_papers_order(tmp_path):
    run = build_demo_run(tmp_path)
    write_items(run.write(), tmp_path, run.config)
    drawn = {path.stem for path in tmp_path.glob("figures/*.pdf")}
    text = document.render_document(tmp_path, run.config)
    assert not find_overfull(text, tmp_path)
    shown = re.findall(r"figures/(\w+)\.pdf", text)
    assert shown == [name for name in read_items() if name in drawn]
    assert text.count("Steps: 40 (paper: 2{,}000)") == 1
    marked = re.findall(r"\\textit\{Conditions ([\d, -]+)\.\}", text)
    assert len(marked) > len(drawn)


def test_without_latex_the_pdf_is_refused_in_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["pdf", "--results", str(tmp_path), "--output", str(tmp_path / "a.pdf")]) == 2
    assert "texlive-latex-recommended" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
