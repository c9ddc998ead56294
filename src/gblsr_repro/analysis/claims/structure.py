"""Claims about what the code alone gives: parameters, constants, multiply-adds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...config import load_protocol, read_methods
from ..budget import compare_with_anchor
from ..estimates import Estimate, maximum, span
from ..measured import Measured
from ..provenance import Scope
from ..subjects import (
    ARMS,
    BASE,
    BASELINES,
    CONTROL,
    FIXED,
    FULL,
    LIIF,
    LTE,
    NF48_NOLE,
    NF96_NOLE,
    NOLE,
    SCALAR,
    WIRE,
)
from .published import Tabled
from .registry import Topic
from .rules import Structure

topic = Topic("Parameter budget", Scope.STRUCTURE, Structure())
decoding = Topic("Cost of decoding", Scope.STRUCTURE, Structure())
sizes = Topic("Super-resolution: size and speed", Scope.STRUCTURE, Structure())
MODEL = load_protocol()["native"]["model"]
MEGA = 1_000_000


def millions(run: Measured, name: str) -> Estimate:
    """Return the trainable parameters of a method, in millions."""
    return run.structure(name) / MEGA


def ratios(run: Measured, arms: Sequence[str] = ARMS) -> Estimate:
    """Return the parameters of arms over the anchor's."""
    names = (*arms, SCALAR)
    counts = run.structure(names)
    compared = compare_with_anchor(dict(zip(names, counts.values, strict=True)), load_protocol())
    return Estimate.exact((compared[arm].ratio for arm in arms), counts.sources)


# --- the budget -----------------------------------------------------------------------------------

COUNTED = {  # where the paper prints an arm's parameters, and how it calls the arm there
    SCALAR: ("§3.3, §4, A.1, Table 8", "GB-LSR-Scalar, the anchor"),
    FULL: ("Table 8", "GB-LSR-Full"),
    FIXED: ("Table 8", "GB-LSR-Fixed"),
    CONTROL: ("Table 8", "the Global Fourier-MLP"),
    LIIF: ("A.1, Table 8", "LIIF"),
    LTE: ("A.1, Table 8", "LTE"),
    WIRE: ("A.1, Table 8", "WIRE"),
}

for arm, (where, title) in COUNTED.items():
    topic.add(
        "params_scalar" if arm == SCALAR else f"params_{arm}",
        where,
        f"Trainable parameters of {title}",
        partial(Measured.structure, names=arm),
        published=Tabled(0),
    )


topic.add(
    "params_one_scalar",
    "§3.2",
    "Parameters that GB-LSR-Scalar has beyond GB-LSR-Fixed",
    lambda run: run.structure(SCALAR) - run.structure(FIXED),
    published="1",
)

topic.add(
    "cutoff_weight",
    "§3.1",
    "Weight that the cutoff leaves the highest modes at full order, here as this package "
    "computes it",
    lambda run: run.structure("highest_mode_weight"),
    rule=Structure(why="computed, not measured"),
    published="0.98",
)

topic.add(
    "coordinate_convention",
    "§3.1",
    "By how much pixel centers on [-1, 1] stretch the patch coordinate against offsets "
    "over half a patch, here as this package places them",
    lambda run: 100 * (run.structure("coordinate_stretch") - 1),
    rule=Structure(why="computed, not measured"),
    published="3",
    unit="%",
)

topic.add(
    "ratio_span",
    "§3.3",
    "Least and greatest ratio of an arm's parameters to the anchor's",
    lambda run: span(ratios(run)),
    published="1.000 / 1.134",
    unit="×",
)

topic.add(
    "ratio_baselines",
    "A.1, Table 8",
    "Parameter ratios of LIIF, LTE and WIRE to the anchor",
    lambda run: ratios(run, BASELINES),
    published="1.134 / 1.133 / 1.069",
    unit="×",
)

