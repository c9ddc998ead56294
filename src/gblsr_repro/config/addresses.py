"""Parse the addresses of released weights in the config: of files, folders or the hub.

A hub address is hf://OWNER/NAME, optionally with @REVISION and a folder or file after it:
hf://KempnerInstituteAI/gblsr@d196260/gblsr-scalar. Anything else is a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .tables import Arm, Config, Method, locate_row

HUB = "hf://"
SEED = "{seed}"  # placeholder in an address for the seed of the run
PATTERN = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w.-]+))?((?:/[\w.+-]+)*)/?")


@dataclass(frozen=True)
class HubAddress:
    """Repository on the hub ("owner/name"); commit, branch or tag; folder or file in it."""

    repository: str
    revision: str | None
    path: str


def parse_address(text: str) -> HubAddress | None:
    """Parse a hub address; None for a path. Raises `UserError` for a malformed hub address."""
    if not text.startswith(HUB):
        return None
    match = PATTERN.fullmatch(text)
    if match is None or ".." in text:
        raise UserError(
            f"{text!r} is no address on the hub; write {HUB}OWNER/NAME, @REVISION after it and a "
            "folder below it where it has them."
        )
    repository, revision, path = match.groups()
    return HubAddress(repository, revision, path.strip("/"))


def drop_folder(address: str) -> str:
    """Drop the folder from the address of a local file or folder; a hub address is kept."""
    return address if address.startswith(HUB) else Path(address).name


def is_imported(row: Arm | Method, config: Config) -> bool:
    """Decide whether the config names released weights for an arm or a method."""
    released = config.get("released", {})  # which the paper's protocol alone lacks
    return locate_row(row)[2] in released


def get_address(name: str, seed: int | str, config: Config) -> str:
    """Return the address of the released weights of an arm or a method with one seed."""
    return config["released"][name].replace(SEED, str(seed))
