"""Decide which rows of the tables weights fit: by tensors, values, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ..config import Arm, Config, Method, locate_row, read_arms, read_methods
from ..dependencies import identify_row
from ..errors import UserError
from ..models import native
from ..models.base import build_on_meta
from ..models.rows import find_model
from .facts import (
    LOCAL,
    SPECTRA,
    compare_facts,
    compare_record,
    describe_row,
    select_training_facts,
)
from .names import OURS, Naming, find_naming, rename_all
from .reading import Checkpoint

Shapes = dict[str, tuple[int, ...]]
NO_ROW = (
    "no row of config/arms.tsv or config/methods.tsv at the sizes of native.model and asr.model"
)
HEAD = ("decoder.head.weight", "decoder.head.bias")
HEAD_ROWS = ("bandwidth", "order")  # what the two outputs of the adaptivity head are


@dataclass(frozen=True)
class Weights:
    """Weights as they were released, with their tensors by our names."""

    checkpoint: Checkpoint
    naming: Naming
    tensors: Mapping[str, Tensor]

    @property
    def place(self) -> str:
        """The path of the file, for messages."""
        return str(self.checkpoint.file)

    def name_in_file(self, name: str) -> str:
        """Return the name that a tensor, or one that is missing, has in the file."""
        return self.checkpoint.prefix + self.naming.restore(name)


def name_tensors(checkpoint: Checkpoint) -> Weights:
    """Rename the tensors of a file and check their values.

    Raises `UserError` for names that nobody publishes, and unless all are float32 and finite.
    """
    place = str(checkpoint.file)
    naming = OURS if checkpoint.record else find_naming(checkpoint.tensors, place)
    weights = Weights(checkpoint, naming, rename_all(checkpoint.tensors, naming, place))
    for name, tensor in weights.tensors.items():
        if tensor.dtype != torch.float32:
            kind, there = str(tensor.dtype).removeprefix("torch."), weights.name_in_file(name)
            raise UserError(f"{place} holds {there!r} as {kind}, not float32; get the original.")
    return weights


def check_row(weights: Weights, row: Arm | Method, seed: int, config: Config) -> None:
    """Raise `UserError` unless weights are those of a row and, where that is said, of a seed.

    No tensor may be missing, superfluous or of another shape, and all must be finite. An output of
    the adaptivity head must be zero, its initial value, if and only if the arm does not use it:
    without a gradient it stays zero.
    """
    problem = find_misfit(weights, row, config)
    if problem:
        fitting = [locate_row(other)[2] for other in list_fitting_rows(weights, config)]
        fits = f"it fits {', '.join(fitting)}" if fitting else f"it fits {NO_ROW}"
        raise UserError(
            f"{weights.place} does not hold the weights of {locate_row(row)[2]}: {problem}; {fits}."
        )
    for name, tensor in weights.tensors.items():
        if not tensor.isfinite().all():
            raise UserError(
                f"{weights.place} holds values of {weights.name_in_file(name)!r} that are not "
                "finite; get it again."
            )
    stored = weights.checkpoint.record or weights.checkpoint.facts
    said = select_training_facts(stored).get("seed", seed)
    if said != seed:
        raise UserError(
            f"{weights.place} says seed = {said}, not {seed}; import it with --seed {said}, or set "
            f"seeds to [{said}] in the config that names it."
        )


def choose_row(weights: Weights, config: Config) -> Arm | Method:
    """Choose the one row that weights fit; `UserError` if they fit none, or several."""
    fitting = list_fitting_rows(weights, config)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UserError(
            f"{weights.place} fits {NO_ROW}; name the row that it should fit with --as, to be told "
            "in what it does not."
        )
    names = ", ".join(locate_row(row)[2] for row in fitting)
    raise UserError(
        f"{weights.place} fits {names} alike, since it does not say "
        f"{', '.join(list_unsaid(fitting, config))}; choose one of them with --as."
    )


def list_fitting_rows(weights: Weights, config: Config) -> list[Arm | Method]:
    """List all arms and methods that weights fit."""
    rows: list[Arm | Method] = [*read_arms().values(), *read_methods().values()]
    return [row for row in rows if find_misfit(weights, row, config) is None]


def list_rows_alike(weights: Weights, row: Arm | Method, config: Config) -> list[Arm | Method]:
    """List the rows that weights fit as they fit a row: what differs is not in the tensors.

    Rows of other tensors are not built, so that an import follows from no settings but its row's.
    """
    table: Mapping[str, Arm | Method] = read_arms() if isinstance(row, Arm) else read_methods()
    rows = [other for other in table.values() if _describe_tensors(other) == _describe_tensors(row)]
    return [other for other in rows if find_misfit(weights, other, config) is None]


def _describe_tensors(row: Arm | Method) -> tuple[object, ...]:
    """Describe what of a row decides its tensors: neither ensemble nor scale of a bandwidth."""
    if isinstance(row, Method):
        options = [text for text in row.options.split() if not text.startswith("local_ensemble=")]
        return row.encoder, row.decoder, *sorted(options)
    _, decoder = native.find_classes(row)
    if decoder not in SPECTRA:
        return row.decoder, row.options
    mode, adapts_order = SPECTRA[decoder]
    return "local" if mode in LOCAL else mode, adapts_order


def list_unsaid(rows: list[Arm | Method], config: Config) -> list[str]:
    """List the fields of the authors' configurations, or else columns, in which rows differ."""
    described = [describe_row(row, config) for row in rows]
    if described[0] in described[1:]:
        described = [identify_row(row) for row in rows]
    names = dict.fromkeys(name for fields in described for name in fields)
    return [name for name in names if len({str(fields.get(name)) for fields in described}) > 1]


