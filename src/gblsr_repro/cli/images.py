"""Commands for one's own images, files or folders of them, and for the models that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .. import bundled, inference, runtime
from ..data.images import is_image
from ..errors import UserError
from ..image_io.folders import CODE_ENDING, convert_files, is_code, plan_outputs
from ..image_io.formats import check_output
from ..image_io.photo import Box
from ..image_io.window import Target
from ..progress import log, show_progress


def reconstruct(
    inputs: Sequence[Path],
    output: Path | None,
    overwrite: bool,
    model: Path | None,
    device: str,
    keep_metadata: bool,
    quality: int | None,
) -> None:
    """Encode and decode images with an arm."""
    outputs = plan_outputs(inputs, output, "-reconstructed", None, is_image, overwrite)
    read = partial(inference.read, metadata=keep_metadata)
    work = partial(inference.reconstruct, _load_model("native", model, device))
    _convert_to_photos(outputs, read, work, quality)


def encode(
    inputs: Sequence[Path],
    output: Path | None,
    overwrite: bool,
    model: Path | None,
    device: str,
    keep_metadata: bool,
) -> None:
    """Store images as coefficients of an arm."""
    outputs = plan_outputs(inputs, output, "", CODE_ENDING, is_image, overwrite)
    arm = _load_model("native", model, device)

    def convert(source: Path, target: Path) -> None:
        photo = inference.read(source, keep_metadata)
        inference.save_code(target, inference.encode(arm, photo, _show_parts(source)))

    convert_files(outputs, convert)


def decode(
    inputs: Sequence[Path],
    output: Path | None,
    overwrite: bool,
    scale: float,
    crop: Box | None,
    quality: int | None,
) -> None:
    """Render stored images."""
    outputs = plan_outputs(inputs, output, "-decoded", ".png", is_code, overwrite)
    runtime.prepare_device("cpu")
    asked = {"scale": scale, "crop": crop}
    _convert_to_photos(outputs, inference.load_code, inference.decode, quality, **asked)


def upscale(
    inputs: Sequence[Path],
    output: Path | None,
    overwrite: bool,
    model: Path | None,
    device: str,
    keep_metadata: bool,
    scale: float,
    size: Target | None,
    crop: Box | None,
    quality: int | None,
) -> None:
    """Super-resolve images by a scale, or to a size if it is given."""
    addition = f"-x{scale:g}"
    asked: dict[str, Any] = {"scale": scale, "crop": crop}
    if size:
        height, width = size
        addition = f"-{width or ''}x{height or ''}"
        asked = {"size": size, "crop": crop}
    outputs = plan_outputs(inputs, output, addition, None, is_image, overwrite)
    read = partial(inference.read, metadata=keep_metadata)
    work = partial(inference.upscale, _load_model("asr", model, device))
    _convert_to_photos(outputs, read, work, quality, **asked)


def _load_model(benchmark: str, path: Path | None, device_name: str) -> Any:
    """Load the model at a path, or the bundled one, and log which that is."""
    device = runtime.prepare_device(device_name)
    if path is None:
        path = bundled.find_bundled_model(benchmark)
        log.info("model: %s", bundled.describe_model(path))
    load = inference.load_native if benchmark == "native" else inference.load_superres
    return load(path, device)


def _show_parts(source: Path) -> Callable[[Any], Any]:
    """Make a `track` that shows how many parts of an image are done."""
    return partial(show_progress, label=source.name, unit="part")


def _convert_to_photos(
    outputs: Mapping[Path, Path],
    read: Callable[[Path], Any],
    work: Callable[..., Any],
    quality: int | None,
    **asked: Any,
) -> None:
    """Read every input, do `work` on it and write the photograph that comes out to its output.

    `asked` is the scale or size and the crop. Whether the output's format can hold that is checked
    before the work.
    """

    def convert(source: Path, target: Path) -> None:
        image = read(source)
        try:
            window = inference.select_window(image.size, **asked)
        except UserError as error:
            raise UserError(f"{source}: {error}") from error
        check_output(target, window.size, image.alpha is not None)
        photo = work(image, track=_show_parts(source), **asked)
        inference.write(target, photo, quality)

    convert_files(outputs, convert)
