"""The super-resolution models against their definitions, written anew in float64 with loops.

The oracles follow the published descriptions: four shifted copies of each coordinate, nearest
cells, areas of opposite rectangles with 1e-9 added. None uses a function of the package.
"""

import itertools
import math
from functools import partial

import made
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import ndimage

from gblsr_repro import config
from gblsr_repro.models.asr.model import ASRModel

PUBLISHED = {
    "liif_rdn": 22_320_835,
    "lte_rdn": 22_467_779,
    "lte_swinir": 12_527_655,
    "gblsr_asr": 22_023_873,
    "gblsr_asr_nole": 22_023_873,
    "gblsr_asr_nf48": 20_610_513,
    "gblsr_asr_nf96": 24_927_393,
    "gblsr_asr_nf48_nole": 20_610_513,
    "gblsr_asr_nf96_nole": 24_927_393,
    # As LIIF and LTE published them.
    "lte_swinir_tail": 12_096_871,
    "liif_edsr": 1_567_299,
    "lte_edsr": 1_714_243,
}
SHIFT, AREA = 1e-6, 1e-9
H, W = 5, 4


@pytest.mark.parametrize("method", config.read_methods())
def test_parameter_counts_are_those_published(method):
    assert ASRModel.count(config.read_methods()[method], config.load()) == PUBLISHED[method]


def model_of(method: str, **changes) -> ASRModel:
    """A method at small widths in float64, every weight drawn anew."""
    sizes = made.ASR | {"swinir_depths": [3], "swinir_window": 4} | changes
    settings = config.merge(config.load(), {"asr": {"model": sizes}})
    return made.moved(made.model(method, settings).double().eval())


def weights(module) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def encoded(model: ASRModel) -> tuple[torch.Tensor, torch.Tensor, np.ndarray, np.ndarray]:
    images = made.images(1, H, W)
    with torch.no_grad():
        features = model.encode(images)
    return images, features, features[0].numpy(), images[0].numpy() * 2 - 1


def rendered(model: ASRModel, features, images, size, path=None) -> np.ndarray:
    with torch.no_grad():
        return model.decode(features, *size, 10**9, images, path=path)[0].numpy() * 2 - 1


def nearest(coordinate: float, cells: int) -> int:
    return min(max(math.floor((coordinate + 1) / 2 * cells), 0), cells - 1)


def ensemble(answer, size: tuple[int, int], shifts=(-1, 1)) -> np.ndarray:
    """Ask `answer(cell_y, cell_x, offset_y, offset_x)` of each pixel's corners; weigh by areas."""
    image = np.zeros((3, *size))
    for i, j in itertools.product(*map(range, size)):
        place = [(2 * k + 1) / n - 1 for k, n in zip((i, j), size, strict=True)]
        answers, areas = [], []
        for steps in itertools.product(shifts, repeat=2):
            cells, offsets = [], []
            for axis, n in enumerate((H, W)):
                moved = place[axis] + steps[axis] / n + SHIFT
                cells.append(nearest(min(max(moved, -1 + SHIFT), 1 - SHIFT), n))
                offsets.append((place[axis] - ((2 * cells[-1] + 1) / n - 1)) * n)
            answers.append(answer(*cells, *offsets))
            areas.append(abs(offsets[0] * offsets[1]) + AREA)
        for value, opposite in zip(answers, reversed(areas), strict=True):
            image[:, i, j] += value * opposite / sum(areas)
    return image


def modes(v: float, count: int, s: float) -> np.ndarray:
    values = [1.0]
    for k in range(1, count):
        order = (k + 1) // 2
        values.append((math.cos if k % 2 else math.sin)(order * math.pi * s * v))
    return np.array(values)


