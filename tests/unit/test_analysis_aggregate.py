"""Aggregates are the means, spreads and conditions of the rows that runs left."""

import copy
import math

import numpy as np
import pytest
from job_files import SCORES, TIMES, leave_run, leave_table

from gblsr_repro.analysis import aggregate
from gblsr_repro.analysis.aggregate import read_images
from gblsr_repro.analysis.metrics import NATIVE
from gblsr_repro.analysis.provenance.differences import Provenance
from gblsr_repro.analysis.reader import Aggregates, read
from gblsr_repro.cli import main
from gblsr_repro.config import Scope, load, merge
from gblsr_repro.errors import UserError
from gblsr_repro.evaluation.fields import BandwidthFields
from gblsr_repro.files import write_json


@pytest.fixture(scope="module")
def paper_config():
    return load()


@pytest.fixture
def config(paper_config):
    chosen = copy.deepcopy(paper_config)
    chosen["native"]["arms"] = ["gblsr_scalar", "liif", "gblsr_bandwidth"]
    chosen["asr"]["methods"] = ["liif_rdn", "gblsr_asr"]
    return chosen


def metrics(root, arm, seed, *rows, dataset="kodak"):
    return leave_table(root / f"native/metrics/{arm}/seed{seed}/{dataset}.csv", SCORES, *rows)


def made(kind, root, config, tmp_path):
    aggregate.write_all([kind], root, config, tmp_path / "made")
    return Aggregates(tmp_path / "made", config).cells(kind)


def test_image_mean_comes_before_the_spread_over_seeds(tmp_path, config):
    metrics(tmp_path, "gblsr_scalar", 0, "a,20,0.5,0.6,0.2,4,21", "b,24,0.7,0.8,0.4,6,")
    metrics(tmp_path, "gblsr_scalar", 2, "b,26,0.7,0.8,0.4,6,23", "a,24,0.5,0.6,0.2,4,")
    found = made("native", tmp_path, config, tmp_path)
    psnr = found["kodak", "gblsr_scalar", "psnr"]
    assert psnr.mean == pytest.approx(23.5)
    assert psnr.std == pytest.approx(4.5**0.5)  # of 22 and 25, n - 1 in the denominator
    assert psnr.n == 2
    # a region that an image lacks does not enter that image set's mean
    assert found["kodak", "gblsr_scalar", "psnr_edge"].mean == pytest.approx(22.0)
    assert ("kodak", "liif", "psnr") not in found


def test_only_benchmark_arms_and_configured_seeds_enter_native(tmp_path, config):
    for arm, seed in (("gblsr_scalar", 0), ("gblsr_bandwidth", 0), ("gblsr_scalar", 7)):
        metrics(tmp_path, arm, seed, "a,20,0.5,0.6,0.2,4,21")
    found = made("native", tmp_path, config, tmp_path)
    assert {arm for _, arm, _ in found} == {"gblsr_scalar"}
    assert found["kodak", "gblsr_scalar", "psnr"].n == 1


def test_time_and_parameters_stand_beside_quality(tmp_path, config):
    leave_run(tmp_path, "liif", 0)
    leave_table(
        tmp_path / "native/latency/liif/seed0/kodak.csv",
        TIMES,
        "kodak,a,paper,1,2,0,3,4,100,50",
        "kodak,b,paper,1,4,0,3,4,300,50",
        "kodak,a,fast,1,20,0,3,4,100,50",
    )
    row = "set14,a,fast,1,9,0,3,4,100,50"
    leave_table(tmp_path / "native/latency/liif/seed0/set14.csv", TIMES, row)
    leave_table(tmp_path / "native/latency/liif/seed0/urban100.csv", TIMES)  # memory for no clock
    found = made("native", tmp_path, config, tmp_path)
    assert found["kodak", "liif", "inference_ms"].mean == pytest.approx(3.0)
    assert found["kodak", "liif", "fast_ms"].mean == pytest.approx(20.0)
    assert ("set14", "liif", "inference_ms") not in found  # fast does not stand in
    assert found["set14", "liif", "fast_ms"].mean == pytest.approx(9.0)
    assert {metric for column, _, metric in found if column == "urban100"} == {"params"}
    assert found["urban100", "liif", "params"].mean == 989955


@pytest.mark.parametrize(
    ("header", "rows", "complaint"),
    [
        ("image,psnr", ["a,1"], "lacks the column 'ssim'"),
        (SCORES, ["a,x,1,1,1,1,1"], "psnr in line 2 is 'x'"),
        (SCORES, ["a,nan,1,1,1,1,1"], "psnr in line 2 is 'nan'"),
        (SCORES, ["a,1,1,1,1,1,1", "a,1,1,1,1,1,1"], "two rows for a;"),
        (SCORES, ["a,1,1"], "more or fewer cells"),
        (SCORES, [], "has no rows"),
    ],
)
def test_unfit_rows_are_refused_by_name(tmp_path, header, rows, complaint):
    path = leave_table(tmp_path / "kodak.csv", header, *rows)
    with pytest.raises(UserError, match=complaint) as caught:
        read_images(path, [metric.name for metric in NATIVE])
    assert str(path) in str(caught.value)


