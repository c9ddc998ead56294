"""The arbitrary-scale super-resolution model: an encoder, a decoder and the ways to ask them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ... import config as configuration
from ...config import Config, Method
from ...errors import UserError
from ...files import read_json
from ...runtime import seed_everything
from ...weights import load_weights
from .decoders import COLORS, LIIF, LTE, PLAIN, Decoder
from .local_ensemble import taps_of_pixels
from .local_spectral import LocalSpectralDecoder
from .part import Part
from .rdn import RDN
from .swinir import SwinIR

# Scattered queries of one image answered at once: bounds their memory (the plain path of the
# spectral decoder reads 3 kB per query and corner).
QUERY_CHUNK = 16384

Encoder = RDN | SwinIR


def normalize(images: Tensor) -> Tensor:
    """Map values in [0, 1] to the range [-1, 1] that networks and losses work in."""
    return (images - 0.5) / 0.5


def denormalize(values: Tensor) -> Tensor:
    """Undo `normalize`."""
    return values.mul(0.5).add_(0.5)


class ASRModel(nn.Module):
    """Encodes a low-resolution image once and shows it at any size, anywhere.

    Images and colours are RGB with values in [0, 1], colours unclamped; they are normalised and
    denormalised in here and nowhere else. Coordinates are (y, x), each from -1 to 1 between the
    outer edges of the image. `path` tells which way the last call went: "plain", "hoisted",
    "folded" or "separable" (see `decoders`); all ways give the same values. The plain way takes
    the encoder as published, too.

    Only the encoder runs in a lower precision under autocast; basis and coordinates need the
    precision of the weights.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.path: str | None = None

    def encode(self, images: Tensor, plain: bool = False) -> Tensor:
        """Return features (B, D, h, w) of images (B, 3, h, w)."""
        if images.ndim != 4 or images.shape[1] != COLORS:
            raise ValueError(f"images must be (B, 3, h, w), not {tuple(images.shape)}")
        return self.encoder(normalize(images), plain)

    def forward(
        self, images: Tensor, sizes: Tensor, pixels: Tensor, path: str | None = None
    ) -> Tensor:
        """Return chosen pixels of enlarged images, for training: (B, Q, 3).

        `images` (B, 3, h, w); sample b is shown at `sizes`[b] = (H, W) and asked for the rows and
        columns `pixels` (B, Q, 2); both int64. Differentiable; the fastest path unless named.
        """
        features = self.encode(images, path == PLAIN)
        return self.decode_pixels(features, sizes, pixels, images, path)

    def decode_pixels(
        self,
        features: Tensor,
        sizes: Tensor,
        pixels: Tensor,
        images: Tensor,
        path: str | None = None,
    ) -> Tensor:
        """Do what `forward` does, from features (B, D, h, w) of `images` (B, 3, h, w)."""
        path = self._take(path or self.decoder.training_path)
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.sample(self._full(features), sizes, pixels, path)
            if self.decoder.adds_input:
                coordinates = (2 * pixels + 1).to(values.dtype) / sizes[:, None] - 1
                values = values + enlarged_at(normalize(images), coordinates)
            return denormalize(values)

    def query(
        self,
        features: Tensor,
        coordinates: Tensor,
        cell: Tensor,
        images: Tensor | None = None,
        chunk: int = QUERY_CHUNK,
    ) -> Tensor:
        """Return colours (B, Q, 3) at coordinates (B, Q, 2) of features (B, D, h, w).

        `cell` (B, Q, 2) is the size of each query's pixel in coordinates: (2 / H, 2 / W) for an
        H x W image. `images` (B, 3, h, w) are the encoder's input; LTE needs them (`ValueError`
        without). Memory is bounded for any Q: `chunk` queries of each image at once. Float64
        coordinates keep the most digits: an error e in a coordinate becomes pi p s n e / 2 in the
        argument of the highest mode, on an axis of n cells.
        """
        self._take(self.decoder.query_path)
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.query(self._full(features), coordinates, cell, chunk)
            if self.decoder.adds_input:
                if images is None:
                    raise ValueError("this decoder adds the enlarged input: give query the images")
                values = values + enlarged_at(normalize(images), coordinates.to(values.dtype))
            return denormalize(values)

    def render(
        self, images: Tensor, height: int, width: int, tile_pixels: int, path: str | None = None
    ) -> Tensor:
        """Show images (B, 3, h, w) at height x width: (B, 3, height, width).

        Takes the fastest exact path, or the one named. About `tile_pixels` output pixels are
        decoded at once, at least one row of cells; it bounds the memory and changes no value.
        """
        features = self.encode(images, path == PLAIN)
        return self.decode(features, height, width, tile_pixels, images, path)

    def decode(
        self,
        features: Tensor,
        height: int,
        width: int,
        tile_pixels: int,
        images: Tensor,
        path: str | None = None,
        part: Part | None = None,
    ) -> Tensor:
        """Do what `render` does, from features (B, D, h, w) of `images` (B, 3, h, w).

        With `part`, features and images are those of a part of the map and the result is that part
        of the image, (B, 3, rows, columns); the size is still the whole image's.
        """
        h, w = features.shape[-2:]
        cells, size = part.cells if part else (h, w), (height, width)
        path = self._take(path or self.decoder.fastest(cells, size))
        with torch.autocast(features.device.type, enabled=False):
            values = self.decoder.render(self._full(features), size, tile_pixels, path, part)
            if self.decoder.adds_input and part:
                values = values + enlarged_part(normalize(images), size, part)
            elif self.decoder.adds_input:
                values = values + F.interpolate(normalize(images), size, mode="bilinear")
            return denormalize(values)

    def bandwidth(self) -> float | None:
        """Return the decoder's one bandwidth; None for a decoder without such a number."""
        return self.decoder.bandwidth()

    def _take(self, path: str) -> str:
        if path not in self.decoder.paths:
            known = ", ".join(self.decoder.paths)
            raise ValueError(f"{type(self.decoder).__name__} has the paths {known}, not {path!r}")
        self.path = path
        return path

    def _full(self, features: Tensor) -> Tensor:
        return features.to(next(self.decoder.parameters()).dtype)


