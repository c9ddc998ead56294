"""Build the cases about a trained upscaler: quality and cost beside others."""

from __future__ import annotations

from functools import partial
from statistics import fmean

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from gblsr_repro import inference
from gblsr_repro.config import Config, merge
from gblsr_repro.data.fetch import fetch_dataset
from gblsr_repro.data.images import convert_to_rgb, convert_to_tensor
from gblsr_repro.evaluation import asr
from gblsr_repro.image_io import Photo
from gblsr_repro.models.asr.decoders import LIIF, LTE
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.weights import read_weights

from .data import build_photograph
from .measure import Case, Variant
from .plans import Bench, Plan, format_size

GROUP = "upscalers"
SCALES = (2, 3, 4)
# PSNR-Y in dB at SCALES of Dong et al.'s two networks (TPAMI 2016, ECCV 2016), as later papers
# tabulate them beside their own (for example Ahn, Kang and Sohn, ECCV 2018).
PUBLISHED = {
    "SRCNN": {
        "set5": (36.66, 32.75, 30.48),
        "set14": (32.42, 29.28, 27.49),
        "b100": (31.36, 28.41, 26.90),
    },
    "FSRCNN": {
        "set5": (37.00, 33.16, 30.71),
        "set14": (32.63, 29.43, 27.59),
        "b100": (31.53, 28.53, 26.98),
    },
}
IMAGES = {"set5": 5, "set14": 14, "b100": 100}
PHOTO, QUICK_PHOTO = (512, 512), (24, 32)
PHOTO_SCALE = 4
OTHERS = {LIIF: "LIIF decoder", LTE: "LTE decoder"}


def list_plans(bench: Bench) -> list[Plan]:
    """List the group's cases; no quality without images."""
    scored = [
        Plan(
            f"{column} x{scale}",
            IMAGES[column],
            partial(build_quality_case, column=column, scale=scale),
        )
        for column in IMAGES
        for scale in SCALES
    ]
    return [*(scored if bench.mirror else []), Plan("photograph", 100, build_cost_case)]


def enlarge_with_lanczos(low: np.ndarray, height: int, width: int) -> Tensor:
    """Enlarge an 8-bit image as Pillow does."""
    image = Image.fromarray(convert_to_rgb(low)).resize((width, height), Image.Resampling.LANCZOS)
    return convert_to_tensor(np.asarray(image)) / 255


def build_quality_case(bench: Bench, column: str, scale: int) -> Case:
    """Build the case of the PSNR-Y of a column at one scale, as evaluation measures it.

    Each variant enlarges and scores every image once; the low-resolution images are made before.
    """
    config = use_mirror(bench)
    fetch_dataset(config["asr"]["evaluate"][column], config)
    pairs = asr.build_first_pairs(column, scale, config, IMAGES[column])
    model = inference.load_superres(bench.model, bench.device)
    shaved = asr.compute_border(column, scale, config)

    def score(upsample: asr.Upsample) -> float:
        return fmean(row[1] for row in asr.score_pairs(upsample, pairs, shaved))

    ours = {
        "bicubic": asr.enlarge_bicubically,
        "Lanczos": enlarge_with_lanczos,
        read_method(bench): asr.build_upsampler(model, config, bench.device),
    }
    variants = [Variant(name, partial(score, upsample)) for name, upsample in ours.items()]
    for name, values in PUBLISHED.items():
        known = values[column][SCALES.index(scale)]
        variants.append(Variant(f"{name}, published", partial(float, known), published=True))
    return Case(
        GROUP,
        column,
        tuple(variants),
        scale=scale,
        items=len(pairs),
        same=False,
        memory=False,
        scored=True,
    )


def use_mirror(bench: Bench) -> Config:
    """Return the config with images from the mirror, recorded in the scratch folder."""
    places = {"mirror": str(bench.mirror), "resources": str(bench.scratch / "resources")}
    return merge(bench.config, places)


def read_method(bench: Bench) -> str:
    """Read the name of the trained model's method."""
    return read_weights(bench.model)[0]["method"]


def build_cost_case(bench: Bench) -> Case:
    """Build the case of one enlarged photograph: the model, and other decoders on its encoder.

    Theirs are untrained: times do not depend on the weights.
    """
    size = QUICK_PHOTO if bench.quick else PHOTO
    photo = Photo(build_photograph(size))
    config = read_weights(bench.model)[0]["config"]
    model = inference.load_superres(bench.model, bench.device)
    models = {read_method(bench): model}
    torch.manual_seed(0)
    largest = config["training"]["scale_range"][1]
    sizes = {"features": model.encoder.features, "largest_scale": largest}
    for decoder_class, title in OTHERS.items():
        decoder = decoder_class(config["model"] | sizes)
        models[title] = ASRModel(model.encoder, decoder).eval().to(bench.device)
    variants = [
        Variant(name, partial(inference.upscale, each, photo, PHOTO_SCALE))
        for name, each in models.items()
    ]
    return Case(GROUP, "photograph", tuple(variants), format_size(*size), PHOTO_SCALE, same=False)
