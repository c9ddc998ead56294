"""Name the outputs of files and folders, and convert each file that can be read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..data.images import is_image
from ..errors import UserError, WriteError, explain_memory_shortage
from ..files import try_writing
from ..progress import log, show_progress
from ..wording import list_some
from .formats import BY_ENDING

NAME_ERRORS = (errno.EINVAL, errno.EILSEQ)  # the disk takes no such name
CODE_ENDING = ".gblsr"  # of a file with an encoded image
Convert = Callable[[Path, Path], None]  # read the first file, write the second


def is_code(path: Path) -> bool:
    """Return whether a file is an encoded image by its ending."""
    return path.suffix.lower() == CODE_ENDING


def plan_outputs(
    sources: Sequence[Path],
    target: Path | None,
    addition: str,
    ending: str | None = None,
    is_input: Callable[[Path], bool] = is_image,
    overwrite: bool = False,
) -> dict[Path, Path]:
    """Return the files to convert and the output of each.

    `sources` are files, and folders whose files are taken, those of their subfolders for the same
    subfolders of the output. Passed over are hidden files and what `is_input` does not accept.
    `target` is a folder, or a file where there is one input file; None puts outputs beside their
    inputs, with `addition` after the name ("-x2": photo-x2.jpg). `ending` replaces the input's;
    None keeps it, or takes .png for a format that is not written. An input that another one
    becomes, as in a command given again with `*.png`, is passed over, and an output that exists is
    kept unless `overwrite` is set. All of these are named in the log.

    Raises `UserError` for an input that does not exist, for two inputs of one output, for an output
    that cannot be written or would overwrite an input, and for a single input file whose output
    exists.
    """
    for source in sources:
        if not (source.is_file() or source.is_dir()):
            raise UserError(
                f"{source} does not exist as a file or folder; name image files or folders of "
                "images, and after -o the output."
            )
    alone = len(sources) == 1 and not sources[0].is_dir()
    is_file = target and (target.is_file() or target.suffix.lower() in (*BY_ENDING, CODE_ENDING))
    if is_file and not alone:
        raise UserError(f"{target} is one file; name a folder for what becomes of several inputs.")
    if alone and target and target.suffix and not target.is_dir():
        if ending == CODE_ENDING and not is_code(target):
            raise UserError(
                f"{target} would be an encoded image, whose name ends in {ending}; name "
                f"{target.with_suffix(ending)}."
            )
        outputs = {sources[0]: target}
    else:
        outputs = _name_outputs(sources, target, addition, ending, is_input)
    for output in outputs.values():
        if output.is_dir():
            raise UserError(f"{output} is a folder; name another output.")
    remaining = _drop_inputs_made_from_others(outputs, overwrite)
    finished = {} if overwrite else {s: o for s, o in remaining.items() if os.path.lexists(o)}
    if finished and alone:
        raise UserError(
            f"{outputs[sources[0]]} exists already; add --overwrite to replace it, or name another "
            "output."
        )
    if finished:
        names = list_some([*map(str, finished.values())])
        log.warning("kept, as they exist already (--overwrite replaces them): %s", names)
    planned = {s: o for s, o in remaining.items() if s not in finished}
    for output in {output.parent: output for output in planned.values()}.values():
        try_writing(output)
    return planned


def _name_outputs(
    sources: Sequence[Path],
    target: Path | None,
    addition: str,
    ending: str | None,
    is_input: Callable[[Path], bool],
) -> dict[Path, Path]:
    """Return the inputs and their outputs, in the folder `target` or beside the inputs."""

    def name(source: Path, addition: str) -> str:
        written = source.suffix.lower() in BY_ENDING
        return source.stem + addition + (ending or (source.suffix if written else ".png"))

    outputs: dict[Path, Path] = {}
    for source in sources:
        if source.is_dir():
            path = Path(os.path.abspath(source))  # "." and ".." have no name that can be added to
            folder = target or path.parent / (path.name + addition)
            for path in _list_inputs(source, folder, is_input):
                outputs[path] = folder / path.parent.relative_to(source) / name(path, "")
        elif target:
            outputs[source] = target / name(source, "")
        else:
            outputs[source] = source.with_name(name(source, addition))
    first: dict[str, Path] = {}
    for source, output in outputs.items():
        other = first.setdefault(os.path.realpath(output), source)
        if other is not source:
            raise UserError(f"{other} and {source} would both become {output}; rename one of them.")
    return outputs


def _drop_inputs_made_from_others(
    outputs: Mapping[Path, Path], overwrite: bool
) -> dict[Path, Path]:
    """Return inputs and outputs without the inputs that are outputs of other inputs.

    Raises `UserError` where an output would overwrite an input.
    """
    inputs = {_identify(source): source for source in outputs}
    passed_over = {}
    for source, output in outputs.items():
        overwritten = inputs.get(_identify(output)) if output.exists() else None
        if overwritten and (overwrite or overwritten is source):
            raise UserError(f"{output} would overwrite an input; name another output.")
        if overwritten:
            passed_over[overwritten] = source
    if passed_over:
        made = [f"{path} (made of {source})" for path, source in passed_over.items()]
        log.warning("passed over: %s", list_some(made))
    return {s: o for s, o in outputs.items() if s not in passed_over}


def _identify(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file, by which two names of it agree."""
    status = path.stat()
    return status.st_dev, status.st_ino


def convert_files(outputs: Mapping[Path, Path], convert: Convert) -> None:
    """Call `convert` with every input and its output.

    What was written is logged. One file that fails does not keep the others from being converted;
    then a `UserError` at the end names all that failed. Where no output can be written, as on a
    full disk, that is raised at once.
    """
    failed = []
    for source, output in show_progress(list(outputs.items()), "images", "image"):
        try:
            with explain_memory_shortage(str(source)):
                convert(source, output)
            log.info("written: %s", output)
        except UserError as error:
            is_name = getattr(error.__cause__, "errno", None) in NAME_ERRORS
            if len(outputs) == 1 or (isinstance(error, WriteError) and not is_name):
                raise
            log.warning("%s", error)
            failed.append(str(source))
    if failed:
        raise UserError(
            f"{len(failed)} of {len(outputs)} files failed: {list_some(failed)}; what to do about "
            "each is said above."
        )


def _list_inputs(folder: Path, output: Path, is_input: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a folder and its subfolders to convert, by name; log what is passed over.

    Links to folders and `output` below the folder are not looked into; a link that leads nowhere is
    passed over. Raises `UserError` where a subfolder cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise UserError(
            f"{error.filename} cannot be read ({error.strerror}); make it readable, or move it out "
            f"of {folder}."
        ) from error

    inputs: list[Path] = []
    passed_over: list[str] = []
    top, made = folder.resolve(), output.resolve()
    walked = os.walk(folder, onerror=refuse)
    paths = (Path(place) / name for place, _, names in walked for name in names)
    for path in sorted(paths):
        inside = path.relative_to(folder)
        if top in made.parents and made in Path(os.path.realpath(path)).parents:
            continue
        is_hidden = any(part.startswith(".") for part in inside.parts)
        if is_input(path) and path.is_file() and not is_hidden:
            inputs.append(path)
        else:
            passed_over.append(str(inside))
    if passed_over:
        log.warning("passed over in %s: %s", folder, list_some(passed_over))
    if not inputs:
        raise UserError(f"{folder} holds no file that this command reads; name another folder.")
    return inputs
