"""Is a per-patch bandwidth local? Fields, statistics, tests T1-T4, criteria A and B.

Paper appendices "Closed-form locality diagnostic" and "Per-patch log-space adaptive-bandwidth
ablation". A field s holds one bandwidth per patch of every image, (N, h, w). Statistics are
computed in float64 for one seed, averaged over seeds, and only then tested.

Variances are those of the population, so that within + across = total holds exactly: all images
have the same number of patches, `var_within` is the mean over images of the variance within an
image, `var_across` the variance of the images' means, `var_total` that of all patches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from ..config import Config
from . import REGIONS
from .fields import Fields

Field = NDArray[np.floating]
Labels = NDArray[np.integer]
Statistics = dict[str, float | None]

TESTS = ("t1", "t2", "t3", "t4")


# --- statistics of one seed ---------------------------------------------------------------------


def compute_variation(bandwidth: Field) -> NDArray[np.float64]:
    """Return the coefficient of variation, std / mean, within each image of (N, h, w): (N,)."""
    flat = _flatten(bandwidth)
    return np.sqrt(_compute_variance(flat)) / flat.mean(axis=1)


def compute_statistics(
    bandwidth: Field, region: Labels, allowed_range: float, collapsed_fraction: float
) -> Statistics:
    """Return every statistic of the diagnostic for one field (N, h, w) and its region labels.

    - global_mean, global_std over all patches; mean_<region> over the patches of a region;
    - gap: |mean_texture - mean_smooth|;
    - var_within, var_across, var_total;
    - t1: median over images of the variation within an image, t1_p99 its 99th percentile;
    - t2: fraction of images whose range, max - min, is below `collapsed_fraction` of
      `allowed_range`;
    - t3: gap / global_mean; t4: var_within / var_total, 0 for a constant field.

    What needs a region without any patch is None.
    """
    flat = _flatten(bandwidth)
    labels = region.reshape(flat.shape)
    mean = float(flat.mean())
    spread = flat.max(axis=1) - flat.min(axis=1)
    within = float(_compute_variance(flat).mean())
    across = float(_compute_variance(flat.mean(axis=1)[None])[0])
    total = float(_compute_variance(flat.reshape(1, -1))[0])
    means = {
        f"mean_{name}": float(flat[labels == code].mean()) if (labels == code).any() else None
        for code, name in enumerate(REGIONS)
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
        "t1": float(np.median(compute_variation(bandwidth))),
        "t1_p99": float(np.quantile(compute_variation(bandwidth), 0.99)),
        "t2": float(np.mean(spread < collapsed_fraction * allowed_range)),
        "t3": None if gap is None else gap / mean,
        "t4": within / total if total > 0 else 0.0,
    }


def _flatten(bandwidth: Field) -> NDArray[np.float64]:
    return np.asarray(bandwidth, dtype=np.float64).reshape(len(bandwidth), -1)


def _compute_variance(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the population variance of each row; exactly 0 where a row is constant."""
    return (rows - rows[:, :1]).var(axis=1)


# --- over seeds ---------------------------------------------------------------------------------


def compute_statistics_of_files(paths: Iterable[Path | str], config: Config) -> list[Statistics]:
    """Return the statistics of each field file, one per seed, in the order of `paths`."""
    low, high = config["native"]["model"]["bandwidth_range"]
    fraction = config["diagnostics"]["collapsed_range_fraction"]
    fields = (Fields.read(path) for path in paths)
    return [compute_statistics(f.bandwidth, f.region, high - low, fraction) for f in fields]


def average_seeds(seeds: Sequence[Statistics]) -> Statistics:
    """Average each statistic over the seeds that have it; None where no seed has."""
    values = {key: [v for s in seeds if (v := s[key]) is not None] for key in seeds[0]}
    return {key: fmean(found) if found else None for key, found in values.items()}


def apply_tests(averaged: Statistics, thresholds: Mapping[str, float]) -> dict[str, bool | None]:
    """Say for t1 to t4 whether the test is met; `thresholds` is config diagnostics.thresholds.

    T1, T3 and T4 must reach their thresholds and T2 stay below its own. T4 also asks for a floor
    on the variance within images, because a ratio of two negligible variances shows nothing. A
    test whose statistic is not measured is None.
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
    """Count the tests that are met; None where one could not be made."""
    return None if None in met.values() else sum(map(bool, met.values()))


def decide_verdict(met: Mapping[str, bool | None]) -> str | None:
    """Apply the decision rule: what the bandwidth field is, by the tests it meets.

    "collapsed" (no test: the bandwidth is global, not spatial), "local" (all tests) or "partly
    local"; None where a test could not be made.
    """
    count = count_tests_met(met)
    if count is None:
        return None
    return {0: "collapsed", len(met): "local"}.get(count, "partly local")


# --- the ablation's criteria --------------------------------------------------------------------


@dataclass(frozen=True)
class Criteria:
    """Criteria A and B for one arm, and each part of B; None is not measured.

    `texture`, `mixed`, `lpips` say which gains over the control reach their margins, `edge`
    whether the edge regression stays within its own.
    """

    a: bool | None
    b: bool | None
    texture: bool | None
    mixed: bool | None
    lpips: bool | None
    edge: bool | None


def judge_criteria(
    met: Mapping[str, bool | None],
    deltas: Mapping[str, float | None],
    margins: Mapping[str, float],
) -> Criteria:
    """Judge one per-patch log-space arm against the global-scalar control.

    A: all locality tests are met. B: PSNR on texture patches, PSNR on mixed patches or LPIPS
    gains its margin, and PSNR on edge patches does not lose more than its own. `deltas` (arm
    minus control: psnr_texture, psnr_mixed, lpips, psnr_edge) and `margins` (config
    diagnostics.margins) have the same keys; LPIPS gains downwards. The ablation's criteria hold
    when they hold for any such arm.
    """
    texture, mixed, edge = (
        _reaches(deltas.get(key), margins[key])
        for key in ("psnr_texture", "psnr_mixed", "psnr_edge")
    )
    perceptual = deltas.get("lpips")
    lpips = None if perceptual is None else perceptual <= margins["lpips"]
    return Criteria(
        a=are_all_met(met.values()),
        b=are_all_met([is_any_met([texture, mixed, lpips]), edge]),
        texture=texture,
        mixed=mixed,
        lpips=lpips,
        edge=edge,
    )


def are_all_met(parts: Iterable[bool | None]) -> bool | None:
    """Return whether all parts hold: False if one fails, else None if one is not measured."""
    known = list(parts)
    return False if False in known else None if None in known else True


def is_any_met(parts: Iterable[bool | None]) -> bool | None:
    """Return whether any part holds: True if one does, else None if one is not measured."""
    known = list(parts)
    return True if True in known else None if None in known else False


def _reaches(value: float | None, bound: float) -> bool | None:
    return None if value is None else value >= bound
