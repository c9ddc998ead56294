"""The jobs of the demo: which arms and methods each rule takes, by rule and subject."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gblsr_repro import config
from gblsr_repro.analysis import schemas

Jobs = set[tuple[str, str]]
ROOT = Path(__file__).resolve().parents[2]
DEMO = config.load([ROOT / "config" / "demo.yaml"])

OWN = "plain"
SPECTRAL = {"gblsr_fixed", "gblsr_scalar", "gblsr_full", "gblsr_bandwidth", "gblsr_full_linear",
            "gblsr_bandwidth_linear"}  # fmt: skip
LATENT = {"liif", "lte", "wire"}
CONTROL = {"global_fourier_mlp"}
ARMS = {*SPECTRAL, *LATENT, *CONTROL, OWN}
SHOWN = {"gblsr_fixed", "gblsr_scalar", "gblsr_full", *LATENT, *CONTROL, OWN}
ABLATED = {"gblsr_fixed", "gblsr_scalar", "gblsr_full", "gblsr_bandwidth"}
ADAPTIVE = SPECTRAL - {"gblsr_fixed", "gblsr_scalar"}
METHODS = {*DEMO["asr"]["methods"]}
GBLSR = {method for method in METHODS if method.startswith("gblsr")}
RDN = METHODS - {"lte_swinir"}
COLUMNS = {"kodak", "set14", "urban100"}


def each(rule: str, names: Iterable[str]) -> Jobs:
    return {(rule, name) for name in names}


def standardized(names: Iterable[str]) -> Jobs:
    return {(f"standardize_{name}", "") for name in names}


MEASURED = each("evaluate", SHOWN) | each("evaluate_validation", ABLATED)
FIELDS = {("fields", "")}
DRAWN = {("exemplars", "")}
ENLARGED = {("asr_exemplars", "")}
TIMED = each("latency", SHOWN)
BICUBIC = {("bicubic", "")}
ASR_MEASURED = each("asr_evaluate", METHODS) | BICUBIC
ASR_TIMED = each("asr_latency", METHODS)


def below(arms: Iterable[str]) -> Jobs:
    """What follows from the weights of arms."""
    own = {job for job in MEASURED if job[1] in set(arms)}
    fields = FIELDS if ADAPTIVE & {*arms} else set()
    return own | fields | (DRAWN if SHOWN & {*arms} else set())


def trained(arms: Iterable[str]) -> Jobs:
    return each("train", arms) | below(arms)


def asr_trained(methods: Iterable[str]) -> Jobs:
    return each("asr_train_run", methods) | each("asr_evaluate", methods) | ENLARGED


def timed(names: Iterable[str]) -> Jobs:
    return {job for job in TIMED | ASR_TIMED if job[1] in set(names)}


STANDARDIZED = standardized({*COLUMNS, "train"})
NATIVE = STANDARDIZED | {("regions", "")} | trained(ARMS) | TIMED
ASR = {("asr_standardize", "")} | asr_trained(METHODS)
NOTHING: Jobs = set()
IMPORTS = {"import_arm", "import_method"}
COSTLY = {rule for rule, _ in NATIVE | ASR | ASR_MEASURED | ASR_TIMED} | {"fetch", *IMPORTS}
COSTLY |= {"standardize_mine"}
SEEN = {"claims", "report"}  # of nearly everything
AGGREGATED = {f"aggregate_{job}" for job in schemas.JOBS}
