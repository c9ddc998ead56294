"""Subcommands for one's own images, and for the models that they take."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from .options import Argument, command, path

CODE_ENDING = ".gblsr"
MODEL = path(
    "model",
    "MODEL",
    "a run folder or a weights file (default: the weights that come along)",
    required=False,
)
DEVICE: Argument = ("--device", {"choices": ("auto", "cpu", "cuda"), "default": "auto"})
METADATA: Argument = (
    "--keep-metadata",
    {
        "action": "store_true",
        "help": "keep camera, time, place, author (EXIF); the color profile is always kept",
    },
)
SCALE = {"type": float, "help": "output pixels per image pixel"}
CROP: Argument = (
    "--crop",
    {
        "type": float,
        "nargs": 4,
        "metavar": ("TOP", "LEFT", "BOTTOM", "RIGHT"),
        "help": "render only this part, in pixels of the original",
    },
)
FILES: tuple[Argument, ...] = (
    ("input", {"type": Path, "help": "a file, or a folder of files"}),
    ("output", {"type": Path, "help": "a file or a folder"}),
)


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    add = partial(command, commands, configured=False)
    some, large = SCALE | {"default": 1.0}, SCALE | {"required": True}
    add("reconstruct", _reconstruct, *FILES, MODEL, DEVICE, METADATA)
    add("encode", _encode, *FILES, MODEL, DEVICE, METADATA)
    add("decode", _decode, *FILES, ("--scale", some), CROP)
    add("upscale", _upscale, *FILES, MODEL, DEVICE, METADATA, ("--scale", large), CROP)
    add(
        "bundle",
        _bundle,
        ("run_dir", {"type": Path, "metavar": "RUN", "help": "folder of a trained run"}),
        path("metrics", "DIR", "rows measured of this run"),
        path("trained-on", "TEXT", "the training images, in words", type=str),
        path("output", "FILE", ".safetensors"),
    )
    add(
        "export",
        _export,
        ("model", {"type": Path, "metavar": "MODEL", "help": "a run folder or a weights file"}),
        ("output", {"type": Path, "metavar": "FILE", "help": "file to write (.onnx)"}),
        ("--scale", {"type": int, "required": True, "help": "a whole number"}),
    )


def _model(options: argparse.Namespace, kind: str) -> Path:
    """Return the model that the options name, or the one that comes along, and say which."""
    from ..bundled import bundled_model, told
    from ..progress import log

    if options.model is not None:
        return options.model
    path = bundled_model(kind)
    log.info("model: %s", told(path))
    return path


def _track(source: Path) -> Any:
    """Return what shows how far the parts of an image are."""
    from ..progress import each

    return partial(each, label=source.name, unit="part")


def _reconstruct(options: argparse.Namespace) -> None:
    """Encode and decode images with a GB-LSR arm."""
    from .. import image_io, inference, runtime

    model = inference.load_native(_model(options, "native"), runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.write(target, inference.reconstruct(model, photo, _track(source)))

    image_io.convert(options.input, options.output, work)


def _encode(options: argparse.Namespace) -> None:
    """Store images as coefficients of a GB-LSR arm."""
    from .. import image_io, inference, runtime

    model = inference.load_native(_model(options, "native"), runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.save_code(target, inference.encode(model, photo, track=_track(source)))

    image_io.convert(options.input, options.output, work, ending=CODE_ENDING)


def _decode(options: argparse.Namespace) -> None:
    """Render stored images, at any scale."""
    from .. import image_io, inference, runtime

    runtime.prepare("cpu")
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        code = inference.load_code(source)
        inference.write(target, inference.decode(code, options.scale, crop, _track(source)))

    image_io.convert(options.input, options.output, work, (CODE_ENDING,), ".png")


def _upscale(options: argparse.Namespace) -> None:
    """Super-resolve images by any scale."""
    from .. import image_io, inference, runtime

    model = inference.load_superres(_model(options, "asr"), runtime.prepare(options.device))
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.write(
            target, inference.upscale(model, photo, options.scale, crop, _track(source))
        )

    image_io.convert(options.input, options.output, work)


def _bundle(options: argparse.Namespace) -> None:
    """Make the small weights file and its card that come along with the package."""
    from ..bundled import bundle, told
    from ..progress import log

    bundle(options.run_dir, options.metrics, options.trained_on, options.output)
    log.info("%s: %s", options.output, told(options.output))


def _export(options: argparse.Namespace) -> None:
    """Write a super-resolution model for one integer scale as an ONNX file."""
    from .. import inference
    from ..export import export

    export(inference.load_superres(options.model), options.scale, options.output)
