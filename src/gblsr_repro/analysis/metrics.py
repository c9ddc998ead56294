"""The metrics of the score files: name, title, unit, decimals, direction, and where each is shown.

Score files must have a column for each. `evaluation` computes them, and does not read this table,
since another title is no reason to score images again. Further columns, such as a metric by region,
are averaged, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Page = Literal["main", "record"]
"""Where a metric is shown: the main tables and the figure beside them, or the page of a record."""


@dataclass(frozen=True)
class Metric:
    """A metric: its name in files, its title and unit, decimals, and direction.

    `better` is an arrow to the better side, empty where neither is. A number is given with `digits`
    decimals, on the page of a record with one less.
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