def test_seeds_must_share_their_images(tmp_path, config):
    metrics(tmp_path, "liif", 0, "a,20,0.5,0.6,0.2,4,21")
    metrics(tmp_path, "liif", 1, "b,20,0.5,0.6,0.2,4,21")
    with pytest.raises(UserError, match="other images"):
        made("native", tmp_path, config, tmp_path)


def test_super_resolution_quality_with_and_without_seeds(tmp_path, config):
    header = "image,psnr_y,ssim_y"
    root = tmp_path / "asr" / "metrics"
    leave_table(root / "bicubic/set5_x2.csv", header, "a,33,0.9", "b,34,0.8")
    for seed, value in ((0, 36), (1, 38), (2, 40)):
        path = root / f"gblsr_asr/seed{seed}/set5_x2.csv"
        leave_table(path, header, f"a,{value},0.9", "b,38,1")
    found = made("asr_quality", tmp_path, config, tmp_path)
    assert found["set5", "bicubic", "2", "psnr_y"].mean == pytest.approx(33.5)
    assert math.isnan(found["set5", "bicubic", "2", "psnr_y"].std)
    ours = found["set5", "gblsr_asr", "2", "psnr_y"]
    assert (ours.mean, ours.std, ours.n) == (pytest.approx(38.0), pytest.approx(1.0), 3)


ASR_SCORES = ("image,psnr_y,ssim_y", "a,33,0.9")


@pytest.mark.parametrize(
    ("aggregate", "file", "table", "name", "now", "other"),
    [
        ("native", "native/metrics/liif/seed0/kodak", (SCORES, "a,20,0.5,0.6,0.2,4,21"),
         "native.metrics.ssim_sigma", 1.5, 2.0),
        ("native", "native/metrics/liif/seed0/kodak", (SCORES, "a,20,0.5,0.6,0.2,4,21"),
         "weights_sha256", "of the run", "of an earlier one"),
        ("native", "native/latency/liif/seed0/kodak", (TIMES, "kodak,a,paper,1,2,0,3,4,100,50"),
         "latency.passes", 50, 5),
        ("asr_latency", "asr/latency/liif_rdn/seed0/set14", (TIMES, "set14,a,fast,1,2,0,3,4,9,50"),
         "version", 1, 0),
        ("asr_quality", "asr/metrics/liif_rdn/seed0/set5_x2", ASR_SCORES,
         "asr.downsampling", "matlab", "pil"),
        # As after the data set of one column was given to another.
        ("asr_quality", "asr/metrics/bicubic/set5_x2", ASR_SCORES, "borders", {}, {"set5": 6}),
    ],
)  # fmt: skip
def test_scores_and_times_of_other_settings_or_weights_are_refused(
    tmp_path, config, aggregate, file, table, name, now, other
):
    leave_run(tmp_path, "liif", weights_sha256="of the run")
    path = leave_table(tmp_path / f"{file}.csv", *table, depends_on={name: now})
    assert made(aggregate, tmp_path, config, tmp_path)
    leave_table(path, *table, depends_on={name: other})
    with pytest.raises(UserError, match=rf"{file}.csv was measured with {name} = ") as refused:
        made(aggregate, tmp_path, config, tmp_path)
    folder = tmp_path.joinpath(*file.split("/")[:2])
    assert f"restore that, or delete {folder} and run again" in str(refused.value)


def test_super_resolution_latency_keeps_the_clocks_and_the_highest_memory(tmp_path, config):
    for seed, value in ((0, 10.0), (1, 14.0)):
        leave_table(
            tmp_path / f"asr/latency/gblsr_asr/seed{seed}/set14.csv",
            TIMES,
            f"set14,a,fast,1,{value},0,3,4,100,50",
            f"set14,a,paper,1,{10 * value},0,3,4,900,50",
            f"set14,b,paper,1,{10 * value},0,3,4,700,50",
        )
    found = made("asr_latency", tmp_path, config, tmp_path)
    ours = found["set14", "gblsr_asr", "4", "fast", "mean_ms"]
    assert (ours.mean, ours.n) == (12.0, 2)
    assert found["set14", "gblsr_asr", "4", "paper", "mean_ms"].mean == 120.0
    assert found["set14", "gblsr_asr", "4", "paper", "peak_memory_mib"].mean == 900.0


