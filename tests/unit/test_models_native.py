"""An arm is built, checked against the budget, fed and loaded, or the mistake is named."""

from dataclasses import replace

import made
import pytest
import torch
import torch.nn.functional as F

from gblsr_repro import config, inference, runs
from gblsr_repro.errors import UserError
from gblsr_repro.models import native
from gblsr_repro.models.encoder import GroupNorm
from gblsr_repro.preflight import check_native_benchmark
from gblsr_repro.runs import load_run


@pytest.fixture(scope="module")
def settings():
    return config.merge(config.load(), made.SMALL)


@pytest.fixture
def scalar(settings):
    return native.build_model(config.read_arms()["gblsr_scalar"], settings, 0).eval()


@pytest.mark.parametrize(
    ("decoder", "hint"),
    [
        ("ScalerDecoder", "did you mean 'ScalarDecoder'"),
        ("no.such.module:Decoder", "cannot be imported .No module named 'no'.*src/.*PYTHONPATH"),
        ("Tensor", "use one of PatchDecoder"),
        ("unfinished:Decoder", r"unfinished\.py, line 2, is not valid Python"),
        ("failing:Decoder", r"ZeroDivisionError: .* in .*failing\.py, line 1"),
    ],
)
def test_a_wrong_decoder_name_is_one_sentence(settings, decoder, hint, tmp_path, monkeypatch):
    (tmp_path / "unfinished.py").write_text("import torch\nclass Decoder(:\n")
    (tmp_path / "failing.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=hint):
        native.build_model(replace(config.read_arms()["liif"], decoder=decoder), settings, 0)
    with pytest.raises(UserError, match="did you mean 'gblsr_scalar'"):
        config.find_arm("gblsr_scaler")


def test_wrong_shapes_are_refused(scalar):
    with pytest.raises(ValueError, match="must be"):
        scalar(torch.rand(3, 8, 8))
    with pytest.raises(ValueError, match="do not belong"):
        scalar.decode(scalar.encode(torch.rand(1, 3, 8, 8)), 16, 8)


def test_queries_in_parts_give_what_they_give_at_once(scalar, monkeypatch):
    features = scalar.encode(torch.rand(1, 3, 8, 8))
    coordinates = torch.rand(1, 37, 2, dtype=torch.float64) * 2 - 1
    whole = scalar.query(features, coordinates, (8, 8))
    monkeypatch.setattr(native, "QUERY_CHUNK", 10)
    torch.testing.assert_close(scalar.query(features, coordinates, (8, 8)), whole)


def test_an_arm_without_a_basis_has_no_fields(settings):
    model = native.build_model(config.read_arms()["wire"], settings, 0)
    assert model.get_bandwidth() is None
    with pytest.raises(UserError, match="no bandwidth field"):
        model.predict_fields(model.encode(torch.rand(1, 3, 8, 8)))


def test_moments_normalize_as_group_norm_does():
    """What a single large image takes on CUDA."""
    torch.manual_seed(0)
    norm = GroupNorm(2, 6)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    x = 3 * torch.randn(1, 6, 9, 7) + 5
    expected = F.group_norm(x.double(), 2, norm.weight.double(), norm.bias.double(), norm.eps)
    with torch.no_grad():
        torch.testing.assert_close(
            norm.normalize_by_moments(x), expected.float(), rtol=1e-5, atol=1e-5
        )


@pytest.fixture
def run_dir(settings, tmp_path):
    return made.run(tmp_path, "gblsr_scalar", settings, told=False)


def test_a_run_comes_back_as_it_was(settings, scalar, run_dir):
    (x, loaded), (other, _) = (  # loading seeds no generator
        (torch.rand(1, 3, 8, 8), load_run(run_dir, native.NativeModel, settings)) for _ in range(2)
    )
    assert not torch.equal(x, other)
    assert not loaded.training
    with torch.no_grad():
        torch.testing.assert_close(loaded(x), scalar(x), rtol=0, atol=1e-6)


def test_a_run_with_other_settings_is_refused(settings, run_dir):
    other = config.merge(settings, {"native": {"model": {"modes": 5}}})
    with pytest.raises(UserError, match=r"native\.model\.modes = 4, but the config has 5"):
        load_run(run_dir, native.NativeModel, other)


def test_a_run_of_another_definition_is_refused(settings, run_dir, monkeypatch):
    row = replace(config.read_arms()["gblsr_scalar"], decoder="FixedDecoder")
    monkeypatch.setattr(runs, "find_arm", lambda name: row)
    said = r"decoder = .*:ScalarDecoder, but config/arms.tsv has .*:FixedDecoder; train it again"
    for load in (
        lambda: load_run(run_dir, native.NativeModel, settings),
        lambda: inference.load_native(run_dir),
    ):
        with pytest.raises(UserError, match=said):
            load()


# --- the check before any training --------------------------------------------------------------


@pytest.fixture
def checked():
    """Two arms."""
    return config.merge(config.load(), {"native": {"arms": ["liif", "gblsr_scalar"]}})


def test_parameters_are_counted_and_compared(checked):
    said = check_native_benchmark(checked)
    lines = [line.split() for line in said.splitlines()]
    assert ["GB-LSR-Scalar", "989,955", "1.000x"] in lines
    assert ["LIIF", "(matched-budget", "amortized)", "1,122,819", "1.134x"] in lines


def test_an_arm_outside_the_band_stops_before_anything_runs(checked):
    narrow = config.merge(checked, {"native": {"criteria": {"parameter_band": 1.1}}})
    with pytest.raises(UserError, match="Arm liif has 1,122,819 parameters"):
        check_native_benchmark(narrow)
    small = config.merge(narrow, {"native": {"main_arm": "liif"}})
    with pytest.raises(UserError, match=r"Arm gblsr_scalar .* 0\.882 times the main arm's"):
        check_native_benchmark(small)
