"""What it saves on CPU that training and re-ranking keep freed memory (irpretrain.training.compute.keep_freed_memory).

    python benchmarks/freed_memory.py

The default's encoder with random weights scores batches, and is trained on them, each time in a process of its own,
with and without, in turn. Prints the medians of wall, user and system time, the peak memory, and the ratios of wall
time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

MEASURE = """
import json, resource, sys, time
import torch
from transformers import BertConfig, BertModel
from irpretrain.training.compute import keep_freed_memory

how, work, batches, shape = sys.argv[1], sys.argv[2], int(sys.argv[3]), (32, int(sys.argv[4]))
if how == "kept" and not keep_freed_memory():
    sys.exit("this C library has no mallopt")
torch.set_num_threads(1)
torch.manual_seed(0)
model = BertModel(BertConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=12, intermediate_size=1536))
tokens = torch.randint(30522, shape)


def step():
    if work == "score":
        with torch.inference_mode():
            model(tokens)
    else:
        model(tokens).pooler_output.sum().backward()
        model.zero_grad()


step()
before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
for _ in range(batches):
    step()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "wall": time.perf_counter() - began, "user": used.ru_utime - before.ru_utime,
    "system": used.ru_stime - before.ru_stime, "peak MB": used.ru_maxrss / 1024,
}))
"""
VARIANTS = ("given back", "kept")


def measure(how: str, work: str, batches: int, length: int) -> dict[str, float]:
    """Time and memory of one process."""
    arguments = [how, work, str(batches), str(length)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batches", type=int, default=30, help="batches of 32 sequences (default 30)")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each kind (default 3)")
    options = parser.parse_args()
    print("| work | word pieces | freed memory | wall s | user s | system s | peak MB | wall, ratio |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for work, length in (("score", 96), ("train", 64), ("train", 512)):
        batches = max(1, options.batches * 96 // length)
        runs: dict[str, list[dict[str, float]]] = {how: [] for how in VARIANTS}
        for _ in range(options.repeats):
            for how in VARIANTS:
                runs[how].append(measure(how, work, batches, length))
        medians = {
            how: {key: statistics.median(run[key] for run in found) for key in found[0]}
            for how, found in runs.items()
        }
        for how, found in medians.items():
            ratio = found["wall"] / medians["given back"]["wall"]
            figures = " | ".join(f"{found[key]:.1f}" for key in ("wall", "user", "system"))
            print(
                f"| {work} | {length} | {how} | {figures} | {found['peak MB']:,.0f} | {ratio:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
