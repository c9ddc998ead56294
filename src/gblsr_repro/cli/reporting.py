"""Subcommands of the reporting room."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import Argument, command, config_of, path

if TYPE_CHECKING:
    from ..config import Config


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    results = path("results", "DIR", "default: the config's", required=False)
    aggregates = path(
        "aggregates", "DIR", "default: aggregates of the config's results", required=False
    )
    only = {"nargs": "+", "default": [], "metavar": "NAME", "help": "make these, or fail"}

    def to(metavar: str, text: str) -> Argument:
        return path("output", metavar, text, required=False)

    kind = {"help": "aggregate to make: native, asr_quality, ..."}
    command(commands, "aggregate", _aggregate, ("kind", kind), results, path("output", "FILE"))
    command(commands, "readings", _readings, path("aggregate", "CSV"), path("output", "MD"))
    folder = to("DIR", "default: tables of the config's results")
    command(commands, "tables", _tables, aggregates, folder, ("--only", only))
    folder = to("DIR", "default: figures of the config's results")
    command(commands, "figures", _figures, aggregates, folder, ("--only", only))
    file = to("FILE", "default: preview.pdf in the results")
    command(commands, "preview", _preview, results, file)
    folder = to("DIR", "folder for claims.csv and claims.md (default: the config's results)")
    command(commands, "claims", _claims, aggregates, folder)
    file = to("FILE", "default: report.html in the results folder")
    command(commands, "report", _report, results, file)
    record = path("output", "DIR", "new folder, as docs/records/<date>-<device>")
    command(commands, "record", _record, results, record)


def _run(options: argparse.Namespace) -> tuple[Config, Path]:
    """Return the configuration and the results folder that the options name."""
    from ..config import resolve

    config = config_of(options)
    named = getattr(options, "results", None)
    return config, named or resolve(config, config["results"])


def _aggregate(options: argparse.Namespace) -> None:
    """Average measured rows over images and seeds."""
    from ..reporting import averaging

    config, results = _run(options)
    averaging.write(options.kind, results, config, options.output)


def _readings(options: argparse.Namespace) -> None:
    """Set the readings of the baselines beside the paper's."""
    from ..reporting import readings

    readings.write(options.aggregate, config_of(options), options.output)


def _tables(options: argparse.Namespace) -> None:
    """Render the LaTeX tables that a folder of aggregates allows."""
    from ..reporting import tables

    config, results = _run(options)
    output = options.output or results / "tables"
    aggregates = options.aggregates or results / "aggregates"
    rendered, skipped = tables.write(aggregates, output, config, options.only)
    for name in rendered:
        print(output / f"{name}.tex")
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")


def _figures(options: argparse.Namespace) -> None:
    """Draw the figures that a folder of aggregates allows."""
    from ..reporting import figures

    config, results = _run(options)
    aggregates = options.aggregates or results / "aggregates"
    output = options.output or results / "figures"
    drawn, skipped = figures.write(aggregates, output, config, options.only)
    for name in drawn:
        print(output / f"{name}.pdf")
        print(output / f"{name}.png")
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")


def _preview(options: argparse.Namespace) -> None:
    """Compile all tables and figures into one PDF; needs LaTeX."""
    from ..reporting import preview

    _, results = _run(options)
    output = options.output or results / "preview.pdf"
    preview.write(results, output)
    print(output)


def _claims(options: argparse.Namespace) -> None:
    """Judge every claim of the paper on the aggregates of a run."""
    from ..progress import log
    from ..reporting import claims

    config, results = _run(options)
    page = claims.write(
        options.aggregates or results / "aggregates", options.output or results, config
    )
    log.info("claims: %s", ", ".join(f"{n} {verdict}" for verdict, n in page.counts().items()))


def _report(options: argparse.Namespace) -> None:
    """Write one self-contained HTML page about a results folder."""
    from ..progress import log
    from ..reporting import report

    config, results = _run(options)
    output = options.output or results / "report.html"
    report.write(results, output, config)
    log.info("report: %s", output)


def _record(options: argparse.Namespace) -> None:
    """Gather a run's numbers, tables and figures in one folder."""
    from ..progress import log
    from ..reporting import record

    config, results = _run(options)
    size = record.write(results, options.output, config)
    log.info("record: %s, %.1f MB", options.output, size / 1e6)
