"""A make-believe CUDA with true values: the control flow of a GPU run, on the CPU.

In `believed_cuda()` tensors that are sent to "cuda" stay in the host's memory, but say that they
are there, so that the code takes its CUDA branches. Events, peak memory and the device's own
generator have stand-ins that insist on what CUDA insists on: an event is read after a
synchronization only. That no training step waits for the device only a real one can tell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

CUDA = torch.device("cuda")
GPU = SimpleNamespace(
    name="Pretended GPU",
    total_memory=140 << 30,
    major=9,
    minor=0,
    uuid="00000000-0000-0000-0000-000000000000",
)
RANDOM = torch.Generator()  # the device's own
PEAK = 123 << 20


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
        args = tuple("cpu" if i and method and _wanted((a,), {}) else a for i, a in enumerate(args))
        if "device" in kwargs:
            kwargs["device"] = "cpu"
        with torch._C.DisableTorchFunctionSubclass():
            made = func(*args, **kwargs)
            # A copy: what is changed on the host must not change on the device.
            made = made.clone() if method and made is args[0] else made
            return made.as_subclass(OnCuda)


# --- events and generators ------------------------------------------------------------------------


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


def convert_in_place(module: nn.Module, convert: Callable[[Tensor], Tensor]) -> nn.Module:
    """Convert a module's tensors by new ones; torch would exchange the old ones' insides."""
    for part in module.modules():
        for name, old in list(part.named_parameters(recurse=False)):
            setattr(part, name, nn.Parameter(convert(old.detach()), old.requires_grad))
        for name, old in list(part.named_buffers(recurse=False)):
            setattr(part, name, convert(old.detach()))
    return module


@contextlib.contextmanager
def believed_cuda() -> Iterator[None]:
    """Open a block with a make-believe CUDA."""

    def synchronize(*_: Any) -> None:
        for event in Event.unfinished:
            event.done = True
        Event.unfinished.clear()

    answers = {
        "synchronize": synchronize,
        "reset_peak_memory_stats": lambda *_: None,
        "max_memory_allocated": lambda *_: PEAK,
        "memory_allocated": lambda *_: 0,
        "memory_reserved": lambda *_: 0,
        "mem_get_info": lambda *_: (GPU.total_memory, GPU.total_memory),
        "get_rng_state_all": lambda: [RANDOM.get_state()],
        "set_rng_state_all": lambda states: RANDOM.set_state(states[0]),
        "manual_seed_all": RANDOM.manual_seed,
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda *_: GPU.name,
        "get_device_properties": lambda *_: GPU,
        "is_current_stream_capturing": lambda: False,
        "Event": Event,
    }
    with contextlib.ExitStack() as stack:
        for name, value in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, value))
        stack.enter_context(mock.patch.object(Tensor, "pin_memory", lambda tensor: tensor))
        stack.enter_context(mock.patch.object(nn.Module, "_apply", convert_in_place))
        stack.enter_context(_Belief())
        yield
