"""Where released weights come from: addresses in the config, of files, folders or the hub.

A hub address is hf://OWNER/NAME, with @REVISION after it and a folder or file below it where it has
them: hf://KempnerInstituteAI/gblsr@d196260/gblsr-scalar. Anything else is a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UserError
from .tables import Arm, Config, Method, locate_row

HUB = "hf://"
SEED = "{seed}"  # in an address: the seed of the run
PATTERN = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w.-]+))?((?:/[\w.+-]+)*)/?")


@dataclass(frozen=True)
class HubAddress:
    """A repository of the hub, "owner/name"; a commit, branch or tag; a folder or file in it."""

    repository: str
    revision: str | None
    path: str


def parse_address(text: str) -> HubAddress | None:
    """Return what a hub address says, None for a path; `UserError` for a malformed hub address."""
    if not text.startswith(HUB):
        return None
    found = PATTERN.fullmatch(text)
    if found is None or ".." in text:
        raise UserError(
            f"{text!r} is no address on the hub; write {HUB}OWNER/NAME, @REVISION after it and a "
            "folder below it where it has them."
        )
    repository, revision, path = found.groups()
    return HubAddress(repository, revision, path.strip("/"))


def is_imported(row: Arm | Method, config: Config) -> bool:
    """Whether the config names released weights for an arm or a method."""
    return locate_row(row)[2] in config.get(
        "released", {}
    )  # settings kept by an older version lack it


def address_of(name: str, seed: int | str, config: Config) -> str:
    """Return the address of an arm's or method's released weights of one seed."""
    return config["released"][name].replace(SEED, str(seed))
