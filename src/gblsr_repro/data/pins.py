"""Checksums of decoded images: config/pixels.tsv has those that this project measured on.

The pixels are those that `images.decode_image` decodes, so that a file that was compressed anew
without loss agrees. All are PNG files, which decode to the same pixels everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ..config import TableRow, find_repository_root, read_table
from ..config.rows import Checksum, Text
from ..files import write_text
from .images import Pixels


class Pin(TableRow):
    """A row of config/pixels.tsv: an image's path in the publisher's copy, and its checksum."""

    image: Text
    sha256: Checksum


def digest_pixels(pixels: Pixels) -> str:
    """Compute the SHA-256 of an image's shape and samples, uint8 (H, W) or (H, W, 3)."""
    shape = "x".join(map(str, pixels.shape))
    return hashlib.sha256(f"{shape}\n".encode() + pixels.tobytes()).hexdigest()


@cache
def read_pins() -> dict[str, str]:
    """Read config/pixels.tsv: of every image, by its path in the publisher's copy, its checksum."""
    return {image: pin.sha256 for image, pin in read_table(_locate_table(), Pin, "image").items()}


def write_pins(digests: Mapping[str, str]) -> None:
    """Write config/pixels.tsv, sorted: the checksums of pixels by image."""
    rows = ["image\tsha256", *(f"{image}\t{digests[image]}" for image in sorted(digests))]
    write_text(_locate_table(), "\n".join(rows) + "\n")


def _locate_table() -> Path:
    return find_repository_root() / "config" / "pixels.tsv"
