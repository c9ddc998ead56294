"""The allocator setting that CPU training rests on."""

import platform
import subprocess
import sys

import pytest

# Page faults of writing a new 64 MiB tensor, as a rule (the heap grows at first); with pages of
# 4 KiB there are 16,384 of them where freed memory is given back.
FAULTS = """
import resource, statistics
import torch
from gblsr_repro import runtime
runtime.prepare("cpu", 1)
faults = []
for _ in range(25):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(1 << 24).fill_(1.0)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(round(statistics.median(faults)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_freed_memory_is_kept_for_the_next_tensor():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True)
    assert int(done.stdout) < 100, done.stderr