topic.add(
    "ratio_control",
    "Table 8",
    "Parameter ratio of the Global Fourier-MLP to the anchor",
    lambda run: ratios(run, [CONTROL]),
    published="1.133",
    unit="×",
)

topic.add(
    "budget_band",
    "§3.3, §4, §6.1, A.1",
    "Rule F1: every arm lies within 1.25 times the anchor (highest ratio)",
    lambda run: maximum(ratios(run)),
    published="<= 1.25",
    unit="×",
)


def encoder_size(run: Measured) -> Estimate:
    inputs = MODEL["features"] + 1  # with the bias
    projection, head = 3 * MODEL["modes"] ** 2 * inputs, 2 * inputs
    return (run.structure(SCALAR) - projection - head - 1) / MEGA


topic.add(
    "encoder_size",
    "§5.3",
    "Parameters of the shared encoder, in millions: the anchor less projection, head and scalar",
    encoder_size,
    published="0.9",
    unit="M",
)

topic.add(
    "model_size",
    "§5.3",
    "Least and greatest size of an arm in millions of parameters",
    lambda run: span(run.structure(ARMS)) / MEGA,
    published="1 / 1",
    unit="M",
)


def unfolding_breaks_budget(run: Measured) -> Estimate:
    unfolded = 8 * MODEL["features"] * MODEL["hidden"]
    return (run.structure(LIIF) + unfolded) / run.structure(SCALAR)


topic.add(
    "unfolding_breaks_budget",
    "A.1",
    "LIIF with 3x3 feature unfolding (9 x 128 inputs in its first layer of 256) would "
    "leave the band",
    unfolding_breaks_budget,
    published="> 1.25",
    unit="×",
)


# --- multiply-adds of the decoder -----------------------------------------------------------------

decoding.add(
    "cost_independent_of_size",
    "Abstract, §1, §3.1, §7",
    "The cost of decoding an output pixel is independent of image size: multiply-adds of "
    "GB-LSR-Scalar's decoder per pixel at twice the side over those at the paper's",
    lambda run: run.structure("multiply_adds_at_twice_the_side"),
    rule=Structure(why="counted as the decoder is defined"),
    published="1.000",
    unit="×",
)

decoding.add(
    "cost_quadratic_in_modes",
    "§1, §2",
    "Decoding takes O(p_max^2) multiply-adds per output pixel: twice the modes per axis "
    "take at most four times as many",
    lambda run: run.structure("multiply_adds_at_twice_the_modes"),
    rule=Structure(why="counted as the decoder is defined"),
    published="<= 4",
    unit="×",
)


def cost_below_mlp(run: Measured) -> Estimate:
    rivals = run.structure([f"multiply_adds_{arm}" for arm in BASELINES])
    return maximum(run.structure(f"multiply_adds_{SCALAR}") / rivals)


decoding.add(
    "cost_below_mlp",
    "§2",
    "GB-LSR-Scalar's decoder takes fewer multiply-adds per output pixel than the decoders "
    "of LIIF, LTE and WIRE (highest ratio)",
    cost_below_mlp,
    rule=Structure(why="counted as the decoders are defined"),
    published="< 1",
    unit="×",
)


# --- super-resolution -----------------------------------------------------------------------------

PRINTED: dict[str, tuple[str, str | Tabled]] = {
    "liif_rdn": ("Tables 6, 11", "22.32"),
    "lte_rdn": ("Tables 6, 11", "22.47"),
    "lte_swinir": ("Tables 6, 11", "12.53"),
    BASE: ("Tables 6, 7", Tabled(3)),
    NOLE: ("Tables 6, 7", Tabled(3)),
    NF96_NOLE: ("Tables 6, 7", Tabled(3)),
    NF48_NOLE: ("Table 12", Tabled(3)),
}

for method, (where, published) in PRINTED.items():
    sizes.add(
        f"params_{method}",
        where,
        f"Trainable parameters of {read_methods()[method].name}, in millions",
        partial(millions, name=method),
        published=published,
        unit="M",
    )
