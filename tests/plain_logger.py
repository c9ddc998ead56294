"""Run Snakemake with its own logger, whose text tests read."""

from pathlib import Path


def use_plain_logger(profile: Path) -> None:
    """Remove the logger from a profile, so that Snakemake's own is taken."""
    lines = profile.read_text().splitlines(keepends=True)
    profile.write_text("".join(line for line in lines if not line.startswith("logger:")))
