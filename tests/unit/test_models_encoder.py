"""The native encoder: its normalisation of single large images, and no copies in training."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from gblsr_repro import config as configuration
from gblsr_repro.models import native
from gblsr_repro.models.asr import model as asr
from gblsr_repro.models.encoder import GroupNorm, PatchEncoder

SMALL = {"features": 8, "patch": 4, "norm_groups": 2}
TINY = {
    "native": {"model": SMALL | {"modes": 4, "hidden": 8}},
    "asr": {
        "model": {
            "rdn_features": 4,
            "rdn_blocks": 1,
            "rdn_layers": 2,
            "rdn_growth": 4,
            "swinir_embed": 12,
            "swinir_depths": [2],
            "swinir_heads": 2,
            "hidden": 8,
            "modes": 4,
        }
    },
}
CONFIG = configuration.merge(configuration.load(), TINY)


class Operations(TorchDispatchMode):
    """The names of all operations of a block."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__.partition(".")[0])
        return func(*args, **(kwargs or {}))


def test_moments_normalize_as_group_norm_does():
    torch.manual_seed(0)
    norm = GroupNorm(2, 6)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    x = 3 * torch.randn(1, 6, 9, 7) + 5
    expected = F.group_norm(x.double(), 2, norm.weight.double(), norm.bias.double(), norm.eps)
    with torch.no_grad():
        torch.testing.assert_close(norm.by_moments(x), expected.float(), rtol=1e-5, atol=1e-5)


def test_training_clones_no_activation():
    encoder = PatchEncoder(SMALL)
    with Operations() as seen:
        encoder(torch.rand(2, 3, 16, 16)).square().sum().backward()
    assert "clone" not in seen.names
    assert "silu" in seen.names
    assert "silu_" not in seen.names
    with torch.no_grad(), Operations() as seen:
        encoder(torch.rand(2, 3, 16, 16))
    assert "silu" not in seen.names


def graph(loss):
    """Return the kinds of all nodes that a backward pass visits."""
    seen, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        seen.add(node)
        waiting += [f for f, _ in node.next_functions if f is not None and f not in seen]
    return {node.name().rpartition("::")[2] for node in seen}


@pytest.mark.parametrize("name", CONFIG["native"]["arms"])
def test_no_gradient_of_an_arm_copies_slices(name):
    model = native.build(configuration.arms()[name], CONFIG, 0)
    assert "CopySlices" not in graph(model(torch.rand(1, 3, 8, 8)).sum())


@pytest.mark.parametrize("name", CONFIG["asr"]["methods"])
def test_no_gradient_of_a_method_copies_slices(name):
    model = asr.build(configuration.methods()[name], CONFIG, 0)
    sizes, pixels = torch.tensor([[16, 16]]), torch.randint(16, (1, 5, 2))
    for path in (None, "plain"):
        nodes = graph(model(torch.rand(1, 3, 8, 8), sizes, pixels, path).sum())
        assert "CopySlices" not in nodes