def find_misfit(weights: Weights, row: Arm | Method, config: Config) -> str | None:
    """Describe the first thing in which weights differ from those of a row; None if they fit."""
    wanted = list_shapes(row, config)
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.tensors.items()}
    if shapes != wanted:
        return _compare_shapes(weights, shapes, wanted)
    if weights.checkpoint.record:
        return compare_record(weights.checkpoint.record, row, config)
    problem = _compare_head(weights, row) if isinstance(row, Arm) else None
    return problem or compare_facts(weights.checkpoint.facts, row, config)


def list_shapes(row: Arm | Method, config: Config) -> Shapes:
    """List the shapes of all tensors of an arm or a method, by name."""
    model = build_on_meta(lambda: find_model(row).assemble(row, config))
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def _compare_shapes(weights: Weights, shapes: Shapes, wanted: Shapes) -> str:
    """Describe the first difference of two sets of shapes, in the order of the model."""
    for name, shape in wanted.items():
        if name in shapes and shapes[name] != shape:
            here, there = _format_shape(shapes[name]), _format_shape(shape)
            return f"its {weights.name_in_file(name)!r} is {here} and not {there}"
    for name in shapes:
        if name not in wanted:
            return f"it has a {weights.name_in_file(name)!r} besides"
    missing = next(name for name in wanted if name not in shapes)
    return f"it has no {weights.name_in_file(missing)!r}"


def _format_shape(shape: tuple[int, ...]) -> str:
    """Format a shape, as in "64 x 3 x 3"."""
    return " x ".join(map(str, shape)) or "one value"


def _compare_head(weights: Weights, arm: Arm) -> str | None:
    """Compare the trained outputs of the adaptivity head with those that an arm uses."""
    _, decoder = native.find_classes(arm)
    if decoder not in SPECTRA:
        return None
    mode, adapts_order = SPECTRA[decoder]
    weight, bias = (weights.tensors[name] for name in HEAD)
    for number, (output, used) in enumerate(
        zip(HEAD_ROWS, (mode in LOCAL, adapts_order), strict=True)
    ):
        trained = bool(weight[number].any()) or bool(bias[number])
        if trained != used:
            head = weights.name_in_file(HEAD[0])
            here = (
                f"adapts the {output} to every patch"
                if trained
                else f"has one {output} for all patches"
            )
            there = "adapts it" if used else "has one for all patches"
            zero = "not zero" if trained else "zero"
            return f"it {here} (row {number} of {head!r} is {zero}), but {arm.arm} {there}"
    return None
