"""The control flow of a GPU run, with true values, on a make-believe CUDA (see `standins`)."""

from unittest import mock

import made
import numpy as np
import pytest
import torch
from rehearse import train
from standins import CUDA, GPU, PEAK, Event, OnCuda, believed_cuda

from gblsr_repro import config as configuration
from gblsr_repro.data import superres
from gblsr_repro.errors import StopRequested
from gblsr_repro.evaluation import fields, native_fields, regions, timing
from gblsr_repro.evaluation import native as evaluation
from gblsr_repro.training import checkpoint

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: it need not be")


@pytest.fixture
def cuda():
    with believed_cuda():
        yield


# --- training -----------------------------------------------------------------------------------


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


# --- evaluation and timing ----------------------------------------------------------------------


def test_a_run_is_scored_on_cuda_as_on_the_cpu(config, arrays, tmp_path):
    run, arm = tmp_path / "run", configuration.find_arm("gblsr_full")
    train("gblsr_full", config, arrays, run)
    thresholds = arrays / "validation_regions.json"
    regions.write_thresholds(config, arrays / "validation.npy", thresholds)

    def score(folder):
        evaluation.evaluate_run(config, arm, 0, run, arrays, folder, tmp_path / "state")
        native_fields.write_fields(config, [run], arrays / "validation.npy", thresholds, folder)
        read = fields.BandwidthFields.read(folder / "gblsr_full" / "seed0.npz")
        rows = [list(row.values())[1:] for row in made.rows(folder / "kodak.csv")]
        numbers = [float(value or -1) for row in rows for value in row]
        return made.record(folder / "kodak.json")["device"]["name"], numbers, read.bandwidth

    _, *expected = score(tmp_path / "cpu")
    with believed_cuda():
        device, *found = score(tmp_path / "cuda")
    assert device == GPU.name
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3)


def test_passes_are_timed_by_events_with_a_synchronization_after_each(cuda):
    """Events insist on it."""
    record = timing.time_call(lambda: torch.rand(8, device="cuda"), CUDA, warmup=2, passes=3)
    assert (record["median_ms"], record["peak_memory_mib"]) == (1.0, PEAK / 2**20)
    assert not Event.unfinished
