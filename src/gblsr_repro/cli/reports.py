"""Commands that report on runs: tables, figures, claims, pages, plan and progress."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..config import Config, list_arms
from ..errors import UserError
from ..operations import trainings
from ..progress import format_count, log
from .arguments import (
    Commands,
    Options,
    add_command,
    add_config,
    add_path,
    find_results,
    load_config,
)


def add_commands(commands: Commands) -> None:
    """Add every command of this module."""
    _add_readings(commands)
    _add_tables(commands)
    _add_figures(commands)
    _add_claims(commands)
    _add_claims_page(commands)
    _add_report(commands)
    _add_record(commands)
    _add_summary(commands)
    _add_plan(commands)
    _add_progress(commands)


def _add_folder(command: argparse.ArgumentParser, name: str, place: str) -> None:
    text = f"default: {place} in the results" if place else "default: the config's results"
    add_path(command, name, "FILE" if "." in place else "DIR", text, required=False)


# --- tables, figures, claims --------------------------------------------------------------------


def _add_readings(commands: Commands) -> None:
    command = add_command(commands, "readings", write_readings)
    add_config(command)
    add_path(command, "--aggregate", "CSV", "aggregate of the readings")
    add_path(command, "--output", "MD", "page to write")


def write_readings(options: Options) -> None:
    """Compare the readings of the baselines with the paper's numbers."""
    from ..reporting import readings_page

    readings_page.write(options.aggregate, load_config(options), options.output)


def _add_tables(commands: Commands) -> None:
    _add_items(add_command(commands, "tables", write_tables), "tables")


def write_tables(options: Options) -> None:
    """Write the LaTeX tables for which a folder has the aggregates."""
    from ..reporting.tables import build

    config, aggregates, folder = _find_item_folders(options, "tables")
    written, skipped = build.write(aggregates, folder, config, options.only)
    _print_items([folder / f"{name}.tex" for name in written], skipped)


def _add_figures(commands: Commands) -> None:
    _add_items(add_command(commands, "figures", draw_figures), "figures")


def draw_figures(options: Options) -> None:
    """Draw the figures for which a folder has the aggregates."""
    from ..reporting import figures

    config, aggregates, folder = _find_item_folders(options, "figures")
    drawn, skipped = figures.write(aggregates, folder, config, options.only)
    _print_items([folder / f"{name}.{end}" for name in drawn for end in ("pdf", "png")], skipped)


def _add_items(command: argparse.ArgumentParser, folder: str) -> None:
    add_config(command)
    _add_folder(command, "--aggregates", "aggregates")
    _add_folder(command, "--output", folder)
    text = "only these items; an error if one cannot be made"
    command.add_argument("--only", nargs="+", default=[], metavar="NAME", help=text)


def _find_item_folders(options: Options, name: str) -> tuple[Config, Path, Path]:
    """Find the config, the folder of the aggregates, and the folder to write."""
    config = load_config(options)
    results = find_results(options, config)
    return config, options.aggregates or results / "aggregates", options.output or results / name


def _print_items(files: list[Path], skipped: dict[str, str]) -> None:
    """Print the files of the written items and the reasons for skipping others."""
    for file in files:
        print(file)
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")


def _add_claims(commands: Commands) -> None:
    command = add_command(commands, "claims", judge_claims)
    add_config(command)
    _add_folder(command, "--aggregates", "aggregates")
    _add_folder(command, "--output", "claims.csv")


def judge_claims(options: Options) -> None:
    """Judge all claims of the paper by the aggregates of a run."""
    from ..analysis.claims import judge, rows

    config = load_config(options)
    results = find_results(options, config)
    output = options.output or results / rows.FILE
    judge.write(options.aggregates or results / "aggregates", output, config)


def _add_claims_page(commands: Commands) -> None:
    command = add_command(commands, "claims-page", write_claims_page)
    add_config(command)
    _add_folder(command, "--claims", "claims.csv")
    _add_folder(command, "--output", "claims.md")


