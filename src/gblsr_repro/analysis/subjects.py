"""Name the data sets, scales, arms and methods that the paper's claims are about."""

from __future__ import annotations

from ..config import load_protocol
from .schemas import format_scale

SETS = tuple(load_protocol()["native"]["data"]["evaluate"])
CONTROL = "global_fourier_mlp"
FIXED, SCALAR, FULL = FAMILY = ("gblsr_fixed", "gblsr_scalar", "gblsr_full")
LIIF, LTE, WIRE = BASELINES = ("liif", "lte", "wire")
ARMS = (CONTROL, *FAMILY, *BASELINES)


def besides(*arms: str) -> tuple[str, ...]:
    """Return the seven arms besides some."""
    return tuple(arm for arm in ARMS if arm not in arms)


ASR_SETS = tuple(load_protocol()["asr"]["evaluate"])
TIMED = tuple(load_protocol()["asr"]["timing"]["datasets"])
SCALES = tuple(map(format_scale, load_protocol()["asr"]["scales"]))
TRAINED_SCALES = tuple(map(format_scale, load_protocol()["asr"]["trained_scales"]))
LIIF_RDN, LTE_RDN, LTE_SWINIR = RIVALS = ("liif_rdn", "lte_rdn", "lte_swinir")
BASE = "gblsr_asr"
NOLE, NF96_NOLE, NF48_NOLE = ("gblsr_asr_nole", "gblsr_asr_nf96_nole", "gblsr_asr_nf48_nole")
METHODS = (*RIVALS, BASE)
