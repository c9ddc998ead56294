"""A small language for numbers computed from the aggregates.

A claim of the paper says what it measures as one expression, such as

    native('kodak', 'gblsr_scalar', 'psnr') - best(native('kodak', 'liif lte wire', 'psnr'))

It is Python with numbers, + - * /, one comparison (1 where it holds, else 0), lists, and calls of
what the tables `READS`, `COLUMNS` and `COMPUTED` name; nothing else is read, so a table of
expressions cannot run code. Every value is a vector and carries the standard error that the spread
over seeds gives it. Names in one text are separated by blanks; `*` stands for all data sets of that
benchmark in the paper, in its order. Vectors run over the names in the order of the texts, the last
the fastest.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from ..config import methods, protocol
from ..errors import UserError
from ..evaluation import OURS, PAPER
from . import statistics
from .aggregates import Aggregates, Key
from .kinds import KINDS, scale_key
from .statistics import QUALITY, Summary

VALIDATION = "validation"


class NotMeasuredError(Exception):
    """A number the aggregates do not hold; the message says which."""


@dataclass(frozen=True)
class Operand:
    """A number of the aggregates that an estimate was computed from: its key there, and the data
    set and the arm or method that it is of.
    """

    dataset: str
    subject: str
    key: Key
    cell: Summary

    @property
    def label(self) -> str:
        """What the number is about, without its metric: `kodak liif`, `set5 lte_rdn 4`."""
        return " ".join(self.key[:-1])


@dataclass(frozen=True)
class Estimate:
    """`values` (k,), their standard errors `errors` (k,), NaN where no spread is known, and the
    `cells` (k or none) that were read.
    """

    values: np.ndarray
    errors: np.ndarray
    cells: Sequence[Operand] = ()

    @classmethod
    def of(cls, values: Iterable[float], errors: Iterable[float] | None = None) -> Estimate:
        """Build an estimate from any iterables; without `errors` the values are exact."""
        array = np.asarray(list(values), dtype=np.float64)
        known = np.zeros_like(array) if errors is None else np.asarray(list(errors), np.float64)
        return cls(array, known)

    def pick(self, places: Sequence[int]) -> Estimate:
        """Return some of the elements."""
        return Estimate(self.values[places], self.errors[places])

    def rows(self) -> list[list[int]]:
        """Return the places of cells that differ in nothing but the arm or method."""
        found: dict[Key, list[int]] = {}
        for place, cell in enumerate(self.cells):
            found.setdefault(tuple(k for k in cell.key if k != cell.subject), []).append(place)
        return list(found.values())

    def spreads(self) -> list[Summary]:
        """Return the numbers, which all must have a standard deviation over seeds."""
        for operand in self.cells:
            if not operand.cell.spread:
                raise NotMeasuredError(f"{' '.join(operand.key)} has no spread over seeds")
        return [operand.cell for operand in self.cells]


# --- what reads the aggregates --------------------------------------------------------------------

# By the name of the function: the kind of aggregate, whose keys are its texts, but for those given.
_X4 = {"scale": scale_key(protocol()["asr"]["timing"]["scale"])}
READS: dict[str, tuple[str, dict[str, str]]] = {
    "native": ("native", {}),
    "ablation": ("ablation", {}),
    "locality": ("locality", {}),
    "asr": ("asr_quality", {}),
    "asr_time": ("asr_latency", _X4 | {"clock": PAPER}),
    "asr_own_time": ("asr_latency", _X4 | {"clock": OURS}),
}
# A column of all runs of the arms or methods that are named, or what the code alone gives.
STRUCTURE = ("parameters", "constant")
COLUMNS = {"seconds": "wall_seconds", "bandwidth": "bandwidth"} | dict.fromkeys(STRUCTURE, "value")


@dataclass
class Evaluation:
    """The aggregates that an expression reads, and what it read of them."""

    aggregates: Aggregates
    operands: list[Operand] = field(default_factory=list)

    def read(self, name: str, texts: Sequence[str]) -> Estimate:
        """Read means with their standard errors std / sqrt(n), by a function of `READS`.

        Raises `NotMeasuredError` where a number is absent.
        """
        kind, fixed = READS[name]
        given = iter(texts)
        names = {k: (fixed[k] if k in fixed else next(given)).split() for k in KINDS[kind].keys}
        if names.get("dataset") == ["*"]:
            paper = protocol()
            names["dataset"] = list(
                (paper["asr"] if kind.startswith("asr") else paper["native"]["data"])["evaluate"]
            )
        self._need(kind)
        found = []
        for key in product(*names.values()):
            cell, of = self.aggregates.cell(kind, *key), dict(zip(names, key, strict=True))
            if not cell.measured:
                raise NotMeasuredError(f"{kind}.csv has no {' '.join(key)}")
            subject = of.get("arm") or of["method"]
            found.append(Operand(of.get("dataset", VALIDATION), subject, key, cell))
        self.operands += found
        cells = [operand.cell for operand in found]
        errors = [c.std / math.sqrt(c.n) if c.spread else math.nan for c in cells]
        return replace(Estimate.of([c.mean for c in cells], errors), cells=found)

    def column(self, column: str, names: str) -> Estimate:
        """Read a column of the runs of arms or methods, or values of the aggregate `structure`."""
        found: list[float] = []
        for name in names.split():
            kind = "asr_runs" if name in methods() else "runs"
            kind, key = ("structure", "name") if column == "value" else (kind, "arm")
            self._need(kind)
            rows = self.aggregates.frame(kind)
            values = rows[rows[key] == name].reindex(columns=[column])[column].dropna()
            if values.empty:
                raise NotMeasuredError(f"{kind}.csv has no {column} of {name}")
            own = values.astype(float).tolist()
            self.operands.append(Operand("", name, (name, column), Summary(own[0])))
            found += own
        return Estimate.of(found)

    def _need(self, kind: str) -> None:
        if not self.aggregates.has(kind):
            raise NotMeasuredError(f"{kind}.csv was not made")


# --- what is computed from an estimate ------------------------------------------------------------


def _bold(read: Estimate) -> Estimate:
    """Apply the paper's rule for the bold numbers of its main tables."""
    cells, told = read.spreads(), np.zeros(len(read.values))
    metric = next(metric for metric in QUALITY if metric.name == read.cells[0].key[-1])
    alpha = protocol()["native"]["significance"]
    for row in read.rows():
        told[row] = statistics.bold([cells[i] for i in row], metric.lower, metric.digits, alpha)
    return Estimate.of(told)


