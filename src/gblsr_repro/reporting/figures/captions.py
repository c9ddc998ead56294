"""What each figure shows, in words: for the report and Snakemake's."""

from __future__ import annotations

from collections.abc import Iterable

from ..captions import (
    not_canonical,
    paragraph,
    run_notes,
    seeds_said,
    trained_seeds,
    unequal,
    with_readings,
)
from ..compare import Scope, compare_all
from ..conditions import Conditions, Half, of_paper
from .needs import NEEDS

BASELINES = ("LIIF", "LTE", "WIRE")


def note(run: Conditions, scopes: Iterable[Scope]) -> list[str]:
    """Return in few words what the note inside a figure says: how the run differs."""
    return list(dict.fromkeys(d.short for d in compare_all(run, of_paper(), scopes)))


def captions(name: str, run: Conditions) -> str:
    """Return the caption of a figure, ending in how its run differs from the paper's.

    The text is in the marks of `reporting.markup`. Raises `KeyError` for a name that is no figure.
    """
    need = NEEDS[name]
    title, *sentences = _TEXTS[name]
    scope = need.scopes[0]
    half = run.half(scope.half) or Half()
    held_out = scope in (Scope.LOCALITY, Scope.ABLATION)
    spread = _spread(half, scope.half, held_out) if name in _WITH_SPREAD else None
    gap = _unequal_gap(half, scope.half) if name in _WITH_DIFFERENCES else None
    baselines = not_canonical(BASELINES) if name in _WITH_BASELINES else None
    notes = run_notes(run, need.scopes, perceptual=need.perceptual)
    return with_readings(paragraph(title, *sentences, spread, gap, baselines, *notes), name)


def _spread(run: Half, half: str, validation: bool) -> str:
    """Say over how many seeds the means are and what error bars show.

    The record counts no seeds of the arms beside the main tables, which the figures of the
    validation images draw.
    """
    counts = {} if validation else trained_seeds(run, half)
    seeds = [n for row in counts.values() for n in row] or [len(run.all_seeds)]
    if max(seeds) == 1:
        return "One training seed, so there are no error bars"
    bars = "Error bars: one sample standard deviation over training seeds, to either side"
    said = seeds_said(counts)
    return f"Means over {said}. {bars}" if said else bars


def _unequal_gap(run: Half, half: str) -> str | None:
    """Say of differences to the base model that the seeds behind them are not the same number."""
    if not unequal(trained_seeds(run, half)):
        return None
    return (
        "A difference between methods with different numbers of seeds is between means over "
        "unequal seeds"
    )


_WITH_BASELINES = ("frontier", "per_dataset", "infcost")
_WITH_SPREAD = (
    "per_dataset",
    "variance_decomp",
    "logspace_metrics",
    "logspace_loctests",
    "asr_quality_latency_x4",
    "asr_psnr_vs_scale",
)

_WITH_DIFFERENCES = ("asr_psnr_vs_scale",)

_TEXTS: dict[str, tuple[str, ...]] = {
    "frontier": (
        "Fidelity against perception, every arm",
        "PSNR of the whole image (higher is better) against LPIPS with AlexNet features (lower is "
        "better, so the axis is inverted): the best place is the upper right",
        "A small marker is an arm's mean over seeds on one data set, told apart by its shape; the "
        "large circle is the mean over the data sets",
    ),
    "per_dataset": (
        "Four quality metrics, arm by arm",
        "PSNR, SSIM, LPIPS and edge-LPIPS in groups of bars, one group per data set and one bar "
        "per arm in the order of the legend; arrows point to the better side",
    ),
    "infcost": (
        "What quality costs at inference",
        "Time to render one image at batch size 1 under the fixed protocol against whole-image "
        "PSNR: the best place is the upper left",
        "Small markers are means over seeds on one data set, large circles the mean over the data "
        "sets; arms with almost equal times lie upon each other. A wide range of times is drawn "
        "on a logarithmic axis",
    ),
    "qualitative": (
        "Reconstructions, one image per data set",
        "Left to right: the ground truth, the main arm, the arm with the best PSNR and the one "
        "with the best LPIPS on that data set, all from the first seed; best is by the mean over "
        "seeds among the arms of the benchmark",
        "The tag in a picture gives that arm's PSNR and LPIPS on the whole data set, and its name "
        "where the best arm differs between data sets",
    ),
    "cov_hist": (
        "How much the bandwidth varies within an image",
        "Histograms of the coefficient of variation of the per-patch bandwidth within an image, "
        "over the validation images of all seeds, for the two arms with a linear bandwidth scale",
        "Dashed: what test T1 asks of the median. Solid: the median, averaged over seeds. Each "
        "panel counts the images that reach the threshold",
    ),
    "variance_decomp": (
        "Where the variance of the bandwidth lies",
        "Variance of the per-patch bandwidth within images (filled) and between the means of "
        "images (hatched) for the two arms with a linear bandwidth scale, computed per seed and "
        "averaged",
        "The numbers give the share within images, the mean of the seeds' ratios. A high share "
        "says little where both variances lie under the magnitude floor of test T4, which is "
        "drawn or, far above the bars, stated",
    ),
    "logspace_metrics": (
        "Log-space ablation: what a bandwidth per patch gains",
        "PSNR and LPIPS on the validation images of the constant bandwidth (Fixed), the trained "
        "scalar (Scalar, dashed) and the two arms that predict a bandwidth for every patch in log "
        "space",
        "Over each marker stands its mean, under it the step: Scalar's from Fixed, that of the "
        "others from Scalar",
    ),
    "logspace_loctests": (
        "Log-space ablation: the four locality tests",
        "Value of each test's statistic for the two log-space arms, with the threshold dashed: T1, "
        "T3 and T4 need at least that value, T2 less. Plain green bars belong to a test that is "
        "met, hatched red ones to a test that is not",
        "T4 has two conditions and a panel for each: the share of the variance that lies within "
        "images, and the magnitude floor under that variance, without which noise alone would pass",
    ),
    "asr_quality_latency_x4": (
        "Super-resolution: quality against time",
        "PSNR-Y on Urban100 at ×4 against the time per image under the fixed protocol, every "
        "method that was timed; the diamond is the base model. A wide range of times is drawn on "
        "a logarithmic axis",
    ),
    "asr_psnr_vs_scale": (
        "Super-resolution: quality against scale",
        "Above, PSNR-Y of the baselines and the base model at each scale factor, one panel per "
        "data set; below, the difference to the base model",
        "Shaded: scale factors beyond those of training",
    ),
    "measured_vs_published": (
        "Measured here against published",
        "Every number of the paper's tables that was measured here, one panel per metric; on the "
        "diagonal both agree",
        "Above a panel: how many of the published numbers were measured, and the median distance "
        "between the two. SR stands for the super-resolution benchmark",
    ),
}
