"""A CUDA device for machines without one: tensors that have a device but no values.

`pretended_cuda()` opens a block in which `torch.device("cuda")` is there. Its tensors are torch's
fake ones: every operation checks devices, types and shapes as on a real device, and computes
nothing. Whatever needs a value (`float(x)`, `x[mask]`) raises. Backward passes run node by node in
Python, since torch's engine wants a driver.

`Trace` counts what a GPU would be given to do. Kernels, their choice, times and fragmentation stay
unseen; so do the rules of a real capture (see `standins`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

GPU = SimpleNamespace(
    name="Pretended GPU",
    total_memory=140 << 30,
    major=9,
    minor=0,
    multi_processor_count=132,
    uuid="00000000-0000-0000-0000-000000000000",
)
ANSWERS = {
    "is_available": True,
    "device_count": 1,
    "current_device": 0,
    "get_device_name": GPU.name,
    "get_device_properties": GPU,
}
CUDA, CUDA0 = torch.device("cuda"), torch.device("cuda", 0)
FUSED_MULTIPLE = {torch.float32: 4, torch.bfloat16: 8}  # of a head, for CUDA's fused attention


@contextmanager
def pretended_cuda() -> Iterator[None]:
    """Open a block with a pretended CUDA device; see the module's text."""
    answers = {
        **ANSWERS,
        "get_device_capability": (GPU.major, GPU.minor),
        "is_bf16_supported": True,
        "is_current_stream_capturing": False,
        "manual_seed_all": None,
        "get_rng_state_all": [],
        "memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_allocated": 0,
        "mem_get_info": (GPU.total_memory, GPU.total_memory),
        "reset_peak_memory_stats": None,
        "empty_cache": None,
    }
    with ExitStack() as stack:

        def put(place: Any, name: str, value: Any) -> None:
            stack.enter_context(mock.patch.object(place, name, value))

        for name, answer in answers.items():
            put(torch.cuda, name, lambda *_, answer=answer, **__: answer)
        put(torch.cuda, "synchronize", lambda *_: _note_wait("synchronize"))
        put(torch.Tensor, "backward", _backward)
        put(torch.Tensor, "pin_memory", _pin)
        put(F, "scaled_dot_product_attention", _attention)
        # Gradients are normed and scaled together, but by types that fake tensors are not of.
        put(torch.nn.utils.clip_grad, "_has_foreach_support", lambda _, device: device == CUDA0)
        # The fake mode would wake the driver that the answers above promise.
        put(fake_tensor, "init_gpu_context", lambda *_: None)
        put(FakeTensorMode, "avoid_device_init", property(lambda _: True))
        put(nn.Module, "_apply", convert_in_place)
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        _saved.clear()
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(_keep, _give))
        yield


def convert_in_place(module: nn.Module, convert: Callable[[Tensor], Tensor]) -> nn.Module:
    """Convert a module's tensors by new ones; torch would exchange the old ones' insides."""
    for part in module.modules():
        for table in (part._parameters, part._buffers):
            for name, old in table.items():
                if old is not None:
                    new = convert(old.detach())
                    of_weights = isinstance(old, nn.Parameter)
                    table[name] = nn.Parameter(new, old.requires_grad) if of_weights else new
    return module


def _pin(tensor: Tensor) -> Tensor:
    tensor.pinned = True
    return tensor


def _attention(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """Take the kernel that torch takes on CUDA for these heads: the fused one, or single products.

    The single ones are spelled out here; torch asks the driver which to take.
    """
    if q.shape[-1] % FUSED_MULTIPLE[q.dtype] == 0:
        mask = None if attn_mask is None else attn_mask.expand(*q.shape[:-1], k.shape[-2])
        fused = torch.ops.aten._scaled_dot_product_efficient_attention
        return fused(q, k, v, mask, torch.is_grad_enabled(), scale=scale)[0]
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (q * scale**0.5) @ (k * scale**0.5).mT
    scores = scores if attn_mask is None else scores + attn_mask
    return torch.softmax(scores, dim=-1) @ v


# --- backward passes ----------------------------------------------------------------------------

# What the graph saves lies here, so that a node's part can be dropped when the node has run, as
# torch's engine does.
_saved: dict[int, Tensor] = {}
_given: list[int] = []


def _keep(tensor: Tensor) -> int:
    _saved[key := max(_saved, default=0) + 1] = tensor
    return key


def _give(key: int) -> Tensor:
    _given.append(key)
    return _saved[key]


@torch.no_grad()
def _backward(root: Tensor) -> None:
    """Do what `root.backward()` does, for a graph without hooks that is used once."""
    gradients = {(root.grad_fn, root.output_nr): torch.ones_like(root)}
    for node in _consumers_first(root.grad_fn):
        own = [gradients.pop((node, i), None) for i in range(len(node._input_metadata))]
        if all(gradient is None for gradient in own):
            continue
        if hasattr(node, "variable"):
            leaf, gradient = node.variable, own[0]
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient
            continue
        written_out = hasattr(node, "apply")  # a Function of this project
        found = node.apply(*own) if written_out else node(*own)
        del own
        for key in _given:
            _saved.pop(key, None)
        _given.clear()
        found = list(found) if isinstance(found, tuple) else [found]
        for (following, place), gradient in _along_edges(node, found):
            gradient = _fitted(gradient, following._input_metadata[place])
            before = gradients.get((following, place))
            total = gradient if before is None else before + gradient
            gradients[following, place] = total
        del found


def _consumers_first(root: Any) -> list[Any]:
    """Return all nodes, each before those that its gradients go to."""
    order, seen, stack = [], {root}, [(root, iter(root.next_functions))]
    while stack:
        node, edges = stack[-1]
        following = next((f for f, _ in edges if f is not None and f not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(following.next_functions)))
    return order[::-1]


def _along_edges(node: Any, found: list[Tensor | None]) -> Iterator[tuple[tuple, Tensor]]:
    """Pair a node's gradients with its edges; arguments that are no tensors have no edge."""
    edges = list(node.next_functions)
    for gradient in found:
        if gradient is None and len(found) > len(node.next_functions) and edges[:1] != [(None, 0)]:
            continue
        edge = edges.pop(0)
        if gradient is not None and edge[0] is not None:
            yield edge, gradient


def _fitted(gradient: Tensor, wanted: Any) -> Tensor:
    """Sum a gradient over what was broadcast and cast it, as torch's engine does."""
    if gradient.shape != tuple(wanted.shape):
        gradient = gradient.sum_to_size(tuple(wanted.shape))
    return gradient.to(wanted.dtype)


# --- counting -----------------------------------------------------------------------------------

READS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "item")
FREE = ("detach", "alias", "_unsafe_view", "lift_fresh", "device", "empty", "empty_like",
        "empty_strided", "new_empty")  # fmt: skip
