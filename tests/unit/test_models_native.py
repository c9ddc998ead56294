"""An arm is built, checked against the budget, fed and loaded, or the mistake is named."""

import made
import pytest
import torch
import your_own

from gblsr_repro import config, inference, runs
from gblsr_repro.errors import UserError
from gblsr_repro.models import native
from gblsr_repro.preflight import check_native_benchmark
from gblsr_repro.runs import load_run


@pytest.fixture
def scalar(settings):
    return native.NativeModel.build(config.read_arms()["gblsr_scalar"], settings, 0).eval()


@pytest.mark.parametrize(
    ("decoder", "hint"),
    [
        ("gblsr_repro.models.gblsr:ScalerDecoder", "names no PatchDecoder; .* ScalarDecoder"),
        ("no.such.module:Decoder", "cannot be imported .No module named 'no'.*src/.*PYTHONPATH"),
        ("gblsr_repro.models.gblsr:PatchDecoder", "names no PatchDecoder"),
        ("gblsr_repro.models.latent:LatentDecoder", "lacks what every PatchDecoder has: query;"),
        ("unfinished:Decoder", r"unfinished\.py, line 2, is not valid Python"),
        ("careless:FlatDecoder", "reads the setting 'patch', which its SETTINGS do not name; add"),
        ("unsized:FlatDecoder", "has a Lazy layer of torch.*use the layer of a given size"),
    ],
)
def test_a_wrong_decoder_is_one_sentence(settings, decoder, hint, tmp_path, monkeypatch):
    (tmp_path / "unfinished.py").write_text("import torch\nclass Decoder(:\n")
    careless = your_own.FILES["src/flat.py"].replace('("features", "patch")', '("features",)')
    (tmp_path / "careless.py").write_text(careless)
    unsized = your_own.FILES["src/flat.py"].replace("Conv2d(self.features, ", "LazyConv2d(")
    (tmp_path / "unsized.py").write_text(unsized)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=hint):
        arm = config.read_arms()["liif"].model_copy(update={"decoder": decoder})
        native.NativeModel.build(arm, settings, 0)


def test_features_of_another_size_are_refused(scalar):
    with pytest.raises(ValueError, match="do not belong"):
        scalar.decode(scalar.encode(torch.rand(1, 3, 8, 8)), 16, 8)


def test_an_arm_without_a_basis_has_no_fields(settings):
    model = native.NativeModel.build(config.read_arms()["wire"], settings, 0)
    assert model.get_bandwidth() is None
    with pytest.raises(UserError, match="no bandwidth field"):
        model.decoder.predict_fields(model.encode(torch.rand(1, 3, 8, 8)))


@pytest.fixture
def run_dir(settings, tmp_path):
    return made.run(tmp_path, "gblsr_scalar", settings, told=False)


def test_a_run_of_other_settings_or_another_definition_is_refused(settings, run_dir, monkeypatch):
    other = config.merge(settings, {"native": {"model": {"modes": 5}}})
    with pytest.raises(UserError, match=r"native\.model\.modes = 4, but the config has 5"):
        load_run(run_dir, native.NativeModel, other)
    row = config.read_arms()["gblsr_scalar"].model_copy(
        update={"decoder": "gblsr_repro.models.gblsr:FixedDecoder"}
    )
    monkeypatch.setattr(runs, "find_arm", lambda name: row)
    said = r"decoder = .*:ScalarDecoder, but config/arms.tsv has .*:FixedDecoder; train it again"
    for load in (
        lambda: load_run(run_dir, native.NativeModel, settings),
        lambda: inference.load_native(run_dir),
    ):
        with pytest.raises(UserError, match=said):
            load()


def test_parameters_are_compared_before_anything_runs():
    checked = config.merge(config.load(), {"native": {"arms": ["liif", "gblsr_scalar"]}})
    lines = [line.split() for line in check_native_benchmark(checked).splitlines()]
    assert ["GB-LSR-Scalar", "989,955", "1.000x"] in lines
    assert ["LIIF", "(matched-budget", "amortized)", "1,122,819", "1.134x"] in lines
    narrow = config.merge(checked, {"native": {"criteria": {"parameter_band": 1.1}}})
    with pytest.raises(UserError, match="Arm liif has 1,122,819 parameters"):
        check_native_benchmark(narrow)
    small = config.merge(narrow, {"native": {"main_arm": "liif"}})
    with pytest.raises(UserError, match=r"Arm gblsr_scalar .* 0\.882 times the main arm's"):
        check_native_benchmark(small)
