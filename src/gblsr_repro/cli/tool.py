"""Subcommands for one's own images: reconstruct, encode, decode, upscale."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

CODE_ENDING = ".gblsr"


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    _add(commands, "reconstruct", _reconstruct, "encode and decode images with a trained arm", True)
    _add(commands, "encode", _encode, "store images as coefficients of a GB-LSR arm", True)
    decode = _add(commands, "decode", _decode, "render stored images, at any scale", False)
    upscale = _add(commands, "upscale", _upscale, "super-resolve images by any scale", True)
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


def _add(commands: Any, name: str, run: Any, text: str, model: bool) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text.capitalize()}.")
    parser.add_argument("input", type=Path, help="a file, or a folder of files")
    parser.add_argument("output", type=Path, help="a file or a folder")
    if model:
        parser.add_argument(
            "--model", type=Path, required=True, help="a run folder or a weights file"
        )
        parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.set_defaults(run=run)
    return parser


def _reconstruct(options: argparse.Namespace) -> None:
    from .. import photos, runtime, tool

    model = tool.load_native(options.model, runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        tool.write(target, tool.reconstruct(model, tool.read(source)))

    photos.convert(options.input, options.output, work)


def _encode(options: argparse.Namespace) -> None:
    from .. import photos, runtime, tool

    model = tool.load_native(options.model, runtime.prepare(options.device))

    def work(source: Path, target: Path) -> None:
        tool.save_code(target, tool.encode(model, tool.read(source)))

    photos.convert(options.input, options.output, work, ending=CODE_ENDING)


def _decode(options: argparse.Namespace) -> None:
    from .. import photos, runtime, tool

    runtime.prepare("cpu")
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        tool.write(target, tool.decode(tool.load_code(source), options.scale, crop))

    photos.convert(options.input, options.output, work, (CODE_ENDING,), ".png")


def _upscale(options: argparse.Namespace) -> None:
    from .. import photos, runtime, tool

    model = tool.load_superres(options.model, runtime.prepare(options.device))
    crop = tuple(options.crop) if options.crop else None

    def work(source: Path, target: Path) -> None:
        tool.write(target, tool.upscale(model, tool.read(source), options.scale, crop))

    photos.convert(options.input, options.output, work)