YOUNG = 64


@dataclass
class Work:
    """What a block gives a GPU to do, and what it makes the host wait for.

    `peak` is the largest sum of live tensors in bytes; `waits` names what waits for the device, and
    `copies` what goes from the host to it.
    """

    operations: int = 0
    flops: int = 0
    bytes: int = 0
    peak: int = 0
    waits: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


class Trace(TorchDispatchMode):
    """Counts the work of its block; `next()` returns it and begins anew."""

    active: Trace | None = None

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()
        # Storages by address; what lives long is looked at less often.
        self._young: dict[int, tuple[StorageWeakRef, int]] = {}
        self._old: dict[int, tuple[StorageWeakRef, int]] = {}

    def __enter__(self) -> Trace:
        Trace.active = self
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        Trace.active = None
        super().__exit__(*error)

    def next(self) -> Work:
        """Return what was counted since the last call."""
        done, self.work = self.work, Work()
        self.work.peak = self._held()
        return done

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func is torch.ops.prim.device.default:
            return out
        given, made = (
            [t for t in tree_leaves(part) if isinstance(t, Tensor)]
            for part in ((args, kwargs), out)
        )
        name = func.__name__.partition(".")[0]
        self._note_transfers(name, given, made, kwargs)
        on_device = [t for t in (*given, *made) if t.device.type == "cuda"]
        for tensor in on_device:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._old:
                self._young[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        self.work.peak = max(self.work.peak, self._held())
        if on_device and not func.is_view and name not in FREE:
            self._count(func, name, given, made, args, kwargs, out)
        return out

    def _held(self) -> int:
        """Return the bytes of all storages that live."""
        self._young = _living(self._young)
        if len(self._young) > YOUNG:
            self._old, self._young = _living(self._old | self._young), {}
        return sum(size for part in (self._old, self._young) for _, size in part.values())

    def _count(
        self, func: Any, name: str, given: list, made: list, args: Any, kwargs: Any, out: Any
    ) -> None:
        formula = flop_registry.get(func.overloadpacket)
        self.work.operations += 1
        self.work.flops += formula(*args, **kwargs, out_val=out) if formula else 0
        self.work.bytes += sum(map(_bytes, (*given, *made)))
        self.work.kinds[name] += 1

    def _note_transfers(self, name: str, given: list, made: list, kwargs: dict[str, Any]) -> None:
        if name in READS or name.startswith("_unique"):
            _note_wait(name)
        if name not in ("_to_copy", "copy_") or not made or not given:
            return
        source = given[-1] if name == "copy_" else given[0]
        ways = source.device.type, made[0].device.type
        if ways == ("cuda", "cpu"):
            _note_wait("copy to the host")
        elif ways == ("cpu", "cuda"):
            how = "pinned" if getattr(source, "pinned", False) else "pageable"
            self.work.copies.append(f"{how} {tuple(source.shape)}")


def _living(storages: dict) -> dict:
    return {key: held for key, held in storages.items() if not held[0].expired()}


def _note_wait(what: str) -> None:
    if Trace.active is not None:
        Trace.active.work.waits.append(what)


def _bytes(tensor: Tensor) -> int:
    """Return what reading a tensor once takes; what is broadcast is read once."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride else 1
    return count * tensor.element_size()


def traced(call: Callable[[], Any]) -> Work:
    """Return the work of one call."""
    with Trace() as trace:
        call()
    return trace.work
