"""Compare tensors with the shapes and values that an arm or a method must have."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ..config import Arm, Config, Method, locate_row, read_arms, read_methods
from ..errors import UserError
from ..models import native
from ..models.base import build_on_meta
from ..models.gblsr import BandwidthDecoder, FullDecoder, SpectralDecoder
from ..runs import assemble_row

Shapes = dict[str, tuple[int, ...]]
HEAD = ("decoder.head.weight", "decoder.head.bias")
HEAD_ROWS = ("bandwidth", "order")  # what the two outputs of the adaptivity head are


def list_shapes(row: Arm | Method, config: Config) -> Shapes:
    """List the shapes of all tensors of an arm or a method, by name."""
    model = build_on_meta(lambda: assemble_row(row, config))
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def check_match(
    tensors: Mapping[str, Tensor], row: Arm | Method, config: Config, place: str
) -> None:
    """Raise `UserError` unless the tensors, by our names, are those of an arm or a method.

    None may be missing, superfluous or of another shape; all must be float32 and finite. An output
    of the adaptivity head must be zero, its initial value, if and only if the arm does not use it:
    without a gradient it stays zero.
    """
    wanted = list_shapes(row, config)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if shapes != wanted:
        name = locate_row(row)[2]
        raise UserError(
            f"{place} does not hold the weights of {name}: {_describe_difference(shapes, wanted)}; "
            f"{_name_fitting_rows(shapes, config)}."
        )
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise UserError(f"{place} holds {name!r} as {kind}, not float32; get the original.")
        if not tensor.isfinite().all():
            raise UserError(f"{place} holds values of {name!r} that are not finite; get it again.")
    if isinstance(row, Arm):
        _check_head(tensors, row, place)


def _describe_difference(shapes: Shapes, wanted: Shapes) -> str:
    """Describe the first difference of two sets of shapes, in the order of the model."""
    for name, shape in wanted.items():
        if name not in shapes:
            return f"it has no {name!r}"
        if shapes[name] != shape:
            return f"its {name!r} is {_format_shape(shapes[name])} and not {_format_shape(shape)}"
    return f"it has a {next(name for name in shapes if name not in wanted)!r} besides"


def _format_shape(shape: tuple[int, ...]) -> str:
    """Format a shape, as in "64 x 3 x 3"."""
    return " x ".join(map(str, shape)) or "one value"


def _name_fitting_rows(shapes: Shapes, config: Config) -> str:
    """Name the arms and methods that have exactly these shapes."""
    rows: list[Arm | Method] = [*read_arms().values(), *read_methods().values()]
    fitting = [locate_row(row)[2] for row in rows if list_shapes(row, config) == shapes]
    if fitting:
        return f"it fits {', '.join(fitting)}"
    return (
        "it fits no row of config/arms.tsv or config/methods.tsv at the sizes of native.model and "
        "asr.model"
    )


def _check_head(tensors: Mapping[str, Tensor], arm: Arm, place: str) -> None:
    """Compare the trained outputs of the adaptivity head with those that the arm uses."""
    _, decoder = native.find_classes(arm)
    if not issubclass(decoder, SpectralDecoder):
        return
    uses = {
        "bandwidth": issubclass(decoder, BandwidthDecoder),
        "order": issubclass(decoder, FullDecoder),
    }
    weight, bias = (tensors[name] for name in HEAD)
    for number, output in enumerate(HEAD_ROWS):
        trained = bool(weight[number].any()) or bool(bias[number])
        if trained and not uses[output]:
            raise UserError(
                f"{place} adapts the {output} to every patch (its head for it is not zero), but "
                f"{arm.arm} has one for all; import it as an arm that adapts the {output}."
            )
        if uses[output] and not trained:
            raise UserError(
                f"{place} has one {output} for all patches (its head for it is zero), but "
                f"{arm.arm} adapts it; import it as an arm that does not adapt the {output}."
            )
