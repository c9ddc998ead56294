"""What is remembered between inference passes, and what makes it be made anew."""

import copy
import pickle

import pytest
import torch
from torch import nn

from gblsr_repro.models.weight_cache import WeightCache


class Counted:
    """Counts how often the value is made."""

    def __init__(self, *sources):
        self.cache, self.sources, self.made = WeightCache(), sources, 0

    def get(self, key=None):
        def make():
            self.made += 1
            return sum((s.sum() for s in self.sources), torch.zeros(()))

        return self.cache.get("value", key, self.sources, make)


@pytest.fixture
def layer():
    return nn.Linear(2, 2)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_it_is_made_once_while_nothing_changes(layer, mode):
    counted = Counted(layer.weight)
    with mode():
        first = counted.get()
        assert counted.get() is first
    assert counted.made == 1


def test_a_new_key_replaces_the_old(layer):
    counted = Counted(layer.weight)
    with torch.no_grad():
        for key in ("a", "a", "b", "a"):
            counted.get(key)
    assert counted.made == 3


def write_in_place(layer):
    layer.weight.add_(1)


def load(layer):
    layer.load_state_dict(nn.Linear(2, 2).state_dict())


def replace(layer):
    layer.weight.data = torch.ones(2, 2)


def convert(layer):
    layer.double()


@pytest.mark.parametrize("change", [write_in_place, load, replace, convert])
def test_a_changed_source_is_noticed(layer, change):
    counted = Counted(layer.weight)
    with torch.no_grad():
        counted.get()
        change(layer)
        assert torch.equal(counted.get(), layer.weight.sum())
    assert counted.made == 2


def test_gradients_flow_and_drop_what_was_kept(layer):
    counted = Counted(layer.weight)
    with torch.no_grad():
        counted.get()
    counted.get().backward()
    assert torch.equal(layer.weight.grad, torch.ones(2, 2))
    torch.optim.AdamW([layer.weight], fused=True).step()  # leaves the weight's version as it is
    with torch.no_grad():
        assert torch.equal(counted.get(), layer.weight.sum())


def test_sources_that_cannot_be_watched_are_not_remembered():
    with torch.inference_mode():
        counted = Counted(torch.ones(2))
        counted.get()
        counted.get()
    assert counted.made == 2


def test_autocast_has_its_own_value(layer):
    counted = Counted(layer.weight)
    with torch.no_grad():
        counted.get()
        with torch.autocast("cpu", torch.bfloat16):
            counted.get()
    assert counted.made == 2


def test_copies_start_empty(layer):
    counted = Counted(layer.weight)
    with torch.no_grad():
        counted.get()
    for twin in (copy.deepcopy(counted.cache), pickle.loads(pickle.dumps(counted.cache))):
        assert twin._kept == {}
