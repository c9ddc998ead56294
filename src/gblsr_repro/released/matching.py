"""Comparing tensors with an arm or a method: each used once, of its shape, with sensible values."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ..config import Arm, Config, Method, locate_row, read_arms, read_methods
from ..errors import UserError
from ..models import native
from ..models.asr import model as asr
from ..models.base import Model, build_on_meta
from ..models.gblsr import BandwidthDecoder, FullDecoder, SpectralDecoder

Shapes = dict[str, tuple[int, ...]]
HEAD = ("decoder.head.weight", "decoder.head.bias")
HEAD_ROWS = ("bandwidth", "order")  # what the two outputs of the adaptivity head are


def assemble_row(row: Arm | Method, config: Config) -> Model:
    """Make an untrained arm or method."""
    return (
        native.assemble_model(row, config)
        if isinstance(row, Arm)
        else asr.assemble_model(row, config)
    )


def shapes_of(row: Arm | Method, config: Config) -> Shapes:
    """Return the shape of every tensor that an arm or a method stores, by name."""
    model = build_on_meta(lambda: assemble_row(row, config))
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def check_match(
    tensors: Mapping[str, Tensor], row: Arm | Method, config: Config, place: str
) -> None:
    """Raise `UserError` unless tensors, by our names, are those of an arm or a method.

    None may be missing, left over or of another shape; all are float32 and finite; an output of the
    adaptivity head that the arm does not use is zero, and one that it uses is not: it stays at its
    start, zero, just where nothing follows from it.
    """
    wanted = shapes_of(row, config)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if shapes != wanted:
        name = locate_row(row)[2]
        raise UserError(
            f"{place} does not hold the weights of {name}: {_first_difference(shapes, wanted)}; "
            f"{_say_what_fits(shapes, config)}."
        )
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise UserError(f"{place} holds {name!r} as {kind}, not float32; get the original.")
        if not tensor.isfinite().all():
            raise UserError(f"{place} holds values of {name!r} that are not finite; get it again.")
    if isinstance(row, Arm):
        _check_head(tensors, row, place)


def _first_difference(shapes: Shapes, wanted: Shapes) -> str:
    """Say in what two sets of shapes differ first, in the order that the model has."""
    for name, shape in wanted.items():
        if name not in shapes:
            return f"it has no {name!r}"
        if shapes[name] != shape:
            return f"its {name!r} is {_size(shapes[name])} and not {_size(shape)}"
    return f"it has a {next(name for name in shapes if name not in wanted)!r} besides"


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "one value"


def _say_what_fits(shapes: Shapes, config: Config) -> str:
    """Say which arms and methods have exactly these shapes."""
    rows: list[Arm | Method] = [*read_arms().values(), *read_methods().values()]
    fitting = [locate_row(row)[2] for row in rows if shapes_of(row, config) == shapes]
    if fitting:
        return f"it fits {', '.join(fitting)}"
    return (
        "it fits no row of config/arms.tsv or config/methods.tsv at the sizes of native.model and "
        "asr.model"
    )


def _check_head(tensors: Mapping[str, Tensor], arm: Arm, place: str) -> None:
    """Compare which outputs of the adaptivity head were trained with those that the arm uses."""
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
