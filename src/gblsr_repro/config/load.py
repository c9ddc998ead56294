"""Load, validate and write configurations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import ValidationError

from ..errors import UserError
from ..files import compute_short_checksum, write_text
from ..validation import describe_mistake
from .checks import check_config
from .rows import TableRow, Words, read_table
from .schema.settings import Protocol, Settings
from .tables import PROTOCOL, Config, find_repository_root, merge, read_base, read_yaml

SETTINGS_FOLDER = "settings"  # of the results, for the configurations that jobs were planned with
AnyProtocol = TypeVar("AnyProtocol", bound=Protocol)
PLANNED_FILE = rf"(.*/)?{SETTINGS_FOLDER}/[0-9a-f]{{16}}\.json"  # named by a checksum
PLANNED = "GBLSR_SETTINGS_"  # begins the names of environment variables that hold them


def load(paths: Sequence[Path | str] = ()) -> Config:
    """Load config files, later ones merged into earlier ones, as `complete` does.

    The file of `plan_settings` was validated while planning and is not again. Raises `UserError`.
    """
    files = [Path(path) for path in paths]
    if len(files) == 1 and re.fullmatch(PLANNED_FILE, files[0].as_posix()):
        return _read_planned(files[0])
    overlay: Config = {}
    for path in files:
        overlay = merge(overlay, read_yaml(path))
    return complete(overlay)


def complete(overlay: Config) -> Config:
    """Lay an overlay over the paper's settings and config/config.yaml, and validate the result.

    What has all settings, as the config.yaml of a run's results, stands alone: below it would come
    back what the run left out. Raises `UserError`.
    """
    is_whole = overlay.keys() >= Settings.model_fields.keys()
    return validate(overlay if is_whole else merge(read_base(), overlay))


def plan_settings(config: Config, results: str) -> tuple[str, dict[str, str]]:
    """Return the path under which jobs read a configuration, and the environment that has it.

    The path contains a checksum of the configuration, so that a job reads what it was planned with,
    whatever is planned or edited meanwhile. Planning writes nothing: the first job that reads the
    path writes it from its environment.
    """
    text = json.dumps(config, indent=2) + "\n"
    checksum = compute_short_checksum(text)
    return f"{results}/{SETTINGS_FOLDER}/{checksum}.json", {f"{PLANNED}{checksum}": text}


def _read_planned(path: Path) -> Config:
    """Read the configuration that a job was planned with; write it first if no job has.

    The configuration of the latest job stands in <results>/config.yaml, too, for later commands.
    """
    planned = os.environ.get(f"{PLANNED}{path.stem}")
    if planned is not None and not path.is_file():
        write_text(path, planned)
    if planned is not None:
        write_resolved(json.loads(planned), path.parent.with_name("config.yaml"))
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
    settings = _apply_schema(config, Settings)
    completed = settings.model_dump()
    # Jobs request exactly the resources that are set.
    completed["cluster"]["gpu"] = settings.cluster.gpu.model_dump(exclude_none=True)
    check_config(completed)
    return completed


def _apply_schema(config: Config, schema: type[AnyProtocol]) -> AnyProtocol:
    """Validate settings by their types; `UserError` about the first mistake."""
    try:
        return schema.model_validate(config)
    except ValidationError as error:
        sentence = describe_mistake(error, schema)
        raise UserError(f"Config: {sentence}{'' if sentence[-1] == '?' else '.'}") from None


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
    """Load the paper's settings, without those of config/config.yaml; do not modify them."""
    protocol = read_yaml(find_repository_root() / "config" / PROTOCOL)
    return _apply_schema(protocol, Protocol).model_dump()


def read_paper_device() -> str:
    """Read the name of the device that the paper trained and timed on."""
    return read_yaml(find_repository_root() / "config" / "paper" / "facts.yaml")["device"]


class PublishedTime(TableRow):
    """A row of config/paper/compute.csv: the training time of a group of arms or methods."""

    benchmark: Literal["native", "asr"]
    group: str
    subjects: Words
    runs: int
    shortest_seconds: int
    longest_seconds: int
    total_seconds: int


def read_published_times(benchmark: str) -> list[PublishedTime]:
    """Read the paper's table of training times of a benchmark (config/paper/compute.csv)."""
    path = find_repository_root() / "config" / "paper" / "compute.csv"
    rows = read_table(path, PublishedTime, "group").values()
    return [row for row in rows if row.benchmark == benchmark]


def write_resolved(config: Config, path: Path | str) -> None:
    """Write the configuration as YAML, unless the file has it already."""
    text = yaml.safe_dump(json.loads(json.dumps(config)), sort_keys=False)
    if not Path(path).is_file() or Path(path).read_text(encoding="utf-8") != text:
        write_text(path, text)
