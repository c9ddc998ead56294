"""Base classes of the models of both benchmarks, and class lookup by name.

A model has an encoder and a decoder. Each is a class that a row of config/arms.tsv or
config/methods.tsv names, built from a section of the config and the row's options. The "plain" path
computes exactly as the method is defined; every other path computes the same values faster. Tests
and benchmarks compare the others with it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..config import Arm, Config, Method, locate_row
from ..dependencies import list_classes, select_class_settings
from ..errors import UserError, build_syntax_error
from ..wording import suggest
from .layers import extend_by_mirroring

COLORS = 3
PLAIN, FAST = "plain", "fast"
# Number of scattered queries of one image that are answered together; it bounds their memory (the
# coefficients of a patch take 3 kB per query, in super-resolution per query and corner).
QUERY_CHUNK = 16384

OptionChoices = Mapping[str, tuple[str, ...] | type[int]]
Found = TypeVar("Found", bound="Component")


# --- base classes -------------------------------------------------------------------------------


class Component(nn.Module, ABC):
    """An encoder or a decoder.

    `SETTINGS` lists the settings that the class reads from its section of the config: its
    constructor receives those and no others, and only a change of those trains its runs anew. It is
    a literal, since planning reads it from the file and imports nothing.
    `OPTIONS` lists the options that a row of the table may set, and must set where the constructor
    has no default: by name the allowed values, or `int` for a whole number above 0. The constructor
    receives them as keywords.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    OPTIONS: ClassVar[OptionChoices] = {}


