"""Exact trainable-parameter counts of the paper (its fairness table and protocol)."""

import made
import pytest
from tiny_jobs import ARMS

from gblsr_repro import config
from gblsr_repro.models import native
from gblsr_repro.models.base import count_parameters

ENCODER = 890_624
SPECTRAL = 99_072 + 258  # coefficients, and the head that every arm of the family has
DECODERS = {  # of the others
    "GlobalFourierMLP": 230_915,
    "ScalarDecoder": SPECTRAL + 1,
    "ScalarOrderDecoder": SPECTRAL + 1,
    "LIIFDecoder": 232_195,
    "LTEDecoder": 231_427,
    "WIREDecoder": 167_427,
}


@pytest.fixture(scope="module")
def settings():
    return config.load()


@pytest.mark.parametrize("arm", ARMS)
def test_encoder_and_decoder_have_the_published_counts(settings, arm):
    model = made.model(arm, settings)
    assert count_parameters(model.encoder) == ENCODER
    assert count_parameters(model.decoder) == DECODERS.get(type(model.decoder).__name__, SPECTRAL)


def test_totals_and_ratios_are_those_of_the_published_table(settings, shared):
    rows = made.rows(shared / "paper" / "targets" / "params.csv")
    names = {arm.name: arm.arm for arm in config.read_arms().values()}
    counts = native.count_arm_parameters(settings)
    main, band = counts["gblsr_scalar"], settings["native"]["criteria"]["parameter_band"]
    assert len(rows) == 7
    for row in rows:
        count = counts[names[row["arm"].removesuffix(" (F1 anchor)")]]
        assert count == int(row["params"])
        assert f"{count / main:.3f}x" == row["ratio"]
        assert 1 / band <= count / main <= band
