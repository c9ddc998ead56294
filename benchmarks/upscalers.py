"""Build the case of one enlarged photograph: the bundled model beside other decoders."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from gblsr_repro import inference
from gblsr_repro.bundled import find_bundled_model
from gblsr_repro.image_io import Photo
from gblsr_repro.models.asr.liif import LIIF
from gblsr_repro.models.asr.lte import LTE
from gblsr_repro.models.asr.model import ASRModel
from gblsr_repro.weights import read_weights

from .bench import Bench, format_size
from .data import build_photograph
from .measure import Case, Variant

SIZE, QUICK_SIZE = (512, 512), (24, 32)
SCALE = 4


def build_cases(bench: Bench) -> Iterator[Case]:
    """Build the group's case: the bundled model, and LIIF's and LTE's decoders on its encoder.

    Theirs are untrained: times do not depend on the weights.
    """
    size = QUICK_SIZE if bench.quick else SIZE
    photo = Photo(build_photograph(size))
    path = find_bundled_model("asr")
    config = read_weights(path)[0]["config"]
    model = inference.load_superres(path, bench.device)
    models = {"GB-LSR": model}
    torch.manual_seed(0)
    largest = config["training"]["scale_range"][1]
    sizes = {"features": model.encoder.features, "largest_scale": largest}
    for decoder_class in (LIIF, LTE):
        decoder = decoder_class(config["model"] | sizes)
        others = ASRModel(model.encoder, decoder).eval().to(bench.device)
        models[f"{decoder_class.__name__} decoder"] = others
    variants = tuple(
        Variant(name, partial(inference.upscale, each, photo, SCALE))
        for name, each in models.items()
    )
    yield Case("photograph", variants, format_size(*size), SCALE, same=False)