def enlarged_at(images: Tensor, coordinates: Tensor) -> Tensor:
    """Interpolate images (B, C, h, w) bilinearly at coordinates (B, Q, 2): (B, Q, C)."""
    grid = coordinates.flip(-1)[:, None]
    found = F.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return found[:, :, 0].mT


def enlarged_part(images: Tensor, size: tuple[int, int], part: Part) -> Tensor:
    """Interpolate the images of a part of the cells bilinearly: (B, C, rows, columns)."""
    for dim, span in ((2, part.rows), (3, part.columns)):
        pixels = torch.arange(*span, device=images.device)
        taps = taps_of_pixels(pixels, size[dim - 2], part.cells[dim - 2], ensemble=True)
        lower, upper = (images.index_select(dim, c - part.origin[dim - 2]) for c in taps.latent)
        share = taps.weight[1].to(images.dtype)
        images = torch.lerp(lower, upper, share[:, None] if dim == 2 else share)
    return images


# --- from a row of config/methods.tsv to a model -----------------------------------------------


def rdn(section: Mapping[str, Any], nf: str | None = None) -> RDN:
    """Make the RDN encoder; the option nf replaces the config's rdn_features."""
    features = section["rdn_features"] if nf is None else int(nf)
    return RDN(features, section["rdn_blocks"], section["rdn_layers"], section["rdn_growth"])


def swinir(section: Mapping[str, Any]) -> SwinIR:
    """Make the SwinIR encoder."""
    return SwinIR(
        section["swinir_embed"],
        section["swinir_depths"],
        section["swinir_heads"],
        section["swinir_window"],
        section["swinir_mlp_ratio"],
        section["swinir_drop_path"],
    )


def liif(section: Mapping[str, Any], features: int, largest_scale: float) -> LIIF:
    """Make the LIIF decoder for an encoder with `features` channels."""
    return LIIF(features, section["hidden"])


def lte(section: Mapping[str, Any], features: int, largest_scale: float) -> LTE:
    """Make the LTE decoder for an encoder with `features` channels."""
    return LTE(features, section["hidden"], largest_scale)


