"""What the commands for one's own images do: the files of a folder one by one, told how far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .. import bundled, image_io, inference, runtime
from ..progress import each, log

CODE_ENDING = ".gblsr"


def reconstruct(device: str, model: Path | None, **files: Any) -> None:
    """Encode and decode images with a GB-LSR arm."""
    _convert(partial(inference.reconstruct, _loaded("native", model, device)), **files)


def encode(device: str, model: Path | None, **files: Any) -> None:
    """Store images as coefficients of a GB-LSR arm."""
    work = partial(inference.encode, _loaded("native", model, device))
    _convert(work, **files, write=inference.save_code, ending=CODE_ENDING)


def decode(scale: float, crop: inference.Box | None, **files: Any) -> None:
    """Render stored images, at any scale."""
    runtime.prepare("cpu")
    work = partial(inference.decode, scale=scale, crop=crop)
    _convert(work, **files, read=inference.load_code, endings=(CODE_ENDING,), ending=".png")


def upscale(
    device: str, model: Path | None, scale: float, crop: inference.Box | None, **files: Any
) -> None:
    """Super-resolve images by any scale."""
    loaded = _loaded("asr", model, device)
    _convert(partial(inference.upscale, loaded, scale=scale, crop=crop), **files)


def _loaded(kind: str, path: Path | None, device: str) -> Any:
    """Return the model at a path, or the one that comes along, and say which that is."""
    chosen = runtime.prepare(device)
    if path is None:
        path = bundled.bundled_model(kind)
        log.info("model: %s", bundled.told(path))
    load = inference.load_native if kind == "native" else inference.load_superres
    return load(path, chosen)


def _convert(
    work: Callable[..., Any],
    input: Path,
    output: Path,
    keep_metadata: bool = False,
    read: Callable[..., Any] | None = None,
    write: Callable[..., None] = inference.write,
    **endings: Any,
) -> None:
    """Do `work` on what is read of every file, and write it."""

    def one(source: Path, target: Path) -> None:
        image = read(source) if read else inference.read(source, keep_metadata)
        write(target, work(image, track=partial(each, label=source.name, unit="part")))

    image_io.convert(input, output, one, **endings)
