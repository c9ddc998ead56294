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
    """Evaluates expressions over `aggregates` and notes in `operands` what they read."""

    aggregates: Aggregates
    operands: list[Operand] = field(default_factory=list)

    def read(self, kind: str, dataset: str, subject: str, key: Key) -> Summary:
        """Read one aggregate and note its use."""
        if not self.aggregates.has(kind):
            raise NotMeasuredError(f"{kind}.csv was not made")
        found = self.aggregates.cell(kind, *key)
        if found is None:
            raise NotMeasuredError(f"{kind}.csv has no {' '.join(filter(None, key))}")
        self.operands.append(Operand(kind, dataset, subject, key))
        return found

    def mean(self, kind: str, dataset: str, subject: str, key: Key) -> Estimate:
        """Read mean and standard error, std / sqrt(n), of one aggregate."""
        return _with_error(self.read(kind, dataset, subject, key))

    def spread(self, dataset: str, arm: str, metric: str) -> Summary:
        """Read a native aggregate that has a standard deviation over seeds.

        The data set `validation` is read from the ablation's table.
        """
        if dataset == VALIDATION:
            found = self.read("ablation", dataset, arm, (arm, metric))
        else:
            found = self.read("native", dataset, arm, (dataset, arm, metric))
        if not found.has_spread:
            raise NotMeasuredError(f"{metric} of {arm} on {dataset} has no spread over seeds")
        return found

    def time(self, dataset: str, method: str, metric: str, clock: str = PAPER) -> Summary:
        """Read one timing at x4, by the paper's clock unless another is named."""
        key = (dataset, method, scale_key(_paper("asr")["timing"]["scale"]), clock, metric)
        return self.read("asr_latency", dataset, method, key)


def _with_error(summary: Summary) -> Estimate:
    error = summary.std / math.sqrt(summary.n) if summary.has_spread else math.nan
    return Estimate.of([summary.mean], [error])


def _join(parts: Sequence[Estimate]) -> Estimate:
    return Estimate(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.errors for part in parts]),
    )


@cache
def _paper(half: str) -> Config:
    return protocol()[half]


def _names(text: str, everything: Iterable[str] = ()) -> list[str]:
    return list(everything) if text == "*" else text.split()


def _native_sets(text: str) -> list[str]:
    return _names(text, _paper("native")["data"]["evaluate"])


def _asr_sets(text: str) -> list[str]:
    return _names(text, _paper("asr")["evaluate"])


def _spreads(found: Sequence[Summary], what: str) -> Estimate:
    """Return standard deviations; they carry no errors, `verdicts` tests them by their seeds."""
    if not all(summary.has_spread for summary in found):
        raise NotMeasuredError(f"{what} has no spread over seeds")
    return Estimate.of(summary.std or 0.0 for summary in found)


def _extreme(parts: Sequence[Estimate], choose: Callable[[np.ndarray], np.intp]) -> Estimate:
    joined = _join(parts)
    return joined.pick(int(choose(joined.values)))


