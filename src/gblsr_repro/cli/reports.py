"""Commands that report on runs and say what they did: claims, record and summary."""

from __future__ import annotations

from pathlib import Path

from ..config import Config, list_arms
from ..errors import UserError
from ..progress import format_columns, format_count, log


def judge_claims(aggregates: Path, output: Path, config: Config) -> None:
    """Judge all claims by the aggregates in a folder; write claims.csv into `output`."""
    from ..analysis.claims import judge, verdicts
    from ..reporting.claims import list_counts

    written = judge.judge_results(aggregates, output / verdicts.CLAIMS_FILE, config)
    log.info("claims: %s", list_counts(written))


def update_record(results: Path, output: Path, config: Config, setup: str, rebuild: bool) -> None:
    """Add the numbers of a results folder to a record, or rebuild it from its values."""
    from ..record import writing

    if rebuild:
        writing.rebuild(output)
    else:
        writing.update(results, output, config, setup)
    log.info("record: %s", output)


def summarize(config: Config) -> str:
    """Return the main numbers of a run and the paths of its tables, figures and pages."""
    from ..analysis.claims import verdicts
    from ..reporting.claims import list_counts
    from ..reporting.sections import explain_preset

    results = Path(config["results"])
    names = ("tables", "figures", verdicts.CLAIMS_FILE, "report.html")
    folders = (results, results / "native", results / "asr")  # each benchmark alone has its own
    made = [folder / name for folder in folders for name in names if (folder / name).exists()]
    lines = _list_psnr(results / "aggregates", config)
    if not made and not lines:
        raise UserError(f"{results} has no numbers and no pages yet; run the workflow first.")
    if explanation := explain_preset(config["preset"]):
        lines.append(explanation.replace("**", ""))
    for place in (place for place in made if place.name == verdicts.CLAIMS_FILE):
        lines.append(f"claims: {list_counts(verdicts.read_claims(place))}")
    return "\n".join([*lines, "", *(f"{place.stem:<8} {place}" for place in made)])


def _list_psnr(aggregates: Path, config: Config) -> list[str]:
    """List the PSNR of every arm on every set, if any has one, and how long they were trained."""
    from ..analysis.reader import Aggregates

    if not (aggregates / "native.csv").is_file():
        return []
    run = Aggregates(aggregates, config)
    columns = list(config["native"]["data"]["evaluate"])
    rows = []
    for name, arm in list_arms(config).items():
        cells = [run.cell("native", column, name, "psnr") for column in columns]
        if any(cell.measured for cell in cells):
            texts = (f"{cell.mean:.2f}" if cell.measured else "-" for cell in cells)
            rows.append([arm.name, *texts, ""])
    steps, seeds = config["native"]["training"]["steps"], format_count(len(config["seeds"]), "seed")
    table = format_columns([["PSNR (dB)", *columns, ""], *rows])
    return [*table, f"{steps} steps, {seeds}, preset {config['preset']}"] if rows else []
