"""Subcommands of the reporting room."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import command, config_of

if TYPE_CHECKING:
    from ..config import Config


def register(commands: Any) -> None:
    """Add this room's subcommands."""
    add_aggregate(commands)
    add_readings(commands)
    add_tables(commands)
    add_figures(commands)
    add_preview(commands)
    add_claims(commands)
    add_report(commands)
    add_record(commands)


def _takes_results(added: argparse.ArgumentParser) -> None:
    added.add_argument("--results", type=Path, metavar="DIR", help="default: the config's")


def _takes_aggregates(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--aggregates", type=Path, metavar="DIR", help="default: aggregates of the config's results"
    )


def _run(options: argparse.Namespace) -> tuple[Config, Path]:
    """Return the configuration and the results folder that the options name."""
    from ..config import resolve

    config = config_of(options)
    named = getattr(options, "results", None)
    return config, named or resolve(config, config["results"])


# --- aggregates and tables ----------------------------------------------------------------------


def add_aggregate(commands: Any) -> None:
    """Add the verb that averages rows over images and seeds."""
    added = command(
        commands, "aggregate", _aggregate, "Average measured rows over images and seeds."
    )
    added.add_argument("kind", help="aggregate to make: native, asr_quality, ...")
    _takes_results(added)
    added.add_argument("--output", type=Path, required=True, metavar="FILE")


def _aggregate(options: argparse.Namespace) -> None:
    from ..reporting import averaging

    config, results = _run(options)
    averaging.write(options.kind, results, config, options.output)


def add_readings(commands: Any) -> None:
    """Add the verb that sets the readings of the baselines side by side."""
    added = command(
        commands, "readings", _readings, "Set the readings of the baselines beside the paper's."
    )
    added.add_argument("--aggregate", type=Path, required=True, metavar="CSV")
    added.add_argument("--output", type=Path, required=True, metavar="MD")


def _readings(options: argparse.Namespace) -> None:
    from ..reporting import readings

    readings.write(options.aggregate, config_of(options), options.output)


def add_tables(commands: Any) -> None:
    """Add the verb that renders the LaTeX tables."""
    added = command(
        commands, "tables", _tables, "Render the LaTeX tables that a folder of aggregates allows."
    )
    _takes_aggregates(added)
    added.add_argument(
        "--output", type=Path, metavar="DIR", help="default: tables of the config's results"
    )
    added.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="render these tables, or fail"
    )


def _tables(options: argparse.Namespace) -> None:
    from ..reporting import tables

    config, results = _run(options)
    output = options.output or results / "tables"
    aggregates = options.aggregates or results / "aggregates"
    rendered, skipped = tables.write(aggregates, output, config, options.only)
    for name in rendered:
        print(output / f"{name}.tex")
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")


def add_figures(commands: Any) -> None:
    """Add the verb that draws the figures."""
    added = command(
        commands, "figures", _figures, "Draw the figures that a folder of aggregates allows."
    )
    _takes_aggregates(added)
    added.add_argument(
        "--output", type=Path, metavar="DIR", help="default: figures of the config's results"
    )
    added.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="draw these figures, or fail"
    )


def _figures(options: argparse.Namespace) -> None:
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


def add_preview(commands: Any) -> None:
    """Add the verb that compiles all tables and figures into one PDF."""
    added = command(
        commands, "preview", _preview, "Compile all tables and figures into one PDF; needs LaTeX."
    )
    _takes_results(added)
    added.add_argument(
        "--output", type=Path, metavar="FILE", help="default: preview.pdf in the results"
    )


def _preview(options: argparse.Namespace) -> None:
    from ..reporting import preview

    _, results = _run(options)
    output = options.output or results / "preview.pdf"
    preview.write(results, output)
    print(output)


# --- claims, report, record ---------------------------------------------------------------------


def add_claims(commands: Any) -> None:
    """Add the verb that judges the paper's claims."""
    added = command(
        commands, "claims", _claims, "Judge every claim of the paper on the aggregates of a run."
    )
    _takes_aggregates(added)
    added.add_argument(
        "--output", type=Path, metavar="DIR",
        help="folder for claims.csv and claims.md (default: the config's results)",
    )  # fmt: skip


def _claims(options: argparse.Namespace) -> None:
    from ..progress import log
    from ..reporting import claims

    config, results = _run(options)
    page = claims.write(
        options.aggregates or results / "aggregates", options.output or results, config
    )
    log.info("claims: %s", ", ".join(f"{n} {verdict}" for verdict, n in page.counts().items()))


def add_report(commands: Any) -> None:
    """Add the verb that writes the HTML page."""
    added = command(
        commands, "report", _report, "Write one self-contained HTML page about a results folder."
    )
    _takes_results(added)
    added.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report.html in the results folder"
    )


def _report(options: argparse.Namespace) -> None:
    from ..progress import log
    from ..reporting import report

    config, results = _run(options)
    output = options.output or results / "report.html"
    report.write(results, output, config)
    log.info("report: %s", output)


def add_record(commands: Any) -> None:
    """Add the verb that makes a run's results small enough to keep."""
    added = command(
        commands, "record", _record, "Gather a run's numbers, tables and figures in one folder."
    )
    _takes_results(added)
    added.add_argument(
        "--output", type=Path, required=True, metavar="DIR",
        help="new folder, as docs/records/<date>-<device>",
    )  # fmt: skip


def _record(options: argparse.Namespace) -> None:
    from ..progress import log
    from ..reporting import record

    config, results = _run(options)
    size = record.write(results, options.output, config)
    log.info("record: %s, %.1f MB", options.output, size / 1e6)
