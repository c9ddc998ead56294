"""Write the pictures of the qualitative figure: one image of every set, and reconstructions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from torch import Tensor

from .. import runtime
from ..config import Config
from ..data.arrays import ImageArray
from ..errors import UserError
from ..files import write_atomically
from ..models.native import NativeModel
from ..runs import load_run
from .native import reconstruct

TRUTH = "ground_truth"


def read_exemplar(config: Config, column: str, array: ImageArray) -> Tensor:
    """Read the image of an evaluation set that the qualitative figure shows: (1, 3, S, S).

    It is the first image where the config names none. Raises `UserError` when it names one that the
    set lacks.
    """
    name = config["native"]["data"]["exemplars"].get(column, array.names[0])
    if name not in array.names:
        raise UserError(
            f"Config: native.data.exemplars.{column} is {name!r}, which is no image of {column}; "
            f"name one of {', '.join(array.names[:5])}, ..."
        )
    return array.load_images([array.names.index(name)])


def write_exemplars(config: Config, runs: Sequence[Path], arrays: Path, output: Path) -> None:
    """Write the exemplar of every evaluation set, original and reconstructed by trained runs.

    `runs` are run folders of one seed, `arrays` is the folder of the standardized arrays. Writes
    ground_truth/<column>.png and <arm>/<column>.png into `output`. Raises `UserError` when an
    exemplar is not in its set, or when a run or an array is missing or damaged.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    truths = {
        column: read_exemplar(config, column, ImageArray.open(arrays / f"{column}.npy"))
        for column in config["native"]["data"]["evaluate"]
    }
    for column, truth in truths.items():
        write_png(output / TRUTH / f"{column}.png", truth[0])
    for run in runs:
        model = runtime.prepare_for_inference(load_run(run, NativeModel, config), device)
        for column, truth in truths.items():
            picture = reconstruct(model, truth.to(device))[0]
            write_png(output / model.name / f"{column}.png", picture)


def write_png(path: Path, image: Tensor) -> None:
    """Write one image (3, H, W), clamped to [0, 1], as an 8-bit PNG file."""
    pixels = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).cpu().numpy()
    with write_atomically(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG")