def spectral_answer(model: ASRModel, features: np.ndarray):
    w = weights(model.decoder)
    kernel, bias = w["coefficients.weight"][:, :, 0, 0], w["coefficients.bias"]
    count = math.isqrt(len(bias) // 3)
    s = math.log1p(math.exp(w["raw_bandwidth"]))

    def answer(y, x, offset_y, offset_x):
        coefficients = (kernel @ features[:, y, x] + bias).reshape(3, count, count)
        return coefficients @ modes(offset_x, count, s) @ modes(offset_y, count, s)

    return answer


# Scales without a pixel on the line through the last cell center, where the area form breaks down.
SIZES = [(10, 8), (20, 16), (13, 11), (6, 5)]


@pytest.mark.parametrize("method", ["gblsr_asr", "gblsr_asr_nole"])
@pytest.mark.parametrize("size", SIZES)
def test_the_spectral_decoder_is_its_definition(method, size):
    model = model_of(method, modes=5)
    images, features, maps, _ = encoded(model)
    shifts = (-1, 1) if model.decoder.ensemble else (0,)
    expected = ensemble(spectral_answer(model, maps), size, shifts)
    for path in {"plain", model.decoder.choose_path((H, W), size), "separable"}:
        image = rendered(model, features, images, size, path)
        np.testing.assert_allclose(image, expected, atol=1e-7 * np.abs(expected).max())


def test_the_area_form_differs_on_the_lines_through_the_last_centers_alone():
    model = model_of("gblsr_asr", modes=5)
    images, features, maps, _ = encoded(model)
    size = (3 * H, 3 * W)
    expected = ensemble(spectral_answer(model, maps), size)
    off = np.abs(rendered(model, features, images, size) - expected).max(0) > 1e-6
    assert off[-2, :-1].any()
    assert off[:-1, -2].any()
    off[-2], off[:, -2] = False, False
    assert not off.any()


def test_on_a_cell_center_line_the_ensemble_is_the_limit_from_both_sides():
    model = model_of("gblsr_asr", modes=5)
    images, features, _, _ = encoded(model)
    center = 1 - 1 / H
    places = torch.tensor([[[center + d, 0.3] for d in (-1e-9, 0.0, 1e-9)]], dtype=torch.float64)
    with torch.no_grad():
        below, on, above = model.query(features, places, torch.ones_like(places), images)[0]
    torch.testing.assert_close(below, on, rtol=0, atol=1e-6)
    torch.testing.assert_close(above, on, rtol=0, atol=1e-6)


def perceptron(w: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    depth = sum(name.startswith("hidden.") for name in w) // 2
    for k in range(depth):
        x = np.maximum(w[f"hidden.{k}.weight"] @ x + w[f"hidden.{k}.bias"], 0)
    return w["last.weight"] @ x + w["last.bias"]


@pytest.mark.parametrize("size", SIZES)
def test_liif_is_its_definition(size):
    model = model_of("liif_rdn")
    images, features, maps, _ = encoded(model)
    w = weights(model.decoder)
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1)))

    def answer(y, x, offset_y, offset_x):
        around = padded[:, y : y + 3, x : x + 3].ravel()
        cell = [2 * H / size[0], 2 * W / size[1]]
        return perceptron(w, np.concatenate((around, [offset_y, offset_x], cell)))

    expected = ensemble(answer, size)
    for path in ("plain", "hoisted"):
        image = rendered(model, features, images, size, path)
        np.testing.assert_allclose(image, expected, atol=1e-7 * np.abs(expected).max())


