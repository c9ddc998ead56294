"""Draw the figure of reconstructions: one image per data set, the main arm and the best arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.derived import find_best_arms
from ...analysis.metrics import LPIPS, PSNR
from ...analysis.reader import Aggregates
from ...data.images import read_rgb_image
from ...errors import UserError
from ..layout import format_number
from ..names import name_dataset, name_image, name_subject, sort_by_order
from . import style
from .native import read_means

TAG = {"facecolor": "black", "edgecolor": "none", "alpha": 0.7, "pad": 1.2}
Arms = dict[str, str | None]
"""By the heading of a column: the arm that is drawn, None where nothing was measured."""


def draw_qualitative(source: Aggregates, differences: Sequence[str]) -> Figure:
    """Draw the ground truth, the main arm, the best-PSNR and the best-LPIPS arm per data set.

    A column of the same arms as one before it is that one, with both headings. The images are those
    of the lowest seed under the results folder, which the headings name; the tags show the means
    over seeds of the arm on the whole data set. Raises `UserError` naming an image that is missing.
    """
    scores = read_means(source, "PSNR", [PSNR.name, LPIPS.name])
    sets = sort_by_order(scores.index.get_level_values("dataset"), source.evaluate)
    columns = _select_columns(source, sets)
    seed = _select_seed(source)
    height = 0.55 + 5.12 / (1 + len(columns)) * len(sets)
    figure = style.create_figure(style.TEXT_WIDTH, height, differences)
    grid = figure.add_gridspec(len(sets), 1 + len(columns))
    for row, name in enumerate(sets):
        truth = figure.add_subplot(grid[row, 0])
        _draw_image(truth, _find_exemplar(source, "ground_truth", name))
        truth.set_ylabel(_format_row(source, name), fontsize=7)
        if row == 0:
            truth.set_title("Ground truth\n", fontsize=7)
        for column, (heading, arms) in enumerate(columns.items(), start=1):
            if (arm := arms[row]) is None:
                continue
            axes = figure.add_subplot(grid[row, column])
            label, constant = name_subject(source, arm), len({*arms}) == 1
            if arm in [others[row] for others in [*columns.values()][: column - 1]]:
                style.draw_message(axes, f"{label}, as on the left")
            else:
                _draw_image(axes, _find_exemplar(source, arm, name))
                psnr, lpips = scores.loc[(arm, name)]
                score = f"{psnr:.2f} dB / {format_number(lpips, '{:.3f}')}"
                _draw_tag(axes, score if constant else f"{label}\n{score}")
            if row == 0:
                drawn = f"{label}, seed {seed}" if constant else f"seed {seed}"
                axes.set_title(f"{heading}\n{drawn}", fontsize=7)
    for column, (heading, arms) in enumerate(columns.items(), start=1):
        if {*arms} == {None}:
            style.draw_message(figure.add_subplot(grid[:, column]), f"{heading} not measured")
    return figure


def _select_columns(source: Aggregates, sets: Sequence[str]) -> dict[str, tuple[str | None, ...]]:
    """Select the columns after the ground truth: by heading, the arm of each data set."""
    of_sets = [_select_arms(source, name) for name in sets]
    headings: dict[tuple[str | None, ...], str] = {}
    for heading in of_sets[0]:
        arms = tuple(own[heading] for own in of_sets)
        together = heading[0].lower() + heading[1:]
        headings[arms] = f"{headings[arms]}, {together}" if arms in headings else heading
    return {heading: arms for arms, heading in headings.items()}


def _select_arms(source: Aggregates, dataset: str) -> Arms:
    """Select the arm of each column after the ground truth, for one data set."""
    main = source.main_arm.arm
    is_measured = source.cell("native", dataset, main, PSNR.name).measured
    arms: Arms = {"Main arm": main if is_measured else None}
    for metric in (PSNR, LPIPS):
        best = find_best_arms(source, dataset, metric, source.compared)
        arms[f"Best {metric.title}"] = best[0] if best else None
    return arms


def _format_row(source: Aggregates, dataset: str) -> str:
    """Format the names of a data set and, where the settings name it, of its image."""
    image = source.config["native"]["data"]["exemplars"].get(dataset, "")
    image = name_image(source, "native", dataset, image)
    return f"{name_dataset(source, 'native', dataset)}\n{image}".rstrip()


def _select_seed(source: Aggregates) -> int:
    """Select the seed whose images are drawn: the lowest of the settings."""
    return min(source.config["seeds"])


def _find_exemplar(source: Aggregates, name: str, dataset: str) -> Path:
    folder = source.results / "native" / "exemplars" / f"seed{_select_seed(source)}"
    return folder / name / f"{dataset}.png"


def _draw_image(axes: Axes, path: Path) -> None:
    if not path.is_file():
        raise UserError(f"{path} does not exist; run the evaluate step of that arm first.")
    try:
        axes.imshow(read_rgb_image(path))
    except UserError as error:
        raise UserError(f"{path} is not a readable image; delete it and evaluate again.") from error
    style.frame_image(axes)


def _draw_tag(axes: Axes, text: str) -> None:
    """Draw a text into the lower left corner of an image."""
    axes.text(
        0.025, 0.025, text, color="white", transform=axes.transAxes, ha="left", va="bottom",
        fontsize=7, bbox=TAG,
    )  # fmt: skip
