"""The native benchmark's model: the shared encoder and one arm's decoder, for any image size."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import config as configuration
from ..config import Arm, Config
from ..errors import UserError
from ..files import read_json
from ..runtime import for_inference, seed_everything
from ..weights import load_weights
from . import baselines, decoders
from .coordinates import pixel_positions
from .encoder import Encoder

# Queries evaluated at once: bounds the memory of scattered coordinates (a patch's coefficients
# take 3 kB per query).
QUERY_CHUNK = 16384


def padding(height: int, width: int, patch: int) -> tuple[int, int, int, int]:
    """Return the pad (left, right, top, bottom) to multiples of `patch`.

    It is split evenly; an odd remainder goes to the right and the bottom.
    """
    across, down = -width % patch, -height % patch
    return across // 2, across - across // 2, down // 2, down - down // 2


def pad(images: Tensor, patch: int) -> Tensor:
    """Pad (B, C, H, W) to multiples of `patch` by reflection.

    Replicates the border instead where a pad reaches the image's side, which reflection cannot.
    """
    height, width = images.shape[-2:]
    sides = padding(height, width, patch)
    if not any(sides):
        return images
    reflects = max(sides[:2]) < width and max(sides[2:]) < height
    return F.pad(images, sides, mode="reflect" if reflects else "replicate")


class NativeModel(nn.Module):
    """Encodes an image into one vector per patch and decodes it again.

    Images are (B, 3, H, W), values in [0, 1], any H and W: they are padded to multiples of the
    patch side and the result is cropped back. The output is not clamped.
    """

    def __init__(self, encoder: Encoder, decoder: decoders.Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, images: Tensor, plain: bool = False) -> Tensor:
        """Reconstruct images (B, 3, H, W); `plain` computes everything as it is defined."""
        height, width = images.shape[-2:]
        return self.decode(self.encode(images, plain), height, width, plain)

    def encode(self, images: Tensor, plain: bool = False) -> Tensor:
        """Return features (B, D, ceil(H / P), ceil(W / P)) of images (B, 3, H, W)."""
        if images.ndim != 4 or images.shape[1] != decoders.COLORS:
            raise ValueError(f"images must be (B, 3, H, W), not {tuple(images.shape)}")
        return self.encoder(pad(images, self.decoder.patch), plain)

    def decode(self, features: Tensor, height: int, width: int, plain: bool = False) -> Tensor:
        """Render features on the pixel grid of the image they came from: (B, 3, height, width)."""
        left, _, top, _ = self._padding(features, height, width)
        render = self.decoder.render_plain if plain else self.decoder.render
        return render(features)[..., top : top + height, left : left + width]

    def pixels(self, images: Tensor, chosen: Tensor) -> Tensor:
        """Reconstruct chosen pixels (B, N), row-major numbers, of images (B, 3, H, W): (B, N, 3).

        For training on a part of the pixels; H and W are multiples of the patch side.
        """
        return self.decoder.render_pixels(self.encode(images), chosen)

    def query(self, features: Tensor, coordinates: Tensor, size: tuple[int, int]) -> Tensor:
        """Evaluate at image coordinates (B, Q, 2): colours (B, Q, 3).

        Coordinates are (y, x); -1 and 1 are the outer edges of the image, whose size in pixels is
        `size` (H, W), so pixel i of n is at (2 i + 1) / n - 1 and gives what `decode` shows there
        (to rounding; float64 coordinates keep the most digits). Memory is bounded for any Q.
        """
        left, _, top, _ = self._padding(features, *size)
        shift = torch.tensor([top, left], dtype=torch.float64, device=coordinates.device)
        positions = pixel_positions(coordinates, size) + shift
        parts = [self.decoder.query(features, p) for p in positions.split(QUERY_CHUNK, dim=1)]
        return torch.cat(parts, dim=1)

    def fields(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return bandwidth and cutoff order per patch, each (B, h, w), of a GB-LSR arm.

        Raises `UserError` for an arm without a spectral basis.
        """
        if not isinstance(self.decoder, decoders.SpectralDecoder):
            raise UserError(
                f"{type(self.decoder).__name__} has no bandwidth field; choose a GB-LSR arm."
            )
        return self.decoder.fields(features)

    def bandwidth(self) -> float | None:
        """Return the one bandwidth of all patches; None for an arm that has no such number."""
        return self.decoder.bandwidth()

    def _padding(self, features: Tensor, height: int, width: int) -> tuple[int, int, int, int]:
        patch = self.decoder.patch
        if tuple(features.shape[-2:]) != (-(-height // patch), -(-width // patch)):
            raise ValueError(
                f"features of {tuple(features.shape[-2:])} patches do not belong to an image of "
                f"{height} x {width} pixels"
            )
        return padding(height, width, patch)


def decoder_class(name: str) -> type[decoders.Decoder]:
    """Return the decoder class of that name: ours, or "module:Class" elsewhere.

    Raises `UserError` when there is none.
    """
    module_name, _, class_name = name.rpartition(":")
    try:
        modules = [importlib.import_module(module_name)] if module_name else [decoders, baselines]
    except ImportError as error:
        raise UserError(
            f"config/arms.tsv names the decoder {name!r}, but {error}; check the module's name."
        ) from error
    known = {
        n: v
        for module in modules
        for n, v in vars(module).items()
        if isinstance(v, type) and issubclass(v, decoders.Decoder)
    }
    if class_name in known:
        return known[class_name]
    close = difflib.get_close_matches(class_name, known, 1)
    hint = f"did you mean {close[0]!r}?" if close else "add a subclass of Decoder of that name."
    raise UserError(f"config/arms.tsv names the decoder {name!r}, which does not exist; {hint}")


def decoder_options(arm: Arm) -> dict[str, str]:
    """Return what a row of the arms table chooses for its decoder class, checked: one each.

    Raises `UserError` for an option that the class does not have, lacks, or that is no choice of
    its own.
    """
    choices = decoder_class(arm.decoder).OPTIONS
    given = dict(entry.partition("=")[::2] for entry in arm.options.split())
    place = f"config/arms.tsv, arm {arm.arm}: "
    for name, value in given.items():
        if name not in choices:
            raise UserError(
                f"{place}{arm.decoder} has no option {name!r}; {configuration.guess(name, choices)}"
            )
        if value not in choices[name]:
            raise UserError(f"{place}{name}={value} must be one of {', '.join(choices[name])}.")
    for name, values in choices.items():
        if name not in given:
            raise UserError(f"{place}options lack {name}; add {name}={'|'.join(values)}.")
    return given


def build(arm: Arm, config: Config, seed: int) -> NativeModel:
    """Build an untrained arm from the whole configuration; every draw follows from `seed`.

    Seeds all generators, then makes the encoder first, so arms of one seed start from the same
    encoder. The model is on the CPU, in training mode. Raises `UserError`.
    """
    seed_everything(seed)
    return _assemble(arm, config)


def _assemble(arm: Arm, config: Config) -> NativeModel:
    section = config["native"]["model"]
    make_decoder, options = decoder_class(arm.decoder), decoder_options(arm)
    encoder = Encoder(section)
    return NativeModel(encoder, make_decoder(section, **options))


def count_parameters(module: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


@dataclass(frozen=True)
class Budget:
    """One arm's trainable parameters and their ratio to the main arm's (the paper's F1)."""

    arm: str
    parameters: int
    ratio: float


def parameter_budgets(config: Config) -> list[Budget]:
    """Count every arm that the config runs, in the order of the arms table."""
    arms = configuration.selected_arms(config)
    anchor = configuration.arm_named(config["native"]["main_arm"])
    reference = count_parameters(build(anchor, config, 0))
    counts = {name: count_parameters(build(arm, config, 0)) for name, arm in arms.items()}
    return [Budget(name, count, count / reference) for name, count in counts.items()]


def check_budgets(budgets: list[Budget], band: float) -> None:
    """Raise `UserError` for the first arm outside 1/band ... band times the main arm (F1)."""
    for budget in budgets:
        if not 1 / band <= budget.ratio <= band:
            raise UserError(
                f"Arm {budget.arm} has {budget.parameters:,} parameters, {budget.ratio:.3f} times "
                f"the main arm's, outside the band of {band:g}; change its size or "
                "native.criteria.parameter_band."
            )


def load_run(
    run_dir: Path | str, config: Config, device: torch.device | None = None
) -> NativeModel:
    """Load a trained arm from its run folder, in eval mode, on `device` (default: CPU).

    Raises `UserError` when the folder is incomplete or damaged, or when the run's row or
    settings are not those of the arms table and `config`.
    """
    run_dir = Path(run_dir)
    record = read_json(run_dir / "run.json")
    if "arm" not in record:
        raise UserError(f"{run_dir} is not a native run; name the folder of a trained arm.")
    arm = configuration.arm_named(record["arm"])
    configuration.check_identity(run_dir, record, configuration.run_identity(arm, config))
    model = _assemble(arm, config)
    load_weights(run_dir, record, model)
    return for_inference(model, device or torch.device("cpu"))
