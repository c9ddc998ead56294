"""Load, validate and write configurations."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import yaml

from ..errors import UserError
from ..files import verify_checksum, write_with_checksum
from .checks import check_config
from .tables import Config, find_repository_root, merge, read_yaml


def load(paths: Sequence[Path | str] = ()) -> Config:
    """Load config files, later ones merged into earlier ones, and validate the result.

    Without paths the checkout's config/config.yaml is loaded. A .json that `write_resolved` wrote
    was validated then and is not again. Raises `UserError`.
    """
    config: Config = {}
    files = [Path(path) for path in paths or [find_repository_root() / "config" / "config.yaml"]]
    for path in files:
        config = merge(config, read_yaml(path))
    resolved = all(path.suffix == ".json" and verify_checksum(path) for path in files)
    return config if resolved else validate(config)


def validate(config: Config) -> Config:
    """Validate a configuration and return it with its defaults.

    Columns that an overlay sets to null are dropped. Raises `UserError` with one sentence about
    the first mistake.
    """
    # Here, since jobs load a validated .json and then save the 0.2 s that pydantic takes to import.
    from .validation import apply_schema

    completed = apply_schema(config)
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


def write_resolved(config: Config, path: Path | str) -> None:
    """Write the configuration as .json, which the jobs read, and as .yaml beside it.

    A file with the same content is not written again.
    """
    as_json = json.dumps(config, indent=2) + "\n"
    as_yaml = yaml.safe_dump(json.loads(as_json), sort_keys=False)
    for suffix, text in ((".json", as_json), (".yaml", as_yaml)):
        file = Path(path).with_suffix(suffix)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            write_with_checksum(file, text.encode())
