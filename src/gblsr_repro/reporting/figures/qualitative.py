"""Draw the figure of reconstructions: one image per data set, the main arm and the best arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.derived import find_best_arms
from ...analysis.metrics import LPIPS, PSNR
from ...analysis.reader import Aggregates
from ...analysis.schemas import EXEMPLAR
from ...data.images import convert_to_rgb, read_image
from ...errors import UserError
from ...evaluation import TRUTH
from ..layout import format_number
from ..names import name_dataset, name_subject, sort_by_order
from . import style
from .native import read_means

TAG = {"facecolor": "black", "edgecolor": "none", "alpha": 0.7, "pad": 1.2}


def draw_qualitative(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw the ground truth, the main arm, the best-PSNR and the best-LPIPS arm per data set.

    The images are those of the lowest seed under the results folder; the tags show the means over
    seeds of the arm on the whole data set. Raises `UserError` naming an image that is missing.
    """
    scores = read_means(source, "PSNR", [PSNR.name, LPIPS.name])
    sets = sort_by_order(scores.index.get_level_values("dataset"), source.evaluate)
    figure = style.create_figure(style.TEXT_WIDTH, 0.55 + 1.28 * len(sets), differences)
    grid = figure.subplots(len(sets), 4, squeeze=False)
    headings = ("Ground truth", "Main arm", f"Best {PSNR.title}", f"Best {LPIPS.title}")
    for axes, heading in zip(grid[0], headings, strict=True):
        axes.set_title(heading, fontsize=7)
    exemplars = source.config["native"]["data"]["exemplars"]
    for name, (truth, *others) in zip(sets, grid, strict=True):
        _draw_image(truth, _find_exemplar(source, TRUTH, name))
        title = f"{name_dataset(source, 'native', name)}\n{exemplars.get(name, '')}"
        truth.set_ylabel(title.rstrip(), fontsize=7)
        for axes, arm in zip(others, _select_arms(source, name), strict=True):
            if (arm, name) not in scores.index:
                style.draw_message(axes, "not measured")
                continue
            _draw_image(axes, _find_exemplar(source, arm, name))
            psnr, lpips = scores.loc[(arm, name)]
            tag = f"{name_subject(source, arm)}\n{psnr:.2f} dB / {format_number(lpips, '{:.3f}')}"
            axes.text(
                0.025, 0.025, tag, color="white", transform=axes.transAxes, ha="left", va="bottom",
                fontsize=7, bbox=TAG,
            )  # fmt: skip
    return figure


def _select_arms(source: Aggregates, dataset: str) -> list[str]:
    """Select the arms beside the ground truth of a data set; "" where none has the metric."""
    best = [find_best_arms(source, dataset, m, source.compared) for m in (PSNR, LPIPS)]
    return [source.main_arm.arm, *(arms[0] if arms else "" for arms in best)]


def _find_exemplar(source: Aggregates, name: str, dataset: str) -> Path:
    seed = min(source.config["seeds"])
    return source.results / EXEMPLAR.format(seed=seed, subject=name, column=dataset)


def _draw_image(axes: Axes, path: Path) -> None:
    if not path.is_file():
        raise UserError(f"{path} does not exist; run the workflow, which draws it.")
    try:
        axes.imshow(convert_to_rgb(read_image(path)))
    except UserError as error:
        raise UserError(f"{path} is no picture; delete it and run the workflow again.") from error
    style.frame_image(axes)
