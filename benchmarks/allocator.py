"""Time native training steps in this process: `python -m benchmarks.allocator default 256 8 3`.

The first argument says whether freed memory is kept for the next tensor ("kept", as the project
sets it) or handled as the C library does by itself ("default"); then image side, batch size and
number of steps. Prints the median as JSON. One thread, on the CPU.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from unittest import mock

from gblsr_repro import runtime
from gblsr_repro.evaluation.timing import time_pass_ms

from .bench import Bench
from .native import MAIN
from .training import build_native_step


def main(allocator: str, side: int, batch: int, count: int) -> None:
    """Time `count` steps and print their median as JSON."""
    if allocator == "default":
        with mock.patch.object(runtime, "keep_large_blocks"):
            device = runtime.prepare_device("cpu", 1)
    else:
        device = runtime.prepare_device("cpu", 1)
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench.open(device, quick=False, scratch=Path(scratch))
    step = build_native_step(bench, MAIN, side, batch)
    step()
    times = [time_pass_ms(step, device) for _ in range(count)]
    print(json.dumps({"median_ms": median(times)}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