def write_claims_page(options: Options) -> None:
    """Write a Markdown page that lists all claims of the paper with their verdicts."""
    from ..analysis.claims import rows
    from ..reporting import claims_page

    results = find_results(options, load_config(options))
    claims = options.claims or results / rows.FILE
    written = claims_page.write(claims, options.output or results / "claims.md")
    log.info("claims: %s", claims_page.list_counts(written))


# --- pages --------------------------------------------------------------------------------------


def _add_report(commands: Commands) -> None:
    command = add_command(commands, "report", write_report)
    add_config(command)
    _add_folder(command, "--results", "")
    _add_folder(command, "--claims", "claims.csv")
    _add_folder(command, "--output", "report.html")


def write_report(options: Options) -> None:
    """Write a self-contained HTML page about a results folder."""
    from ..reporting import report_page

    config = load_config(options)
    results = find_results(options, config)
    output = options.output or results / "report.html"
    report_page.write(results, options.claims or results / "claims.csv", output, config)
    log.info("report: %s", output)


def _add_record(commands: Commands) -> None:
    command = add_command(commands, "record", update_record)
    add_config(command)
    _add_folder(command, "--results", "")
    add_path(command, "--output", "DIR", "the record, such as docs/record: a new folder or an old")
    command.add_argument(
        "--conditions",
        default="main",
        metavar="NAME",
        help="name of these settings in the record (default: main, the one that is judged)",
    )
    command.add_argument(
        "--rebuild",
        action="store_true",
        help="add nothing: write claims, figures and page again from the values of the record",
    )


def update_record(options: Options) -> None:
    """Add a run's numbers to a record: a small folder of values, claims, figures and a page."""
    from ..record import writing

    if options.rebuild:
        size = writing.rebuild(options.output)
    else:
        config = load_config(options)
        results = find_results(options, config)
        size = writing.update(results, options.output, config, options.conditions)
    log.info("record: %s, %.1f MB", options.output, size / 1e6)


def _add_summary(commands: Commands) -> None:
    add_config(add_command(commands, "summary", print_summary))


def print_summary(options: Options) -> None:
    """Print the main numbers of a run and the paths of its tables, figures and pages."""
    from ..analysis.claims import rows
    from ..analysis.reader import Aggregates
    from ..reporting import claims_page

    config = load_config(options)
    results = find_results(options, config)
    path = results / "aggregates" / "native.csv"
    if not path.is_file():
        raise UserError(f"{path} does not exist yet; run the workflow first.")
    run = Aggregates(path.parent, config)
    columns = list(config["native"]["data"]["evaluate"])
    print(f"{'PSNR (dB)':<32}" + "".join(f"{column:>12}" for column in columns))
    for arm, row in list_arms(config).items():
        cells = [run.cell("native", column, arm, "psnr") for column in columns]
        if any(cell.measured for cell in cells):
            texts = (f"{cell.mean:12.2f}" if cell.measured else f"{'-':>12}" for cell in cells)
            print(f"{row.name:<32}" + "".join(texts))
    steps = config["native"]["training"]["steps"]
    print(f"{steps} steps, {format_count(len(config['seeds']), 'seed')}, preset {config['preset']}")
    if config["preset"] != "paper":
        print("These numbers show that everything runs; they are not the paper's experiment.")
    if (results / rows.FILE).is_file():
        print(f"claims: {claims_page.list_counts(claims_page.Claims.read(results / rows.FILE))}")
    print()
    for name in ("tables", "figures", "claims.md", "report.html"):
        place, here = results / name, Path.cwd()
        if place.exists():
            path = place.relative_to(here) if place.is_relative_to(here) else place
            print(f"{place.stem:<8} {path}")


# --- cost and progress --------------------------------------------------------------------------


def _add_plan(commands: Commands) -> None:
    add_config(add_command(commands, "plan", print_plan))


def print_plan(options: Options) -> None:
    """Estimate the runs to train, their GPU-hours, days and disk space; runs nothing."""
    from ..operations import plan

    print(plan.format_plan(plan.estimate_plan(load_config(options))))


def _add_progress(commands: Commands) -> None:
    add_config(add_command(commands, "progress", print_progress))


def print_progress(options: Options) -> None:
    """List the unfinished trainings with their progress; runs nothing."""
    config = load_config(options)
    print(trainings.list_trainings(find_results(options, config)))
