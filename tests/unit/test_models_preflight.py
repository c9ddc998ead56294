"""The check before any training."""

import pytest

from gblsr_repro import config
from gblsr_repro.errors import UserError
from gblsr_repro.preflight import check


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Two arms, and no AlexNet backbone to be found."""
    monkeypatch.delenv("GBLSR_LPIPS_BACKBONE", raising=False)
    overlay = {
        "resources": str(tmp_path / "resources"),
        "mirror": None,
        "lpips_backbone": None,
        "require_lpips": False,
        "native": {"arms": ["liif", "gblsr_scalar"]},
    }
    return config.merge(config.load(), overlay)


def test_counts_are_printed_with_what_is_known_of_lpips(settings, capsys):
    check(settings)
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["GB-LSR-Scalar", "989,955", "1.000x"] in lines
    assert ["LIIF", "(matched-budget", "amortized)", "1,122,819", "1.134x"] in lines
    assert "LPIPS: the AlexNet backbone is not at hand" in said


def test_an_arm_outside_the_band_stops_before_anything_runs(settings):
    narrow = config.merge(settings, {"native": {"criteria": {"parameter_band": 1.1}}})
    with pytest.raises(UserError, match="Arm liif has 1,122,819 parameters"):
        check(narrow)
    small = config.merge(narrow, {"native": {"main_arm": "liif"}})
    with pytest.raises(UserError, match=r"Arm gblsr_scalar .* 0\.882 times the main arm's"):
        check(small)


def test_a_required_backbone_that_is_missing_stops(settings):
    with pytest.raises(UserError, match="AlexNet backbone"):
        check(config.merge(settings, {"require_lpips": True}))
    with pytest.raises(UserError, match="does not hold the weights of torchvision's AlexNet"):
        check(config.merge(settings, {"lpips_backbone": "pyproject.toml"}))
