"""What the models of both benchmarks share: how parts are found by name, asked, and counted.

A model is an encoder and a decoder. Each is one class, named in a row of config/arms.tsv or
config/methods.tsv, and is made from a section of the config and the row's options. "plain" is the
path that is written as the method is defined; every other path gives the same values faster and is
what tests and benchmarks hold against it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Self, TypeVar

import torch
from torch import Tensor, nn

from ..config import suggest
from ..errors import UserError
from .layers import extend_by_mirroring

COLORS = 3
PLAIN, FAST = "plain", "fast"
# Scattered queries of one image answered at once: bounds their memory (the coefficients of a patch
# take 3 kB per query, in super-resolution per query and corner).
QUERY_CHUNK = 16384

Options = Mapping[str, tuple[str, ...] | type[int]]
Part = TypeVar("Part", bound="Encoder | Decoder")
Made = TypeVar("Made", bound=nn.Module)


# --- what follows from the weights alone --------------------------------------------------------


class WeightCache:
    """Keeps derived tensors (a folded weight, a basis) while the weights they follow from stand.

    Only inference remembers: wherever gradients are enabled the value is made anew, so autograd
    sees the whole way from the weights, and what was kept is dropped, since an optimizer step may
    follow (the fused ones write weights without counting up their version). Otherwise a weight
    counts as changed when it was written in place (`load_state_dict`) or replaced (`module.to`).
    A module that holds a WeightCache calls `clear` when it changes between training and evaluation.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, Any]] = {}

    def get(
        self, name: str, key: Hashable, sources: Sequence[Tensor], make: Callable[[], Any]
    ) -> Any:
        """Return `make()`, or what it returned before for the same `key` and the same `sources`.

        One value is kept per `name`: a new key or a changed source replaces it.
        """
        if torch.compiler.is_compiling():
            return make()
        if torch.is_grad_enabled() or any(s.is_inference() for s in sources):
            self.clear()
            return make()
        cast = [k for k in ("cpu", "cuda") if torch.is_autocast_enabled(k)]
        told = [(s.data_ptr(), s._version, s.device, s.dtype, s.shape) for s in sources]
        stamp = (key, [(kind, torch.get_autocast_dtype(kind)) for kind in cast], told)
        kept = self._kept.get(name)
        if kept is None or kept[0] != stamp:
            # The detached aliases keep the storages alive, so that no later tensor can be given
            # the same address and pass for an unchanged source.
            kept = (stamp, (make(), [s.detach() for s in sources]))
            self._kept[name] = kept
        return kept[1][0]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def __deepcopy__(self, memo: dict[int, Any]) -> WeightCache:
        return WeightCache()

    def __reduce__(self) -> tuple[type[WeightCache], tuple[()]]:
        return WeightCache, ()


# --- what every model has -----------------------------------------------------------------------


class Encoder(nn.Module):
    """Maps images (B, 3, H, W) to features (B, D, h, w).

    `SETTINGS` names what the class reads of its section of the config: its constructor is given
    those and no others, and only a change of those trains anew. `OPTIONS` says what a row of the
    table may choose for the class, and must where the constructor has no default: by name the
    values, or `int` for a whole number above 0. Each is given to the constructor as a keyword.
    `channels_last` says whether that memory format is faster on a CPU,
    `features` is D.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    OPTIONS: ClassVar[Options] = {}
    channels_last = True
    features: int

    def forward(self, images: Tensor, path: str | None = None) -> Tensor:
        """Encode images; the plain path computes as published, all others in one faster way."""
        raise NotImplementedError

    def extended(self, length: int) -> int:
        """Return to how many pixels `extend` continues an axis of `length`; here no further."""
        return length

    def extend(self, images: Tensor) -> Tensor:
        """Continue whole images (B, C, h, w) by their mirror images as far as the encoder asks.

        Made for showing a whole image: the map of the continued image is decoded, and what it shows
        is cropped. Training gives patches as they are.
        """
        height, width = images.shape[-2:]
        return extend_by_mirroring(images, (self.extended(height), self.extended(width)))

    def field(self, first: int, last: int, length: int) -> tuple[int, int]:
        """Return the pixels (first, last + 1) of an axis that the features of others depend on.

        The features are those of the cells `first` ... `last` - 1 on an axis of `length`. What is
        returned may be encoded by itself. Here for a chain of convolutions: the field reaches as
        many pixels as their kernels' half sides add up to.
        """
        reach = sum(
            compute_reach(layer) for layer in self.modules() if isinstance(layer, nn.Conv2d)
        )
        return max(first - reach, 0), min(last + reach, length)

    def bytes_per_pixel(self) -> int:
        """Return about how much memory a pixel takes at the peak, as measured on the CPU."""
        raise NotImplementedError


def compute_reach(layer: nn.Conv2d) -> int:
    """Return how many pixels a convolution sees on either side."""
    return layer.kernel_size[0] // 2


class Decoder(nn.Module):
    """Shows features (B, D, h, w) at any pixel; `SETTINGS` and `OPTIONS` as for `Encoder`.

    `paths` are all its paths, the one that is taken unless another is named first.
    """

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    OPTIONS: ClassVar[Options] = {}
    paths: tuple[str, ...] = (PLAIN,)

    def __init__(self, section: Mapping[str, Any]) -> None:
        super().__init__()
        self.features: int = section["features"]
        self.cache = WeightCache()

    def train(self, mode: bool = True) -> Self:
        """Set training or evaluation mode."""
        self.cache.clear()
        return super().train(mode)

    def bandwidth(self) -> float | None:
        """Return the one bandwidth of all patches or cells; None where there is no such number."""
        return None


class Model(nn.Module):
    """An encoder and a decoder; `path` tells which way the last call went, `name` what was trained.

    Images and colors are RGB with values in [0, 1], colors unclamped. The plain path takes the
    encoder as published, too.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.path: str | None = None
        self.name = ""

    def prepared(self, images: Tensor) -> Tensor:
        """Return what the encoder is given of images (B, 3, H, W)."""
        raise NotImplementedError

    def encode(self, images: Tensor, path: str | None = None) -> Tensor:
        """Return features (B, D, h, w) of images (B, 3, H, W)."""
        if images.ndim != 4 or images.shape[1] != COLORS:
            raise ValueError(f"images must be (B, 3, H, W), not {tuple(images.shape)}")
        return self.encoder(self.prepared(images), path)

    def bandwidth(self) -> float | None:
        """Return the decoder's one bandwidth; None for a decoder without such a number."""
        return self.decoder.bandwidth()

    def _take(self, path: str) -> str:
        if path not in self.decoder.paths:
            known = ", ".join(self.decoder.paths)
            raise ValueError(f"{type(self.decoder).__name__} has the paths {known}, not {path!r}")
        self.path = path
        return path


