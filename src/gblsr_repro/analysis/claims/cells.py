"""Hold every number of the paper's tables against the measured one: a claim for each cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ...config import Arm, Method
from ..measured import Measure
from ..metrics import LSE, METRICS
from ..provenance.differences import Scope
from ..reader import Aggregates
from ..subjects import METHODS
from .rules import AgreementRule, Equals
from .stated import Claim

QUALITY = {
    name: ("equals", metric.title, metric.digits, metric.unit) for name, metric in METRICS.items()
}
TIMES = {
    "inference_ms": ("time", "Time per image", 2, "ms"),
    "mean_ms": ("time", "Time per image", 2, "ms"),
    "peak_memory_mib": ("memory", "Peak memory", 1, "MiB"),
}
COMPARED = {  # by aggregate: the metrics whose cells are compared, and the scope of each
    "native": dict.fromkeys(QUALITY, Scope.QUALITY) | {"inference_ms": Scope.LATENCY},
    "asr_quality": dict.fromkeys(QUALITY, Scope.ASR_QUALITY),
    "asr_latency": dict.fromkeys(TIMES, Scope.ASR_LATENCY),
}
"""Parameters, criteria and what follows from these cells are claims of their own."""
KEY_COLUMNS = {
    "native": ("dataset", "arm", "metric"),
    "asr_quality": ("dataset", "method", "scale", "metric"),
    "asr_latency": ("dataset", "method", "scale", "clock", "metric"),
}
TABLES = {
    "main_kodak": "Table 1",
    "main_set14": "Table 2",
    "main_urban100": "Table 3",
    "asr_latency_main": "Table 6",
    "asr_pareto_main": "Table 7",
    "lse": "Table 10",
    "asr_pareto_appendix": "Table 12",
    "asr_full_all_scales_appendix": "Tables 11, 13-15",
}
"""The tables of these cells, by the names that they have in config/items.tsv."""


class Cell(Claim):
    """A number of the paper's tables: where it stands in an aggregate, how many share its level."""

    aggregate: str
    key: tuple[str, ...]
    sharing: int

    @property
    def measure(self) -> Measure:
        """What reads the cell."""
        names = dict(zip(KEY_COLUMNS[self.aggregate], self.key, strict=True))
        return lambda run: run.read_cells(self.aggregate, **names)

    @property
    def test(self) -> AgreementRule:
        """The rule that compares both sides; the level is shared by a metric's on a data set."""
        rule = super().test
        return replace(rule, numbers=self.sharing) if isinstance(rule, Equals) else rule


def list_cells(paper: Aggregates) -> Iterator[Cell]:
    """List the cells of the paper's tables that are compared, as claims called TABLE ROW COLUMN."""
    subjects: dict[str, Arm | Method] = {**paper.arms, **paper.methods}
    sets = paper.config["native"]["data"]["evaluate"] | paper.config["asr"]["evaluate"]
    for aggregate, scopes in COMPARED.items():
        keys = [key for key in paper.cells(aggregate) if key[-1] in scopes]
        places = {key: place_cell(paper, aggregate, key) for key in keys}
        sharing = Counter((places[key][0], key[0], key[-1]) for key in keys)
        for key, (table, row, column) in places.items():
            dataset, subject, metric = key[0], key[1], key[-1]
            rule, title, decimals, unit = (QUALITY | TIMES)[metric]
            where, name = TABLES[table], paper.datasets[sets[dataset]].title
            scale = f" ×{key[2]}" if aggregate != "native" else ""
            yield Cell(
                id=f"{table} {row} {column}",
                topic=f"Cells of {where}",
                scope=scopes[metric],
                where=where,
                sentence=f"{title} of {subjects[subject].name} on {name}{scale}",
                rule=rule,
                published="",
                decimals=decimals,
                unit=unit,
                note="",
                aggregate=aggregate,
                key=key,
                sharing=sharing[table, dataset, metric],
            )


def place_cell(paper: Aggregates, aggregate: str, key: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the table, the row and the column of a number of the paper."""
    dataset, subject, metric = key[0], key[1], key[-1]
    if aggregate == "native":
        if metric == LSE.name:
            return "lse", subject, f"{metric}_{dataset}"
        return f"main_{dataset}", subject, metric
    if aggregate == "asr_quality" and subject in METHODS:
        return "asr_full_all_scales_appendix", f"{dataset}/{subject}", f"{metric}_x{key[2]}"
    if metric == "peak_memory_mib":
        return f"asr_pareto_{paper.methods[subject].table}", subject, "peak"
    return "asr_latency_main", subject, f"{'ms' if metric == 'mean_ms' else metric}_{dataset}"
