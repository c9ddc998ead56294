"""The tables and figures: rows of config/items.tsv, and those that a config makes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator

from .addresses import is_imported
from .rows import (
    Phrases,
    RowName,
    TableRow,
    Title,
    WithoutBraces,
    Words,
    read_table,
    split_words,
)
from .tables import (
    OWN,
    Config,
    find_repository_root,
    get_dataset_title,
    list_arms,
    list_methods,
)

MAIN_TABLE = "tables.native:build_main"
"""The maker of the main tables, of which every evaluation column has one."""


class Scope(StrEnum):
    """A group of numbers that depend on the same conditions."""

    STRUCTURE = "structure"
    QUALITY = "quality"
    LOCALITY = "locality"
    ABLATION = "ablation"
    LATENCY = "latency"
    COST = "cost"
    ASR_QUALITY = "asr_quality"
    ASR_LATENCY = "asr_latency"
    ASR_COST = "asr_cost"

    @property
    def benchmark(self) -> str:
        """The benchmark: native or asr."""
        return "asr" if self.startswith("asr") else "native"

    @property
    def measure(self) -> str:
        """The scope without its benchmark."""
        return self.removeprefix("asr_")


class Item(TableRow):
    """A row of config/items.tsv: one table or figure, of the paper or an extra one.

    `maker` names the module of `gblsr_repro.reporting` and the function there that makes it, `part`
    its argument where the function makes several items (an evaluation column, a benchmark); `kind`
    is table or figure; `benchmark` is native, asr or both; `paper` its number in the paper, or
    Extra; `needs` the aggregates that it reads; `subject` what the config must have for it beyond
    any arm or method (an arm's diagnostic or group, a method's group and table, one of the paper's
    that the main tables compare or that is trained here, an untrained scale, a timed column);
    `compared` says whether <item>_vs_paper with the published values is made, too;
    `interpretations` names the entries of docs/interpretations.md that it depends on; `scopes` the
    scopes of its numbers; `caption_adds` the sentences that its caption adds about them: spread,
    baselines; `caption` the text after its title.
    """

    item: RowName
    maker: str
    part: str = ""
    kind: Literal["table", "figure"]
    benchmark: Literal["native", "asr", "both"]
    paper: WithoutBraces
    needs: Words = ()
    subject: str = ""
    compared: bool
    interpretations: Phrases = ()
    scopes: Annotated[tuple[Scope, ...], BeforeValidator(split_words)] = ()
    caption_adds: Words = ()
    title: Title
    caption: WithoutBraces = ""


def read_items() -> dict[str, Item]:
    """Read the table of the paper's tables and figures, by item."""
    return read_table(find_repository_root() / "config" / "items.tsv", Item, "item")


def list_items(config: Config) -> dict[str, Item]:
    """List the tables and figures that a config makes.

    There is one main table per evaluation column, and no item about arms, methods, scales, timed
    sets or clocks that the config leaves out: one job draws all items with the same aggregates, and
    must not fail for one of them. Without an arm of the main tables none of these is made.
    """
    asr = config["asr"]
    arms, methods = list_arms(config), list_methods(config)
    subjects: set[str] = {word for arm in arms.values() for word in (arm.diagnostic, arm.group)}
    subjects |= {"compared arm" for a in arms.values() if a.in_benchmark and a.group != OWN}
    subjects |= {f"{method.group} {method.table}" for method in methods.values()}
    for name, rows in (("arm", arms), ("method", methods)):
        papers = [row for row in rows.values() if row.group != OWN]
        subjects |= {f"trained {name}" for row in papers if not is_imported(row, config)}
    subjects |= {"untrained scale" for s in asr["scales"] if s not in asr["trained_scales"]}
    if "paper" in config["latency"]["clocks"]:
        subjects |= {"paper clock"}
        subjects |= {f"timed {c}" for c in asr["timing"]["datasets"] if c in asr["evaluate"]}
    table = {k: v for k, v in read_items().items() if not v.subject or v.subject in subjects}
    if not any(arm.in_benchmark for arm in arms.values()):
        return {k: v for k, v in table.items() if not {"native", "budget"} & {*v.needs}}
    columns = config["native"]["data"]["evaluate"]
    items = {k: v for k, v in table.items() if v.maker != MAIN_TABLE or v.part in columns}
    pattern = next(row for row in table.values() if row.maker == MAIN_TABLE)
    for column in columns:
        title = f"Native benchmark on {get_dataset_title(columns[column])}, every arm"
        extra = pattern.model_copy(
            update={
                "item": f"main_{column}",
                "part": column,
                "paper": "Extra",
                "compared": False,
                "interpretations": (),
                "title": title,
            }
        )
        items.setdefault(extra.item, extra)
    return items
