"""Declare the arguments of commands, by the words that commands.tsv has for them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..wording import shorten


@dataclass(frozen=True)
class Argument:
    """An argument of commands: its names, and its settings as `add_argument` takes them.

    `place`: where in the results a path is that is left out. `exclusive`: of a command's arguments
    that are, at most one is given.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    place: str | None = None
    exclusive: bool = False


def argument(*names: str, exclusive: bool = False, **settings: Any) -> Argument:
    """Declare an argument, as `add_argument` does."""
    return Argument(names, settings, exclusive=exclusive)


def path(name: str, metavar: str, text: str, required: bool = True, **settings: Any) -> Argument:
    """Declare an option that takes a path."""
    return argument(
        name, type=parse_path, metavar=metavar, help=text, required=required, **settings
    )


def path_in_results(name: str, place: str, default: str = "") -> Argument:
    """Declare an option that takes a path, by default a place in the results; "": their folder."""
    text = f"default: {default or f'{place} in the results'}"
    option = path(name, "FILE" if "." in place else "DIR", text, required=False)
    return Argument(option.names, option.settings, place)


def scale(default: float, **settings: Any) -> Argument:
    """Declare `--scale` with its default."""
    text = f"output pixels per image pixel, above or below 1 (default: {default:g})"
    return argument("--scale", type=float, default=default, help=text, **settings)


# --- parsing --------------------------------------------------------------------------------------


