"""Read the metadata (.json) that runs, arrays, scores and times keep beside their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import UserError
from .files import read_json_map
from .validation import describe_mistake

METADATA_FILE = "run.json"  # beside the weights of a run
ABSENT: Any = Field(default=None)  # an entry that may be absent


class JsonObject(BaseModel):
    """A JSON object: the entries that readers rely on; it may have others."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)


class Device(JsonObject):
    """The device of a job."""

    name: str


class Commit(JsonObject):
    """The commit of the code, None outside a git checkout."""

    commit: str | None
    modified: bool | None = ABSENT


class ReleasedOrigin(JsonObject):
    """Where imported weights come from: who released them, license and commit.

    `identity`: what a run of this project depends on; the training of other weights is not
    recorded.
    """

    by: str
    license: str | None = ABSENT
    revision: str | None = ABSENT
    identity: dict[str, Any] | None = ABSENT


class Images(JsonObject):
    """The images that a job read of one data set; `stands_in_for` is the set that it replaces.

    `expected` images are in the whole set. `other_pixels`: those that differ from what
    config/pixels.tsv has of them.
    """

    dataset: str
    title: str
    images: int
    expected: int | None = ABSENT
    complete: bool = ABSENT
    stands_in_for: str | None = ABSENT
    other_pixels: list[str] = ABSENT

    @property
    def count(self) -> str:
        """The number of images, and of how many where some are absent."""
        is_part = self.expected and not self.complete
        return f"{self.images:,} of {self.expected:,}" if is_part else f"{self.images:,}"


class Metadata(JsonObject):
    """What a run, an array, scores or times were made of, by and with."""

    arm: str = ABSENT
    method: str = ABSENT
    row: dict[str, Any] = ABSENT
    seed: int = ABSENT
    steps: int | None = ABSENT
    parameters: int | None = ABSENT
    wall_seconds: float | None = ABSENT
    steps_per_second: float | None = ABSENT
    peak_memory_mib: float | None = ABSENT
    config: dict[str, Any] = ABSENT
    identity: dict[str, Any] | None = ABSENT
    depends_on: dict[str, Any] = ABSENT
    released: ReleasedOrigin = ABSENT
    colors: str = ABSENT
    data: dict[str, Any] = ABSENT
    device: Device | None = ABSENT
    git: Commit | None = ABSENT
    versions: dict[str, str | None] | None = ABSENT
    not_timed: dict[str, str] | None = ABSENT
    sizes_only: bool = ABSENT
    shaved: int = ABSENT
    datasets: list[Images] = ABSENT
    finished: str = ABSENT
    sha256: str = ABSENT
    index_sha256: str = ABSENT
    weights_sha256: str = ABSENT


def read_metadata(path: Path | str, kind: type[JsonObject] = Metadata) -> dict[str, Any]:
    """Read metadata; `UserError` where a file is missing, damaged or an entry has another type."""
    metadata = read_json_map(path)
    check_metadata(metadata, path, kind)
    return metadata


def check_metadata(metadata: Any, place: Path | str, kind: type[JsonObject] = Metadata) -> None:
    """Raise `UserError` for the first entry that has another type than in `kind`."""
    try:
        kind.model_validate(metadata)
    except ValidationError as error:
        raise UserError(
            f"{place} is damaged ({describe_mistake(error, kind)}); delete it and run the step "
            "that makes it."
        ) from error