class Encoder(Component):
    """Encode images (B, 3, H, W) into features (B, D, h, w).

    `channels_last` says whether that memory format is faster on a CPU, `features` is D.
    """

    channels_last = True
    features: int

    @abstractmethod
    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode images; the plain path computes as published, every other path faster."""

    def extend_length(self, length: int) -> int:
        """Compute the length to which `extend_images` extends an axis of `length` pixels."""
        return length

    def extend_images(self, images: Tensor) -> Tensor:
        """Extend whole images (B, C, h, w) by mirroring to the sizes that the encoder needs.

        It serves the rendering of whole images: the features of the extended image are decoded and
        the result is cropped. Patches in training are encoded without it.
        """
        height, width = images.shape[-2:]
        return extend_by_mirroring(images, (self.extend_length(height), self.extend_length(width)))

    def compute_receptive_field(self, first: int, last: int, length: int) -> tuple[int, int]:
        """Compute the pixels (first, last + 1) of an axis that the features of some cells see.

        The cells are `first` ... `last` - 1 on an axis of `length`. The pixels may be encoded by
        themselves. This is the field of a chain of convolutions without strides: it reaches as many
        pixels as the half sides of their kernels, dilation included, add up to.
        """
        convolutions = (layer for layer in self.modules() if isinstance(layer, nn.Conv2d))
        reach = sum(compute_reach(layer) for layer in convolutions)
        return max(first - reach, 0), min(last + reach, length)

    def estimate_bytes_per_pixel(self) -> int:
        """Estimate the peak memory per pixel in bytes, from measurements on the CPU.

        Only the tiles of photographs need it; without it raises `UserError`.
        """
        raise UserError(
            f"{type(self).__name__} has no estimate_bytes_per_pixel(), by which images are cut "
            "into tiles; add it to the class."
        )


def compute_reach(layer: nn.Conv2d) -> int:
    """Compute how many pixels a convolution reads on either side of its center at most."""
    sides = zip(layer.kernel_size, layer.dilation, strict=True)
    return max(size // 2 * step for size, step in sides)


class Decoder(Component):
    """Decode features (B, D, h, w) at any pixel; `paths` lists the ways, the default first."""

    paths: tuple[str, ...] = (PLAIN,)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__()
        self.features: int = section["features"]

    def get_bandwidth(self) -> float | None:
        """Return the bandwidth that all patches or cells share; None where they share none."""
        return None

    def check_colors(self, colors: Tensor, shape: tuple[int, ...], features: Tensor) -> None:
        """Raise `UserError` for colors of another shape, which a loss would broadcast.

        And for those of another type than the `features`, as of sums with float64 positions.
        """
        found, expected = (tuple(colors.shape), colors.dtype), (shape, features.dtype)
        for given, right in zip(found, expected, strict=True):
            if given != right:
                name = type(self).__name__
                raise UserError(f"{name} gives colors of {given} in place of {right}; correct it.")


class Model(nn.Module, ABC):
    """An encoder with a decoder; `path` is that of the last call, `name` the trained row's key.

    Images and colors are RGB with values in [0, 1], colors unclamped. On the plain path the encoder
    computes as published, too. `benchmark` is the section of the config that the model is built
    from, `subject` the key of a run's metadata that names its row, `bases` the classes that its
    encoder and its decoder extend.
    """

    benchmark: ClassVar[str]
    subject: ClassVar[str]
    bases: ClassVar[tuple[type[Encoder], type[Decoder]]]

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.path: str | None = None
        self.name = ""

    @classmethod
    def assemble(cls, row: Arm | Method, config: Config) -> Self:
        """Build an untrained arm or method, without seeding the random generators.

        Raises `UserError` for a class, a setting or an option that does not exist.
        """
        place = f"config/{cls.subject}s.tsv, {cls.subject} {locate_row(row)[2]}"
        section, section_name = config[cls.benchmark]["model"], f"{cls.benchmark}.model"
        names = list_classes(row)
        encoder_class = find_class(names[0], cls.bases[0], f"{place}: encoder")
        decoder_class = find_class(names[1], cls.bases[1], f"{place}: decoder")
        classes = (encoder_class, decoder_class)
        encoder_options, decoder_options = select_options(row.options, classes, place)
        for_encoder, for_decoder = (
            NamedSettings(
                name, select_class_settings(name, component.SETTINGS, section, section_name)
            )
            for name, component in zip(names, classes, strict=True)
        )
        encoder = encoder_class(for_encoder, **encoder_options)
        for_decoder |= cls.describe_input(encoder, config)
        model = cls(encoder, decoder_class(for_decoder, **decoder_options))
        if any(map(is_lazy, model.parameters())):
            raise UserError(
                f"{place}: a class has a Lazy layer of torch, whose size is not known before its "
                "first input; use the layer of a given size."
            )
        return model

    @classmethod
    def describe_input(cls, encoder: Encoder, config: Config) -> dict[str, Any]:
        """Describe the decoder's input: what it is built from besides the settings it names."""
        return {}

    @classmethod
    def build(cls, row: Arm | Method, config: Config, seed: int) -> Self:
        """Build an untrained arm or method; `seed` determines every random draw.

        Seeds torch's generators and builds the encoder first, so that models of one seed and
        encoder start from the same encoder. The model is on the CPU, in training mode. Raises
        `UserError` as `assemble` does.
        """
        torch.manual_seed(seed)
        return cls.assemble(row, config)

    @classmethod
    def build_shapes(cls, row: Arm | Method, config: Config) -> Self:
        """Build an arm or method on torch's meta device, which has shapes and no values."""
        with torch.device("meta"):
            return cls.assemble(row, config)

    @classmethod
    def count(cls, row: Arm | Method, config: Config) -> int:
        """Count the trainable parameters of an arm or method, from its shapes alone."""
        return count_parameters(cls.build_shapes(row, config))

    @abstractmethod
    def prepare_images(self, images: Tensor) -> Tensor:
        """Convert images (B, 3, H, W) into the input of the encoder."""

    def encode(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode images (B, 3, H, W) into features (B, D, h, w)."""
        return self.encoder(self.prepare_images(images), path)

    def get_bandwidth(self) -> float | None:
        """Return the bandwidth that all patches or cells share; None where they share none."""
        return self.decoder.get_bandwidth()

    def _select_path(self, path: str) -> str:
        """Check that the decoder has a path, and note it as that of the last call."""
        if path not in self.decoder.paths:
            paths = ", ".join(self.decoder.paths)
            raise ValueError(f"{type(self.decoder).__name__} has the paths {paths}, not {path!r}")
        self.path = path
        return path


# --- classes, settings and options by name ------------------------------------------------------


class NamedSettings(dict[str, Any]):
    """The settings that a class names in its `SETTINGS`; reading another raises `UserError`."""

    def __init__(self, class_name: str, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self.class_name = class_name

    def __missing__(self, setting: str) -> Any:
        raise UserError(
            f"{self.class_name} reads the setting {setting!r}, which its SETTINGS do not name; add "
            "it to them."
        )


def find_class(name: str, base: type[Found], place: str) -> type[Found]:
    """Find the subclass of `base` called "module:Class", else `UserError`, begun by `place`."""
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except SyntaxError as error:
        raise build_syntax_error(error) from error
    except ImportError as error:
        raise UserError(
            f"{place} {name!r} cannot be imported ({error}); correct the name, or have the module "
            "in src/, in a folder that PYTHONPATH names, or installed."
        ) from error
    found = getattr(module, class_name, None)
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    own = [each for each in classes if issubclass(each, base) and each.__module__ == module_name]
    if found not in own:
        names = ", ".join(each.__name__ for each in own) or "none"
        raise UserError(f"{place} {name!r} names no {base.__name__}; its module has {names}.")
    if absent := ", ".join(sorted(found.__abstractmethods__)):
        raise UserError(f"{place} {name!r} lacks what every {base.__name__} has: {absent}; add it.")
    return found


def select_options(
    options: Mapping[str, str], components: Sequence[type[Component]], place: str
) -> list[dict[str, Any]]:
    """Check a row's options and select those of every component: a dictionary for each.

    Raises `UserError` for an option that no component has, for a value that its option does not
    allow, and for a missing option that has no default; `place` opens its sentence.
    """
    allowed = {name: values for item in components for name, values in item.OPTIONS.items()}
    names = " and ".join(component.__name__ for component in components)
    for name, value in options.items():
        if name not in allowed:
            raise UserError(f"{place}: {names} have no option {name!r}; {suggest(name, allowed)}")
        values = allowed[name]
        if isinstance(values, type):
            if not re.fullmatch(r"[1-9]\d{0,3}", value, re.ASCII):
                raise UserError(f"{place}: {name}={value} must be a whole number from 1 to 9999.")
        elif value not in values:
            raise UserError(f"{place}: {name}={value} must be one of {', '.join(values)}.")
    keywords = []
    for component in components:
        arguments = inspect.signature(component).parameters.values()
        required = [each.name for each in arguments if each.default is inspect.Parameter.empty]
        for name, values in component.OPTIONS.items():
            if name in required and name not in options:
                choices = "N" if isinstance(values, type) else "|".join(values)
                raise UserError(f"{place}: options lack {name}; add {name}={choices}.")
        keywords.append({name: v for name, v in options.items() if name in component.OPTIONS})
    return keywords


def count_parameters(module: nn.Module) -> int:
    """Count the trainable parameters of a module."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
