"""The pictures of the qualitative figure: one image of every set, and what arms make of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from torch import Tensor

from .. import runtime
from ..config import Config, find_arm
from ..data.arrays import ImageArray
from ..errors import UserError
from ..files import read_json, write_atomically
from ..models.native import NativeModel
from ..runs import load_matching_run
from .native import reconstruct

TRUTH = "ground_truth"


def read_exemplar(config: Config, column: str, arrays: ImageArray) -> Tensor:
    """Return the image of an evaluation set that the qualitative figure shows: (1, 3, S, S).

    Raises `UserError` when the config names none for this set, or one that the set lacks.
    """
    name = config["native"]["data"]["exemplars"].get(column)
    if name not in arrays.names:
        raise UserError(
            f"Config: native.data.exemplars.{column} is {name!r}, which is no image of {column}; "
            f"choose one of {', '.join(arrays.names[:5])}, ..."
        )
    return arrays.load_images([arrays.names.index(name)])


def write_exemplars(
    config: Config, runs: Sequence[Path | str], arrays: Path | str, output: Path | str
) -> None:
    """Draw the exemplar of every evaluation set: as it is, and reconstructed by trained runs.

    `runs` are run folders, `arrays` holds the standardized arrays. Writes into `output`
    ground_truth/<column>.png and <arm>/seed<k>/<column>.png. Raises `UserError`.
    """
    device = runtime.prepare_device(config["device"], config["threads"])
    output = Path(output)
    truths = {
        column: read_exemplar(config, column, ImageArray.open(Path(arrays) / f"{column}.npy"))
        for column in config["native"]["data"]["evaluate"]
    }
    for column, truth in truths.items():
        write_png(output / TRUTH / f"{column}.png", truth[0])
    for run in runs:
        record = read_json(Path(run) / "run.json")
        arm, seed = find_arm(record["arm"]), record["seed"]
        model, _ = load_matching_run(run, NativeModel, arm, seed, config, device)
        runtime.prepare_for_inference(model, device)
        for column, truth in truths.items():
            picture = reconstruct(model, truth.to(device))[0]
            write_png(output / arm.arm / f"seed{seed}" / f"{column}.png", picture)


def write_png(path: Path | str, image: Tensor) -> None:
    """Write one image (3, H, W) in [0, 1] as 8-bit PNG, atomically."""
    pixels = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).cpu().numpy()
    with write_atomically(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG")