# --- parts by name ------------------------------------------------------------------------------


def find_class(
    name: str, base: type[Part], modules: Sequence[ModuleType], place: str
) -> type[Part]:
    """Return the subclass of `base` of that name in `modules`, or of "module:Class" elsewhere.

    The name may be written in lower case. `place` opens the sentence of the `UserError` when there
    is none.
    """
    module_name, _, class_name = name.rpartition(":")
    try:
        searched = [importlib.import_module(module_name)] if module_name else modules
    except ImportError as error:
        raise UserError(
            f"{place} {name!r} does not exist ({error}); check the module's name."
        ) from error
    known = {
        found.__name__.lower() if class_name.islower() else found.__name__: found
        for module in searched
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, base)
    }
    if class_name in known:
        return known[class_name]
    raise UserError(f"{place} {name!r} does not exist; {suggest(class_name, known)}")


def select_class_settings(
    part: type[Encoder | Decoder], section: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """Return those settings of a config section that `part` reads, its `SETTINGS`.

    `name` is the section's. Raises `UserError` for a setting that the section does not have.
    """
    for setting in part.SETTINGS:
        if setting not in section:
            raise UserError(
                f"{part.__module__}:{part.__name__} names the setting {setting!r} in its SETTINGS, "
                f"which {name} does not have; {suggest(setting, section)}"
            )
    return {setting: section[setting] for setting in part.SETTINGS}


def parse_options(
    text: str, parts: Sequence[type[Encoder | Decoder]], place: str
) -> list[dict[str, Any]]:
    """Return what a row's options, "key=value ...", choose for each of `parts`, checked.

    Raises `UserError` for an option that no part has, that is no choice of its own, or that a part
    lacks; `place` opens its sentence.
    """
    given = dict(entry.partition("=")[::2] for entry in text.split())
    choices = {name: values for part in parts for name, values in part.OPTIONS.items()}
    names = " and ".join(part.__name__ for part in parts)
    for name, value in given.items():
        if name not in choices:
            have = "have" if len(parts) > 1 else "has"
            raise UserError(f"{place}: {names} {have} no option {name!r}; {suggest(name, choices)}")
        values = choices[name]
        if isinstance(values, tuple):
            if value not in values:
                raise UserError(f"{place}: {name}={value} must be one of {', '.join(values)}.")
        elif not (value.isdecimal() and int(value)):
            raise UserError(f"{place}: {name}={value} must be a whole number above 0.")
    chosen = []
    for part in parts:
        arguments = inspect.signature(part).parameters
        for name, values in part.OPTIONS.items():
            if name not in given and arguments[name].default is inspect.Parameter.empty:
                known = "|".join(values) if isinstance(values, tuple) else "N"
                raise UserError(f"{place}: options lack {name}; add {name}={known}.")
        chosen.append({name: v for name, v in given.items() if name in part.OPTIONS})
    return chosen


# --- counting -----------------------------------------------------------------------------------


def count_parameters(module: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def build_on_meta(make: Callable[[], Made]) -> Made:
    """Make a module of shapes alone, on torch's meta device."""
    with torch.device("meta"):
        return make()


def count_parameters_by_shape(make: Callable[[], nn.Module]) -> int:
    """Return the number of trainable parameters of what `make` makes, from its shapes alone."""
    return count_parameters(build_on_meta(make))
