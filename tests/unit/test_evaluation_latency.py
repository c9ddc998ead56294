"""The latency protocol: its clocks, what it counts, what it refuses, what it records."""

import gc
import statistics
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from gblsr_repro import config, runtime
from gblsr_repro.evaluation import latency

CPU = torch.device("cpu")
IMAGE = latency.TimedInput("a", 64, lambda: torch.rand(1, 3, 8, 8))


class Tiny(nn.Module):
    """A model with the parts that timing needs."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv2d(3, 4, 3)
        self.encoder.channels_last = True
        self.encoder.extend_length = lambda length: length + 8
        self.activation = nn.SiLU()
        self.path = None

    def forward(self, images):
        return self.activation(self.encoder(images))


@pytest.fixture
def model():
    return Tiny().eval()


def settings(**latency_settings):
    return config.merge(config.load(), {"latency": latency_settings})


@pytest.mark.parametrize("gradients", [False, True])
def test_passes_are_warmed_up_then_timed_and_drop_their_outputs(model, gradients):
    outputs, seen = [], []

    def call():
        gc.collect()
        seen.append((torch.is_grad_enabled(), sum(not ref.expired() for ref in outputs)))
        output = model(torch.rand(1, 3, 8, 8))
        outputs.append(StorageWeakRef(output.untyped_storage()))
        return output

    record = latency.time_call(call, CPU, warmup=3, passes=5, gradients=gradients)
    assert seen == [(gradients, 0)] * 8
    assert record["timed_passes"] == 5
    assert record["peak_memory_mib"] is None
    assert 0 < record["median_ms"] <= record["p90_ms"] <= record["p95_ms"]


def test_summary_of_known_times():
    times = [5.0, 1.0, 2.0, 4.0, 3.0, 10.0]
    assert latency.summarize_times(times, 12.5) == {
        "median_ms": 3.5,
        "mean_ms": statistics.fmean(times),
        "std_ms": pytest.approx(np.std(times, ddof=1)),
        "p90_ms": 7.5,
        "p95_ms": 8.75,
        "peak_memory_mib": 12.5,
        "timed_passes": 6,
    }
    assert latency.summarize_times([2.0], None)["std_ms"] is None


# --- clocks -------------------------------------------------------------------------------------


def timed_modes(model, gradients, **latency_settings):
    """Time a model by the clocks of a config; return by clock how each call found torch."""
    seen = {}

    def watched(name):
        def call(images):
            output = model(images)
            layout = model.encoder.weight.is_contiguous(memory_format=torch.channels_last)
            seen.setdefault(name, set()).add(
                (output.requires_grad, torch.is_inference_mode_enabled(), layout)
            )
            return output

        return call

    chosen = settings(warmup=1, passes=2, **latency_settings)
    timing = latency.Timer(model, chosen, CPU, watched("plain"), watched("own"), gradients)
    times = timing.time_sets("tiny", {"set": [IMAGE]})["set"]
    assert not times.not_timed
    return seen, [row["clock"] for row in times.rows]


@pytest.mark.parametrize("gradients", [False, True])
def test_the_papers_clock_is_plain_and_ours_is_that_of_users(model, gradients):
    seen, clocks = timed_modes(model, gradients)
    assert clocks == ["paper", "ours"]
    assert seen == {"plain": {(gradients, False, False)}, "own": {(False, True, True)}}


def test_which_clocks_are_read(model):
    assert timed_modes(model, True, clocks=["ours"])[1] == ["ours"]
    assert timed_modes(model, True, clocks=["paper"])[1] == ["paper"]


def test_saved_bytes_are_those_of_the_backward_pass(model):
    images = torch.rand(1, 3, 10, 10)
    # The convolution saves its input, SiLU the 4 x 8 x 8 values that it reads; weights count not.
    assert latency.count_saved_bytes(model, images, model) == 4 * (3 * 10 * 10 + 4 * 8 * 8)


def test_a_set_that_gradients_do_not_fit_for_is_refused_before_it_is_timed(
    model, monkeypatch, caplog
):
    def image(side):
        encoded = model.encoder.extend_length(side) ** 2
        return latency.TimedInput(f"i{side}", encoded, lambda: torch.rand(1, 3, side, side))

    sets = {"small": [image(8), image(16)], "large": [image(9), image(64)]}
    example = torch.zeros(1, 3, latency.EXAMPLE, latency.EXAMPLE)
    saved = latency.count_saved_bytes(model, example, model)
    per_pixel = saved / (latency.EXAMPLE + 8) ** 2
    room, chosen = 1.75 * per_pixel * (64 + 8) ** 2, settings(warmup=0, passes=1)

    def time(free):
        monkeypatch.setattr(runtime, "measure_free_memory", lambda device: free)
        timing = latency.Timer(model, chosen, CPU, model, model, gradients=True)
        times = timing.time_sets("tiny", sets)
        rows = [row["clock"] + row["image"] for name in sets for row in times[name].rows]
        return rows, {name: times[name].not_timed for name in sets}

    rows, not_timed = time(int(room) - 1)
    assert rows == ["paperi8", "paperi16", "oursi8", "oursi16", "oursi9", "oursi64"]
    assert not_timed["small"] == {}
    assert set(not_timed["large"]) == {"paper"}
    assert not_timed["large"]["paper"].startswith("i64 would take about 0.0 GiB")
    assert caplog.text.count("tiny: large is not timed by the clock paper, since i64") == 1
    assert time(int(room) + 1)[1] == {"small": {}, "large": {}}


def test_a_set_that_does_not_fit_the_memory_is_left_out_by_that_clock(model, caplog):
    def fail(_):
        raise torch.OutOfMemoryError("the device says so\nsecond line")

    timing = latency.Timer(model, settings(warmup=0, passes=1), CPU, fail, model, False)
    times = timing.time_sets("tiny", {"set": [IMAGE]})["set"]
    assert [row["clock"] for row in times.rows] == ["ours"]
    assert times.not_timed == {"paper": "the memory does not suffice: the device says so"}
    assert "the device says so" in caplog.text


# --- records ------------------------------------------------------------------------------------


def test_conditions_say_what_is_not_measured(monkeypatch, caplog):
    runtime.prepare_device("cpu")
    record = latency.describe_measurement(config.load(), CPU)
    assert (record["peak_memory"], record["gpu_shared"]) == (None, None)
    assert (record["warmup"], record["passes"], record["clocks"]) == (10, 50, ["paper", "ours"])
    monkeypatch.setattr(latency, "is_gpu_shared", lambda device: True)
    assert latency.describe_measurement(config.load(), CPU)["gpu_shared"]
    assert "Other processes use this GPU" in caplog.text


@pytest.mark.parametrize(
    ("listed", "shared"), [("", None), ("4711\n", False), ("4711\n4712\n", True), (None, None)]
)
def test_sharing_is_told_from_the_list_of_processes(monkeypatch, listed, shared):
    def answer(*_, **__):
        if listed is None:
            raise FileNotFoundError
        return SimpleNamespace(stdout=listed)

    monkeypatch.setattr(latency.subprocess, "run", answer)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="0")
    )
    assert latency.is_gpu_shared(torch.device("cuda")) is shared
