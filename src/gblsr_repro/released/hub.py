"""Download released weights from the hub of Hugging Face into the cache of its own client.

What the cache has is not downloaded again, and does without a network.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from ..config import HubAddress
from ..errors import UserError
from ..files import compute_sha256
from ..wording import name_network_settings
from .folder import ENDINGS, find_weights

SHA256_DIGITS = 64
INSTEAD = "or name a local folder with the files instead of the address"


def download(address: HubAddress) -> tuple[Path, str]:
    """Download the weights at an address unless the cache has them.

    Returns the file and the commit. Raises `UserError` if the client is not installed, the hub
    does not give the files, there is not exactly one file of weights, or it is damaged.
    """
    try:
        from httpx2 import HTTPError, InvalidURL
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as error:
        raise UserError(
            "Addresses on the hub need the package huggingface_hub; install it with pip install "
            f"-e '.[hub]' in the checkout, {INSTEAD}."
        ) from error
    place = "/".join(filter(None, (f"hf://{address.repository}", address.path)))
    asked: dict[str, Any] = {"revision": address.revision, **_select_files(address.path)}
    try:
        snapshot = snapshot_download(address.repository, **asked)
    # Where a proxy is wrong, httpx2 raises the latter two.
    except (HTTPError, OSError, ValueError, ImportError, InvalidURL) as error:
        reason = textwrap.shorten(str(error), 300) or type(error).__name__
        raise UserError(
            f"{place} cannot be had from the hub ({reason}); check the address, the network"
            f"{name_network_settings()}, log in with hf auth login where it asks for that, "
            f"{INSTEAD}."
        ) from error
    folder = Path(snapshot)
    file = find_weights(folder / address.path, place)
    _check_sum(file)
    return file, folder.name


def _select_files(path: str) -> dict[str, list[str]]:
    """Select the files of a repository that an address may mean: a file, or those in a folder."""
    folder = f"{path}/" if path else ""
    inside = [f"{folder}*{ending}" for ending in ENDINGS]
    return {"allow_patterns": [path, *inside], "ignore_patterns": [f"{folder}*/*"]}


def _check_sum(file: Path) -> None:
    """Compare the SHA-256 of a downloaded file with that which the cache names its content by.

    The hub lists it for large files alone. A file with another is deleted, and `UserError` raised.
    """
    content = file.resolve()
    if len(content.name) == SHA256_DIGITS and compute_sha256(content) != content.name:
        content.unlink()
        raise UserError(
            f"{file} has another checksum than the hub lists and was deleted; run again."
        )
