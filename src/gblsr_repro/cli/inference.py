"""Subcommands for one's own images, and for the models that they take."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

CODE_ENDING = ".gblsr"


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    reconstruct = _add(
        commands, "reconstruct", _reconstruct, "Encode and decode images with a GB-LSR arm."
    )
    encode = _add(commands, "encode", _encode, "Store images as coefficients of a GB-LSR arm.")
    decode = _add(commands, "decode", _decode, "Render stored images, at any scale.")
    upscale = _add(commands, "upscale", _upscale, "Super-resolve images by any scale.")
    for parser in (reconstruct, encode, upscale):
        parser.add_argument(
            "--model",
            type=Path,
            help="a run folder or a weights file (default: the weights that come along)",
        )
        parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
        parser.add_argument(
            "--keep-metadata",
            action="store_true",
            help="keep camera, time, place, author (EXIF); the color profile is always kept",
        )
    decode.add_argument("--scale", type=float, default=1.0, help="output pixels per image pixel")
    upscale.add_argument("--scale", type=float, required=True, help="output pixels per image pixel")
    for parser in (decode, upscale):
        parser.add_argument(
            "--crop",
            type=float,
            nargs=4,
            metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"),
            help="render only this part, in pixels of the original",
        )
    _add_bundle(commands)
    _add_export(commands)


def _add(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("input", type=Path, help="a file, or a folder of files")
    parser.add_argument("output", type=Path, help="a file or a folder")
    parser.set_defaults(run=run)
    return parser


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
    from .. import image_io, inference, runtime

    model = inference.load_native(_model(options, "native"), runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.write(target, inference.reconstruct(model, photo, _track(source)))

    image_io.convert(options.input, options.output, work)


def _encode(options: argparse.Namespace) -> None:
    from .. import image_io, inference, runtime

    model = inference.load_native(_model(options, "native"), runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.save_code(target, inference.encode(model, photo, track=_track(source)))

    image_io.convert(options.input, options.output, work, ending=CODE_ENDING)


def _decode(options: argparse.Namespace) -> None:
    from .. import image_io, inference, runtime

    runtime.prepare("cpu")
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        code = inference.load_code(source)
        inference.write(target, inference.decode(code, options.scale, crop, _track(source)))

    image_io.convert(options.input, options.output, work, (CODE_ENDING,), ".png")


def _upscale(options: argparse.Namespace) -> None:
    from .. import image_io, inference, runtime

    model = inference.load_superres(_model(options, "asr"), runtime.prepare(options.device))
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        photo = inference.read(source, options.keep_metadata)
        inference.write(
            target, inference.upscale(model, photo, options.scale, crop, _track(source))
        )

    image_io.convert(options.input, options.output, work)


def _add_bundle(commands: Any) -> None:
    text = "Make the small weights file and its card that come along with the package."
    parser = commands.add_parser("bundle", help=text, description=text)
    parser.add_argument("run_dir", type=Path, metavar="RUN", help="folder of a trained run")
    parser.add_argument(
        "--metrics", type=Path, required=True, metavar="DIR", help="rows measured of this run"
    )
    parser.add_argument(
        "--trained-on", required=True, metavar="TEXT", help="the training images, in words"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help=".safetensors")
    parser.set_defaults(run=_bundle)


def _bundle(options: argparse.Namespace) -> None:
    from ..bundled import bundle, told
    from ..progress import log

    bundle(options.run_dir, options.metrics, options.trained_on, options.output)
    log.info("%s: %s", options.output, told(options.output))


def _add_export(commands: Any) -> None:
    text = "Write a super-resolution model for one integer scale as an ONNX file."
    parser = commands.add_parser("export", help=text, description=text)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a run folder or a weights file")
    parser.add_argument("output", type=Path, metavar="FILE", help="file to write (.onnx)")
    parser.add_argument("--scale", type=int, required=True, help="a whole number")
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    from .. import inference
    from ..export import export

    export(inference.load_superres(options.model), options.scale, options.output)
