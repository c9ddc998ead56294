"""The figure of reconstructions: one image per data set, the main arm and the best arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.reader import Aggregates
from ...analysis.statistics import LPIPS, PSNR
from ...data.images import open_rgb
from ...errors import UserError
from ..items import item
from ..layout import format_number
from ..names import explain_missing_metric, name_dataset, name_subject, sort_by_order
from . import style
from .native import means

NAMES = {("set14", "img_001"): "baboon"}  # images known by another name than their file's


@item
def qualitative(source: Aggregates, note: Sequence[str]) -> Figure:
    """Draw the ground truth, the main arm, the best-PSNR and the best-LPIPS arm per data set.

    The images are those of the first seed under the results folder; the tags give the means over
    seeds of the arm on the whole data set. Raises `UserError` naming an image that is missing.
    """
    metrics = [PSNR.name, LPIPS.name]
    scores = means(source, "PSNR", metrics)
    main = source.config["native"]["main_arm"]
    sets = sort_by_order(scores.index.get_level_values("dataset"), source.evaluate)
    chosen = {name: _columns(scores.xs(name, level="dataset"), main) for name in sets}
    figure = style.new_figure(style.TEXT_WIDTH, 0.42 + 1.28 * len(sets), note)
    grid = figure.add_gridspec(len(sets), 4)
    data = source.config["native"]["data"]
    constant = {key: len({found[key] for found in chosen.values()}) == 1 for key in chosen[sets[0]]}
    for row, name in enumerate(sets):
        truth = figure.add_subplot(grid[row, 0])
        _show(truth, _exemplar(source, "ground_truth", name))
        image = data["exemplars"].get(name, "")
        image = NAMES.get((data["evaluate"].get(name), image), image)
        truth.set_ylabel(f"{name_dataset(source, 'native', name)}\n{image}", fontsize=7)
        if row == 0:
            truth.set_title("Ground truth\n", fontsize=7)
        for column, (key, arm) in enumerate(chosen[name].items(), start=1):
            if arm is None:
                continue
            axes = figure.add_subplot(grid[row, column])
            _show(axes, _exemplar(source, arm, name))
            psnr, lpips = scores.loc[(arm, name)]
            label, score = (
                name_subject(source, arm),
                f"{psnr:.2f} dB / {format_number(lpips, '{:.3f}')}",
            )
            axes.text(
                0.025, 0.025, score if constant[key] else f"{label}\n{score}", color="white",
                transform=axes.transAxes, ha="left", va="bottom", fontsize=7,
                bbox={"facecolor": "black", "edgecolor": "none", "alpha": 0.7, "pad": 1.2},
            )  # fmt: skip
            if row == 0:
                axes.set_title(f"{key}\n{label if constant[key] else ''}", fontsize=7)
    for column, key in enumerate(constant, start=1):
        if all(found[key] is None for found in chosen.values()):
            name = key.removeprefix("Best ")
            reason = f"{name} {explain_missing_metric(source, name.lower())}"
            style.message(figure.add_subplot(grid[:, column]), reason)
    return figure


def _columns(scores: pd.DataFrame, main: str) -> dict[str, str | None]:
    """Return the arm of each column after the ground truth; None where nothing was measured."""
    found: dict[str, str | None] = {"Main arm": main if main in scores.index else None}
    for metric in (PSNR, LPIPS):
        ranked = scores[metric.name].dropna().sort_values(ascending=metric.lower, kind="stable")
        found[f"Best {metric.name.upper()}"] = next(iter(ranked.index), None)
    return found


def _exemplar(source: Aggregates, arm: str, dataset: str) -> Path:
    folder = source.results / "native" / "exemplars" / arm
    if arm != "ground_truth":
        folder /= f"seed{source.config['seeds'][0]}"
    return folder / f"{dataset}.png"


def _show(axes: Axes, path: Path) -> None:
    if not path.is_file():
        raise UserError(f"{path} does not exist; run the evaluate step of that arm first.")
    try:
        axes.imshow(open_rgb(path))
    except UserError as error:
        raise UserError(f"{path} is not a readable image; delete it and evaluate again.") from error
    style.picture(axes)
