"""Exact trainable-parameter counts of the paper (its fairness table and protocol)."""

import csv

import pytest

from gblsr_repro import config
from gblsr_repro.models import native
from gblsr_repro.models.base import count_parameters

ENCODER = 890_624
DECODERS = {
    "global_fourier_mlp": 230_915,
    "gblsr_fixed": 99_072 + 258,
    "gblsr_scalar": 99_072 + 258 + 1,
    "gblsr_full": 99_072 + 258,
    "liif": 232_195,
    "lte": 231_427,
    "wire": 167_427,
    "gblsr_bandwidth": 99_072 + 258,
    "gblsr_full_linear": 99_072 + 258,
    "gblsr_bandwidth_linear": 99_072 + 258,
    "liif_near": 232_195,
    "liif_equal": 232_195,
    "liif_opposite": 232_195,
    "lte_nearest": 231_427,
    "lte_summed": 231_427,
    "wire_relative": 167_427,
    "wire_nearest": 167_427,
}


@pytest.fixture(scope="module")
def settings(repository):
    return config.load([repository / "config" / "config.yaml"])


@pytest.mark.parametrize("arm", config.arms())
def test_encoder_and_decoder_have_the_published_counts(settings, arm):
    model = native.build(config.arms()[arm], settings, 0)
    assert count_parameters(model.encoder) == ENCODER
    assert count_parameters(model.decoder) == DECODERS[arm]
    assert count_parameters(model) == ENCODER + DECODERS[arm]


def test_totals_and_ratios_are_those_of_the_published_table(settings, shared):
    with (shared / "paper" / "targets" / "params.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = {arm.name: arm.arm for arm in config.arms().values()}
    counts = native.parameter_counts(settings)
    main, band = counts["gblsr_scalar"], settings["native"]["criteria"]["parameter_band"]
    assert len(rows) == 7
    for row in rows:
        count = counts[names[row["arm"].removesuffix(" (F1 anchor)")]]
        assert count == int(row["params"])
        assert f"{count / main:.3f}x" == row["ratio"]
        assert 1 / band <= count / main <= band
