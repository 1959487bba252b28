"""Batches of many sizes leave neither holes in the heap nor prepared products behind."""

import os
import platform
import subprocess
import sys

import pytest
import torch

MEASURE = """
import sys, torch
from irpretrain.training.compute import limit_held_memory
if sys.argv[1] == "limited":
    limit_held_memory()
held = lambda: int(open("/proc/self/statm").read().split()[1])
torch.ones(8 << 18)  # glibc raises its own limit with every large block that is freed
before, tensors = held(), [torch.ones(8 << 18) for _ in range(20)]
last = torch.ones(1 << 18)  # too large for a hole below them: keeps the heap from shrinking
del tensors
print(held() - before)
"""
PRODUCTS = """
import sys, torch
from irpretrain.training.compute import limit_held_memory
if sys.argv[1] == "limited":
    limit_held_memory()
held = lambda: int(open("/proc/self/statm").read().split()[1])
layer = torch.nn.Linear(384, 384)
def multiply(rows):
    with torch.autocast("cpu", torch.bfloat16):
        layer(torch.ones(rows, 384)).sum().backward()
for rows in range(20):
    multiply(450 - rows)
before = held()
for rows in range(300):
    multiply(430 - rows)
print(held() - before)
"""


# What `limit_held_memory` sets: a training in this process leaves it in the environment.
LIMITS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY", "THP_MEM_ALLOC_ENABLE")


def held_pages(program: str, how: str) -> int:
    """Run a program, with torch's memory as it is by default, and return the pages that it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in LIMITS}
    command = [sys.executable, "-c", program, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout)


@pytest.mark.deep
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_tensors_of_8_megabytes_are_not_retained() -> None:
    assert held_pages(MEASURE, "limited") < 2048
    assert held_pages(MEASURE, "by default") > 8_192  # so that the limit above means something


@pytest.mark.deep
@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN")
def test_products_of_300_shapes_are_not_all_retained() -> None:
    assert held_pages(PRODUCTS, "limited") < 65_536
    if torch.cpu.get_capabilities().get("avx512_bf16"):  # elsewhere oneDNN may prepare less
        assert held_pages(PRODUCTS, "by default") > 98_304
