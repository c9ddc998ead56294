"""The control flow of a GPU run, with true values, on a make-believe CUDA (see `standins`)."""

from unittest import mock

import made
import pytest
import rehearse
import torch
from rehearse import train
from standins import CUDA, GPU, PEAK, Event, OnCuda, believed_cuda
from torch import nn

from gblsr_repro import config as configuration
from gblsr_repro.data import superres
from gblsr_repro.errors import StopRequested
from gblsr_repro.evaluation import (
    asr_latency,
    native_fields,
    native_latency,
    regions,
    timing,
)
from gblsr_repro.evaluation import native as evaluation
from gblsr_repro.evaluation.perceptual import PerceptualDistance
from gblsr_repro.training import checkpoint

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: it need not be")

ARMS = configuration.load()["native"]["arms"]


@pytest.fixture
def cuda():
    with believed_cuda() as calls:
        yield calls


# --- the stand-ins themselves -------------------------------------------------------------------


@pytest.mark.parametrize(
    "wait",
    [
        float,
        torch.nonzero,
        torch.Tensor.cpu,
        lambda x: x[x > 0],
        lambda x: x + torch.ones(1).to("cuda"),
    ],
)
def test_what_waits_is_refused(cuda, wait):
    value = torch.ones((), device="cuda")
    wait(value)
    torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError, match="synchronizing"):
        wait(value)
    torch.cuda.set_sync_debug_mode("default")


# --- timing -------------------------------------------------------------------------------------


def test_passes_are_timed_by_events_with_a_synchronization_after_each(cuda):
    model = nn.Conv2d(3, 4, 3).to("cuda").eval()
    image = torch.rand(1, 3, 8, 8, device="cuda")
    record = timing.time_call(lambda: model(image), CUDA, warmup=2, passes=3)
    order = ["synchronize", "reset_peak_memory_stats", *["synchronize"] * 3, "max_memory_allocated"]
    assert cuda == order
    assert (record["median_ms"], record["peak_memory_mib"]) == (1.0, PEAK / 2**20)
    assert not Event.unfinished


def test_arms_and_methods_are_timed_by_every_clock(cuda, config, arrays, tmp_path):
    arm, method = (
        configuration.read_arms()["gblsr_scalar"],
        configuration.read_methods()["gblsr_asr"],
    )
    native_latency.time_arm(config, arm, 0, arrays, tmp_path / "native", tmp_path / "state")
    asr_latency.time_method(config, method, 0, tmp_path / "asr", tmp_path / "state")
    tables = sorted(tmp_path.glob("*/*.csv"))
    assert [table.parent.name for table in tables] == ["asr", "native"]
    for table in tables:
        rows = made.rows(table)
        assert [row["clock"] for row in rows] == ["paper", "fast"]
        record = made.record(table.with_suffix(".json"))
        assert record["device"]["name"] == GPU.name
        assert record["gpu_shared"] is None  # no nvidia-smi to ask
        assert not record["not_timed"]


# --- training -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ARMS, *configuration.load()["asr"]["methods"]])
def test_no_step_waits_for_the_device(cuda, config, arrays, tmp_path, name):
    with rehearse.second_step_must_not_wait():
        train(name, config, arrays, tmp_path / "run")


def interrupted(name, config, arrays, folder, at=4):
    """Train with a signal after step `at`, let other draws happen, and go on."""
    answers = iter([None] * at)
    told = mock.PropertyMock(side_effect=lambda *set_: None if set_ else next(answers, "SIGTERM"))
    signaled = mock.patch.object(checkpoint.StopOnSignal, "name", told, create=True)
    with signaled, pytest.raises(StopRequested):
        train(name, config, arrays, folder)
    torch.cuda.manual_seed_all(99)
    return train(name, config, arrays, folder)


def same(one, other, **tolerance):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(other[name], tensor, **tolerance or {"rtol": 0, "atol": 0})


def test_a_native_run_on_cuda_learns_what_the_cpu_learns(config, arrays, tmp_path):
    expected = train("gblsr_scalar", config, arrays, tmp_path / "cpu")
    with believed_cuda():
        whole = train("gblsr_scalar", config, arrays, tmp_path / "whole")
        broken = interrupted("gblsr_scalar", config, arrays, tmp_path / "broken")
    record = made.record(tmp_path / "broken" / "run.json")
    assert (record["device"]["type"], record["resumed"]) == ("cuda", 1)
    assert record["peak_memory_mib"] == PEAK / 2**20
    same(whole, expected, rtol=1e-4, atol=1e-6)
    same(broken, whole)


@pytest.mark.parametrize("share", [superres.RESIDENT_SHARE, 0.0], ids=["resident", "from the host"])
def test_a_super_resolution_run_goes_on_with_the_devices_own_random_numbers(
    cuda, config, arrays, tmp_path, monkeypatch, share
):
    monkeypatch.setattr(superres, "RESIDENT_SHARE", share)
    whole = train("lte_swinir", config, arrays, tmp_path / "whole")
    broken = interrupted("lte_swinir", config, arrays, tmp_path / "broken")
    record = made.record(tmp_path / "broken" / "run.json")
    assert (record["data"]["on_device"], record["resumed"]) == (share > 0, 1)
    same(broken, whole)


def test_pixels_on_the_device_give_the_batches_of_those_on_the_host(config, arrays, monkeypatch):
    images = superres.PackedImages.open(arrays / "packed.npy")
    settings = config["asr"]["training"]
    expected = superres.Sampler(images, settings, 3, 0).build_batch(5)
    with believed_cuda():
        for share in (superres.RESIDENT_SHARE, 0.0):
            monkeypatch.setattr(superres, "RESIDENT_SHARE", share)
            batch = superres.Sampler(images, settings, 3, 0, "cuda").prefetch_batches()(5)
            for name, part in batch._asdict().items():
                assert isinstance(part, OnCuda)
                assert torch.equal(part.cpu(), getattr(expected, name))


# --- evaluation ---------------------------------------------------------------------------------


def test_a_run_is_evaluated_and_its_fields_are_read_on_cuda(cuda, config, arrays, tmp_path):
    run = tmp_path / "run"
    train("gblsr_full", config, arrays, run)
    for name in ("kodak", "validation"):
        for ending in (".npy", ".csv", ".json"):
            (tmp_path / f"{name}{ending}").write_bytes((arrays / f"{name}{ending}").read_bytes())
    validation, thresholds = tmp_path / "validation.npy", tmp_path / "validation_regions.json"
    regions.write_thresholds(config, validation, thresholds)
    arm = configuration.find_arm("gblsr_full")
    evaluation.evaluate_run(config, arm, 0, run, tmp_path, tmp_path / "metrics", tmp_path / "state")
    record = made.record(tmp_path / "metrics" / "kodak.json")
    assert record["device"]["name"] == GPU.name
    native_fields.write_fields(config, [run], validation, thresholds, tmp_path)
    assert (tmp_path / "gblsr_full" / "seed0.npz").is_file()


def test_lpips_on_cuda_is_that_of_the_cpu(cuda):
    images, truth = torch.rand(2, 1, 3, 64, 64)
    mask = torch.rand(1, 1, 64, 64) < 0.5
    here, there = (PerceptualDistance(device) for device in ("cpu", CUDA))
    assert all(isinstance(p, OnCuda) for p in there.network.parameters())
    measured = there.measure_edge_lpips(*(x.to(CUDA) for x in (images, truth, mask)))
    assert isinstance(measured, OnCuda)
    torch.testing.assert_close(measured.cpu(), here.measure_edge_lpips(images, truth, mask))
