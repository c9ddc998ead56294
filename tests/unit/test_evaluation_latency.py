"""The latency protocol: what it counts, what it refuses, what it records."""

import statistics
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from gblsr_repro import config
from gblsr_repro.evaluation import latency

CPU = torch.device("cpu")


@pytest.fixture
def model():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.SiLU()).eval()


def test_passes_are_warmed_up_then_timed_without_gradients(model):
    seen = []
    record = latency.measure(
        lambda: seen.append(torch.is_grad_enabled()), CPU, warmup=3, passes=5, model=model
    )
    assert seen == [False] * 8
    assert record.timed_passes == 5
    assert record.peak_memory_mb is None
    assert 0 < record.median_ms <= record.p90_ms <= record.p95_ms


def test_summary_of_known_times():
    times = [5.0, 1.0, 2.0, 4.0, 3.0, 10.0]
    assert latency.summarize(times, 12.5) == latency.LatencyRecord(
        median_ms=3.5,
        mean_ms=statistics.fmean(times),
        std_ms=pytest.approx(np.std(times, ddof=1)),
        p90_ms=7.5,
        p95_ms=8.75,
        peak_memory_mb=12.5,
        timed_passes=6,
    )
    assert latency.summarize([2.0], None).std_ms is None


def test_training_mode_is_refused_wherever_it_hides(model):
    model[1].train()
    with pytest.raises(ValueError, match="1 is in training mode"):
        latency.measure(lambda: None, CPU, 0, 1, model=model)
    with pytest.raises(ValueError, match="Sequential is in training mode"):
        latency.measure(lambda: None, CPU, 0, 1, model=model.train())


def test_autocast_is_refused(model):
    with torch.autocast("cpu"), pytest.raises(ValueError, match="autocast is on"):
        latency.measure(lambda: None, CPU, 0, 1, model=model)


def test_deployed_path_computes_the_same(model):
    images = torch.rand(1, 3, 16, 16)
    with torch.no_grad():
        expected = model(images)
    path, call = latency.deployed(model, model, images)
    assert path == "channels_last"
    torch.testing.assert_close(call(images), expected)
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_model_that_no_graph_takes_is_deployed_eagerly(model, monkeypatch, caplog):
    def refuse(*_):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(latency, "_graph", refuse)
    example = SimpleNamespace(device=torch.device("cuda"))
    assert latency.deployed(model, model, example) == ("eager", model)
    assert "Sequential takes no CUDA graph: operation not permitted" in caplog.text


@pytest.mark.parametrize("mode", [0, 1])
def test_protocol_settings_are_put_back(mode):
    torch.set_deterministic_debug_mode(mode)
    with latency.protocol_settings():
        assert not torch.are_deterministic_algorithms_enabled()
    assert torch.get_deterministic_debug_mode() == mode
    torch.set_deterministic_debug_mode(0)


def test_conditions_on_a_cpu_say_what_is_not_measured():
    record = latency.conditions(config.load(), CPU)
    assert record["clock"] == "monotonic clock"
    assert (record["peak_memory"], record["gpu_shared"]) == (None, None)
    assert (record["warmup"], record["passes"]) == (10, 50)
    assert record["device"]["type"] == "cpu"


@pytest.mark.parametrize(
    ("listed", "shared"), [("", None), ("4711\n", False), ("4711\n4712\n", True), (None, None)]
)
def test_sharing_is_told_from_the_list_of_processes(monkeypatch, listed, shared):
    def answer(*_, **__):
        if listed is None:
            raise FileNotFoundError
        return SimpleNamespace(stdout=listed)

    monkeypatch.setattr(latency.subprocess, "run", answer)
    monkeypatch.setattr(latency, "_visible_name", lambda device: "GPU-0")
    assert latency.gpu_is_shared(torch.device("cuda")) is shared


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_cuda_graph_replays_the_same_and_memory_is_measured(model):
    device = torch.device("cuda")
    model.to(device)
    images = torch.rand(2, 1, 3, 16, 16, device=device)
    with torch.no_grad():
        expected = [model(x) for x in images]
    path, call = latency.deployed(model, model, images[0])
    assert path == "cuda_graph"
    for x, wanted in zip(images, expected, strict=True):
        torch.testing.assert_close(call(x), wanted)
    record = latency.measure(lambda: call(images[0]), device, 2, 4, model=model)
    assert record.peak_memory_mb > 0
