"""Build the pictures of a page: one image of every set, in all renderings, for a reader to compare.

A reader sees one rendering at a time, in the same place, with the scores that this image has.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from ..analysis import schemas
from ..analysis.metrics import METRICS, SUPERRES, Metric
from ..analysis.reader import Aggregates, read_numbers
from ..config import get_setting, list_methods
from ..errors import UserError
from ..evaluation import BICUBIC, NEAREST, TRUTH, list_compared_scales
from .layout import format_number
from .names import find_dataset, name_dataset, name_image, name_subject, sort_by_order
from .page import Compared, PageSection, Picture, list_links

SHOWN_SIDE = 256  # pixels of a side that a page shows
OF_THE_WHOLE = (
    f"Shown are the {SHOWN_SIDE} × {SHOWN_SIDE} pixels in the middle. Scores are of the whole "
    "image, by its luma before it is rounded to 8 bits."
)
NAMES = {TRUTH: "Original", NEAREST: "Nearest pixel"}
EXEMPLARS = {"native": "native.data.exemplars", "asr": "asr.exemplars"}
SCORED = {"native": [METRICS[name] for name in ("psnr", "ssim", "lpips")], "asr": SUPERRES}


@dataclass(frozen=True)
class View:
    """What is compared: the image of a column of a benchmark, at a scale if it is enlarged."""

    source: Aggregates
    benchmark: str
    column: str
    scale: str = ""

    @property
    def key(self) -> str:
        """The name of the set in files and settings: of super-resolution that of the data set."""
        if self.benchmark == "native":
            return self.column
        return find_dataset(self.source, self.benchmark, self.column)

    def find_picture(self, subject: str) -> Path:
        """Find the file of a rendering."""
        pattern = schemas.EXEMPLAR if self.benchmark == "native" else schemas.ASR_EXEMPLAR
        return self._find(pattern, subject)

    def find_scores(self, subject: str) -> Path:
        """Find the file with the scores of all images of the set."""
        pattern = schemas.SCORES if self.benchmark == "native" else schemas.GRID_FILE
        return self._find(f"{schemas.BICUBIC_GRID if subject == BICUBIC else pattern}.csv", subject)

    def _find(self, pattern: str, subject: str) -> Path:
        seed = min(self.source.config["seeds"])
        path = pattern.format(seed=seed, subject=subject, column=self.key, scale=self.scale)
        return self.source.results / path


def compare_reconstructions(source: Aggregates, folder: Path) -> PageSection:
    """Compare on every set of the native benchmark the renderings of one image.

    Links are relative to `folder`. Raises `UserError` where there is no picture.
    """
    arms = sort_by_order(source.benchmark, [source.main_arm.arm])
    views = (View(source, "native", column) for column in source.evaluate)
    return _compare(views, [TRUTH, *arms], folder)


def compare_methods(source: Aggregates, folder: Path) -> PageSection:
    """Compare on every set of super-resolution, at two scales, as for reconstructions."""
    asr = source.config["asr"]
    methods = sort_by_order(list_methods(source.config), [asr["base_method"]])
    views = (
        View(source, "asr", column, schemas.format_scale(scale))
        for column in asr["evaluate"]
        for scale in list_compared_scales(source.config)
    )
    compared = _compare(views, [TRUTH, NEAREST, BICUBIC, *methods], folder)
    return replace(compared, text=OF_THE_WHOLE)


def _compare(views: Iterable[View], subjects: Sequence[str], folder: Path) -> PageSection:
    """Build a section with one for every view that has an original."""
    sections = []
    for view in views:
        present = [subject for subject in subjects if view.find_picture(subject).is_file()]
        if TRUTH in present:
            image = _find_image(view, present)
            named = name_image(view.source, view.benchmark, view.column, image)
            place = name_dataset(view.source, view.benchmark, view.column)
            title = ", ".join(filter(None, (f"{place}{view.scale and f' ×{view.scale}'}", named)))
            compared = [_show(view, subject, image, title, folder) for subject in present]
            key = "-".join(filter(None, ("see", view.benchmark, view.column, view.scale)))
            sections.append(PageSection(title, compared=compared, key=key))
    if not sections:
        raise UserError("No pictures yet; the workflow draws them before the page.")
    return PageSection("", inside=sections)


def _find_image(view: View, subjects: Sequence[str]) -> str:
    """Find the name of the image: that in the settings, else the first that was scored."""
    if name := get_setting(view.source.config, EXEMPLARS[view.benchmark]).get(view.key):
        return name
    files = (view.find_scores(subject) for subject in subjects)
    return next((read_numbers(file, ["image"])["image"][0] for file in files if file.is_file()), "")


def _show(view: View, subject: str, image: str, title: str, folder: Path) -> Compared:
    """Show one rendering with its scores."""
    name = NAMES.get(subject) or name_subject(view.source, subject)
    told = "" if subject == TRUTH else _describe_scores(view, subject, image)
    description = f"{name}, {title}{told and f': {told}'}"
    path = view.find_picture(subject)
    files = {"scores of all images": view.find_scores(subject), "whole picture": path}
    return Compared(
        name, embed_picture(path, description, SHOWN_SIDE), told, list_links(files, folder)
    )


def _describe_scores(view: View, subject: str, image: str) -> str:
    """Describe the scores of an image; where there are none, say so."""
    if subject == NEAREST:
        return "not scored"
    metrics = SCORED[view.benchmark]
    try:
        table = read_numbers(view.find_scores(subject), ["image", *(m.name for m in metrics)])
    except UserError as error:
        return f"no scores: {error}"
    own = table[table["image"] == image]
    if own.empty:
        return f"no scores: {view.find_scores(subject)} has no image {image!r}."
    return ", ".join(_format_score(metric, own[metric.name].item()) for metric in metrics)


def _format_score(metric: Metric, value: float) -> str:
    number = format_number(value, f"{{:.{metric.digits}f}}")
    return f"{metric.title} {number} {metric.unit}".rstrip()


def embed_picture(path: Path, description: str, window: int = 0) -> Picture:
    """Embed a PNG file in a page, without loss; of a side beyond a `window` the pixels amid it."""
    content = path.read_bytes()
    with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
        width, height = (min(side, window or side) for side in image.size)
        if (width, height) != image.size:
            left, top = (image.width - width) // 2, (image.height - height) // 2
            stream = io.BytesIO()
            image.crop((left, top, left + width, top + height)).save(stream, "PNG")
            content = stream.getvalue()
    address = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    return Picture(address, description, width)
