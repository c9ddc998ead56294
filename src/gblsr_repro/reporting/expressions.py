"""A small language for numbers computed from the aggregates.

A claim of the paper says what it measures as one expression, such as

    native('kodak', 'gblsr_scalar', 'psnr') - native_max('kodak', 'liif lte wire', 'psnr')

An expression holds numbers, + - * /, one comparison (1 where it holds, else 0), lists in square
brackets, and the functions of this module that are marked `@function`; nothing else is read, so a
table of expressions cannot run code. Every value is a vector and carries the standard error that
the spread over seeds gives it. Names in one text are separated by blanks; `*` stands for all data
sets of that benchmark in the paper, in its order. Vectors run over data sets first, then over
arms or methods, then over scales.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ..config import Config, protocol
from ..errors import UserError
from ..evaluation import OURS, PAPER
from . import statistics
from .aggregates import Aggregates, Key
from .kinds import scale_key
from .statistics import Summary
from .table_native import QUALITY

VALIDATION = "validation"


class NotMeasuredError(Exception):
    """A number the aggregates do not hold; the message says which."""


@dataclass(frozen=True)
class Estimate:
    """`values` (k,) and their standard errors `errors` (k,), NaN where no spread is known."""

    values: np.ndarray
    errors: np.ndarray

    @classmethod
    def of(cls, values: Iterable[float], errors: Iterable[float] | None = None) -> Estimate:
        """Build a measure from any iterables; without `errors` the values are exact."""
        array = np.asarray(list(values), dtype=np.float64)
        return cls(
            array, np.zeros_like(array) if errors is None else np.asarray(list(errors), np.float64)
        )

    def pick(self, index: int) -> Estimate:
        """Return one element as a vector of length 1."""
        return Estimate(self.values[index : index + 1], self.errors[index : index + 1])


@dataclass(frozen=True)
class Operand:
    """One aggregate an estimate was computed from: its kind, data set, arm or method, and key."""

    kind: str
    dataset: str
    subject: str
    key: Key

    @property
    def label(self) -> str:
        """What the number is about, without its metric: `kodak liif`, `set5 lte_rdn 4`."""
        return " ".join(self.key[:-1])


# --- the functions of the language -------------------------------------------------------------

FUNCTIONS: dict[str, Callable[..., Estimate]] = {}
Argument = Estimate | str


def function(implementation: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Make a function callable from expressions; its first argument is the `Evaluation`."""
    FUNCTIONS[implementation.__name__.removesuffix("_")] = implementation
    return implementation


@dataclass
class Evaluation:
    """Evaluates expressions over `aggregates` and notes in `operands` what they read.

    Every method takes names in one text (see `_names`) and reads data sets first, then arms or
    methods, then scales. Raises `NotMeasuredError` where a number is absent.
    """

    aggregates: Aggregates
    operands: list[Operand] = field(default_factory=list)

    def read(self, kind: str, dataset: str, subject: str, *key: str) -> Summary:
        """Read one aggregate and note its use."""
        if not self.aggregates.has(kind):
            raise NotMeasuredError(f"{kind}.csv was not made")
        found = self.aggregates.cell(kind, *key)
        if found is None:
            raise NotMeasuredError(f"{kind}.csv has no {' '.join(filter(None, key))}")
        self.operands.append(Operand(kind, dataset, subject, key))
        return found

    def native(self, datasets: str, arms: str, metric: str) -> list[Summary]:
        """Read native aggregates; those of the data set `validation` are the ablation's."""
        return [
            self.read("ablation", d, arm, arm, metric)
            if d == VALIDATION
            else self.read("native", d, arm, d, arm, metric)
            for d in _names(datasets, _paper("native")["data"]["evaluate"])
            for arm in _names(arms)
        ]

    def asr(self, datasets: str, methods: str, scales: str, metric: str) -> list[Summary]:
        """Read aggregates of super-resolution quality."""
        return [
            self.read("asr_quality", d, method, d, method, scale, metric)
            for d in _names(datasets, _paper("asr")["evaluate"])
            for method in _names(methods)
            for scale in _names(scales)
        ]

    def times(self, datasets: str, methods: str, metric: str, clock: str = PAPER) -> list[Summary]:
        """Read timings at the paper's scale, by its clock unless another is named."""
        scale = scale_key(_paper("asr")["timing"]["scale"])
        return [
            self.read("asr_latency", d, method, d, method, scale, clock, metric)
            for d in _names(datasets)
            for method in _names(methods)
        ]

    def runs(self, kind: str, names: str, column: str) -> list[float]:
        """Read a column of all runs of the arms or methods."""
        if not self.aggregates.has(kind):
            raise NotMeasuredError(f"{kind}.csv was not made")
        rows = self.aggregates.frame(kind)
        found: list[float] = []
        for name in _names(names):
            values = rows[rows["arm"] == name].reindex(columns=[column])[column].dropna()
            if values.empty:
                raise NotMeasuredError(f"{kind}.csv has no {column} of {name}")
            self.operands.append(Operand(kind, "", name, (name, column)))
            found += values.astype(float).tolist()
        return found


