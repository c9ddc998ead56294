"""The metrics of the score files, and by how much a number may differ from the paper's.

Score files must have a column for each metric. `evaluation` computes them, and does not read this
table, since another title is no reason to score images again. Further columns, such as a metric by
region, are averaged, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Page = Literal["main", "record"]
"""Where a metric is shown: the main tables and the figure beside them, or the page of a record."""


@dataclass(frozen=True)
class Metric:
    """A metric: its name in files, its title and unit, decimals, and direction.

    `better` is an arrow to the better side, empty where neither is. A number is given with `digits`
    decimals.
    """

    name: str
    title: str
    digits: int
    better: Literal["↑", "↓", ""]
    unit: str = ""
    shown: tuple[Page, ...] = ()

    @property
    def lower(self) -> bool:
        """Whether lower is better."""
        return self.better == "↓"

    @property
    def heading(self) -> str:
        """The title with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def arrowed_heading(self) -> str:
        """The heading with an arrow to the better side."""
        return f"{self.heading} {self.better}".rstrip()


NATIVE = (
    Metric("psnr", "PSNR", 3, "↑", "dB", shown=("main", "record")),
    Metric("ssim", "SSIM", 4, "↑", shown=("main", "record")),
    Metric("lpips", "LPIPS", 4, "↓", shown=("main", "record")),
    Metric("edge_lpips", "edge-LPIPS", 4, "↓", shown=("main",)),
    Metric("lse", "LSE", 3, "↓"),
)
SUPERRES = (Metric("psnr_y", "PSNR-Y", 3, "↑", "dB"), Metric("ssim_y", "SSIM-Y", 4, "↑"))
METRICS = {metric.name: metric for metric in (*NATIVE, *SUPERRES)}
PSNR, LPIPS, LSE, PSNR_Y = (METRICS[name] for name in ("psnr", "lpips", "lse", "psnr_y"))


def list_shown(page: Page) -> list[Metric]:
    """List the metrics of the native benchmark that a page or the main tables show, in order."""
    return [metric for metric in NATIVE if page in metric.shown]


# --- how far a number may differ ------------------------------------------------------------------


@dataclass(frozen=True)
class Margin:
    """By how much a number may differ from the paper's and still be called the same, and why.

    `size` is in the unit of the number or, where `relative`, a share of the published one.
    """

    size: float
    reason: str
    relative: bool = False

    def compute(self, published: np.ndarray) -> np.ndarray:
        """Compute the margin of each published number."""
        return self.size * (np.abs(published) if self.relative else np.ones_like(published))

    def __str__(self) -> str:
        return f"±{100 * self.size:g} %" if self.relative else f"±{self.size:g}"


MARGINS = {
    "psnr": Margin(0.5, "the paper's own criterion: as far below a baseline is not worse"),
    "lpips": Margin(0.02, "the paper's own criterion: as far above a baseline is not worse"),
    "edge_lpips": Margin(0.02, "LPIPS on the pixels at edges, in the unit of LPIPS"),
    "ssim": Margin(0.015, "0.5 dB are 0.006 to 0.024 of SSIM between Scalar and the arms below it"),
    "lse": Margin(0.25, "half of the step from Fixed to Scalar, 0.50 to 0.67, that it is to show"),
    "psnr_y": Margin(0.06, "the paper's own word for a match with the values of LIIF and LTE"),
    "ssim_y": Margin(0.0015, "0.06 dB are 0.0015 of SSIM-Y from GB-LSR-ASR to the others (median)"),
    "time": Margin(0.1, "host, driver and libraries move a launch-bound time", relative=True),
    "ratio": Margin(0.1, "of two times that each may move as much", relative=True),
    "memory": Margin(0.05, "allocator and libraries change work space", relative=True),
    "bandwidth": Margin(0.0875, "5 % of the allowed range, which the paper's T2 calls collapsed"),
    "share": Margin(0.05, "five of a hundred images, or of the variance; thresholds are 50 and 25"),
    "variation": Margin(
        0.25, "the paper's factors to the thresholds of T1 to T4 have one digit", relative=True
    ),
}
"""The margins, each from what the paper says or prints and none from what a run measured.

Gaps and validation scores have their metric's. Variation: of the bandwidth within an image or
between regions (T1, T3), as a variance, and the factor by which a threshold is missed.
"""
