"""Build the pictures of a page: one image of every set, in all renderings, for a reader to compare.

A reader sees one rendering at a time, in the same place, with the scores that this image has.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image

from ..analysis import schemas
from ..analysis.metrics import METRICS, SUPERRES, Metric
from ..analysis.reader import Aggregates, read_numbers
from ..config import list_methods
from ..errors import UserError
from ..evaluation import BICUBIC, NEAREST, TRUTH, list_compared_scales
from .layout import format_number
from .names import name_dataset, name_subject, sort_by_order
from .page import Compared, PageSection, Picture, list_links

SHOWN_SIDE = 256  # pixels of a side that a page shows
OF_THE_WHOLE = (
    f"Shown are the {SHOWN_SIDE} × {SHOWN_SIDE} pixels in the middle. Scores are of the whole "
    "image, by its luma before it is rounded to 8 bits."
)
NAMES = {TRUTH: "Original", NEAREST: "Nearest pixel"}
"""The renderings that are no arm's or method's, and have no scores."""
SCORED = {"native": [METRICS[name] for name in ("psnr", "ssim", "lpips")], "asr": SUPERRES}


def compare_reconstructions(source: Aggregates, folder: Path) -> PageSection:
    """Compare on every set of the native benchmark the renderings of one image.

    Links are relative to `folder`. Raises `UserError` where there is no picture.
    """
    arms = sort_by_order(source.benchmark_arms, [source.main_arm.arm])
    exemplars = source.config["native"]["data"]["exemplars"]
    sections = [
        _compare(source, "native", column, exemplars.get(column, ""), [TRUTH, *arms], folder)
        for column in source.evaluate
    ]
    return _collect(sections, "")


def compare_methods(source: Aggregates, folder: Path) -> PageSection:
    """Compare on every set of super-resolution, at two scales, as for reconstructions."""
    asr = source.config["asr"]
    methods = sort_by_order(list_methods(source.config), [asr["base_method"]])
    subjects = [TRUTH, NEAREST, BICUBIC, *methods]
    sections = [
        _compare(
            source, "asr", column, asr["exemplars"].get(dataset, ""), subjects, folder,
            dataset=dataset, scale=schemas.format_scale(scale),
        )
        for column, dataset in asr["evaluate"].items()
        for scale in list_compared_scales(source.config)
    ]  # fmt: skip
    return _collect(sections, OF_THE_WHOLE)


def _collect(sections: Sequence[PageSection], text: str) -> PageSection:
    """Put the sections with pictures into one."""
    inside = [section for section in sections if section.pictures]
    if not inside:
        raise UserError("No pictures yet; the workflow draws them before the page.")
    return PageSection("", text, inside=inside)


def _compare(
    source: Aggregates,
    benchmark: str,
    column: str,
    image: str,
    subjects: Sequence[str],
    folder: Path,
    dataset: str = "",
    scale: str = "",
) -> PageSection:
    """Build the section of a set: the renderings that there are, each with the image's scores.

    Without the name of the `image` it is the first of the set. The files of super-resolution are
    named after the `dataset` and the `scale`.
    """
    pattern, scores = (
        (schemas.EXEMPLAR, schemas.SCORES)
        if benchmark == "native"
        else (schemas.ASR_EXEMPLAR, schemas.GRID_FILE)
    )
    named = {"seed": min(source.config["seeds"]), "column": dataset or column, "scale": scale}
    place = name_dataset(source, benchmark, column) + (f" ×{scale}" if scale else "")
    title = ", ".join(filter(None, (place, image)))
    compared = []
    pictures = {
        subject: path
        for subject in subjects
        if (path := source.results / pattern.format(subject=subject, **named)).is_file()
    }
    # What is shown beside a picture is its difference from the original.
    for subject, picture in pictures.items() if TRUTH in pictures else ():
        own = f"{schemas.BICUBIC_GRID if subject == BICUBIC else scores}.csv"
        table = source.results / own.format(subject=subject, **named)
        name = NAMES.get(subject) or name_subject(source, subject)
        told = "" if subject in NAMES else _describe_scores(table, SCORED[benchmark], image)
        description = f"{name}, {title}{told and f': {told}'}"
        links = list_links({"scores of all images": table, "whole picture": picture}, folder)
        embedded = embed_picture(picture, description, SHOWN_SIDE)
        compared.append(Compared(name, embedded, told, links))
    key = "-".join(filter(None, ("see", benchmark, column, scale)))
    return PageSection(title, pictures=compared, key=key)


def _describe_scores(path: Path, metrics: Iterable[Metric], image: str) -> str:
    """Describe the scores of an image; where there are none, say so."""
    try:
        table = read_numbers(path, ["image", *(metric.name for metric in metrics)], ["image"])
    except UserError as error:
        return f"no scores: {error}"
    own = table[table["image"] == image] if image else table[:1]
    if own.empty:
        return f"no scores: {path} has no image {image!r}."
    texts = (
        f"{m.title} {format_number(own[m.name].item(), f'{{:.{m.digits}f}}')} {m.unit}"
        for m in metrics
    )
    return ", ".join(text.rstrip() for text in texts)


def embed_picture(path: Path, description: str, window: int = 0) -> Picture:
    """Embed a PNG file in a page, without loss; of a side beyond a `window` the pixels amid it.

    Raises `UserError` for a file that is no picture.
    """
    content = path.read_bytes()
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
            width, height = (min(side, window or side) for side in image.size)
            if (width, height) != image.size:
                left, top = (image.width - width) // 2, (image.height - height) // 2
                stream = io.BytesIO()
                image.crop((left, top, left + width, top + height)).save(stream, "PNG")
                content = stream.getvalue()
    except (OSError, SyntaxError) as error:  # Pillow raises both for damaged PNG files
        raise UserError(f"{path} is no picture; delete it and run the workflow again.") from error
    address = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    return Picture(address, description, width)