@cache
def _paper(half: str) -> Config:
    return protocol()[half]


def _names(text: str, everything: Iterable[str] = ()) -> list[str]:
    return list(everything) if text == "*" else text.split()


def _pairs(cells: Sequence[Summary]) -> list[tuple[Summary, Summary]]:
    """Return the cells of two arms by data set."""
    return list(zip(cells[::2], cells[1::2], strict=True))


def _rows(cells: Sequence[Summary], columns: int) -> list[list[Summary]]:
    return [list(cells[i : i + columns]) for i in range(0, len(cells), columns)]


def _means(cells: Iterable[Summary]) -> Estimate:
    """Return means with their standard errors, std / sqrt(n)."""
    known = list(cells)
    return Estimate.of(
        [cell.mean for cell in known],
        [cell.std / math.sqrt(cell.n) if cell.has_spread else math.nan for cell in known],
    )


def _spread(cells: Sequence[Summary], what: str) -> Sequence[Summary]:
    """Return cells that all have a standard deviation over seeds."""
    if not all(cell.has_spread for cell in cells):
        raise NotMeasuredError(f"{what} has no spread over seeds")
    return cells


def _join(parts: Sequence[Estimate]) -> Estimate:
    return Estimate(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.errors for part in parts]),
    )


def _extreme(values: Estimate, choose: Callable[[np.ndarray], np.intp]) -> Estimate:
    return values.pick(int(choose(values.values)))


def _best(cells: Sequence[Summary], columns: int, choose: Callable[..., np.intp]) -> Estimate:
    """Return of every so many cells the extreme one."""
    return _join([_extreme(_means(row), choose) for row in _rows(cells, columns)])


