"""Large tensors give their memory back when they are freed, so that batches of many sizes leave no holes."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MEASURE = """
import sys, torch
from irpretrain.training.compute import give_back_freed_memory
if sys.argv[1] == "given back":
    assert give_back_freed_memory()
held = lambda: int(open("/proc/self/statm").read().split()[1])
torch.ones(8 << 18)  # glibc raises its own limit with every large block that is freed
before, tensors = held(), [torch.ones(8 << 18) for _ in range(20)]
last = torch.ones(1 << 18)  # too large for a hole below them: keeps the heap from shrinking
del tensors
print(held() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_tensors_of_8_megabytes_are_not_kept() -> None:
    def pages(how: str) -> int:
        """Pages that the process holds more after twenty tensors of 8 MB have come and gone."""
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, how], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    assert pages("given back") < 2048
    assert pages("kept") > 8_192  # so that the limit above means something
