"""What is remembered between inference passes, and what makes it be made anew."""

import pytest
import torch
from torch import nn

from gblsr_repro.models.memo import Memo


class Counted:
    """Counts how often the value is made."""

    def __init__(self, *sources):
        self.memo, self.sources, self.made = Memo(), sources, 0

    def get(self, key=None):
        def make():
            self.made += 1
            return sum((s.sum() for s in self.sources), torch.zeros(()))

        return self.memo.get("value", key, self.sources, make)


@pytest.fixture
def layer():
    return nn.Linear(2, 2)


def test_it_is_made_once_for_a_key_while_nothing_changes(layer):
    counted = Counted(layer.weight)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            assert counted.get("a") is counted.get("a")
    with torch.no_grad():
        for key in ("b", "a"):
            counted.get(key)
    assert counted.made == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.weight.add_(1),
        lambda layer: layer.load_state_dict(nn.Linear(2, 2).state_dict()),
        lambda layer: setattr(layer.weight, "data", torch.ones(2, 2)),
        nn.Linear.double,
    ],
)
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


def test_what_cannot_be_watched_and_autocast_have_their_own_values(layer):
    for mode, between in (
        (torch.inference_mode, torch.no_grad),  # sources of inference mode have no versions
        (torch.no_grad, lambda: torch.autocast("cpu", torch.bfloat16)),
    ):
        with mode():
            counted = Counted(torch.ones(2) if mode is torch.inference_mode else layer.weight)
            counted.get()
            with between():
                counted.get()
        assert counted.made == 2