def parse_input(text: str) -> Path:
    """Parse a path to read; refuse an empty one, which would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("its name is empty; name a file or a folder")
    return Path(text)


def parse_path(text: str) -> Path:
    """Parse a path to write; refuse -, by which others mean standard output."""
    if text == "-":
        raise argparse.ArgumentTypeError(
            "this command does not write to standard output; name a file or a folder"
        )
    return parse_input(text)


def parse_seed(text: str) -> int:
    """Parse a seed, from 0 to 4294967295."""
    if not re.fullmatch(r"\d{1,10}", text, re.ASCII) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 to 4294967295, not {shorten(text)}"
        )
    return int(text)


def parse_quality(text: str) -> int:
    """Parse a quality from 1 to 100."""
    if not (text.isdecimal() and 1 <= int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to 100")
    return int(text)


def parse_size(text: str) -> tuple[int | None, int | None]:
    """Parse WIDTHxHEIGHT into the height and the width, None for one that is left out."""
    found = re.fullmatch(r"([1-9]\d{0,8})?x([1-9]\d{0,8})?", text, re.ASCII)
    if not found or text == "x":
        raise argparse.ArgumentTypeError(
            f"{shorten(text)} is no size in pixels; write 3840x2160, or 3840x or x2160, where the "
            "other side follows"
        )
    width, height = (int(side) if side else None for side in found.groups())
    return height, width


# --- the arguments --------------------------------------------------------------------------------

ARGUMENTS = {
    "config": argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="config file, laid over config/config.yaml and the paper's settings; repeat to merge "
        "several, later ones over earlier ones (default: that of the results, where a command "
        "names some)",
    ),
    "dataset": argument(
        "dataset", metavar="DATASET", help="name in the first column of config/datasets.tsv"
    ),
    "arm": argument("--arm", required=True, help="row of config/arms.tsv"),
    "method": argument("--method", required=True, help="row of config/methods.tsv"),
    "seed": argument(
        "--seed", type=parse_seed, required=True, help="seed of initialization and shuffling"
    ),
    "run": path("--run", "DIR", "folder of a trained run"),
    "runs": path("--runs", "RUN", "run folders of trained arms or methods", nargs="+"),
    "array": path("--array", "NPY", "training array"),
    "validation": path("--array", "NPY", "validation array"),
    "arrays": path("--arrays", "DIR", "folder of the arrays and of the thresholds of the regions"),
    "thresholds": path("--regions", "JSON", "thresholds of the regions", dest="thresholds"),
    "crops": argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="train, validation or a column of native.data.evaluate",
    ),
    "only_sets": argument(
        "--only",
        nargs="+",
        default=[],
        metavar="SET",
        help="score these sets only (default: all evaluation sets and the validation split)",
    ),
    # What a job writes, and from what it goes on when it was stopped.
    "manifest": path("--output", "CSV", "write a copy of the manifest to this file", False),
    "new_folder": path("--output", "DIR", "folder to write"),
    "new_array": path("--output", "NPY", "array to write"),
    "new_json": path("--output", "JSON", "file to write"),
    "state": path("--state", "PT", "state from which an interrupted run resumes"),
    "kept": path(
        "--state",
        "DIR",
        "folder in which finished images are kept, from which a stopped job goes on",
    ),
    # Weights that others trained.
    "address": argument(
        "address", metavar="PATH", help="file, folder or hub address (hf://OWNER/NAME/FOLDER)"
    ),
    "row": argument(
        "--as",
        dest="row",
        metavar="ROW",
        help="row of config/arms.tsv or config/methods.tsv (default: that in config/released.tsv)",
    ),
    "colors": argument(
        "--colors",
        choices=("normalized", "unit"),
        help="range of colors of a super-resolution network (default: that in config/released.tsv)",
    ),
    "overwrite": argument(
        "--overwrite", action="store_true", help="replace a run in the folder that is another"
    ),
    # What is made of a run.
    "aggregated": argument(
        "names", nargs="+", metavar="NAME", help="name of an aggregate: native, asr_quality, ..."
    ),
    "results": path_in_results("--results", "", "the config's results"),
    "aggregates": path_in_results("--aggregates", "aggregates"),
    "claims": path_in_results("--claims", "claims.csv"),
    "into_results": path_in_results("--output", "", "the folder around --aggregates"),
    "into_aggregates": path_in_results("--output", "aggregates"),
    "page": path_in_results("--output", "report.html"),
    "document": path_in_results("--output", "report.pdf"),
    "only_items": argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these items; an error if one cannot be made",
    ),
    "record": path("--output", "DIR", "the record, such as docs/record: a new folder or an old"),
    "setup": argument(
        "--setup",
        default="main",
        metavar="NAME",
        help="name of these settings in the record (default: main, the one that is judged)",
    ),
    # An exported model.
    "model": argument("model", type=Path, metavar="MODEL", help="a run folder or a weights file"),
    "onnx": argument("output", type=parse_path, metavar="FILE", help="file to write (.onnx)"),
    "whole_scale": argument("--scale", type=int, required=True, help="a whole number, such as 4"),
    "replace": argument("--overwrite", action="store_true", help="replace a file that exists"),
    "rebuild": argument(
        "--rebuild",
        action="store_true",
        help="add nothing: write claims, figures and page again from the values of the record",
    ),
    # One's own images, and the model that they go through.
    "inputs": argument(
        "inputs", type=parse_input, nargs="+", metavar="INPUT", help="a file, or a folder of files"
    ),
    "outputs": argument(
        "-o",
        "--output",
        type=parse_path,
        metavar="OUTPUT",
        help="a folder, or a file for one input file (default: beside the input)",
    ),
    "replace_outputs": argument(
        "--overwrite",
        action="store_true",
        help="replace outputs that exist (default: keep them, so that a stopped command goes on)",
    ),
    "model_or_bundled": path(
        "--model",
        "MODEL",
        "a run folder or a weights file (default: the bundled weights)",
        required=False,
    ),
    "device": argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where to compute; auto: on a GPU where there is one",
    ),
    "keep_metadata": argument(
        "--keep-metadata",
        action="store_true",
        help="keep camera, time, place, author (EXIF); the color profile is always kept",
    ),
    "scale": scale(1.0),
    "scale_or_size": scale(2.0, exclusive=True),
    "size": argument(
        "--size",
        type=parse_size,
        metavar="WIDTHxHEIGHT",
        exclusive=True,
        help="pixels of the output, of the aspect of the image or its crop: 3840x2160, or 3840x or "
        "x2160, where the other side follows",
    ),
    "crop": argument(
        "--crop",
        type=float,
        nargs=4,
        metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"),
        help="render only this part, in pixels of the original",
    ),
    "quality": argument(
        "--quality",
        type=parse_quality,
        metavar="1-100",
        help="of JPEG (default: 95) and WebP (default: lossless); other formats are lossless",
    ),
}
