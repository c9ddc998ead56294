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
from dataclasses import dataclass, replace
from functools import partial
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


@dataclass(frozen=True)
class Estimate:
    """`values` (k,), their standard errors `errors` (k,), NaN where no spread is known, and the
    numbers `of` which they were computed: as many, in their order, where they were read.
    """

    values: np.ndarray
    errors: np.ndarray
    of: Sequence[Operand] = ()

    @classmethod
    def exact(cls, values: Iterable[float]) -> Estimate:
        """Build an estimate without errors."""
        array = np.asarray(list(values), dtype=np.float64)
        return cls(array, np.zeros_like(array))

    def pick(self, places: Sequence[int]) -> Estimate:
        """Return some of the elements."""
        return Estimate(self.values[places], self.errors[places])

    def rows(self) -> list[list[int]]:
        """Return the places of numbers that differ in nothing but the arm or method."""
        found: dict[Key, list[int]] = {}
        for place, operand in enumerate(self.of if len(self.of) == len(self.values) else ()):
            shared = tuple(k for k in operand.key if k != operand.subject)
            found.setdefault(shared, []).append(place)
        return list(found.values())

    def spreads(self) -> list[Summary]:
        """Return the numbers, which all must have a standard deviation over seeds."""
        for operand in self.of:
            if not operand.cell.spread:
                raise NotMeasuredError(f"{' '.join(operand.key)} has no spread over seeds")
        return [operand.cell for operand in self.of]


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
COLUMNS = {"seconds": "wall_seconds", "bandwidth": "bandwidth", "parameters": "value",
           "constant": "value"}  # fmt: skip


def _read(name: str, texts: Sequence[str], aggregates: Aggregates) -> Estimate:
    """Read means with their standard errors std / sqrt(n), by a function of `READS`.

    Raises `NotMeasuredError` where a number is absent.
    """
    kind, fixed = READS[name]
    given = iter(texts)
    names = {k: (fixed[k] if k in fixed else next(given)).split() for k in KINDS[kind].keys}
    if names.get("dataset") == ["*"]:
        paper = protocol()
        section = paper["asr"] if kind.startswith("asr") else paper["native"]["data"]
        names["dataset"] = list(section["evaluate"])
    _need(aggregates, kind)
    found = []
    for key in product(*names.values()):
        cell, of = aggregates.cell(kind, *key), dict(zip(names, key, strict=True))
        if not cell.measured:
            raise NotMeasuredError(f"{kind}.csv has no {' '.join(key)}")
        subject = of.get("arm") or of["method"]
        found.append(Operand(of.get("dataset", VALIDATION), subject, key, cell))
    cells = [operand.cell for operand in found]
    errors = [c.std / math.sqrt(c.n) if c.spread else math.nan for c in cells]
    return Estimate(np.array([c.mean for c in cells]), np.array(errors), found)


def _column(name: str, texts: Sequence[str], aggregates: Aggregates) -> Estimate:
    """Read a column of the runs of arms or methods, or values of the aggregate `structure`."""
    column, values, operands = COLUMNS[name], [], []
    for subject in texts[0].split():
        if column == "value":
            kind, key = "structure", "name"
        else:
            kind, key = "asr_runs" if subject in methods() else "runs", "arm"
        _need(aggregates, kind)
        rows = [row for row in aggregates.table(kind) if row[key] == subject]
        told = [row.get(column, math.nan) for row in rows]  # a column may be absent
        own = [value for value in told if not math.isnan(value)]
        if not own:
            raise NotMeasuredError(f"{kind}.csv has no {column} of {subject}")
        values += own
        operands.append(Operand("", subject, (subject, column), Summary()))
    return replace(Estimate.exact(values), of=operands)


def _need(aggregates: Aggregates, kind: str) -> None:
    if not aggregates.has(kind):
        raise NotMeasuredError(f"{kind}.csv was not made")


# --- what is computed from an estimate ------------------------------------------------------------


def _bold(read: Estimate) -> Estimate:
    """Apply the paper's rule for the bold numbers of its main tables."""
    cells, told = read.spreads(), np.zeros(len(read.values))
    metric = next(metric for metric in QUALITY if metric.name == read.of[0].key[-1])
    alpha = protocol()["native"]["significance"]
    for row in read.rows():
        told[row] = statistics.bold([cells[i] for i in row], metric.lower, metric.digits, alpha)
    return Estimate.exact(told)


def _pairs(read: Estimate, test: Callable[[Summary, Summary], float]) -> Estimate:
    cells = read.spreads()
    return Estimate.exact(test(cells[a], cells[b]) for a, b in read.rows())


