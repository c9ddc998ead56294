"""Reading config files: overlays merged, columns left out, the result checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import verify, write_checked
from .checks import check_config
from .tables import Config, find_repository_root, read_yaml


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> Config:
    """Lay `overlay` over `base` as Snakemake does: maps merge, everything else replaces."""
    merged = dict(base)
    for key, value in overlay.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            value = merge(old, value)
        merged[key] = value
    return merged


def load(paths: Sequence[Path | str] = ()) -> Config:
    """Read config files, later ones laid over earlier ones, and check the result.

    With no paths the checkout's config/config.yaml is read. The .json that `write_resolved` wrote
    was checked then and is taken as it is, and so is any other .json where there is no pydantic.
    Raises `UserError`.
    """
    config: Config = {}
    files = [Path(path) for path in paths or [find_repository_root() / "config" / "config.yaml"]]
    for path in files:
        config = merge(config, read_yaml(path))
    able = find_spec("pydantic") is not None
    checked = [path.suffix == ".json" and (verify(path) or not able) for path in files]
    if not all(checked):
        validate(config)
    return config


def validate(config: Config) -> None:
    """Check a configuration and fill in what it leaves out, in place.

    Columns that an overlay sets to null are dropped. Raises `UserError` with one sentence about
    the first mistake.
    """
    from .model import apply_schema

    made = apply_schema(config)
    check_config(made)
    config.clear()
    config.update(made)


def complete(config: Config) -> None:
    """Lay a configuration over the defaults of config/config.yaml, and check it, in place."""
    merged = merge(read_yaml(find_repository_root() / "config" / "config.yaml"), config)
    config.clear()
    config.update(merged)
    validate(config)


def find_mirror(config: Config) -> Path | None:
    """Return the folder that is used instead of downloads; `UserError` when it does not exist."""
    if config["mirror"] is None:
        return None
    root = Path(config["mirror"]).expanduser()
    if not root.is_dir():
        raise UserError(f"The mirror folder {root} does not exist; correct `mirror` in the config.")
    return root


@cache
def load_protocol() -> Config:
    """Return the paper's settings, however config/config.yaml was edited; not to be changed."""
    return load([find_repository_root() / "config" / "paper" / "protocol.yaml"])


def read_paper_device() -> str:
    """Return the name of the device that the paper trained and timed on."""
    return read_yaml(find_repository_root() / "config" / "paper" / "facts.yaml")["device"]


def write_resolved(config: Config, path: Path | str) -> None:
    """Write the configuration as .json, which the jobs read, and the same as .yaml beside it.

    A file with the same content is left alone.
    """
    import yaml

    as_json = json.dumps(config, indent=2) + "\n"
    as_yaml = yaml.safe_dump(json.loads(as_json), sort_keys=False)
    for suffix, text in ((".json", as_json), (".yaml", as_yaml)):
        file = Path(path).with_suffix(suffix)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            write_checked(file, text.encode())