def _pairs(read: Estimate, test: Callable[[Summary, Summary], float]) -> Estimate:
    cells = read.spreads()
    return Estimate.of(test(cells[a], cells[b]) for a, b in read.rows())


def _welch(a: Summary, b: Summary) -> tuple[float, float]:
    """Return |t| and the Welch-Satterthwaite degrees of freedom."""
    u, v = a.std**2 / a.n, b.std**2 / b.n
    if u + v == 0:
        raise NotMeasuredError("neither of two numbers varies over seeds")
    freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))
    return abs(a.mean - b.mean) / math.sqrt(u + v), freedom


def _sum(x: Estimate, over: int = 1) -> Estimate:
    return Estimate.of([x.values.sum() / over], [math.sqrt(np.square(x.errors).sum()) / over])


def _geomean(x: Estimate) -> Estimate:
    middle = math.exp(np.log(x.values).mean())
    relative = math.sqrt(np.square(x.errors / x.values).sum()) / len(x.values)
    return Estimate.of([middle], [middle * relative])


COMPUTED: dict[str, Callable[[Estimate], Estimate]] = {
    # Of numbers that were read: of every row of arms or methods the highest or lowest mean, or a
    # test of the two; standard deviations over seeds, or that in percent of the mean; the bold.
    "best": lambda x: x.pick([row[int(np.argmax(x.values[row]))] for row in x.rows()]),
    "least": lambda x: x.pick([row[int(np.argmin(x.values[row]))] for row in x.rows()]),
    "pooled_p": lambda x: _pairs(x, statistics.pooled_p),
    "welch_t": lambda x: _pairs(x, lambda a, b: _welch(a, b)[0]),
    "welch_df": lambda x: _pairs(x, lambda a, b: _welch(a, b)[1]),
    "std": lambda x: Estimate.of(cell.std for cell in x.spreads()),
    "spread": lambda x: Estimate.of(100 * cell.std / cell.mean for cell in x.spreads()),
    "bold": _bold,
    # Of any numbers; `count` is of those that are not 0.
    "min": lambda x: x.pick([int(np.argmin(x.values))]),
    "max": lambda x: x.pick([int(np.argmax(x.values))]),
    "sum": _sum,
    "mean": lambda x: _sum(x, len(x.values)),
    "geomean": _geomean,
    "count": lambda x: Estimate.of([int(np.count_nonzero(x.values))]),
    "abs": lambda x: Estimate(np.abs(x.values), x.errors),
}


