"""Times are those of the protocol's passes and clocks, and the record tells the conditions."""

import gc
import statistics

import made
import numpy as np
import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from gblsr_repro import config, runtime
from gblsr_repro.evaluation import latency, timing

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

    record = timing.time_call(call, CPU, warmup=3, passes=5, gradients=gradients)
    assert seen == [(gradients, 0)] * 8
    assert record["timed_passes"] == 5
    assert record["peak_memory_mib"] is None
    assert 0 < record["median_ms"] <= record["p90_ms"] <= record["p95_ms"]


def test_summary_of_known_times():
    times = [5.0, 1.0, 2.0, 4.0, 3.0, 10.0]
    assert timing.summarize_times(times, 12.5) == {
        "median_ms": 3.5,
        "mean_ms": statistics.fmean(times),
        "std_ms": pytest.approx(np.std(times, ddof=1)),
        "p90_ms": 7.5,
        "p95_ms": 8.75,
        "peak_memory_mib": 12.5,
        "timed_passes": 6,
    }
    assert timing.summarize_times([2.0], None)["std_ms"] is None


# --- clocks -------------------------------------------------------------------------------------


def timed_modes(model, gradients, state, **latency_settings):
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
    times = timing.time_sets("tiny", {"set": latency.TimedSet([IMAGE], {})}, {}, state)["set"]
    assert not times.not_timed
    return seen, [row["clock"] for row in times.rows]


@pytest.mark.parametrize("gradients", [False, True])
def test_the_papers_clock_is_plain_and_ours_is_that_of_users(model, gradients, tmp_path):
    seen, clocks = timed_modes(model, gradients, tmp_path)
    assert clocks == ["paper", "fast"]
    assert seen == {"plain": {(gradients, False, False)}, "own": {(False, True, True)}}


@pytest.mark.parametrize("clock", ["fast", "paper"])
def test_which_clocks_are_read(model, clock, tmp_path):
    assert timed_modes(model, True, tmp_path, clocks=[clock])[1] == [clock]


def test_saved_bytes_are_those_of_the_backward_pass(model):
    images = torch.rand(1, 3, 10, 10)
    # The convolution saves its input, SiLU the 4 x 8 x 8 values that it reads; weights count not.
    assert timing.count_saved_bytes(model, images, model) == 4 * (3 * 10 * 10 + 4 * 8 * 8)


def test_a_set_that_gradients_do_not_fit_for_is_refused_before_it_is_timed(
    model, monkeypatch, caplog, tmp_path
):
    def image(side):
        encoded = model.encoder.extend_length(side) ** 2
        return latency.TimedInput(f"i{side}", encoded, lambda: torch.rand(1, 3, side, side))

    sets = {"small": [image(8), image(16)], "large": [image(9), image(64)]}
    example = torch.zeros(1, 3, latency.EXAMPLE, latency.EXAMPLE)
    saved = timing.count_saved_bytes(model, example, model)
    per_pixel = saved / (latency.EXAMPLE + 8) ** 2
    room, chosen = 1.75 * per_pixel * (64 + 8) ** 2, settings(warmup=0, passes=1)

    def time(free):
        monkeypatch.setattr(runtime, "measure_free_memory", lambda device: free)
        timing = latency.Timer(model, chosen, CPU, model, model, gradients=True)
        inputs = {name: latency.TimedSet(images, {}) for name, images in sets.items()}
        times = timing.time_sets("tiny", inputs, {}, tmp_path / str(free))
        rows = [row["clock"] + row["image"] for name in sets for row in times[name].rows]
        return rows, {name: times[name].not_timed for name in sets}

    rows, not_timed = time(int(room) - 1)
    assert rows == ["paperi8", "paperi16", "fasti8", "fasti16", "fasti9", "fasti64"]
    assert not_timed["small"] == {}
    assert set(not_timed["large"]) == {"paper"}
    assert not_timed["large"]["paper"].startswith("i64 would take about 0.0 GiB")
    assert caplog.text.count("tiny: large is not timed by the clock paper, since i64") == 1
    assert time(int(room) + 1)[1] == {"small": {}, "large": {}}


def test_a_set_that_does_not_fit_the_memory_is_left_out_by_that_clock(model, caplog, tmp_path):
    def fail(_):
        raise torch.OutOfMemoryError("the device says so\nsecond line")

    timing = latency.Timer(model, settings(warmup=0, passes=1), CPU, fail, model, False)
    times = timing.time_sets("tiny", {"set": latency.TimedSet([IMAGE], {})}, {}, tmp_path)["set"]
    assert [row["clock"] for row in times.rows] == ["fast"]
    assert times.not_timed == {"paper": "the memory does not suffice: the device says so"}
    assert "the device says so" in caplog.text


# --- records ------------------------------------------------------------------------------------


def test_conditions_say_what_is_not_measured():
    runtime.prepare_device("cpu")
    record = latency.describe_measurement(config.load(), CPU)
    assert record["peak_memory"] is None
    assert (record["warmup"], record["passes"], record["clocks"]) == (10, 50, ["paper", "fast"])


def test_another_process_beside_one_image_stands_in_the_record(
    model, monkeypatch, caplog, tmp_path
):
    """Also where it was there before a kill, and the job that went on was alone."""
    answers = iter([False, True])
    monkeypatch.setattr(latency.devices, "is_gpu_shared", lambda device: next(answers))
    chosen = settings(warmup=0, passes=1, clocks=["paper"])

    def image(name, fails=False):
        def load():
            if fails:
                raise KeyboardInterrupt
            return torch.rand(1, 3, 8, 8)

        return latency.TimedInput(name, 64, load)

    def time(*images):
        timer = latency.Timer(model, chosen, CPU, model, model, False)
        sets = {"set": latency.TimedSet(images, {})}
        timer.write_times({"arm": "tiny"}, sets, {}, tmp_path, ("image",), tmp_path / "state")

    with pytest.raises(KeyboardInterrupt):
        time(image("a"), image("b"), image("c", fails=True))
    assert not (tmp_path / "set.csv").exists()
    answers = iter([False])
    time(image("a"), image("b"), image("c"))
    assert [row["image"] for row in made.rows(tmp_path / "set.csv")] == ["a", "b", "c"]
    assert made.record(tmp_path / "set.json")["gpu_shared"] is True
    assert "other processes used this GPU" in caplog.text
