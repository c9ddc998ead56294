"""Convert one file, or every file of a folder that can be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from ..data.images import FORMATS
from ..errors import UserError, explain_memory_shortage
from ..progress import log, show_progress
from .formats import BY_ENDING

NAMED = 20  # files in one sentence
Convert = Callable[[Path, Path], None]  # read the first file, write the second


def is_image(path: Path) -> bool:
    """Return whether a file is an image by its content, or ought to be one by its ending."""
    if Image.registered_extensions().get(path.suffix.lower()) in FORMATS:
        return True
    try:
        with Image.open(path, formats=FORMATS):
            return True
    except UnidentifiedImageError:
        return False
    except Exception:  # damaged or not readable: whoever reads it says what is wrong
        return True


def convert_files(
    source: Path,
    target: Path,
    convert: Convert,
    is_input: Callable[[Path], bool] = is_image,
    ending: str | None = None,
) -> None:
    """Call `convert` with an input and an output file, for one file or for a folder's files.

    Outputs in a folder keep the names of the inputs, with `ending` where it is given and .png where
    the input's ending is not of a format that is written. In a folder hidden files, folders and
    what `is_input` does not accept are passed over, and named in the log. One file that fails does
    not keep the others from being converted; then a `UserError` at the end names all that failed.
    """
    if source.is_file():
        inside = target.is_dir() or not target.suffix
        output = target / _name_output(source, ending) if inside else target
        _convert_one(source, output, convert, {_identify(source)})
        return
    if not source.is_dir():
        raise UserError(f"{source} does not exist; name an image file or a folder of images.")
    if target.is_file():
        raise UserError(f"{target} is a file; name a folder for what becomes of {source}.")
    inputs = _list_inputs(source, is_input)
    kept = {_identify(path) for path in inputs}
    outputs: dict[Path, Path] = {}
    failed = []
    for path in show_progress(inputs, source.name or "images", "image"):
        output = target / _name_output(path, ending)
        try:
            first = outputs.setdefault(output, path)
            if first is not path:
                raise UserError(
                    f"{first} and {path} would both become {output}; rename one of them."
                )
            _convert_one(path, output, convert, kept)
        except UserError as error:
            log.warning("%s", error)
            failed.append(path.name)
    if failed:
        raise UserError(
            f"{len(failed)} of {len(inputs)} files of {source} failed: {_list_some(failed)}; what "
            "to do about each is said above."
        )


def _convert_one(source: Path, output: Path, convert: Convert, kept: set[tuple[int, int]]) -> None:
    """Convert a file unless its output has no possible name or is one of the inputs `kept`."""
    _check_length(output)
    if output.exists() and _identify(output) in kept:
        raise UserError(f"{output} would overwrite an input; name another output.")
    with explain_memory_shortage(str(source)):
        convert(source, output)


def _identify(path: Path) -> tuple[int, int]:
    """Return what two names of one file have in common: its device and its number there."""
    status = path.stat()
    return status.st_dev, status.st_ino


def name_beside(source: Path, addition: str) -> Path:
    """Return the name of an output beside its input: photo.jpg and "-x2" give photo-x2.jpg.

    Raises `UserError` when something of that name exists, which nobody asked to replace.
    """
    path = Path(os.path.abspath(source))  # "." and ".." have no name that can be added to
    if path.is_dir():
        output = path.with_name(path.name + addition)
    else:
        name = Path(_name_output(path, None))
        output = path.with_name(name.stem + addition + name.suffix)
    _check_length(output)
    if output.exists():
        raise UserError(f"{output} exists already; to overwrite it, give it as the output.")
    return output


def _list_inputs(folder: Path, is_input: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a folder to convert, by name; log what is passed over, and why."""
    inputs, passed_over = [], []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            passed_over.append(f"{path.name} (hidden)")
        elif path.is_dir():
            passed_over.append(f"{path.name} (a folder)")
        elif not path.is_file():
            passed_over.append(f"{path.name} (no file)")
        elif is_input(path):
            inputs.append(path)
        else:
            passed_over.append(f"{path.name} (not what this command reads)")
    if passed_over:
        log.warning("passed over in %s: %s", folder, _list_some(passed_over))
    if not inputs:
        raise UserError(f"{folder} holds no file that this command reads; name another folder.")
    return inputs


def _list_some(names: Iterable[str]) -> str:
    """Return names with commas, the first `NAMED` of them and how many more there are."""
    names = list(names)
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _name_output(source: Path, ending: str | None) -> str:
    written = source.suffix.lower() in BY_ENDING
    return source.stem + (ending or (source.suffix if written else ".png"))


def _check_length(output: Path) -> None:
    """Raise `UserError` where the name of an output is too long for its folder."""
    parent = next(folder for folder in Path(os.path.abspath(output)).parents if folder.exists())
    longest = os.pathconf(parent, "PC_NAME_MAX")
    if len(os.fsencode(output.name)) > longest:
        raise UserError(
            f"{output.name} is longer than the {longest} bytes that a name in {parent} can have; "
            "name another output."
        )
