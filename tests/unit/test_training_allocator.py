"""The allocator setting that CPU training rests on."""

import platform
import subprocess
import sys

import pytest

# Page faults of writing a new 64 MiB tensor, as a rule (the heap grows at first); with pages of
# 4 KiB there are 16,384 of them.
FAULTS = """
import resource, statistics, sys
import torch
from gblsr_repro import runtime
if sys.argv[1] == "kept":
    runtime.prepare("cpu", 1)
faults = []
for _ in range(25):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(1 << 24).fill_(1.0)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(round(statistics.median(faults)))
"""


def faults(setting: str) -> int:
    command = [sys.executable, "-c", FAULTS, setting]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_freed_memory_is_kept_for_the_next_tensor():
    if faults("default") < 1000:
        pytest.skip("this machine backs large blocks with huge pages")
    assert faults("kept") < 100
