"""A make-believe CUDA with true values: the control flow of a GPU run, on the CPU.

In `believed_cuda()` tensors that are sent to "cuda" stay in the host's memory, but say that they
are there, so that the code takes its CUDA branches. Events, streams, graphs, peak memory and the
device's own generator have stand-ins that insist on what CUDA insists on: an event is read after a
synchronisation only, a graph replays into the memory it was recorded with and holds nothing alive.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from pretended import ANSWERS, CUDA, GPU, convert_in_place
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

RANDOM = torch.Generator()  # the device's own
PEAK, HELD = 123 << 20, 100 << 20


class OnCuda(Tensor):
    """A tensor in the host's memory that says it is on CUDA."""

    @classmethod
    def __torch_function__(
        cls, func: Callable, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func == Tensor.device.__get__:  # a new object each time
            return CUDA
        if func == Tensor.is_cuda.__get__:
            return True
        if func is Tensor.numpy:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if func is Tensor.bernoulli_:
            kwargs.setdefault("generator", RANDOM)
        leaves = func is Tensor.cpu or (func is Tensor.to and _wanted(args[1:], kwargs) == "cpu")
        if leaves:
            with torch._C.DisableTorchFunctionSubclass():
                return args[0].as_subclass(Tensor).clone()
        return super().__torch_function__(func, types, args, kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> OnCuda:
        """Copy a weight of a module that is copied."""
        with torch._C.DisableTorchFunctionSubclass():
            copy = self.detach().clone().as_subclass(OnCuda).requires_grad_(self.requires_grad)
        return nn.Parameter(copy, copy.requires_grad) if isinstance(self, nn.Parameter) else copy

    def __reduce_ex__(self, protocol: int) -> Any:
        """Be saved as what a CUDA tensor is loaded as."""
        with torch._C.DisableTorchFunctionSubclass():
            return self.as_subclass(Tensor).__reduce_ex__(protocol)


def _wanted(args: Any, kwargs: dict[str, Any]) -> str | None:
    """Return the type of the device that a call names, if it names one."""
    for value in (*args, kwargs.get("device")):
        if isinstance(value, torch.device):
            return value.type
        if isinstance(value, str) and value.partition(":")[0] in ("cpu", "cuda"):
            return value.partition(":")[0]
    return None


class _Belief(TorchFunctionMode):
    """Makes on the host what is asked for on CUDA, and calls it `OnCuda`."""

    def __torch_function__(
        self, func: Callable, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        method = func is Tensor.to
        if _wanted(args[1:] if method else (), kwargs) != "cuda":
            return func(*args, **kwargs)
        if method and not isinstance(args[0], OnCuda):
            Graph.forbid("a copy from the host")
        args = tuple("cpu" if i and method and _wanted((a,), {}) else a for i, a in enumerate(args))
        if "device" in kwargs:
            kwargs["device"] = "cpu"
        with torch._C.DisableTorchFunctionSubclass():
            made = func(*args, **kwargs)
            # A copy: what is changed on the host must not change on the device.
            made = made.clone() if method and made is args[0] else made
            return made.as_subclass(OnCuda)


# --- graphs, events, streams --------------------------------------------------------------------


@dataclass
class _Address:
    """A tensor as a graph knows it: a place in memory, not kept."""

    storage: StorageWeakRef
    dtype: torch.dtype
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Tensor) -> _Address:
        storage = StorageWeakRef(tensor.untyped_storage())
        shape = tuple(tensor.size()), tuple(tensor.stride())
        return cls(storage, tensor.dtype, tensor.storage_offset(), *shape)

    def tensor(self) -> Tensor:
        """Return what is there now."""
        storage = torch.UntypedStorage._new_with_weak_ptr(self.storage.cdata)
        if storage is None:
            raise RuntimeError("the graph reads memory that was freed after it was recorded")
        return torch.empty(0, dtype=self.dtype).set_(storage, self.offset, self.size, self.stride)


class Graph(TorchDispatchMode):
    """Stands in for torch.cuda.CUDAGraph: records operations by the addresses they work on.

    What the recorded operations made stays, as in the graph's own pool; what they only read does
    not.
    """

    recording: Graph | None = None
    FORBIDDEN = ("_local_scalar_dense", "nonzero", "masked_select", "equal")

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[tuple] = []
        self.pool: list[torch.UntypedStorage] = []

    @classmethod
    def forbid(cls, what: str) -> None:
        """Refuse what no capture may hold."""
        if cls.recording is not None:
            raise RuntimeError(f"operation not permitted when stream is capturing: {what}")

    @contextlib.contextmanager
    def record(self) -> Iterator[None]:
        """Record the operations of the block."""
        Graph.recording = self
        try:
            with self:
                yield
        finally:
            Graph.recording = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__.partition(".")[0]
        if name in self.FORBIDDEN or name.startswith("_unique"):
            self.forbid(name)
        given = (args, kwargs or {})
        out = func(*given[0], **given[1])
        made = _storages(out)
        views = set(made) <= set(_storages(given))  # `reshape` is one only where it copies nothing
        if func._schema.is_mutable or not views:
            places = tree_map_only(Tensor, _Address.of, (given, out))
            self.tape.append((func, *places))
            self.pool += [] if views else made.values()
        return out

    @torch.no_grad()
    def replay(self) -> None:
        """Do again what was recorded, in the same memory."""
        for func, given, made in self.tape:
            args, kwargs = tree_map_only(_Address, _Address.tensor, given)
            again = func(*args, **kwargs)
            if not func._schema.is_mutable:
                for place, value in zip(tree_leaves(made), tree_leaves(again), strict=True):
                    if isinstance(place, _Address):
                        place.tensor().copy_(value)


def _storages(values: Any) -> dict[int, torch.UntypedStorage]:
    tensors = [value for value in tree_leaves(values) if isinstance(value, Tensor)]
    return {tensor.untyped_storage()._cdata: tensor.untyped_storage() for tensor in tensors}


class Event:
    """Stands in for torch.cuda.Event; time is the number of events recorded."""

    now = 0.0
    unfinished: list[Event] = []  # noqa: RUF012

    def __init__(self, enable_timing: bool = False) -> None:
        self.timed, self.at, self.done = enable_timing, None, False

    def record(self) -> None:
        """Take the time."""
        Event.now += 1.0
        self.at = Event.now
        Event.unfinished.append(self)

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds to another event; both must be over."""
        if not (self.timed and end.timed and self.done and end.done):
            raise RuntimeError("both events must be timed, recorded and waited for")
        return end.at - self.at


class Stream:
    """Stands in for torch.cuda.Stream; `after` lists the streams whose work it waits for."""

    def __init__(self, *_: Any) -> None:
        self.after: list[Stream] = []

    def wait_stream(self, other: Stream) -> None:
        """Let what follows wait for the other stream."""
        self.after.append(other)


@contextlib.contextmanager
def believed_cuda() -> Iterator[list[str]]:
    """Open a block with a make-believe CUDA; yields the list of what was asked of it, in order."""
    calls: list[str] = []
    main = Stream()

    def answer(name: str, value: Any = None) -> Callable[..., Any]:
        def call(*args: Any, **_: Any) -> Any:
            calls.append(name)
            return value(*args) if callable(value) else value

        return call

    def finish(*_: Any) -> None:
        for event in Event.unfinished:
            event.done = True
        Event.unfinished.clear()

    def restore(states: list[Tensor]) -> None:
        RANDOM.set_state(states[0])

    @contextlib.contextmanager
    def capture(graph: Graph) -> Iterator[None]:
        calls.append("capture")
        with graph.record():
            yield

    answers = {
        "synchronize": finish,
        "reset_peak_memory_stats": None,
        "max_memory_allocated": PEAK,
        "memory_allocated": HELD,
        "memory_reserved": HELD + (20 << 20),
        "mem_get_info": (GPU.total_memory // 2, GPU.total_memory),
        "empty_cache": None,
        "get_rng_state_all": lambda: [RANDOM.get_state()],
        "set_rng_state_all": restore,
    }
    silent = {
        **{name: lambda *_, told=told: told for name, told in ANSWERS.items()},
        "is_initialized": lambda: True,
        "is_current_stream_capturing": lambda: Graph.recording is not None,
        "manual_seed_all": RANDOM.manual_seed,
        "current_stream": lambda *_: main,
        "stream": lambda stream: contextlib.nullcontext(calls.append("side stream")),
        "Event": Event,
        "Stream": Stream,
        "CUDAGraph": Graph,
        "graph": capture,
    }
    with contextlib.ExitStack() as stack:
        for name, value in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer(name, value)))
        for name, value in silent.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value))
        stack.enter_context(mock.patch.object(Tensor, "pin_memory", lambda tensor: tensor))
        stack.enter_context(mock.patch.object(nn.Module, "_apply", convert_in_place))
        stack.enter_context(_Belief())
        yield calls
