"""Check whether a run is the one that a configuration and its tables ask for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError
from .collect import CODE_DIGEST, RELEASED, Dependencies


def check_origin(place: Path | str, record: Mapping[str, Any], expected: Dependencies) -> None:
    """Raise `UserError` where a run was imported and `expected` is trained, or the reverse."""
    recorded = (record.get("identity") or {}).get(RELEASED)
    if recorded == expected.get(RELEASED):
        return
    addresses = ", ".join(f"{name}: {address}" for name, address in (recorded or {}).items())
    if expected.get(RELEASED) is None:
        raise UserError(
            f"{place} holds imported weights and not a trained run; name them under `released` in "
            f"the config ({addresses}), or train this run."
        )
    origin = f"was imported as {addresses}" if recorded else "was trained here"
    raise UserError(
        f"{place} {origin}, but `released` in the config says otherwise; import this run again or "
        "correct the config."
    )


def check_identity(place: Path | str, record: Mapping[str, Any], expected: Dependencies) -> None:
    """Raise `UserError` unless the identity in a run's record agrees with `expected`."""
    identity = record.get("identity")
    if identity is None:
        raise UserError(f"{place} has no record of what it was trained with; train this run again.")
    past, present = ("imported", "import") if RELEASED in record else ("trained", "train")
    for name, value in expected.items():
        if identity.get(name) == value:
            continue
        if name == CODE_DIGEST:
            raise UserError(
                f"{place} was {past} by other code than the current one; {present} it again or "
                "restore that code."
            )
        table, _, _ = name.partition(".")
        source = f"config/{table}.tsv" if table in ("arms", "methods") else "the config"
        raise UserError(
            f"{place} was {past} with {name} = {identity.get(name)}, but {source} has {value}; "
            f"{present} it again or restore that value."
        )