# --- expressions ----------------------------------------------------------------------------------


def _divide(a: Estimate, b: Estimate) -> Estimate:
    if not b.values.all():
        raise NotMeasuredError("a divisor is 0")
    ratio = a.values / b.values
    return Estimate(ratio, np.hypot(a.errors, b.errors * ratio) / np.abs(b.values))


_OPERATORS: dict[type[ast.AST], Callable[[Estimate, Estimate], Estimate]] = {
    ast.Add: lambda a, b: Estimate(a.values + b.values, np.hypot(a.errors, b.errors)),
    ast.Sub: lambda a, b: Estimate(a.values - b.values, np.hypot(a.errors, b.errors)),
    ast.Mult: lambda a, b: Estimate(
        a.values * b.values, np.hypot(a.errors * b.values, b.errors * a.values)
    ),
    ast.Div: _divide,
    ast.Lt: lambda a, b: Estimate.of(a.values < b.values),
    ast.LtE: lambda a, b: Estimate.of(a.values <= b.values),
    ast.Gt: lambda a, b: Estimate.of(a.values > b.values),
    ast.GtE: lambda a, b: Estimate.of(a.values >= b.values),
}


Program = Callable[[Evaluation], Estimate]


def parse(expression: str) -> Program:
    """Make a program of an expression; `UserError` when it is not one of this language."""
    try:
        return _build(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError as error:
        raise UserError(f"The expression {expression!r} cannot be read: {error.msg}.") from error
    except UserError as error:
        raise UserError(f"The expression {expression!r} {error}.") from error


def _build(node: ast.AST) -> Program:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return lambda run: Estimate.of([value])
        case ast.List(elts=elements):
            return _joined([_build(element) for element in elements])
        case ast.UnaryOp(op=ast.USub(), operand=part):
            zero, inner = Estimate.of([0.0]), _build(part)
            return lambda run: _OPERATORS[ast.Sub](zero, inner(run))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ) if type(op) in _OPERATORS:
            first, second, combine = _build(left), _build(right), _OPERATORS[type(op)]
            return lambda run: combine(first(run), second(run))
        case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in COMPUTED:
            inner = _build(part)
            return lambda run: COMPUTED[name](inner(run))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _TEXTS:
            values = [part.value for part in given if isinstance(part, ast.Constant)]
            texts = [value for value in values if isinstance(value, str)]
            if not len(texts) == len(given) == _TEXTS[name]:
                raise UserError(f"must give {name}() {_TEXTS[name] or 'no'} texts")
            if name in COLUMNS:
                return lambda run: run.column(COLUMNS[name], *texts)
            return lambda run: run.read(name, texts)
        case ast.Call(func=called):
            known = ", ".join([*_TEXTS, *COMPUTED])
            raise UserError(f"calls {ast.unparse(called)!r} so; known are {known}")
        case _:
            raise UserError(f"holds {ast.unparse(node)!r}, which is no number of this language")


def _joined(programs: Sequence[Program]) -> Program:
    def join(run: Evaluation) -> Estimate:
        parts = [program(run) for program in programs]
        values, errors = ([getattr(part, n) for part in parts] for n in ("values", "errors"))
        return Estimate(np.concatenate(values), np.concatenate(errors))

    return join


# How many texts a function takes.
_TEXTS = {name: len(KINDS[kind].keys) - len(fixed) for name, (kind, fixed) in READS.items()}
_TEXTS |= dict.fromkeys(COLUMNS, 1)


def evaluate(expression: str, aggregates: Aggregates) -> tuple[Estimate, list[Operand]]:
    """Compute an expression; return its vector and what it was computed from.

    Standard errors are propagated to first order as if all terms were independent, which
    overstates the noise of terms that share a mean. Raises `NotMeasuredError` when the aggregates
    lack a number, `UserError` when the text is not an expression of this language.
    """
    run = Evaluation(aggregates)
    try:
        return parse(expression)(run), run.operands
    except ValueError as error:  # NumPy's, of vectors whose lengths do not go together
        raise UserError(f"The expression {expression!r} joins unlike vectors: {error}") from error
