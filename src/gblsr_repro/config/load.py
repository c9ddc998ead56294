"""Load, validate and write configurations."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ValidationError

from ..errors import UserError
from ..files import compute_short_checksum, write_text
from ..validation import describe_mistake
from .checks import check_config
from .rows import TableRow, Words, read_table
from .schema.settings import Settings
from .tables import Config, find_repository_root, merge, read_yaml

FOLDER = "settings"  # of the results, for the configurations that jobs were planned with
PLANNED = "GBLSR_SETTINGS_"  # begins the names of environment variables that hold them


def load(paths: Sequence[Path | str] = ()) -> Config:
    """Load config files, later ones merged into earlier ones, and validate the result.

    Without paths the checkout's config/config.yaml is loaded. The file of `plan_settings` was
    validated while planning and is not again. Raises `UserError`.
    """
    config: Config = {}
    files = [Path(path) for path in paths or [find_repository_root() / "config" / "config.yaml"]]
    if [path.parent.name for path in files] == [FOLDER]:
        return _read_planned(files[0])
    for path in files:
        config = merge(config, read_yaml(path))
    return validate(config)


def plan_settings(config: Config, results: str) -> tuple[str, dict[str, str]]:
    """Return the path under which jobs read a configuration, and the environment that has it.

    The path contains a checksum of the configuration, so that a job reads what it was planned with,
    whatever is planned or edited meanwhile. Planning writes nothing: the first job that reads the
    path writes it from its environment.
    """
    text = json.dumps(config, indent=2) + "\n"
    checksum = compute_short_checksum(text)
    return f"{results}/{FOLDER}/{checksum}.json", {f"{PLANNED}{checksum}": text}


def _read_planned(path: Path) -> Config:
    """Read the configuration that a job was planned with; write it first if no job has."""
    planned = os.environ.get(f"{PLANNED}{path.stem}")
    if planned is not None and not path.is_file():
        write_text(path, planned)
    if not path.is_file():
        raise UserError(
            f"{path} does not exist: the settings were changed after this job was planned; start "
            "the workflow again."
        )
    text = path.read_text(encoding="utf-8", errors="replace")
    if compute_short_checksum(text) != path.stem:
        raise UserError(
            f"{path} was damaged or changed after it was written; delete it and start the workflow "
            "again."
        )
    return json.loads(text)


def validate(config: Config) -> Config:
    """Validate a configuration and return it with its defaults.

    Columns that an overlay sets to null are dropped. Raises `UserError` with one sentence about
    the first mistake.
    """
    try:
        settings = Settings.model_validate(config)
    except ValidationError as error:
        sentence = describe_mistake(error, Settings)
        raise UserError(f"Config: {sentence}{'' if sentence[-1] == '?' else '.'}") from None
    completed = settings.model_dump()
    # Jobs request exactly the resources that are set.
    completed["cluster"]["gpu"] = settings.cluster.gpu.model_dump(exclude_none=True)
    check_config(completed)
    return completed


def complete(overlay: Config) -> Config:
    """Merge an overlay into config/config.yaml and validate the result."""
    return validate(merge(read_yaml(find_repository_root() / "config" / "config.yaml"), overlay))


def find_mirror(config: Config) -> Path | None:
    """Find the folder that replaces downloads; None if unset, `UserError` if it is missing."""
    if config["mirror"] is None:
        return None
    root = Path(config["mirror"]).expanduser()
    if not os.path.isdir(root):
        raise UserError(f"The mirror folder {root} does not exist; correct `mirror` in the config.")
    return root


@cache
def load_protocol() -> Config:
    """Load the paper's settings, which do not depend on config/config.yaml; do not modify them."""
    return load([find_repository_root() / "config" / "paper" / "protocol.yaml"])


def read_paper_device() -> str:
    """Read the name of the device that the paper trained and timed on."""
    return read_yaml(find_repository_root() / "config" / "paper" / "facts.yaml")["device"]


class PublishedTime(TableRow):
    """A row of config/paper/compute.csv: the training time of a group of arms or methods."""

    benchmark: Literal["native", "asr"]
    group: str
    subjects: Words
    runs: int
    shortest_seconds: int | None = None
    longest_seconds: int | None = None
    total_seconds: int


def read_published_times(benchmark: str) -> list[PublishedTime]:
    """Read the paper's table of training times of a benchmark (config/paper/compute.csv)."""
    path = find_repository_root() / "config" / "paper" / "compute.csv"
    rows = read_table(path, PublishedTime, "group").values()
    return [row for row in rows if row.benchmark == benchmark]


def write_resolved(config: Config, path: Path | str) -> None:
    """Write the configuration as YAML."""
    write_text(path, yaml.safe_dump(json.loads(json.dumps(config)), sort_keys=False))
