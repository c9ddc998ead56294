"""Download released weights from the hub of Hugging Face, with its own client.

Interrupted downloads resume, and complete files are not downloaded again. A file whose checksum
differs from the one that the hub lists is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from ..config import HubAddress
from ..errors import UserError
from ..files import compute_sha256
from ..progress import log
from .folder import ENDINGS, FACTS, Files, choose_weights

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo

LARGEST = 2_000_000_000  # bytes of a file
INSTALL = "install it with pip install -e '.[hub]' in the checkout"
OFFLINE = "or name a local folder with the files instead of the address"


def download(address: HubAddress, folder: Path) -> tuple[Files, str, str | None]:
    """Download the weights at an address and their config.json into a subfolder for their commit.

    Returns the files, the commit, and the license that the repository states.
    Raises `UserError` if the client is not installed, the hub cannot be reached, refuses, does
    not have the repository, the revision or exactly one file of weights, or a file is too large or
    damaged.
    """
    try:
        from httpx2 import HTTPError
        from huggingface_hub import HfApi
        from huggingface_hub.errors import OfflineModeIsEnabled
    except ModuleNotFoundError as error:
        raise UserError(
            f"Addresses on the hub need the package huggingface_hub; {INSTALL}, {OFFLINE}."
        ) from error
    api = HfApi()
    place = f"hf://{address.repository}"
    try:
        listing = api.model_info(address.repository, revision=address.revision, files_metadata=True)
        weights, *others = _choose_files(address, [s.rfilename for s in listing.siblings or ()])
        _check_sizes(listing, (weights, *others), place)
        commit = str(listing.sha)
        target = folder / address.repository.replace("/", "--") / commit
        log.info("%s, commit %s: %s", place, commit[:12], weights)
        paths = [
            Path(api.hf_hub_download(address.repository, name, revision=commit, local_dir=target))
            for name in (weights, *others)
        ]
    except (HTTPError, OSError, OfflineModeIsEnabled) as error:
        _refuse(address, error)
    _check_sums(listing, dict(zip((weights, *others), paths, strict=True)), place)
    files = Files(paths[0], paths[1] if others else None, None)
    return files, commit, _read_license(listing)


def _choose_files(address: HubAddress, names: list[str]) -> list[str]:
    """Choose the file of weights at an address, and config.json if the same folder has it."""
    place = f"hf://{address.repository}/{address.path}".rstrip("/")
    if address.path in names:
        weights = address.path
    else:
        parent = PurePosixPath(address.path)
        inside = [name for name in names if PurePosixPath(name).parent == parent]
        if not inside:
            folders = sorted({str(PurePosixPath(n).parent) for n in names if n.endswith(ENDINGS)})
            if not folders:
                raise UserError(f"{place} is in a repository without weights; name another.")
            found = ", ".join(folders)
            raise UserError(f"{place} is not there; name a folder of weights: {found}.")
        weights = choose_weights(inside, place)
    facts = str(PurePosixPath(weights).with_name(FACTS))
    return [weights, facts] if facts in names else [weights]


def _check_sizes(listing: ModelInfo, names: Collection[str], place: str) -> None:
    """Refuse files that are larger than any weights of these models."""
    for entry in listing.siblings or ():
        if entry.rfilename in names and (entry.size or 0) > LARGEST:
            raise UserError(
                f"{place}: {entry.rfilename} is larger than the {LARGEST} bytes allowed for it; "
                "name another file."
            )


def _check_sums(listing: ModelInfo, paths: dict[str, Path], place: str) -> None:
    """Compare the SHA-256 of the files with those that the hub lists."""
    for entry in listing.siblings or ():
        if entry.rfilename in paths and entry.lfs is not None:
            path = paths[entry.rfilename]
            if compute_sha256(path) != entry.lfs.sha256:
                path.unlink()
                raise UserError(
                    f"{place}: {entry.rfilename} came with another checksum than the hub lists and "
                    "was deleted; run again."
                )


def _read_license(listing: ModelInfo) -> str | None:
    """Read the license from the card of the repository."""
    card = listing.card_data
    license = card.get("license") if card is not None else None
    return str(license) if license else None


def _refuse(address: HubAddress, error: Exception) -> NoReturn:
    """Raise a `UserError` that explains an error of the client."""
    from huggingface_hub import errors

    place = f"hf://{address.repository}"
    revision = address.revision or "main"
    match error:
        case errors.GatedRepoError():
            problem = f"{place} asks to accept its terms first; accept them on its page and log in"
        case errors.RepositoryNotFoundError() if error.response.status_code == 401:
            problem = (
                f"{place} is not there or private; check the name, or log in with hf auth login"
            )
        case errors.RepositoryNotFoundError():
            problem = f"{place} is not there; check the name"
        case errors.RevisionNotFoundError():
            problem = f"{place} has no revision {revision!r}; check it"
        case errors.OfflineModeIsEnabled():
            problem = f"{place} cannot be reached while HF_HUB_OFFLINE is set; unset it"
        case errors.HfHubHTTPError():
            status = error.response.status_code
            problem = f"{place} cannot be fetched (the hub answered {status}); run again later"
        case _:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            problem = f"{place} cannot be fetched ({reason}); check the network and run again"
    raise UserError(f"{problem}, {OFFLINE}.") from error
