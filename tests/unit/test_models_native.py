"""Building, budgets, padding, bad input, and loading a trained arm."""

import contextlib
import json
from dataclasses import replace

import made
import pytest
import torch
import torch.nn.functional as F

from gblsr_repro import config, inference
from gblsr_repro.errors import UserError
from gblsr_repro.models import native
from gblsr_repro.models.base import WeightCache
from gblsr_repro.models.encoder import GroupNorm
from gblsr_repro.runs import load_run


@pytest.fixture(scope="module")
def settings():
    return config.merge(config.load(), made.SMALL)


@pytest.fixture
def scalar(settings):
    return native.build(config.arms()["gblsr_scalar"], settings, 0).eval()


@pytest.mark.parametrize(
    ("decoder", "hint"),
    [
        ("ScalerDecoder", "did you mean 'ScalarDecoder'"),
        ("no.such.module:Decoder", "check the module's name"),
        ("Tensor", "known are PatchDecoder"),
    ],
)
def test_a_wrong_decoder_name_is_one_sentence(settings, decoder, hint):
    with pytest.raises(UserError, match=hint):
        native.build(replace(config.arms()["liif"], decoder=decoder), settings, 0)
    with pytest.raises(UserError, match="did you mean 'gblsr_scalar'"):
        config.arm_named("gblsr_scaler")


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (4, 9), (17, 4)])
def test_any_size_goes_in_and_comes_out(scalar, height, width):
    assert scalar(torch.rand(2, 3, height, width)).shape == (2, 3, height, width)


def test_wrong_shapes_are_refused(scalar):
    with pytest.raises(ValueError, match="must be"):
        scalar(torch.rand(3, 8, 8))
    with pytest.raises(ValueError, match="do not belong"):
        scalar.decode(scalar.encode(torch.rand(1, 3, 8, 8)), 16, 8)


def test_queries_are_evaluated_in_bounded_parts(scalar, monkeypatch):
    features = scalar.encode(torch.rand(1, 3, 8, 8))
    coordinates = torch.rand(1, 37, 2, dtype=torch.float64) * 2 - 1
    whole = scalar.query(features, coordinates, (8, 8))
    sizes = []
    query = scalar.decoder.query

    def watched(features, positions):
        sizes.append(positions.shape[1])
        return query(features, positions)

    monkeypatch.setattr(native, "QUERY_CHUNK", 10)
    monkeypatch.setattr(scalar.decoder, "query", watched)
    torch.testing.assert_close(scalar.query(features, coordinates, (8, 8)), whole)
    assert sizes == [10, 10, 10, 7]


def test_an_arm_without_a_basis_has_no_fields(settings):
    model = native.build(config.arms()["wire"], settings, 0)
    assert model.bandwidth() is None
    with pytest.raises(UserError, match="no bandwidth field"):
        model.fields(model.encode(torch.rand(1, 3, 8, 8)))


def test_moments_normalize_as_group_norm_does():
    """What a single large image takes."""
    torch.manual_seed(0)
    norm = GroupNorm(2, 6)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    x = 3 * torch.randn(1, 6, 9, 7) + 5
    expected = F.group_norm(x.double(), 2, norm.weight.double(), norm.bias.double(), norm.eps)
    with torch.no_grad():
        torch.testing.assert_close(norm.by_moments(x), expected.float(), rtol=1e-5, atol=1e-5)


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
                memo.get("value", None, (source,), lambda: made_for.append(source))
    assert len(made_for) == 2


@pytest.fixture
def run_dir(settings, tmp_path):
    return made.run(tmp_path, "gblsr_scalar", settings, told=False)


def test_a_run_comes_back_as_it_was(settings, scalar, run_dir):
    x = torch.rand(1, 3, 8, 8)
    loaded = load_run(run_dir, native.NativeModel, settings)
    assert not loaded.training
    with torch.no_grad():
        torch.testing.assert_close(loaded(x), scalar(x), rtol=0, atol=1e-6)


def test_loading_does_not_seed_the_generators(settings, run_dir):
    torch.manual_seed(42)
    load_run(run_dir, native.NativeModel, settings)
    drawn = torch.rand(3)
    load_run(run_dir, native.NativeModel, settings)
    assert not torch.equal(torch.rand(3), drawn)


def test_a_run_of_another_kind_or_with_other_settings_is_refused(settings, run_dir):
    other = config.merge(settings, {"native": {"model": {"modes": 5}}})
    with pytest.raises(UserError, match=r"native\.model\.modes = 4, but the config says 5"):
        load_run(run_dir, native.NativeModel, other)
    record = json.loads((run_dir / "run.json").read_text())
    record["method"] = record.pop("arm")
    (run_dir / "run.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match="holds no native run"):
        load_run(run_dir, native.NativeModel, settings)


def test_a_run_of_another_definition_is_refused(settings, run_dir, monkeypatch):
    row = replace(config.arms()["gblsr_scalar"], decoder="FixedDecoder")
    monkeypatch.setattr(config, "arm_named", lambda name: row)
    said = r"decoder = ScalarDecoder, but config/arms.tsv says FixedDecoder; train again"
    for load in (
        lambda: load_run(run_dir, native.NativeModel, settings),
        lambda: inference.load_native(run_dir),
    ):
        with pytest.raises(UserError, match=said):
            load()


def test_a_damaged_or_missing_weights_file_is_named(settings, run_dir):
    weights = run_dir / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UserError, match="is not the file that"):
        load_run(run_dir, native.NativeModel, settings)
    weights.unlink()
    with pytest.raises(UserError, match="is no trained run"):
        load_run(run_dir, native.NativeModel, settings)