@function
def native(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """Means of a metric of the native benchmark."""
    return _join(
        [
            run.mean("native", dataset, arm, (dataset, arm, metric))
            for dataset in _native_sets(datasets)
            for arm in _names(arms)
        ]
    )


@function
def native_std(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """Standard deviations over seeds of a metric of the native benchmark."""
    found = [
        run.read("native", dataset, arm, (dataset, arm, metric))
        for dataset in _native_sets(datasets)
        for arm in _names(arms)
    ]
    return _spreads(found, f"{metric} of {arms}")


@function
def native_bold(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set and arm, 1 where the paper's rule for its main tables sets it in bold."""
    column = next(column for column in QUALITY if column.name == metric)
    alpha = protocol()["native"]["significance"]
    found: list[bool] = []
    for dataset in _native_sets(datasets):
        cells = [run.spread(dataset, arm, metric) for arm in _names(arms)]
        found += statistics.bold(cells, column.lower, column.digits, alpha)
    return Estimate.of(found)


@function
def native_max(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the highest mean among the arms."""
    return _join(
        [
            _extreme([native(run, dataset, arms, metric)], np.argmax)
            for dataset in _native_sets(datasets)
        ]
    )


@function
def native_min(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the lowest mean among the arms."""
    return _join(
        [
            _extreme([native(run, dataset, arms, metric)], np.argmin)
            for dataset in _native_sets(datasets)
        ]
    )


def _welch(run: Evaluation, dataset: str, arms: str, metric: str) -> tuple[float, float]:
    a, b = (run.spread(dataset, arm, metric) for arm in _names(arms))
    u, v = a.std**2 / a.n, b.std**2 / b.n
    if u + v == 0:
        raise NotMeasuredError(f"{metric} of {arms} on {dataset} does not vary over seeds")
    freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))
    return abs(a.mean - b.mean) / math.sqrt(u + v), freedom


@function
def welch_t(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, |t| of Welch's test between the two arms."""
    names = _native_sets(datasets)
    return Estimate.of(_welch(run, dataset, arms, metric)[0] for dataset in names)


@function
def welch_df(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the Welch-Satterthwaite degrees of freedom between the two arms."""
    names = _native_sets(datasets)
    return Estimate.of(_welch(run, dataset, arms, metric)[1] for dataset in names)


@function
def pooled_p(run: Evaluation, datasets: str, arms: str, metric: str) -> Estimate:
    """For each data set, the two-sided p of the pooled t-test between the two arms."""
    return Estimate.of(
        statistics.pooled_p(*(run.spread(dataset, arm, metric) for arm in _names(arms)))
        for dataset in _native_sets(datasets)
    )


@function
def asr(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """Means of a metric of the super-resolution benchmark."""
    cells = _asr_cells(run, datasets, methods, scales, metric)
    return _join([_with_error(cell) for cell in cells])


def _asr_cells(
    run: Evaluation, datasets: str, methods: str, scales: str, metric: str
) -> list[Summary]:
    return [
        run.read("asr_quality", dataset, method, (dataset, method, scale, metric))
        for dataset in _asr_sets(datasets)
        for method in _names(methods)
        for scale in _names(scales)
    ]


@function
def asr_std(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """Standard deviations over seeds of a metric of the super-resolution benchmark."""
    return _spreads(_asr_cells(run, datasets, methods, scales, metric), f"{metric} of {methods}")


@function
def asr_pooled_p(run: Evaluation, datasets: str, methods: str, scale: str, metric: str) -> Estimate:
    """For each data set, the two-sided p of the pooled t-test between the two methods."""
    names = _asr_sets(datasets)
    pairs = [_asr_cells(run, dataset, methods, scale, metric) for dataset in names]
    _spreads([cell for pair in pairs for cell in pair], f"{metric} of {methods}")
    return Estimate.of(statistics.pooled_p(*pair) for pair in pairs)


@function
def asr_max(run: Evaluation, datasets: str, methods: str, scales: str, metric: str) -> Estimate:
    """For each data set and scale, the highest mean among the methods."""
    return _join(
        [
            _extreme([asr(run, dataset, methods, scale, metric)], np.argmax)
            for dataset in _asr_sets(datasets)
            for scale in _names(scales)
        ]
    )


@function
def asr_time(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """Means of a timing metric (mean_ms, peak_memory_mib) at x4 by the paper's clock."""
    return _timings(run, datasets, methods, metric, PAPER)


@function
def asr_own_time(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """The same by this package's own clock."""
    return _timings(run, datasets, methods, metric, OURS)


def _timings(run: Evaluation, datasets: str, methods: str, metric: str, clock: str) -> Estimate:
    found = [run.time(d, m, metric, clock) for d in _names(datasets) for m in _names(methods)]
    return Estimate.of(
        [summary.mean for summary in found],
        [s.std / math.sqrt(s.n) if s.has_spread else math.nan for s in found],
    )


@function
def asr_time_spread(run: Evaluation, datasets: str, methods: str, metric: str) -> Estimate:
    """Standard deviation over seeds divided by the mean, in percent, of a timing metric at x4."""
    found = [run.time(d, method, metric) for d in _names(datasets) for method in _names(methods)]
    if not all(summary.has_spread for summary in found):
        raise NotMeasuredError(f"{metric} of {methods} has no spread over seeds")
    return Estimate.of(100 * summary.std / summary.mean for summary in found)


@function
def locality(run: Evaluation, arms: str, statistic: str) -> Estimate:
    """Means of a statistic of the locality diagnostic."""
    return _join([run.mean("locality", VALIDATION, arm, (arm, statistic)) for arm in _names(arms)])


@function
def ablation(run: Evaluation, arms: str, metric: str) -> Estimate:
    """Means of a metric on the validation images."""
    return _join([run.mean("ablation", VALIDATION, arm, (arm, metric)) for arm in _names(arms)])


def _runs(run: Evaluation, kind: str, names: str, column: str) -> Estimate:
    if not run.aggregates.has(kind):
        raise NotMeasuredError(f"{kind}.csv was not made")
    rows = run.aggregates.frame(kind)
    found: list[float] = []
    for name in _names(names):
        values = rows[rows["arm"] == name].reindex(columns=[column])[column].dropna()
        if values.empty:
            raise NotMeasuredError(f"{kind}.csv has no {column} of {name}")
        run.operands.append(Operand(kind, "", name, (name, column)))
        found += values.astype(float).tolist()
    return Estimate.of(found)


@function
def parameters(run: Evaluation, arms: str) -> Estimate:
    """Trainable parameters of the arms of the native benchmark."""
    return _join([_runs(run, "runs", arm, "parameters").pick(0) for arm in _names(arms)])


@function
def asr_parameters(run: Evaluation, methods: str) -> Estimate:
    """Trainable parameters of the super-resolution methods."""
    names = _names(methods)
    return _join([_runs(run, "asr_runs", method, "parameters").pick(0) for method in names])


@function
def seconds(run: Evaluation, arms: str) -> Estimate:
    """Training time of every run of the arms of the native benchmark, in seconds."""
    return _runs(run, "runs", arms, "wall_seconds")


@function
def asr_hours(run: Evaluation, methods: str) -> Estimate:
    """Training time of every run of the super-resolution methods, in hours."""
    runs = _runs(run, "asr_runs", methods, "wall_seconds")
    return Estimate(runs.values / 3600, runs.errors)


@function
def asr_bandwidth(run: Evaluation, methods: str) -> Estimate:
    """Trained bandwidth of every run of the super-resolution methods."""
    return _runs(run, "asr_runs", methods, "bandwidth")


@function
def highest_mode_weight(run: Evaluation) -> Estimate:
    """The weight that this package's cutoff gives the highest mode at full order (section 3.1)."""
    import torch

    from ..models.spectral import cutoff

    model = protocol()["native"]["model"]
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

    patch = protocol()["native"]["model"]["patch"]
    bandwidth = torch.tensor(0.25, dtype=torch.float64)
    sine = pixel_basis(patch, 3, bandwidth)[:, 2]  # sin(pi s v), which rises over all of [-1, 1]
    v = torch.asin(sine) / (math.pi * bandwidth)
    return Estimate.of([float(v[1] - v[0]) * patch / 2])


@function
def min_(run: Evaluation, values: Estimate) -> Estimate:
    """The lowest element."""
    return _extreme([values], np.argmin)


@function
def max_(run: Evaluation, values: Estimate) -> Estimate:
    """The highest element."""
    return _extreme([values], np.argmax)


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