def test_runs_are_listed_in_the_order_of_the_arms(tmp_path, config):
    run = leave_run(tmp_path, "liif", 1)
    leave_table(run.with_name("log.csv"), "step,bandwidth", "10,")  # which an arm may not have
    run = leave_run(tmp_path, "gblsr_scalar", 0, wall_seconds=12.125)
    leave_table(run.with_name("log.csv"), "step,bandwidth", "10,1.01", "20,0.875")
    aggregate.write_all(["runs"], tmp_path, config, tmp_path)
    scalar, liif = read(tmp_path / "runs.csv", "runs")
    assert (scalar["arm"], scalar["seed"], scalar["wall_seconds"]) == ("gblsr_scalar", 0, 12.125)
    assert scalar["bandwidth"] == 0.875  # the last, as trained
    assert (scalar["device"], scalar["released_by"]) == ("NVIDIA H200", "")
    assert liif["arm"] == "liif"
    assert math.isnan(liif["bandwidth"])


def write_fields(root, arm, seed, bandwidth):
    region = np.zeros(bandwidth.shape, np.int8)
    region[:, 1] = 2  # one row of smooth patches above one of texture
    names = [f"image{i}" for i in range(len(bandwidth))]
    path = root / f"native/fields/{arm}/seed{seed}.npz"
    BandwidthFields(bandwidth, np.ones_like(bandwidth), region, names).write(path)


def test_locality_is_tested_on_the_average_over_seeds(tmp_path, config):
    config["native"]["arms"] += ["gblsr_full"]
    low, high = np.full((2, 2, 2), 0.5, np.float32), np.full((2, 2, 2), 0.5, np.float32)
    low[:, 1], high[:, 1] = 0.52, 0.9  # gaps of 0.02 and 0.4
    write_fields(tmp_path, "gblsr_bandwidth", 0, low)
    write_fields(tmp_path, "gblsr_bandwidth", 2, high)
    write_fields(tmp_path, "gblsr_full", 1, np.full((2, 2, 2), 0.7, np.float32))
    found = made("locality", tmp_path, config, tmp_path)
    gap = found["gblsr_bandwidth", "gap"]
    assert (gap.mean, gap.n) == (pytest.approx(0.21, abs=1e-6), 2)
    assert found["gblsr_bandwidth", "t3_met"].mean == 1  # (0.02 / 0.51 + 0.4 / 0.7) / 2 > 0.05
    assert found["gblsr_bandwidth", "t2"].mean == pytest.approx(0.5)  # and so T2 is not met
    assert found["gblsr_bandwidth", "tests_met"].mean == 3
    assert math.isnan(found["gblsr_bandwidth", "tests_met"].std)
    assert found["gblsr_full", "tests_met"].mean == 0
    assert math.isnan(found["gblsr_full", "t1"].std)
    assert ("gblsr_full", "mean_edge") not in found


def test_ablation_compares_with_the_control_seed_by_seed(tmp_path, config):
    for arm, seed, psnr in (("gblsr_scalar", 0, 21), ("gblsr_scalar", 1, 22),
                            ("gblsr_bandwidth", 0, 23), ("gblsr_bandwidth", 2, 30)):  # fmt: skip
        metrics(tmp_path, arm, seed, f"a,{psnr},0.5,,,4,{psnr}", dataset="validation")
    found = made("ablation", tmp_path, config, tmp_path)
    assert found["gblsr_bandwidth", "psnr"].mean == pytest.approx(26.5)
    delta = found["gblsr_bandwidth", "delta_psnr"]
    assert (delta.mean, delta.n) == (2.0, 1)  # seed 0 alone has both
    assert found["gblsr_bandwidth", "delta_psnr_edge"].mean == 2.0
    assert ("gblsr_scalar", "delta_psnr") not in found
    assert not any("ssim" in metric or "lpips" in metric for _, metric in found)


# --- what runs recorded ---------------------------------------------------------------------------


def provenance(results, config, *kinds):
    folder = results / "aggregates"
    aggregate.write_all(kinds, results, config, folder)
    return Provenance.read(folder.glob("provenance_*.json"))


def find_sentences(found, scope):
    return [each.sentence for each in found.find_differences([scope])]