def gblsr(
    section: Mapping[str, Any], features: int, largest_scale: float, local_ensemble: str = "yes"
) -> LocalSpectralDecoder:
    """Make the GB-LSR decoder; the option local_ensemble is yes or no."""
    return LocalSpectralDecoder(
        features,
        section["modes"],
        section["bandwidth"],
        section["coefficient_std"],
        local_ensemble == "yes",
        largest_scale,
    )


ENCODERS: dict[str, Callable[..., Encoder]] = {"rdn": rdn, "swinir": swinir}
DECODERS: dict[str, Callable[..., Decoder]] = {"liif": liif, "lte": lte, "gblsr": gblsr}
# The options of a method, the factories they are for and what they may be.
OPTIONS = {
    "nf": ("rdn", "a whole number above 0", lambda value: value.isdecimal() and int(value) > 0),
    "local_ensemble": ("gblsr", "yes or no", lambda value: value in ("yes", "no")),
}


def build(method: Method, config: Config, seed: int) -> ASRModel:
    """Build an untrained method from the whole configuration; every draw follows from `seed`.

    Seeds all generators, then makes the encoder first, so methods of one seed and encoder start
    from the same encoder. The model is on the CPU, in training mode. Raises `UserError` for a
    name or an option that does not exist.
    """
    section = config["asr"]["model"]
    make_encoder = _named(ENCODERS, method, "encoder")
    make_decoder = _named(DECODERS, method, "decoder")
    options = parse_options(method)
    seed_everything(seed)
    encoder = make_encoder(section, **options.get(method.encoder, {}))
    largest = config["asr"]["training"]["scale_range"][1]
    own = options.get(method.decoder, {})
    return ASRModel(encoder, make_decoder(section, encoder.features, largest, **own))


def parse_options(method: Method) -> dict[str, dict[str, str]]:
    """Return the options of a method by the factory they are for; `UserError` for a wrong one."""
    found: dict[str, dict[str, str]] = {}
    for entry in method.options.split():
        name, _, value = entry.partition("=")
        place = f"config/methods.tsv, method {method.method}: option {entry!r}"
        if name not in OPTIONS:
            raise UserError(f"{place} is not known; known are {', '.join(OPTIONS)}.")
        factory, wanted, holds = OPTIONS[name]
        if factory not in (method.encoder, method.decoder):
            raise UserError(f"{place} is for {factory}, which this method does not use; remove it.")
        if not holds(value):
            raise UserError(f"{place} must be {wanted}.")
        found.setdefault(factory, {})[name] = value
    return found


def _named(table: Mapping[str, Callable[..., Any]], method: Method, column: str) -> Callable:
    name = getattr(method, column)
    if name in table:
        return table[name]
    close = difflib.get_close_matches(name, list(table), 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(table)}."
    raise UserError(
        f"config/methods.tsv, method {method.method}: {column} {name!r} does not exist; {hint}"
    )


def count_parameters(model: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


class _Unfilled(TorchFunctionMode):
    """Leaves tensors as they are: for shapes alone, torch imports its compiler to fill them."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call all but what works in place, by torch's names: `normal_`, not `__bool__`."""
        named = kwargs or {}
        if func.__name__.endswith("_") and not func.__name__.endswith("__"):
            return args[0] if args else named["tensor"]
        return func(*args, **named)


def parameters(method: Method, config: Config) -> int:
    """Return the number of trainable parameters that a method has, from its shapes alone."""
    with torch.device("meta"), _Unfilled():
        return count_parameters(build(method, config, 0))


# --- methods and runs by name ------------------------------------------------------------------


def load_run(run_dir: Path | str, config: Config, device: torch.device | None = None) -> ASRModel:
    """Load a trained method from its run folder, in eval mode, on `device` (default: CPU).

    Raises `UserError` when the folder is incomplete or damaged, or when the run's row or
    settings are not those of the methods table and `config`.
    """
    run_dir = Path(run_dir)
    record = read_json(run_dir / "run.json")
    method = configuration.method_named(record["method"])
    configuration.check_identity(run_dir, record, configuration.run_identity(method, config))
    model = build(method, config, record["seed"])
    load_weights(run_dir, record, model)
    return model.eval().to(device or torch.device("cpu"))
