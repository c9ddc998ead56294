"""Name the data sets, scales, arms and methods that the paper's claims are about, count images."""

from __future__ import annotations

from collections.abc import Mapping

from ..config import load_protocol, read_datasets
from .schemas import format_scale


def count_images(evaluate: Mapping[str, str]) -> dict[str, int]:
    """Count the images of the data set of every column."""
    return {column: read_datasets()[name].images for column, name in evaluate.items()}


PROTOCOL = load_protocol()
SETS = tuple(PROTOCOL["native"]["data"]["evaluate"])
IMAGES = count_images(PROTOCOL["native"]["data"]["evaluate"])
CONTROL = "global_fourier_mlp"
FIXED, SCALAR, FULL = FAMILY = ("gblsr_fixed", "gblsr_scalar", "gblsr_full")
LIIF, LTE, WIRE = BASELINES = ("liif", "lte", "wire")
ARMS = (CONTROL, *FAMILY, *BASELINES)


def besides(*arms: str) -> tuple[str, ...]:
    """Return the seven arms besides some."""
    return tuple(arm for arm in ARMS if arm not in arms)


ASR_SETS = tuple(PROTOCOL["asr"]["evaluate"])
ASR_IMAGES = count_images(PROTOCOL["asr"]["evaluate"])
TIMED_SCALE = format_scale(PROTOCOL["asr"]["timing"]["scale"])
TIMED = tuple(PROTOCOL["asr"]["timing"]["datasets"])
SCALES = tuple(map(format_scale, PROTOCOL["asr"]["scales"]))
TRAINED_SCALES = tuple(map(format_scale, PROTOCOL["asr"]["trained_scales"]))
LIIF_RDN, LTE_RDN, LTE_SWINIR = RIVALS = ("liif_rdn", "lte_rdn", "lte_swinir")
BASE = "gblsr_asr"
NOLE, NF96_NOLE, NF48_NOLE = ("gblsr_asr_nole", "gblsr_asr_nf96_nole", "gblsr_asr_nf48_nole")
METHODS = (*RIVALS, BASE)