def test_what_runs_and_timings_recorded_is_compared(tmp_path, config):
    config["seeds"] = [1, 0]
    leave_run(tmp_path, "liif", 0)
    fewer = merge(config, {"native": {"training": {"steps": 40}}})
    leave_run(tmp_path, "liif", 1, fewer, versions={"torch": "2.12.0"})
    leave_run(tmp_path, "gblsr_scalar", 0, identity=None)  # it does not say what it follows from
    kodak = {"dataset": "kodak", "title": "Kodak", "images": 3, "expected": 24, "complete": False}
    write_json(tmp_path / "native/arrays/kodak.json", {"datasets": [kodak]})
    why = "it would take 30 GiB"
    record = {"device": {"name": "Some CPU"}, "not_timed": {"paper": why}}
    write_json(tmp_path / "native/latency/liif/seed0/kodak.json", record)
    config["latency"]["passes"] = 3
    native = provenance(tmp_path, config, "provenance_native")
    assert native.seeds == {"native": {"gblsr_scalar": [0], "liif": [0, 1]}}
    assert native.versions == {"torch": ["2.11.0", "2.12.0"]}
    assert native.timed_on == {"native": ["Some CPU"]}
    assert (native.warmup, native.passes) == (10, 3)
    assert native.remarks == (("not timed", f"LIIF on kodak by the clock paper: {why}"),)
    quality = find_sentences(native, Scope.QUALITY)
    steps = ["steps of Scalar: not set (paper: 2,000)", "steps of LIIF: 40 (paper: 2,000)"]
    assert {*steps, "kodak: 3 of 24 images of Kodak"} <= {*quality}
    assert "passes: 3 (paper: 50)" in find_sentences(native, Scope.LATENCY)


def test_quality_and_times_tell_apart_and_together_what_was_run(tmp_path, config):
    set14, set5 = ({"dataset": name, "title": name, "images": 5} for name in ("set14", "set5"))
    leave_run(tmp_path, "liif_rdn", 0)
    write_json(tmp_path / "asr/metrics/liif_rdn/seed0/set5_x2.json", {"datasets": [set5]})
    timed = {"datasets": [set14], "device": {"name": "NVIDIA H200"}}
    timed["versions"] = {"torch": "2.12.0"}
    write_json(tmp_path / "asr/latency/liif_rdn/seed1/set14.json", timed)
    quality = provenance(tmp_path, config, "provenance_asr")
    assert {*quality.scopes} == {Scope.STRUCTURE, Scope.ASR_QUALITY, Scope.ASR_COST}
    both = provenance(tmp_path, config, "provenance_asr_timing")
    assert both.timed_on == {"asr": ["NVIDIA H200"]}
    assert both.seeds == {"asr": {"liif_rdn": [0]}}
    assert both.versions == {"torch": ["2.11.0", "2.12.0"]}
    told = find_sentences(quality, Scope.ASR_QUALITY)
    assert find_sentences(both, Scope.ASR_QUALITY) == told
    times = find_sentences(both, Scope.ASR_LATENCY)
    assert times[0] == "seeds: 1 (paper: 0, 1, 2)"
    assert "set14: 5 images of set14" in times
    assert not any("set5" in each or "trained" in each for each in times)


# --- the command, and what needs no run -----------------------------------------------------------


def test_command_line(tmp_path, capsys):
    leave_run(tmp_path, "liif", 0)
    output = tmp_path / "aggregates" / "runs.csv"
    folders = ["--results", str(tmp_path), "--output", str(output.parent)]
    assert main(["aggregate", "runs", *folders]) == 0
    assert output.read_text().count("\n") == 2
    assert main(["aggregate", "asr_runs", *folders]) == 2
    assert "asr_runs" in capsys.readouterr().err
    output.unlink()
    assert main(["aggregate", "runs", "asr_run", *folders]) == 2
    assert "no aggregate 'asr_run'; did you mean 'asr_runs'" in capsys.readouterr().err
    assert not output.exists()


def test_structure_is_the_paper_s_whatever_was_run(tmp_path):
    config = load()
    config["native"]["model"]["features"] = 8
    aggregate.write_all(["structure"], tmp_path, config, tmp_path)
    found = {row["statistic"]: row["mean"] for row in read(tmp_path / "structure.csv", "structure")}
    assert (found["gblsr_scalar"], found["gblsr_asr"]) == (989_955, 22_023_873)
    assert found["highest_mode_weight"] == pytest.approx(0.982, abs=5e-4)  # sigmoid(4)
    assert found["coordinate_stretch"] == pytest.approx(32 / 31)
    # The basis contraction's two sums, and the projection of a patch over its pixels; perceptrons.
    assert found["multiply_adds_gblsr_scalar"] == 3 * 16**2 + 3 * 16 + 3 * 16**2 * 128 / 32**2
    assert found["multiply_adds_liif"] == 4 * (132 * 256 + 3 * 256**2 + 256 * 3)
    assert found["multiply_adds_wire"] == 130 * 256 + 2 * 256**2 + 256 * 3
    assert found["multiply_adds_at_twice_the_side"] == 1
    doubled = 3 * 32**2 + 3 * 32 + 3 * 32**2 * 128 / 32**2
    assert found["multiply_adds_at_twice_the_modes"] == pytest.approx(doubled / 912)


def test_a_key_that_no_aggregate_has_is_refused(tmp_path):
    path = leave_table(
        tmp_path / "native.csv", "dataset,am,metric,mean,std,n", "kodak,lte,psnr,1,,"
    )
    with pytest.raises(UserError, match=r"native\.csv: am in line 2 is 'lte'"):
        read(path, "native")
