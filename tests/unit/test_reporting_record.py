"""A record holds what was measured, leaves out what is local, and refuses damaged numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_runs
import yaml
from PIL import Image

from gblsr_repro.analysis.claims import judge
from gblsr_repro.analysis.provenance.recorded import ImageSet, Recorded, read_paper
from gblsr_repro.cli import main
from gblsr_repro.config import load, merge, validate, write_resolved
from gblsr_repro.errors import UserError
from gblsr_repro.files import write_csv, write_json
from gblsr_repro.reporting import claims_page, record


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    run = synthetic_runs.SyntheticRun(folder, seeds=1)
    run.add_published("native")
    run.add_runs(["liif"], 100.0)
    run.write()
    paper = read_paper("native")
    recorded = replace(
        paper,
        preset="mirror",
        settings={**paper.settings, "native.training.steps": [40]},
        seeds={"liif": [0]},
        train=[ImageSet("dtd", "DTD", 3, 9)],
    )
    synthetic_runs.write_provenance(folder / "aggregates", [recorded])
    write_json(folder / "native" / "runs" / "liif" / "seed0" / "run.json", {"steps": 40})
    (folder / "native" / "runs" / "liif" / "seed0" / "weights.safetensors").write_bytes(b"large")
    (folder / "figures").mkdir()
    Image.linear_gradient("L").resize((2400, 600)).save(folder / "figures" / "frontier.png")
    judge.write(folder / "aggregates", folder / "claims.csv", build_config())
    claims_page.write(folder / "claims.csv", folder / "claims.md")
    return folder


def build_config() -> dict:
    overlay = {
        "preset": "mirror",
        "mirror": "/home/someone/images",
        "native": {"training": {"steps": 40}, "data": {"evaluate": {"set14": None}}},
    }
    merged = merge(load(), overlay)
    validate(merged)
    return merged


def test_holds_what_was_measured_and_not_where(results: Path, tmp_path: Path) -> None:
    output = tmp_path / "records" / "today"
    size = record.write(results, output, build_config())
    files = {str(p.relative_to(output)) for p in output.rglob("*") if p.is_file()}
    assert {
        "README.md",
        "overlay.yaml",
        "aggregates/native.csv",
        "claims.csv",
        "claims.md",
        "native/runs/liif/seed0/run.json",
        "figures/frontier.png",
    } <= files
    assert not any("weights" in name or "sha256" in name for name in files)
    assert size == sum((output / name).stat().st_size for name in files)
    assert not any(b"someone" in (output / name).read_bytes() for name in files)
    with Image.open(output / "figures" / "frontier.png") as image:
        assert image.size == (1200, 300)
    assert list(output.parent.iterdir()) == [output]

    page = (output / "README.md").read_text(encoding="utf-8")
    assert "40 steps (paper: 2,000)" in page
    assert "trained on 3 of 9 images of DTD" in page
    assert "22.312 ± 0.204" in page  # the published row
    assert "higher PSNR than every baseline" in page
    assert "--configfile docs/records/today/overlay.yaml --config mirror=FOLDER -- native" in page


def test_the_overlay_makes_the_same_config(results: Path, tmp_path: Path) -> None:
    record.write(results, tmp_path / "today", build_config())
    overlay = yaml.safe_load((tmp_path / "today" / "overlay.yaml").read_text())
    assert overlay["native"]["data"]["evaluate"] == {"set14": None}
    assert overlay["results"] == "results/today"
    again = merge(load(), overlay)
    validate(again)
    config = build_config()
    assert again == config | {name: again[name] for name in record.LOCAL}


def test_the_settings_are_those_saved_in_the_results(results: Path, tmp_path: Path) -> None:
    write_resolved(build_config(), results / "config.json")
    output = tmp_path / "today"
    assert main(["record", "--results", str(results), "--output", str(output)]) == 0
    overlay = yaml.safe_load((output / "overlay.yaml").read_text())
    assert overlay["native"]["training"] == {"steps": 40}
    tables = ["tables", "--aggregates", str(results / "aggregates"), "--output", str(tmp_path)]
    assert main([*tables, "--only", "main_kodak"]) == 0
    assert main([*tables, "--only", "main_set14"]) == 2  # no column of these settings


def test_readings_alone_are_a_record_too(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    rows = [("kodak", "liif_near", "psnr", 18.5, None, 1)]
    header = ("dataset", "arm", "metric", "mean", "std", "n")
    write_csv(folder / "aggregates" / "readings.csv", header, rows)
    config = merge(build_config(), {"native": {"arms": ["gblsr_scalar", "liif_near"]}})
    record.write(folder, tmp_path / "today", config)
    page = (tmp_path / "today" / "README.md").read_text()
    assert "| **LIIF, published** | 18.81 ± 0.09 |" in page
    assert "| LIIF, corners one pixel apart | 18.50 |" in page
    assert "overlay.yaml --config mirror=FOLDER -- readings\n" in page
    assert "What the paper claims" not in page


@pytest.mark.parametrize(
    ("recorded", "target"),
    [
        ({"seeds": {"gblsr_asr": [0]}}, "asr_eval"),
        ({"seeds": {"gblsr_asr": [0]}, "timed_on": ["Some CPU"]}, "asr"),
        ({"timed_on": ["Some CPU"]}, "asr_timing"),
    ],
)
def test_the_command_that_makes_it_again_times_what_was_timed(
    recorded: dict, target: str, results: Path, tmp_path: Path
) -> None:
    synthetic_runs.write_provenance(results / "aggregates", [Recorded("asr", **recorded)])
    record.write(results, tmp_path / "today", build_config())
    assert f" -- native {target}\n" in (tmp_path / "today" / "README.md").read_text()
    native = Recorded("native", timed_on=["Some CPU"])
    synthetic_runs.write_provenance(results / "aggregates", [native])
    record.write(results, tmp_path / "timed", build_config())
    assert f" -- native_timing {target}\n" in (tmp_path / "timed" / "README.md").read_text()


def test_refuses_a_folder_that_exists(results: Path, tmp_path: Path) -> None:
    (tmp_path / "today").mkdir()
    with pytest.raises(UserError, match="exists already"):
        record.write(results, tmp_path / "today", build_config())


def test_refuses_a_run_whose_claims_were_not_judged(results: Path, tmp_path: Path) -> None:
    (results / "claims.csv").unlink()
    with pytest.raises(UserError, match="run gblsr-repro claims first"):
        record.write(results, tmp_path / "today", build_config())


def test_refuses_a_changed_aggregate_and_leaves_nothing(results: Path, tmp_path: Path) -> None:
    path = results / "aggregates" / "native.csv"
    path.write_text(path.read_text().replace("22.3", "32.3"))
    with pytest.raises(UserError, match="damaged or changed"):
        record.write(results, tmp_path / "out" / "today", build_config())
    assert list((tmp_path / "out").iterdir()) == []


def test_refuses_to_grow_beyond_its_limit(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "LARGEST_BYTES", 1000)
    with pytest.raises(UserError, match="meant to be the most"):
        record.write(results, tmp_path / "out" / "today", build_config())
    assert list((tmp_path / "out").iterdir()) == []


def test_a_run_without_aggregates_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "--results", str(tmp_path), "--output", str(tmp_path / "x")]) == 2
    assert "no aggregates yet" in capsys.readouterr().err
