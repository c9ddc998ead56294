"""Run the workflow elsewhere: another working directory, another workflow, a read-only checkout."""

from pathlib import Path

import pages
import pytest
import yaml
import your_own
from planning import run

TARGET = "results/demo/asr/metrics/bicubic/demo_set5_x2.csv"
RUNNING = (pages.ROOT / "docs/running.md").read_text(encoding="utf-8")
(IMPORTING,) = (b.text for b in pages.read_blocks(RUNNING) if b.language == "snakemake")
ALL = f"""
rule all:
    default_target: True
    input: "{TARGET}"
"""


def snakemake(folder: Path, *words: object, code: str = "", fails: bool = False) -> str:
    paths = {"PYTHONDONTWRITEBYTECODE": 1, "PYTHONPATH": code}
    return run(folder, "snakemake", "--cores", 1, *words, fails=fails, **paths)


def listing(folder: Path) -> dict[Path, float]:
    return {path: path.stat().st_mtime for path in folder.rglob("*")}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere"


def test_another_working_directory_takes_all_files_and_the_checkout_none(checkout, elsewhere):
    """By --directory; where Snakemake is started in that directory it is the same to all rules."""
    before = listing(checkout)
    demo = ["--configfile", checkout / "config" / "demo.yaml"]
    directory = elsewhere / "deeper"
    directory.mkdir()
    for name in ("yaml", "random", "statistics"):  # of the user's: no job imports them
        (directory / f"{name}.py").write_text("raise SystemExit('a file of the user')\n")
    words = ["--snakefile", checkout / "Snakefile", "--directory", directory, *demo]
    snakemake(elsewhere, *words, "--", TARGET)
    assert (directory / TARGET).is_file()
    assert (directory / "results/demo/config.yaml").is_file()
    assert [*elsewhere.iterdir()] == [directory]
    assert listing(checkout) == before


def test_another_workflow_imports_it_as_a_module_with_settings_of_its_own(checkout, elsewhere):
    """As docs/running.md says."""
    settings = yaml.safe_load((checkout / "config" / "demo.yaml").read_text())
    (elsewhere / "mine.yaml").write_text(yaml.safe_dump({"gblsr": settings}))
    (elsewhere / "Snakefile").write_text(IMPORTING.replace("CHECKOUT", str(checkout)) + ALL)
    snakemake(elsewhere, "--configfile", "mine.yaml")
    assert (elsewhere / TARGET).is_file()
    assert (elsewhere / "results/demo/config.yaml").is_file()
    snakemake(elsewhere, "--configfile", "mine.yaml", "--report", elsewhere / "page.html")
    before = listing(elsewhere / "results")
    settings["asr"]["downsampling"] = "pil"
    (elsewhere / "mine.yaml").write_text(yaml.safe_dump({"gblsr": settings}))
    assert "bicubic" in snakemake(elsewhere, "--configfile", "mine.yaml", "--dry-run")
    snakemake(elsewhere, "--configfile", "mine.yaml", "--dry-run", "gblsr_main_kodak")
    assert listing(elsewhere / "results") == before


@pytest.mark.parametrize(
    "modifier", ['prefix: "pre"', 'replace_prefix: {"results/native": "mine"}']
)
def test_a_module_whose_paths_are_changed_is_refused_while_planning(
    repository, elsewhere, modifier
):
    """Since jobs write where the config says."""
    snakefile = IMPORTING.replace("CHECKOUT", str(repository)).replace(
        'config: config["gblsr"]', f"config: dict()\n    {modifier}"
    )
    (elsewhere / "Snakefile").write_text(snakefile + ALL)
    said = snakemake(elsewhere, "--dry-run", fails=True)
    assert "name another folder as `results` in its config instead" in said


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("--configfile config/demo.yaml --configfile config/short.yaml", "`--configfile A B`"),
        ("--config threads=1 -C device=cpu", "`--config A=1 B=2`"),
    ],
)
def test_settings_by_two_options_are_refused(repository, elsewhere, words, remedy):
    """Snakemake would take the last alone."""
    said = snakemake(repository, "--dry-run", *words.split(), fails=True)
    assert f"comes twice; write all after one: {remedy}" in said


def test_jobs_find_modules_in_a_folder_that_lies_where_snakemake_was_started(checkout, elsewhere):
    """Under --directory, too. The job builds every arm to count its parameters."""
    package = elsewhere / "modules" / "my_package"
    package.mkdir(parents=True)
    (package / "my_module.py").write_text(your_own.FILES["src/flat.py"])
    your_own.add_row(checkout, "flat", decoder="my_package.my_module:FlatDecoder")
    (elsewhere / "flat.yaml").write_text(your_own.FILES["flat.yaml"])
    words = ["--snakefile", checkout / "Snakefile", "--directory", elsewhere / "deeper"]
    target = "results/aggregates/budget.csv"
    snakemake(elsewhere, *words, "--configfile", "flat.yaml", "--", target, code="modules")
    assert "\nflat,parameters,891011.0,,1\n" in (elsewhere / "deeper" / target).read_text()
