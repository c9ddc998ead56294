"""Commands for one's own images, a file or a folder of them, and for the models that they take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .arguments import Commands, Options, add_command, add_path

CODE_ENDING = ".gblsr"
PIXELS = "output pixels per image pixel"


def add_commands(commands: Commands) -> None:
    """Add every command of this module."""
    _add_reconstruct(commands)
    _add_encode(commands)
    _add_decode(commands)
    _add_upscale(commands)
    _add_bundle(commands)
    _add_export(commands)


# --- converting images --------------------------------------------------------------------------


def _add_reconstruct(commands: Commands) -> None:
    command = add_command(commands, "reconstruct", reconstruct)
    _add_files(command)
    _add_model(command)


def reconstruct(options: Options) -> None:
    """Encode and decode images with a GB-LSR arm."""
    from .. import inference

    model = _load_model("native", options)
    _convert(options, _read_image(options), partial(inference.reconstruct, model), inference.write)


def _add_encode(commands: Commands) -> None:
    command = add_command(commands, "encode", encode)
    _add_files(command)
    _add_model(command)


def encode(options: Options) -> None:
    """Store images as coefficients of a GB-LSR arm."""
    from .. import inference

    model = _load_model("native", options)
    work = partial(inference.encode, model)
    _convert(options, _read_image(options), work, inference.save_code, ending=CODE_ENDING)


def _add_decode(commands: Commands) -> None:
    command = add_command(commands, "decode", decode)
    _add_files(command)
    command.add_argument("--scale", type=float, default=1.0, help=PIXELS)
    _add_crop(command)


def decode(options: Options) -> None:
    """Render stored images, at any scale."""
    from .. import inference, runtime

    runtime.prepare("cpu")
    work = partial(inference.decode, scale=options.scale, crop=options.crop)
    endings = {"endings": (CODE_ENDING,), "ending": ".png"}
    _convert(options, inference.load_code, work, inference.write, **endings)


def _add_upscale(commands: Commands) -> None:
    command = add_command(commands, "upscale", upscale)
    _add_files(command)
    _add_model(command)
    command.add_argument("--scale", type=float, required=True, help=PIXELS)
    _add_crop(command)


def upscale(options: Options) -> None:
    """Super-resolve images by any scale."""
    from .. import inference

    model = _load_model("asr", options)
    work = partial(inference.upscale, model, scale=options.scale, crop=options.crop)
    _convert(options, _read_image(options), work, inference.write)


def _add_files(command: argparse.ArgumentParser) -> None:
    command.add_argument("input", type=Path, help="a file, or a folder of files")
    command.add_argument("output", type=Path, help="a file or a folder")


def _add_model(command: argparse.ArgumentParser) -> None:
    text = "a run folder or a weights file (default: the weights that come along)"
    add_path(command, "--model", "MODEL", text, required=False)
    command.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    command.add_argument(
        "--keep-metadata",
        action="store_true",
        help="keep camera, time, place, author (EXIF); the color profile is always kept",
    )


def _add_crop(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--crop",
        type=float,
        nargs=4,
        metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"),
        help="render only this part, in pixels of the original",
    )


def _load_model(benchmark: str, options: Options) -> Any:
    """Return the model that `--model` names, or the one that comes along, and log which that is."""
    from .. import bundled, inference, runtime
    from ..progress import log

    device = runtime.prepare(options.device)
    path = options.model
    if path is None:
        path = bundled.find_bundled_model(benchmark)
        log.info("model: %s", bundled.describe_model(path))
    load = inference.load_native if benchmark == "native" else inference.load_superres
    return load(path, device)


def _read_image(options: Options) -> Callable[[Path], Any]:
    from .. import inference

    return partial(inference.read, metadata=options.keep_metadata)


def _convert(
    options: Options,
    read: Callable[[Path], Any],
    work: Callable[..., Any],
    write: Callable[[Path, Any], None],
    **endings: Any,
) -> None:
    """Read every file of the input, do `work` on it and write what comes out of it."""
    from .. import image_io
    from ..progress import each

    def convert_one(source: Path, target: Path) -> None:
        write(target, work(read(source), track=partial(each, label=source.name, unit="part")))

    image_io.convert(options.input, options.output, convert_one, **endings)


# --- models -------------------------------------------------------------------------------------


def _add_bundle(commands: Commands) -> None:
    command = add_command(commands, "bundle", bundle)
    command.add_argument("run_dir", type=Path, metavar="RUN", help="folder of a trained run")
    add_path(command, "--metrics", "DIR", "rows measured of this run")
    command.add_argument(
        "--trained-on", metavar="TEXT", required=True, help="the training images, in words"
    )
    add_path(command, "--output", "FILE", ".safetensors")


def bundle(options: Options) -> None:
    """Make the small weights file and its card that come along with the package."""
    from ..bundled import bundle

    bundle(options.run_dir, options.metrics, options.trained_on, options.output)


def _add_export(commands: Commands) -> None:
    command = add_command(commands, "export", export)
    text = "a run folder or a weights file"
    command.add_argument("model", type=Path, metavar="MODEL", help=text)
    command.add_argument("output", type=Path, metavar="FILE", help="file to write (.onnx)")
    command.add_argument("--scale", type=int, required=True, help="a whole number")


def export(options: Options) -> None:
    """Write a super-resolution model for one integer scale as an ONNX file."""
    from ..export import export

    export(options.model, options.scale, options.output)
