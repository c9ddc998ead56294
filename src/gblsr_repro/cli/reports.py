"""Commands that report on runs: tables, figures, claims, pages and plan."""

from __future__ import annotations

from pathlib import Path

from ..config import Config, list_arms
from ..errors import UserError
from ..progress import format_count, log
from .commands import CONFIG, Options, argument, command, declare, path, path_in_results

AGGREGATES = path_in_results("--aggregates", "aggregates")
ONLY = argument(
    "--only",
    nargs="+",
    default=[],
    metavar="NAME",
    help="only these items; an error if one cannot be made",
)

# --- tables, figures, claims --------------------------------------------------------------------


@command("items", CONFIG, AGGREGATES, path_in_results("--output", ""), ONLY)
def write_items(options: Options) -> None:
    """Write the tables and draw the figures for which a folder has the aggregates."""
    from ..reporting import writing

    written, skipped = writing.write_items(**vars(options))
    for file in written:
        print(file)
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")


@command("claims", CONFIG, AGGREGATES, path_in_results("--output", ""))
def judge_claims(options: Options) -> None:
    """Judge all claims of the paper by the aggregates of a run; write claims.csv."""
    from ..analysis.claims import judge, verdicts
    from ..reporting.claims import list_counts

    written = judge.judge_results(
        options.aggregates, options.output / verdicts.CLAIMS_FILE, options.config
    )
    log.info("claims: %s", list_counts(written))


# --- pages --------------------------------------------------------------------------------------


declare(
    "report",
    "reporting.report_page:write_page",
    "Write a self-contained HTML page about a results folder.",
    CONFIG,
    path_in_results("--results", ""),
    path_in_results("--claims", "claims.csv"),
    path_in_results("--output", "report.html"),
)

declare(
    "pdf",
    "reporting.document:write_document",
    "Write one PDF with every table and figure of a results folder; needs LaTeX.",
    CONFIG,
    path_in_results("--results", ""),
    path_in_results("--output", "report.pdf"),
)


@command(
    "record",
    CONFIG,
    path_in_results("--results", ""),
    path("--output", "DIR", "the record, such as docs/record: a new folder or an old"),
    argument(
        "--setup",
        default="main",
        metavar="NAME",
        help="name of these settings in the record (default: main, the one that is judged)",
    ),
    argument(
        "--rebuild",
        action="store_true",
        help="add nothing: write claims, figures and page again from the values of the record",
    ),
)
def update_record(options: Options) -> None:
    """Add a run's numbers to a record: a small folder of values, claims, figures and a page."""
    from ..record import writing

    if options.rebuild:
        writing.rebuild(options.output)
    else:
        writing.update(options.results, options.output, options.config, options.setup)
    log.info("record: %s", options.output)


@command("summary", CONFIG)
def print_summary(options: Options) -> None:
    """Print the main numbers of a run and the paths of its tables, figures and pages."""
    from ..analysis.claims import verdicts
    from ..reporting.claims import list_counts

    config, results = options.config, Path(options.config["results"])
    names = ("tables", "figures", verdicts.CLAIMS_FILE, "report.html")
    # Each benchmark alone has a page and claims of its own.
    folders = (results, results / "native", results / "asr")
    made = [folder / name for folder in folders for name in names if (folder / name).exists()]
    has_numbers = (results / "aggregates" / "native.csv").is_file()
    if not made and not has_numbers:
        raise UserError(f"{results} has no numbers and no pages yet; run the workflow first.")
    if has_numbers:
        _print_psnr(results / "aggregates", config)
    if config["preset"] != "paper":
        print("These numbers show that everything runs; they are not the paper's experiment.")
    for place in (place for place in made if place.name == verdicts.CLAIMS_FILE):
        print(f"claims: {list_counts(verdicts.read_claims(place))}")
    print()
    for place in made:
        here = Path.cwd()
        shown = place.relative_to(here) if place.is_relative_to(here) else place
        print(f"{place.stem:<8} {shown}")


def _print_psnr(aggregates: Path, config: Config) -> None:
    """Print the PSNR of every arm on every set, and how long the arms were trained."""
    from ..analysis.reader import Aggregates

    run = Aggregates(aggregates, config)
    columns = list(config["native"]["data"]["evaluate"])
    print(f"{'PSNR (dB)':<32}" + "".join(f"{column:>12}" for column in columns))
    for arm, row in list_arms(config).items():
        cells = [run.cell("native", column, arm, "psnr") for column in columns]
        if any(cell.measured for cell in cells):
            texts = (f"{cell.mean:12.2f}" if cell.measured else f"{'-':>12}" for cell in cells)
            print(f"{row.name:<32}" + "".join(texts))
    steps = config["native"]["training"]["steps"]
    print(f"{steps} steps, {format_count(len(config['seeds']), 'seed')}, preset {config['preset']}")


# --- cost ---------------------------------------------------------------------------------------


declare(
    "plan",
    "operations.plan:describe_plan",
    "Estimate the runs to train, their GPU-hours and days; runs nothing.",
    CONFIG,
)
