"""What inference remembers of the weights, a kernel or a basis, follows them in both halves."""

import contextlib
import copy

import made
import pytest
import torch

from gblsr_repro import config
from gblsr_repro.models.base import WeightCache

METHODS = ("gblsr_asr", "gblsr_asr_nole")
ARMS = [arm for arm in config.read_arms() if arm.startswith(("gblsr", "global"))]
SMALL = config.merge(
    config.load(),
    {
        "native": {"model": made.NATIVE | {"patch": 8, "fourier_frequencies": 5}},
        "asr": {"model": made.ASR},
    },
)


def model(name, seed=0):
    return made.moved(made.model(name, SMALL, seed), seed=seed).eval()


def shown(model, path=None):
    """What a model shows of a seeded image, a super-resolution method enlarged."""
    x = torch.rand(1, 3, 16, 8, generator=torch.Generator().manual_seed(7))
    x = x.to(next(model.parameters()).dtype)
    return (
        model(x, path=path)
        if hasattr(model, "predict_fields")
        else model.render(x, 32, 16, 999, path)
    )


@pytest.mark.parametrize("name", [*ARMS, *METHODS])
def test_it_is_made_anew_when_the_weights_change(name):
    one, other = model(name), model(name, 1)
    with torch.no_grad():
        before = shown(one)
        one.load_state_dict(other.state_dict())
        loaded = shown(one)
        assert torch.equal(loaded, shown(other))
        assert not torch.equal(loaded, before)
    optimizer = torch.optim.AdamW(one.parameters(), lr=0.1, fused=True)
    shown(one).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        last = shown(one)
        assert not torch.equal(last, loaded)
        for change in (lambda p: p.mul_(1.1), lambda p: setattr(p, "data", 1.1 * p.data)):
            for parameter in one.parameters():
                change(parameter)
            changed = shown(one)
            assert torch.equal(changed, shown(copy.deepcopy(one)))
            assert not torch.equal(changed, last)
            last = changed
        torch.testing.assert_close(shown(one.double()), shown(one, "plain"), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "path"),
    [("gblsr_scalar", "fast"), *((m, p) for m in METHODS for p in ("folded", "separable"))],
)
def test_what_was_made_in_inference_mode_does_not_enter_autograd(name, path):
    one, gradients = model(name).double(), []
    with torch.inference_mode():
        inferred = shown(one, path)
    for way in (path, "plain"):
        one.zero_grad()
        image = shown(one, way)
        torch.testing.assert_close(image.detach(), inferred)
        image.square().sum().backward()
        gradients.append([p.grad for p in one.decoder.parameters() if p.grad is not None])
    for fast, plain in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("mode", "between"),
    [
        (torch.inference_mode, torch.no_grad),  # what is made there cannot be watched
        (torch.no_grad, lambda: torch.autocast("cpu", torch.bfloat16)),
    ],
)
def test_what_is_remembered_is_made_anew_where_it_may_differ(mode, between):
    memo, made_for = WeightCache(), []
    with mode():
        source = torch.ones(2)
        for block in (contextlib.nullcontext, between):
            with block():
                memo.get_or_compute("value", None, (source,), lambda: made_for.append(source))
    assert len(made_for) == 2
