"""The optimizers: torch's own numbers, without its compiler."""

import copy

import pytest
import torch
from torch import nn

from gblsr_repro.training import optimizers


def trained(kind, **settings):
    """Train a little, over a saved state, and return the weights."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(7, 5), nn.Linear(5, 3))
    data = torch.randn(6, 7)
    optimizer = kind(model.parameters(), lr=1e-2, fused=True, **settings)
    for step in range(6):
        if step == 3:
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = kind(model.parameters(), lr=1.0, fused=True)
            optimizer.load_state_dict(state)
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize(
    ("name", "settings"), [("Adam", {}), ("AdamW", {"weight_decay": 0.1, "betas": (0.9, 0.95)})]
)
def test_the_bits_are_torchs(name, settings):
    expected = trained(getattr(torch.optim, name), **settings)
    assert torch.equal(trained(getattr(optimizers, name), **settings), expected)