def _welch(a: Summary, b: Summary) -> tuple[float, float]:
    """Return |t| and the Welch-Satterthwaite degrees of freedom."""
    u, v = a.std**2 / a.n, b.std**2 / b.n
    if u + v == 0:
        raise NotMeasuredError("neither of two numbers varies over seeds")
    freedom = (u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1))
    return abs(a.mean - b.mean) / math.sqrt(u + v), freedom


def _sum(x: Estimate, over: int = 1) -> Estimate:
    total, error = x.values.sum(keepdims=True), np.sqrt(np.square(x.errors).sum(keepdims=True))
    return Estimate(total / over, error / over)


def _geomean(x: Estimate) -> Estimate:
    logs = _sum(Estimate(np.log(x.values), x.errors / x.values), len(x.values))
    middle = np.exp(logs.values)
    return Estimate(middle, middle * logs.errors)


COMPUTED: dict[str, Callable[[Estimate], Estimate]] = {
    # Of numbers that were read: of every row of arms or methods the highest or lowest mean, or a
    # test of the two; standard deviations over seeds, or that in percent of the mean; the bold.
    "best": lambda x: x.pick([row[int(np.argmax(x.values[row]))] for row in x.rows()]),
    "least": lambda x: x.pick([row[int(np.argmin(x.values[row]))] for row in x.rows()]),
    "pooled_p": lambda x: _pairs(x, statistics.pooled_p),
    "welch_t": lambda x: _pairs(x, lambda a, b: _welch(a, b)[0]),
    "welch_df": lambda x: _pairs(x, lambda a, b: _welch(a, b)[1]),
    "std": lambda x: Estimate.exact(cell.std for cell in x.spreads()),
    "spread": lambda x: Estimate.exact(100 * cell.std / cell.mean for cell in x.spreads()),
    "bold": _bold,
    # Of any numbers; `count` is of those that are not 0.
    "min": lambda x: x.pick([int(np.argmin(x.values))]),
    "max": lambda x: x.pick([int(np.argmax(x.values))]),
    "sum": _sum,
    "mean": lambda x: _sum(x, len(x.values)),
    "geomean": _geomean,
    "count": lambda x: Estimate.exact([int(np.count_nonzero(x.values))]),
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
    ast.Lt: lambda a, b: Estimate.exact(a.values < b.values),
    ast.LtE: lambda a, b: Estimate.exact(a.values <= b.values),
    ast.Gt: lambda a, b: Estimate.exact(a.values > b.values),
    ast.GtE: lambda a, b: Estimate.exact(a.values >= b.values),
}


Program = Callable[[Aggregates], Estimate]


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
            return lambda run: Estimate.exact([value])
        case ast.List(elts=parts):
            return _applied(_joined, *parts)
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return _applied(lambda x: Estimate(-x.values, x.errors), part)
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ) if type(op) in _OPERATORS:
            return _applied(_OPERATORS[type(op)], left, right)
        case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in COMPUTED:
            return _applied(COMPUTED[name], part)
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _TEXTS:
            values = [part.value for part in given if isinstance(part, ast.Constant)]
            texts = [value for value in values if isinstance(value, str)]
            if not len(texts) == len(given) == _TEXTS[name]:
                raise UserError(f"must give {name}() {_TEXTS[name] or 'no'} texts")
            return partial(_column if name in COLUMNS else _read, name, texts)
        case ast.Call(func=called):
            known = ", ".join([*_TEXTS, *COMPUTED])
            raise UserError(f"calls {ast.unparse(called)!r} so; known are {known}")
        case _:
            raise UserError(f"holds {ast.unparse(node)!r}, which is no number of this language")


def _applied(function: Callable[..., Estimate], *nodes: ast.AST) -> Program:
    """Make a program that computes with a function what the nodes' own programs give."""
    programs = [_build(node) for node in nodes]

    def run(aggregates: Aggregates) -> Estimate:
        parts = [program(aggregates) for program in programs]
        return replace(function(*parts), of=[operand for part in parts for operand in part.of])

    return run


def _joined(*parts: Estimate) -> Estimate:
    values, errors = ([getattr(part, n) for part in parts] for n in ("values", "errors"))
    return Estimate(np.concatenate(values), np.concatenate(errors))


# How many texts a function takes.
_TEXTS = {name: len(KINDS[kind].keys) - len(fixed) for name, (kind, fixed) in READS.items()}
_TEXTS |= dict.fromkeys(COLUMNS, 1)


def evaluate(expression: str, aggregates: Aggregates) -> Estimate:
    """Compute an expression.

    Standard errors are propagated to first order as if all terms were independent, which
    overstates the noise of terms that share a mean. Raises `NotMeasuredError` when the aggregates
    lack a number, `UserError` when the text is not an expression of this language.
    """
    try:
        return parse(expression)(aggregates)
    except ValueError as error:  # NumPy's, of vectors whose lengths do not go together
        raise UserError(f"The expression {expression!r} joins unlike vectors: {error}") from error
