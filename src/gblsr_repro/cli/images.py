"""Commands for one's own images, files or folders of them, and for the models that they take."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..wording import shorten
from .commands import Argument, Options, argument, command, either, parse_path, path


def parse_quality(text: str) -> int:
    """Return a quality from 1 to 100; argparse makes one sentence of the error."""
    if not (text.isdecimal() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to 100")
    return int(text)


def parse_size(text: str) -> tuple[int | None, int | None]:
    """Return the height and the width of WIDTHxHEIGHT, None for one that is left out."""
    found = re.fullmatch(r"([1-9]\d{0,8})?x([1-9]\d{0,8})?", text, re.ASCII)
    if not found or text == "x":
        raise argparse.ArgumentTypeError(
            f"{shorten(text)} is no size in pixels; write 3840x2160, or 3840x or x2160, where the "
            "other side follows"
        )
    width, height = (int(side) if side else None for side in found.groups())
    return height, width


def scale(default: float) -> Argument:
    """Declare `--scale` with its default."""
    text = f"output pixels per image pixel, above or below 1 (default: {default:g})"
    return argument("--scale", type=float, default=default, help=text)


FILES = (
    argument("inputs", type=Path, nargs="+", metavar="INPUT", help="a file, or a folder of files"),
    argument(
        "-o",
        "--output",
        type=parse_path,
        metavar="OUTPUT",
        help="a folder, or a file for one input file (default: beside the input)",
    ),
    argument(
        "--overwrite",
        action="store_true",
        help="replace outputs that exist (default: keep them, so that a stopped command goes on)",
    ),
)
MODEL = (
    path(
        "--model",
        "MODEL",
        "a run folder or a weights file (default: the bundled weights)",
        required=False,
    ),
    argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where to compute; auto: on a GPU where there is one",
    ),
    argument(
        "--keep-metadata",
        action="store_true",
        help="keep camera, time, place, author (EXIF); the color profile is always kept",
    ),
)
CROP = argument(
    "--crop",
    type=float,
    nargs=4,
    metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"),
    help="render only this part, in pixels of the original",
)
SIZE = argument(
    "--size",
    type=parse_size,
    metavar="WIDTHxHEIGHT",
    help="pixels of the output, of the aspect of the image or its crop: 3840x2160, or 3840x or "
    "x2160, where the other side follows",
)
QUALITY = argument(
    "--quality",
    type=parse_quality,
    metavar="1-100",
    help="of JPEG (default: 95) and WebP (default: lossless); other formats are lossless",
)

# --- converting images --------------------------------------------------------------------------


@command("reconstruct", *FILES, *MODEL, QUALITY)
def reconstruct(options: Options) -> None:
    """Encode and decode images with a GB-LSR arm."""
    from .. import inference

    outputs = _plan_outputs(options, "-reconstructed")
    model = _load_model("native", options)
    work = partial(inference.reconstruct, model)
    _convert_to_photos(options, outputs, _make_reader(options), work)


@command("encode", *FILES, *MODEL)
def encode(options: Options) -> None:
    """Store images as coefficients of a GB-LSR arm."""
    from .. import inference
    from ..image_io.folders import CODE_ENDING, convert_files

    outputs = _plan_outputs(options, "", ending=CODE_ENDING)
    model, read = _load_model("native", options), _make_reader(options)

    def convert(source: Path, target: Path) -> None:
        inference.save_code(target, inference.encode(model, read(source), _show_parts(source)))

    convert_files(outputs, convert)


@command("decode", *FILES, scale(1.0), CROP, QUALITY)
def decode(options: Options) -> None:
    """Render stored images, at any scale."""
    from .. import inference, runtime
    from ..image_io.folders import is_code

    outputs = _plan_outputs(options, "-decoded", ending=".png", is_input=is_code)
    runtime.prepare_device("cpu")
    work = partial(inference.decode, scale=options.scale, crop=options.crop)
    _convert_to_photos(options, outputs, inference.load_code, work)


@command("upscale", *FILES, *MODEL, *either(scale(2.0), SIZE), CROP, QUALITY)
def upscale(options: Options) -> None:
    """Super-resolve images by any scale, or to a size."""
    from .. import inference

    addition = f"-x{options.scale:g}"
    if options.size:
        options.scale = None
        height, width = options.size
        addition = f"-{width or ''}x{height or ''}"
    outputs = _plan_outputs(options, addition)
    model = _load_model("asr", options)
    asked = {"scale": options.scale, "crop": options.crop, "size": options.size}
    work = partial(inference.upscale, model, **asked)
    _convert_to_photos(options, outputs, _make_reader(options), work)


def _plan_outputs(
    options: Options,
    addition: str,
    ending: str | None = None,
    is_input: Callable[[Path], bool] | None = None,
) -> dict[Path, Path]:
    """Return the inputs still to convert, with their outputs, as `plan_outputs` describes."""
    from ..image_io.folders import is_image, plan_outputs

    files = options.inputs, options.output
    return plan_outputs(*files, addition, ending, is_input or is_image, options.overwrite)


def _load_model(benchmark: str, options: Options) -> Any:
    """Return the model that `--model` names, or the bundled one, and log which that is."""
    from .. import bundled, inference, runtime
    from ..progress import log

    device = runtime.prepare_device(options.device)
    path = options.model
    if path is None:
        path = bundled.find_bundled_model(benchmark)
        log.info("model: %s", bundled.describe_model(path))
    load = inference.load_native if benchmark == "native" else inference.load_superres
    return load(path, device)


def _make_reader(options: Options) -> Callable[[Path], Any]:
    """Return the function that reads an image file as the options say."""
    from .. import inference

    return partial(inference.read, metadata=options.keep_metadata)


def _show_parts(source: Path) -> Callable[[Any], Any]:
    """Return a `track` that shows how many parts of an image are done."""
    from ..progress import show_progress

    return partial(show_progress, label=source.name, unit="part")


def _convert_to_photos(
    options: Options,
    outputs: Mapping[Path, Path],
    read: Callable[[Path], Any],
    work: Callable[..., Any],
) -> None:
    """Read every input, do `work` on it and write the photograph that comes out to its output.

    Whether the output's format can hold it is checked before the work.
    """
    from .. import inference
    from ..image_io.folders import convert_files
    from ..image_io.formats import check_output

    asked = {name: vars(options).get(name) for name in ("scale", "crop", "size")}

    def convert(source: Path, target: Path) -> None:
        image = read(source)
        window = inference.select_window(image.size, **asked)
        check_output(target, window.size, image.alpha is not None)
        inference.write(target, work(image, track=_show_parts(source)), options.quality)

    convert_files(outputs, convert)
