"""Test whether a per-patch bandwidth is local: statistics, tests T1 to T4, criteria A and B.

Paper appendices "Closed-form locality diagnostic" and "Per-patch log-space adaptive-bandwidth
ablation". A field s holds one bandwidth per patch of every image, (N, h, w). Statistics are
computed in float64 for one seed, averaged over seeds, and only then tested.

Variances are those of the population, so that within + across = total holds exactly: all images
have the same number of patches, `var_within` is the mean over images of the variance within an
image, `var_across` the variance of the images' means, `var_total` that of all patches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..config import Config
from . import REGIONS
from .fields import BandwidthFields

Field = NDArray[np.floating]
Labels = NDArray[np.integer]
Statistics = dict[str, float | None]

TESTS = ("t1", "t2", "t3", "t4")


# --- statistics of one seed ---------------------------------------------------------------------


def compute_variation(bandwidth: Field) -> NDArray[np.float64]:
    """Compute the coefficient of variation, std / mean, within every image of (N, h, w): (N,)."""
    flat = _flatten(bandwidth)
    return np.sqrt(_compute_variance(flat)) / flat.mean(axis=1)


def compute_statistics(
    bandwidth: Field, region: Labels, allowed_range: float, collapsed_fraction: float
) -> Statistics:
    """Compute the statistics of the diagnostic for one field (N, h, w) and its region labels.

    - global_mean, global_std over all patches; mean_<region> over the patches of a region;
    - gap: |mean_texture - mean_smooth|;
    - var_within, var_across, var_total;
    - t1: median over images of the variation within an image, t1_p99 its 99th percentile, t1_peak
      its most frequent value when rounded to three decimals;
    - t2: fraction of images whose range, max - min, is below `collapsed_fraction` of
      `allowed_range`;
    - t3: gap / global_mean; t4: var_within / var_total, 0 for a constant field.

    Statistics of a region without patches are None.
    """
    flat = _flatten(bandwidth)
    variation = compute_variation(bandwidth)
    rounded, images = np.unique(variation.round(3), return_counts=True)
    labels = region.reshape(flat.shape)
    mean = float(flat.mean())
    spread = flat.max(axis=1) - flat.min(axis=1)
    within = float(_compute_variance(flat).mean())
    across = float(_compute_variance(flat.mean(axis=1)[None])[0])
    total = float(_compute_variance(flat.reshape(1, -1))[0])
    means = {
        f"mean_{name}": float(flat[labels == label].mean()) if (labels == label).any() else None
        for label, name in enumerate(REGIONS)
    }
    texture, smooth = means["mean_texture"], means["mean_smooth"]
    gap = None if texture is None or smooth is None else abs(texture - smooth)
    return {
        "global_mean": mean,
        "global_std": total**0.5,
        **means,
        "gap": gap,
        "var_within": within,
        "var_across": across,
        "var_total": total,
        "t1": float(np.median(variation)),
        "t1_p99": float(np.quantile(variation, 0.99)),
        "t1_peak": float(rounded[images.argmax()]),
        "t2": float(np.mean(spread < collapsed_fraction * allowed_range)),
        "t3": None if gap is None else gap / mean,
        "t4": within / total if total > 0 else 0.0,
    }


def _flatten(bandwidth: Field) -> NDArray[np.float64]:
    """Flatten (N, h, w) to float64 (N, h w)."""
    return np.asarray(bandwidth, dtype=np.float64).reshape(len(bandwidth), -1)


def _compute_variance(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the population variance of every row; exactly 0 where a row is constant."""
    return (rows - rows[:, :1]).var(axis=1)


# --- over seeds ---------------------------------------------------------------------------------


def compute_statistics_of_file(path: Path, config: Config) -> Statistics:
    """Compute the statistics of the bandwidth fields of one seed."""
    low, high = config["native"]["model"]["bandwidth_range"]
    fraction = config["diagnostics"]["collapsed_range_fraction"]
    fields = BandwidthFields.read(path)
    return compute_statistics(fields.bandwidth, fields.region, high - low, fraction)


def apply_tests(averaged: Statistics, thresholds: Mapping[str, float]) -> dict[str, bool | None]:
    """Apply the tests t1 to t4 to averaged statistics; return which are met.

    `thresholds` is config diagnostics.thresholds. T1, T3 and T4 must reach their thresholds and T2
    must stay below its threshold. T4 also requires a minimum variance within images, because a
    ratio of two negligible variances shows nothing. A test whose statistic is not measured is None.
    """
    t1, t2, t3, t4, within = (averaged[key] for key in (*TESTS, "var_within"))
    return {
        "t1": _reaches(t1, thresholds["t1_cov_median"]),
        "t2": None if t2 is None else t2 < thresholds["t2_fraction_collapsed"],
        "t3": _reaches(t3, thresholds["t3_region_gap"]),
        "t4": are_all_met(
            _reaches(value, thresholds[f"t4_within_{name}"])
            for value, name in ((t4, "fraction"), (within, "variance"))
        ),
    }


def count_tests_met(met: Mapping[str, bool | None]) -> int | None:
    """Count the tests that are met; None if one could not be applied."""
    return None if None in met.values() else sum(map(bool, met.values()))


# --- the ablation's criteria --------------------------------------------------------------------


def meets_criterion_b(
    deltas: Mapping[str, float | None], margins: Mapping[str, float]
) -> bool | None:
    """Return whether a per-patch log-space arm meets criterion B; None where it is not known.

    PSNR on texture patches, PSNR on mixed patches or LPIPS gains at least its margin over the
    global-scalar control, and PSNR on edge patches loses at most its margin. `deltas` (arm minus
    control: psnr_texture, psnr_mixed, lpips, psnr_edge) and `margins` (config diagnostics.margins)
    have the same keys; a gain in LPIPS is negative. The ablation meets a criterion when any of its
    arms does.
    """
    texture, mixed, edge = (
        _reaches(deltas.get(key), margins[key])
        for key in ("psnr_texture", "psnr_mixed", "psnr_edge")
    )
    perceptual = deltas.get("lpips")
    lpips = None if perceptual is None else perceptual <= margins["lpips"]
    return are_all_met([is_any_met([texture, mixed, lpips]), edge])


def are_all_met(parts: Iterable[bool | None]) -> bool | None:
    """Return whether all parts are met: False if one is not, else None if one is not measured."""
    parts = list(parts)
    if False in parts:
        return False
    return None if None in parts else True


def is_any_met(parts: Iterable[bool | None]) -> bool | None:
    """Return whether any part is met: True if one is, else None if one is not measured."""
    parts = list(parts)
    if True in parts:
        return True
    return None if None in parts else False


def _reaches(value: float | None, bound: float) -> bool | None:
    """Return whether a value is at least a bound; None if it is not measured."""
    return None if value is None else value >= bound