def convolved(w: dict[str, np.ndarray], name: str, maps: np.ndarray) -> np.ndarray:
    """Correlate maps (C, h, w) with a kernel (K, C, s, s), zeros outside, and add the bias."""
    given = (maps[None], w[f"{name}.weight"], w[f"{name}.bias"])
    tensors = (torch.from_numpy(np.ascontiguousarray(x)) for x in given)
    return F.conv2d(*tensors, padding=w[f"{name}.weight"].shape[-1] // 2)[0].numpy()


def bilinear(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    places = [
        (np.arange(n) + 0.5) * m / n - 0.5 for n, m in zip(size, image.shape[1:], strict=True)
    ]
    grid = np.meshgrid(*places, indexing="ij")
    return np.stack([ndimage.map_coordinates(c, grid, order=1, mode="nearest") for c in image])


@pytest.mark.parametrize("method", ["lte_rdn", "lte_swinir"])
@pytest.mark.parametrize("size", [*SIZES, (30, 24)])
def test_lte_is_its_definition(method, size):
    model = model_of(method)
    images, features, maps, low = encoded(model)
    w = weights(model.decoder)
    amplitude, frequency = (convolved(w, name, maps) for name in ("amplitude", "frequency"))
    # Beyond x4, the largest scale of training, the cell size stays that of x4.
    cell = np.maximum([2 * H / size[0], 2 * W / size[1]], 0.5)

    def answer(y, x, offset_y, offset_x):
        along_y, along_x = np.split(frequency[:, y, x], 2)
        angle = np.pi * (along_y * offset_y + along_x * offset_x + w["phase.weight"] @ cell)
        waves = np.concatenate((np.cos(angle), np.sin(angle)))
        return perceptron(w, amplitude[:, y, x] * waves)

    expected = ensemble(answer, size) + bilinear(low, size)
    for path in ("plain", "hoisted"):
        image = rendered(model, features, images, size, path)
        np.testing.assert_allclose(image, expected, atol=1e-6 * np.abs(expected).max())


# --- encoders ------------------------------------------------------------------------------------


def test_rdn_is_its_definition():
    model = model_of("gblsr_asr")
    _, _, maps, low = encoded(model)
    w = weights(model.encoder)

    conv = partial(convolved, w)
    shallow = conv("shallow", low)
    x, outputs = conv("entry", shallow), []
    for block in range(2):
        dense = x
        for layer in range(2):
            new = np.maximum(conv(f"blocks.{block}.layers.{layer}", dense), 0)
            dense = np.concatenate((dense, new))
        x = x + conv(f"blocks.{block}.fusion", dense)
        outputs.append(x)
    expected = shallow + conv("last", conv("fusion", np.concatenate(outputs)))
    np.testing.assert_allclose(maps, expected, atol=1e-9 * np.abs(expected).max())


def normed(x: np.ndarray, w: dict[str, np.ndarray], name: str) -> np.ndarray:
    """LayerNorm over the channels of (h, w, C)."""
    centered = x - x.mean(-1, keepdims=True)
    scaled = centered / np.sqrt(centered.var(-1, keepdims=True) + 1e-5)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def attended(x: np.ndarray, w: dict[str, np.ndarray], name: str, side: int, shift: int, heads: int):
    """Shifted-window attention of (h, w, C), pixel by pixel.

    After the image is rolled by `shift`, a pixel sees the pixels of its window that were its
    neighbors before: those on the same side of the seam, on both axes.
    """
    height, width, channels = x.shape
    flat = x.reshape(-1, channels) @ w[f"{name}.qkv.weight"].T + w[f"{name}.qkv.bias"]
    q, k, v = (part.reshape(height, width, heads, -1) for part in np.split(flat, 3, axis=1))
    table = w[f"{name}.position_bias"]
    out = np.zeros((height, width, heads, channels // heads))

    def home(y, x):
        rolled = ((y - shift) % height, (x - shift) % width)
        seam = (y < shift, x < shift)
        return rolled, (rolled[0] // side, rolled[1] // side, seam)

    pixels = list(itertools.product(range(height), range(width)))
    for one in pixels:
        here, group = home(*one)
        seen = [other for other in pixels if home(*other)[1] == group]
        for head in range(heads):
            scores = []
            for other in seen:
                there = home(*other)[0]
                step = [a - b + side - 1 for a, b in zip(here, there, strict=True)]
                bias = table[step[0] * (2 * side - 1) + step[1], head]
                scale = math.sqrt(channels // heads)
                scores.append(q[one][head] @ k[other][head] / scale + bias)
            share = np.exp(np.array(scores) - max(scores))
            share /= share.sum()
            out[one][head] = sum(p * v[other][head] for p, other in zip(share, seen, strict=True))
    flat = out.reshape(-1, channels)
    return (flat @ w[f"{name}.project.weight"].T + w[f"{name}.project.bias"]).reshape(x.shape)


@pytest.mark.parametrize("method", ["lte_swinir", "lte_swinir_tail"])
def test_swinir_is_its_definition(method):
    model = model_of(method)
    side, heads = 4, 2
    _, _, maps, low = encoded(model)
    w = weights(model.encoder)
    rows = [*range(H), *reversed(range(H - 3, H))]  # mirrored at the border up to 8 rows
    low = low[:, rows]

    conv = partial(convolved, w)

    def gelu(x):
        return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    first = conv("first", low)
    x = normed(first.transpose(1, 2, 0), w, "embed_norm")
    inner = x
    for i in range(3):
        name = f"groups.0.layers.{i}"
        shift = side // 2 if i % 2 else 0
        y = normed(inner, w, f"{name}.attention_norm")
        inner = inner + attended(y, w, f"{name}.attention", side, shift, heads)
        y = normed(inner, w, f"{name}.perceptron_norm")
        y = gelu(y @ w[f"{name}.perceptron.0.weight"].T + w[f"{name}.perceptron.0.bias"])
        inner = inner + y @ w[f"{name}.perceptron.2.weight"].T + w[f"{name}.perceptron.2.bias"]
    x = x + conv("groups.0.conv", inner.transpose(2, 0, 1)).transpose(1, 2, 0)
    expected = first + conv("last", normed(x, w, "norm").transpose(2, 0, 1))
    if method == "lte_swinir_tail":
        expected = conv("tail", expected)
        expected = np.where(expected > 0, expected, 0.01 * expected)
        assert len(expected) == 64
    # Masked scores are -100, not minus infinity: e^-100 of a pixel across the seam remains.
    np.testing.assert_allclose(maps, expected[:, :H], atol=1e-9 * np.abs(expected).max())


def test_edsr_is_its_definition():
    model = model_of("liif_edsr")
    _, _, maps, low = encoded(model)
    w = weights(model.encoder)

    conv = partial(convolved, w)
    first = x = conv("first", low)
    for block in range(16):
        x = x + conv(f"blocks.{block}.leave", np.maximum(conv(f"blocks.{block}.enter", x), 0))
    expected = first + conv("last", x)
    np.testing.assert_allclose(maps, expected, atol=1e-12 * np.abs(expected).max())
