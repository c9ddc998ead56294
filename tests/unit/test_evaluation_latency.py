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
ARM = config.find_arm("wire")


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


def image(name="a", side=8, load=None):
    """An image to time, whose model encodes 8 pixels more on either axis."""
    load = load or (lambda: torch.rand(1, 3, side, side))
    return latency.TimedInput(name, (side + 8) ** 2, load)


@pytest.fixture
def write_times(model, tmp_path):
    """Time sets by a model's calls; return by set the clocks and images of its rows, its record."""

    def write(sets, plain=model, fast=model, gradients=False, state="state", of=(), **settings):
        chosen = config.merge(config.load(), {"latency": {"warmup": 0, "passes": 1} | settings})
        timer = latency.Timer(model, chosen, CPU, plain, fast, gradients)
        timed = {name: latency.TimedSet(images, {"images": of}) for name, images in sets.items()}
        columns = ("clock", "image")
        timer.write_times(ARM, 0, timed, tmp_path, columns, tmp_path / state)
        return {
            name: (
                [tuple(row.values()) for row in made.rows(tmp_path / f"{name}.csv")],
                made.record(tmp_path / f"{name}.json"),
            )
            for name in sets
        }

    return write


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


# --- clocks and memory --------------------------------------------------------------------------


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("clocks", [["paper", "fast"], ["fast"], ["paper"]])
def test_the_papers_clock_is_plain_and_ours_is_that_of_users(model, write_times, gradients, clocks):
    seen = {}

    def watch(name):
        def call(images):
            output = model(images)
            layout = model.encoder.weight.is_contiguous(memory_format=torch.channels_last)
            modes = (output.requires_grad, torch.is_inference_mode_enabled(), layout)
            seen.setdefault(name, set()).add(modes)
            return output

        return call

    calls = watch("paper"), watch("fast")
    rows, record = write_times({"set": [image()]}, *calls, gradients, clocks=clocks)["set"]
    assert rows == [(clock, "a") for clock in clocks]
    assert record["gradients_recorded"] is gradients
    assert (record["seed"], record["depends_on"]["images"]) == (0, [])
    expected = {"paper": {(gradients, False, False)}, "fast": {(False, True, True)}}
    assert seen == {clock: expected[clock] for clock in clocks}


def test_saved_bytes_are_those_of_the_backward_pass(model):
    images = torch.rand(1, 3, 10, 10)
    # The convolution saves its input, SiLU the 4 x 8 x 8 values that it reads; weights count not.
    assert timing.count_saved_bytes(model, images, model) == 4 * (3 * 10 * 10 + 4 * 8 * 8)


def test_a_set_that_gradients_do_not_fit_for_is_refused_before_it_is_timed(
    model, write_times, monkeypatch, caplog
):
    sets = {
        "small": [image("i8"), image("i16", 16)],
        "large": [image("i9", 9), image("i64", 64)],
    }
    example = torch.zeros(1, 3, latency.EXAMPLE_SIDE, latency.EXAMPLE_SIDE)
    saved = timing.count_saved_bytes(model, example, model)
    room = 1.75 * saved / (latency.EXAMPLE_SIDE + 8) ** 2 * (64 + 8) ** 2

    def time(free):
        monkeypatch.setattr(runtime, "measure_free_memory", lambda device: free)
        return write_times(sets, gradients=True, state=str(free))

    times = time(int(room) - 1)
    small, large = (record["not_timed"] for _, record in times.values())
    assert [clock for clock, _ in times["small"][0]] == ["paper", "paper", "fast", "fast"]
    assert times["large"][0] == [("fast", "i9"), ("fast", "i64")]
    assert small == {}
    assert large.keys() == {"paper"}
    assert large["paper"].startswith("i64 would take about 0.0 GiB")
    assert caplog.text.count("wire: large is not timed by the clock paper, since i64") == 1
    assert all(not record["not_timed"] for _, record in time(int(room) + 1).values())


def test_a_set_that_does_not_fit_the_memory_is_left_out_by_that_clock(write_times):
    def fail(_):
        raise torch.OutOfMemoryError("the device says so\nsecond line")

    rows, record = write_times({"set": [image()]}, plain=fail)["set"]
    assert rows == [("fast", "a")]
    said = {"paper": "the memory does not suffice: the device says so"}
    assert record["not_timed"] == said


def test_times_are_kept_for_their_images_settings_device_and_versions_alone(
    write_times, monkeypatch
):
    loads = []

    def load():
        loads.append("a")
        return torch.rand(1, 3, 8, 8)

    def count_loads(**settings):
        loads.clear()
        write_times({"set": [image(load=load)]}, **({"clocks": ["fast"]} | settings))
        return len(loads)

    assert [count_loads(), count_loads()] == [1, 0]
    assert count_loads(of=["another image"]) == 1
    assert count_loads(passes=2) == 1
    for facts in ("describe_device", "list_versions"):
        monkeypatch.setattr(runtime, facts, lambda *_: {"name": "another"})
        assert count_loads() == 1


def test_another_process_beside_one_image_stands_in_the_record(write_times, monkeypatch, caplog):
    """Also where it was there before a kill, and the job that went on was alone."""
    answers = iter([False, True, False])
    monkeypatch.setattr(latency.devices, "is_gpu_shared", lambda device: next(answers))

    def interrupt():
        raise KeyboardInterrupt

    first = [image("a"), image("b")]
    with pytest.raises(KeyboardInterrupt):
        write_times({"set": [*first, image("c", load=interrupt)]}, clocks=["paper"])
    rows, record = write_times({"set": [*first, image("c")]}, clocks=["paper"])["set"]
    assert [name for _, name in rows] == ["a", "b", "c"]
    assert record["gpu_shared"] is True
    assert "other processes used this GPU" in caplog.text
