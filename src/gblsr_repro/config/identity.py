"""Whether a run is the one that a config and its tables ask for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError
from .dependencies import CODE, RELEASED, Follows


def check_origin(place: Path | str, record: Mapping[str, Any], wanted: Follows) -> None:
    """Raise `UserError` where a run was imported and `wanted` is trained, or the reverse."""
    found = (record.get("identity") or {}).get(RELEASED)
    if found == wanted.get(RELEASED):
        return
    given = ", ".join(f"{name}: {address}" for name, address in (found or {}).items())
    if wanted.get(RELEASED) is None:
        raise UserError(
            f"{place} holds imported weights and not a trained run; name them under `released` in "
            f"the config ({given}), or train this run."
        )
    origin = f"was imported as {given}" if found else "was trained here"
    raise UserError(
        f"{place} {origin}, but `released` in the config says otherwise; import this run again or "
        "correct the config."
    )


def check_identity(place: Path | str, record: Mapping[str, Any], wanted: Follows) -> None:
    """Raise `UserError` unless the run that `record` describes agrees with all of `wanted`."""
    trained = record.get("identity")
    if trained is None:
        raise UserError(f"{place} does not say what its weights follow from; train this run again.")
    made, again = ("imported", "import") if RELEASED in record else ("trained", "train")
    for name, value in wanted.items():
        if trained.get(name) == value:
            continue
        if name == CODE:
            raise UserError(
                f"{place} was {made} by other code than there is now; {again} again or go back to "
                "that code."
            )
        table, _, _ = name.partition(".")
        says = f"config/{table}.tsv" if table in ("arms", "methods") else "the config"
        raise UserError(
            f"{place} was {made} with {name} = {trained.get(name)}, but {says} says {value}; "
            f"{again} again or use what it was {made} with."
        )
