"""Gradients of narrow attention on one CPU thread: bf16 against single precision, a call a sequence.

    python benchmarks/attention.py [--repeats 20]

32 sequences of one length, 12 heads of 32, as the default's encoder has them; forward and backward. Precisions take
turns. Prints milliseconds of processor time (medians) and the median ratio with the smallest and the largest.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

LENGTHS = (64, 96, 160, 256)


def turn(length: int, dtype: torch.dtype) -> float:
    """Return milliseconds of processor time of 32 forward and backward passes."""
    query, key, value = (torch.randn(1, 12, length, 32, dtype=dtype, requires_grad=True) for _ in range(3))
    start = time.process_time()
    for _ in range(32):
        scaled_dot_product_attention(query, key, value).sum().backward()
    return (time.process_time() - start) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=20, help="turns of each precision (default: 20)")
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    print("| word pieces | bf16, ms | single, ms | ratio |\n|---:|---:|---:|---:|")
    for length in LENGTHS:
        pairs = [(turn(length, torch.bfloat16), turn(length, torch.float32)) for _ in range(repeats + 1)][1:]
        narrow, single = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in pairs)
        print(
            f"| {length} | {narrow:.0f} | {single:.0f} | "
            f"{statistics.median(ratios):.1f} [{ratios[0]:.1f}, {ratios[-1]:.1f}] |"
        )


if __name__ == "__main__":
    main()
