"""Renew rows of config/pixels.tsv from a mirror whose images were compared with their publisher's.

`python -m gblsr_repro.data MIRROR DATASET ...` decodes every image of the data sets that the mirror
has, in every version that is read for a scale, and keeps the rows of other images.
"""

from __future__ import annotations

import sys
import tempfile

from ..config import load, merge
from ..errors import UserError
from .fetch import fetch_dataset
from .pins import digest_pixels, read_pins, write_pins
from .sources import list_read_images


def renew_pins(mirror: str, datasets: list[str]) -> None:
    """Renew the rows of the images that a mirror has. Raises `UserError` as a fetch does."""
    digests = dict(read_pins())
    with tempfile.TemporaryDirectory() as resources:
        local = {"mirror": mirror, "resources": resources, "accept_partial": datasets}
        config = merge(load(), local)
        for dataset in datasets:
            fetch_dataset(dataset, config)
            images = list_read_images(dataset, config)
            digests |= {path: digest_pixels(image.load()) for path, image in images.items()}
    write_pins(digests)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python -m gblsr_repro.data MIRROR DATASET ...")
    try:
        renew_pins(sys.argv[1], sys.argv[2:])
    except UserError as error:
        sys.exit(f"Error: {error}")
