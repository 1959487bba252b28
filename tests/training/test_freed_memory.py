"""Freed memory stays with the process: the kernel does not have to map and clear it anew for every tensor."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MEASURE = """
import resource, sys, torch
from irpretrain.training.compute import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
for _ in range(10):  # small blocks, of which glibc keeps seven a size, may part the first few tensors
    torch.ones(8 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(8 << 20)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_a_tensor_takes_the_memory_of_the_one_before() -> None:
    def fresh(how: str) -> int:
        """Megabytes that the kernel handed out for twenty tensors of 32 MB."""
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, how], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    assert fresh("kept") <= 64
    assert fresh("given back") >= 320  # so that the limit above means something
