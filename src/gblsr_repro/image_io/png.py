"""What Pillow does not read of a PNG file: its color chunks as they are, and its transparent color.

A PNG file without an alpha channel can name one gray value or color that is transparent (chunk
tRNS). Its value has the bits of the file's samples, while Pillow's pixels have 8.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOR_CHUNKS = ("cICP", "sRGB", "gAMA", "cHRM")
READ_CHUNKS = ("IHDR", "tRNS", *COLOR_CHUNKS)
GRAY, RGB = 0, 2  # the color types that tRNS names a value for


def read_chunks(path: Path | str) -> dict[str, bytes]:
    """Return the content of the chunks of `READ_CHUNKS` in a PNG file; of another file, none."""
    chunks: dict[str, bytes] = {}
    with Path(path).open("rb") as stream:
        if stream.read(8) != SIGNATURE:
            return chunks
        while len(header := stream.read(8)) == 8 and header[4:] not in (b"IDAT", b"IEND"):
            length, name = int.from_bytes(header[:4]), header[4:].decode("latin-1")
            if name in READ_CHUNKS:
                chunks[name] = stream.read(length)
                length = 0
            stream.seek(length + 4, 1)  # the checksum, which Pillow has compared
    return chunks


def find_transparent_color(
    path: Path | str, image: Image.Image, chunks: dict[str, bytes]
) -> NDArray[np.bool_] | None:
    """Return where a PNG file has its transparent gray value or color, (H, W).

    `image` is the file as Pillow loaded it. None where the file names no such value.
    """
    if "tRNS" not in chunks:
        return None
    bits, color_type = chunks["IHDR"][8], chunks["IHDR"][9]
    if color_type not in (GRAY, RGB):
        return None
    largest = (1 << bits) - 1
    value = np.frombuffer(chunks["tRNS"], ">u2") & largest
    if color_type == GRAY:
        if bits == 16:
            return np.asarray(image) == value[0]
        return np.asarray(image.convert("L")) == int(value[0]) * 255 // largest
    if bits == 8:
        return (np.asarray(image) == value).all(axis=2)
    high, low = np.asarray(image), _read_low_bytes(path)
    return ((high == value >> 8) & (low == value & 0xFF)).all(axis=2)


def _read_low_bytes(path: Path | str) -> NDArray[np.uint8]:
    """Return the low bytes of a 16-bit RGB file's samples, (H, W, 3).

    Pillow keeps the high byte of each. Reading the big-endian samples as if they were little-endian
    makes it keep the other one.
    """
    with Image.open(path, formats=["PNG"]) as image:
        image.tile = [tile._replace(args="RGB;16L") for tile in image.tile]
        return np.array(image)