@function
def native(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """Means of a metric of the native benchmark."""
    return _means(run.native(datasets, arms, metric))


@function
def native_std(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """Standard deviations over seeds, without errors: `verdicts` tests them by their seeds."""
    cells = _spread(run.native(datasets, arms, metric), f"{metric} of {arms}")
    return Estimate.of(cell.std for cell in cells)


@function
def native_bold(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set and arm, 1 where the paper's rule for its main tables sets it in bold."""
    column = next(column for column in QUALITY if column.name == metric)
    alpha = _paper("native")["significance"]
    cells = _spread(run.native(datasets, arms, metric), f"{metric} of {arms}")
    rows = _rows(cells, len(_names(arms)))
    strong = [statistics.bold(row, column.lower, column.digits, alpha) for row in rows]
    return Estimate.of(told for row in strong for told in row)


@function
def native_max(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the highest mean among the arms."""
    return _best(run.native(datasets, arms, metric), len(_names(arms)), np.argmax)


@function
def native_min(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the lowest mean among the arms."""
    return _best(run.native(datasets, arms, metric), len(_names(arms)), np.argmin)


def _welch(run: Evaluation, datasets: str, arms: str, metric: str) -> list[tuple[float, float]]:
    found = []
    for a, b in _pairs(_spread(run.native(datasets, arms, metric), f"{metric} of {arms}")):
        u, v = a.std**2 / a.n, b.std**2 / b.n
        if u + v == 0:
            raise NotMeasuredError(f"{metric} of {arms} does not vary over seeds")
        freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))
        found.append((abs(a.mean - b.mean) / math.sqrt(u + v), freedom))
    return found


@function
def welch_t(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, |t| of Welch's test between the two arms."""
    return Estimate.of(t for t, _ in _welch(run, datasets, arms, metric))


@function
def welch_df(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the Welch-Satterthwaite degrees of freedom between the two arms."""
    return Estimate.of(freedom for _, freedom in _welch(run, datasets, arms, metric))


@function
def pooled_p(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the two-sided p of the pooled t-test between the two arms."""
    cells = _spread(run.native(datasets, arms, metric), f"{metric} of {arms}")
    return Estimate.of(statistics.pooled_p(*pair) for pair in _pairs(cells))


@function
def asr(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """Means of a metric of the super-resolution benchmark."""
    return _means(run.asr(datasets, methods, scales, metric))


@function
def asr_std(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """Standard deviations over seeds of a metric of the super-resolution benchmark."""
    cells = _spread(run.asr(datasets, methods, scales, metric), f"{metric} of {methods}")
    return Estimate.of(cell.std for cell in cells)


@function
def asr_pooled_p(run: Evaluation, datasets: str, methods: str, scale: str, metric: str) -> Estimate:
    """For each data set, the two-sided p of the pooled t-test between the two methods."""
    cells = _spread(run.asr(datasets, methods, scale, metric), f"{metric} of {methods}")
    return Estimate.of(statistics.pooled_p(*pair) for pair in _pairs(cells))


@function
def asr_max(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """For each data set and scale, the highest mean among the methods."""
    names = _names(datasets, _paper("asr")["evaluate"])
    places = [(dataset, scale) for dataset in names for scale in _names(scales)]
    rows = (_means(run.asr(dataset, methods, scale, metric)) for dataset, scale in places)
    return _join([_extreme(row, np.argmax) for row in rows])


@function
def asr_time(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """Means of a timing metric (mean_ms, peak_memory_mib) at x4 by the paper's clock."""
    return _means(run.times(datasets, methods, metric))


@function
def asr_own_time(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """The same by this package's own clock."""
    return _means(run.times(datasets, methods, metric, OURS))


@function
def asr_time_spread(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """Standard deviation over seeds divided by the mean, in percent, of a timing metric at x4."""
    cells = _spread(run.times(datasets, methods, metric), f"{metric} of {methods}")
    return Estimate.of(100 * cell.std / cell.mean for cell in cells)


@function
def locality(run: Evaluation, arms: str, statistic: str) -> Estimate:
    """Means of a statistic of the locality diagnostic."""
    return _means(run.read("locality", VALIDATION, arm, arm, statistic) for arm in _names(arms))


@function
def ablation(run: Evaluation, arms: str, metric: str) -> Estimate:
    """Means of a metric on the validation images."""
    return _means(run.native(VALIDATION, arms, metric))


@function
def parameters(run: Evaluation, arms: str) -> Estimate:
    """Trainable parameters of the arms of the native benchmark at the paper's sizes."""
    return Estimate.of(run.runs("sizes", arms, "parameters"))


@function
def asr_parameters(run: Evaluation, methods: str) -> Estimate:
    """Trainable parameters of the super-resolution methods at the paper's sizes."""
    return Estimate.of(run.runs("sizes", methods, "parameters"))


@function
def seconds(run: Evaluation, arms: str) -> Estimate:
    """Training time of every run of the arms of the native benchmark, in seconds."""
    return Estimate.of(run.runs("runs", arms, "wall_seconds"))


@function
def asr_hours(run: Evaluation, methods: str) -> Estimate:
    """Training time of every run of the super-resolution methods, in hours."""
    return Estimate.of(s / 3600 for s in run.runs("asr_runs", methods, "wall_seconds"))


@function
def asr_bandwidth(run: Evaluation, methods: str) -> Estimate:
    """Trained bandwidth of every run of the super-resolution methods."""
    return Estimate.of(run.runs("asr_runs", methods, "bandwidth"))


@function
def highest_mode_weight(run: Evaluation) -> Estimate:
    """The weight that this package's cutoff gives the highest mode at full order (section 3.1)."""
    import torch

    from ..models.spectral import cutoff

    model = _paper("native")["model"]
    order = torch.tensor(float(model["modes"]), dtype=torch.float64)
    weights = cutoff(order, model["modes"], model["cutoff_sharpness"])
    return Estimate.of([float(weights[-1, -1])])


@function
def coordinate_stretch(run: Evaluation) -> Estimate:
    """The step between two pixels in this package's patch coordinate, over the step 2 / P that
    dividing offsets by half the patch's width gives (section 3.1).
    """
    import torch

    from ..models.spectral import pixel_basis

    patch = _paper("native")["model"]["patch"]
    bandwidth = torch.tensor(0.25, dtype=torch.float64)
    sine = pixel_basis(patch, 3, bandwidth)[:, 2]  # sin(pi s v), which rises over all of [-1, 1]
    v = torch.asin(sine) / (math.pi * bandwidth)
    return Estimate.of([float(v[1] - v[0]) * patch / 2])


@function
def min_(run: Evaluation, values: Estimate) -> Estimate:
    """The lowest element."""
    return _extreme(values, np.argmin)


@function
def max_(run: Evaluation, values: Estimate) -> Estimate:
    """The highest element."""
    return _extreme(values, np.argmax)


@function
def sum_(run: Evaluation, values: Estimate) -> Estimate:
    """The sum of the elements."""
    return Estimate.of([values.values.sum()], [math.sqrt(np.square(values.errors).sum())])


@function
def count(run: Evaluation, values: Estimate) -> Estimate:
    """How many elements are not 0: of a comparison, how many times it holds."""
    return Estimate.of([float(np.count_nonzero(values.values))])


@function
def mean(run: Evaluation, values: Estimate) -> Estimate:
    """The arithmetic mean of the elements."""
    total = sum_(run, values)
    return Estimate(total.values / len(values.values), total.errors / len(values.values))


@function
def geomean(run: Evaluation, values: Estimate) -> Estimate:
    """The geometric mean of the elements, which must be positive."""
    middle = math.exp(np.log(values.values).mean())
    relative = math.sqrt(np.square(values.errors / values.values).sum()) / len(values.values)
    return Estimate.of([middle], [middle * relative])


@function
def abs_(run: Evaluation, values: Estimate) -> Estimate:
    """The elements without their signs."""
    return Estimate(np.abs(values.values), values.errors)


# --- expressions --------------------------------------------------------------------------------

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _add(a: Estimate, b: Estimate) -> Estimate:
    return Estimate(a.values + b.values, np.hypot(a.errors, b.errors))


def _subtract(a: Estimate, b: Estimate) -> Estimate:
    return Estimate(a.values - b.values, np.hypot(a.errors, b.errors))


def _multiply(a: Estimate, b: Estimate) -> Estimate:
    return Estimate(a.values * b.values, np.hypot(a.errors * b.values, b.errors * a.values))


def _divide(a: Estimate, b: Estimate) -> Estimate:
    if not b.values.all():
        raise NotMeasuredError("a divisor is 0")
    ratio = a.values / b.values
    return Estimate(ratio, np.hypot(a.errors, b.errors * ratio) / np.abs(b.values))


_ARITHMETIC: dict[type[ast.operator], Callable[[Estimate, Estimate], Estimate]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
}


_READ = (
    ast.BinOp, ast.UnaryOp, ast.USub, ast.UAdd, ast.Compare, ast.Call, ast.Constant, ast.List,
    ast.Name, ast.Load, *_ARITHMETIC, *_COMPARISONS,
)  # fmt: skip


def parse(expression: str) -> ast.expr:
    """Parse an expression; `UserError` when it is not one of this language."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise UserError(f"The expression {expression!r} cannot be read: {error.msg}.") from error
    for node in ast.walk(tree):
        fault = _fault(node)
        if fault:
            raise UserError(f"The expression {expression!r} {fault}.")
    return tree


def _fault(node: ast.AST) -> str | None:
    """Say what keeps a node from being part of the language."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            parameters = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
            wanted = [parameter.annotation == "str" for parameter in parameters]
            given = [_is_text(argument) for argument in arguments]
            if wanted != given:
                kinds = ", ".join("a text" if text else "a number" for text in wanted)
                return f"must give {name}() {kinds}"
        case ast.Call(func=called):
            return f"calls {ast.unparse(called)!r}; known are {', '.join(FUNCTIONS)}"
        case ast.Compare(ops=operators) if len(operators) > 1:
            return "chains comparisons; use one at a time"
        case ast.Name(id=name) if name not in FUNCTIONS:
            return f"holds the unknown name {name!r}"
        case ast.Constant(value=value) if isinstance(value, bool) or not isinstance(
            value, (int, float, str)
        ):
            return f"holds {value!r}, which is neither a number nor a text"
        case _ if not isinstance(node, _READ):
            return f"holds a {type(node).__name__}, which is not part of this language"
    return None


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def evaluate(expression: str, aggregates: Aggregates) -> tuple[Estimate, list[Operand]]:
    """Compute an expression; return its vector and what it was computed from.

    Standard errors are propagated to first order as if all terms were independent, which
    overstates the noise of terms that share a mean. Raises `NotMeasuredError` when the aggregates
    lack a number, `UserError` when the text is not an expression of this language.
    """
    run = Evaluation(aggregates)
    found = _visit(parse(expression), run)
    if isinstance(found, str):
        raise UserError(f"The expression {expression!r} is a text, not a number.")
    return found, run.operands


def _visit(node: ast.expr, run: Evaluation) -> Argument:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant(value=value):
            return Estimate.of([float(value)])
        case ast.List(elts=parts):
            return _join([_number(part, run) for part in parts])
        case ast.UnaryOp(op=sign, operand=part):
            inner = _number(part, run)
            return Estimate(-inner.values, inner.errors) if isinstance(sign, ast.USub) else inner
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](*_pair(left, right, run))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            first, second = _pair(left, right, run)
            return Estimate.of(_COMPARISONS[type(op)](first.values, second.values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](run, *(_visit(argument, run) for argument in arguments))
        case _:
            raise UserError(f"The expression holds {ast.unparse(node)!r}, which is not a number.")


def _number(node: ast.expr, run: Evaluation) -> Estimate:
    found = _visit(node, run)
    if isinstance(found, str):
        raise UserError(f"The expression uses the text {found!r} as a number.")
    return found


def _pair(left: ast.expr, right: ast.expr, run: Evaluation) -> tuple[Estimate, Estimate]:
    first, second = _number(left, run), _number(right, run)
    if 1 not in (len(first.values), len(second.values)) and len(first.values) != len(second.values):
        raise UserError(
            f"The expression joins {len(first.values)} with {len(second.values)} numbers: "
            f"{ast.unparse(left)} and {ast.unparse(right)}."
        )
    return first, second
