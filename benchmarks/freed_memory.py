"""What it costs, and saves, on CPU that training gives freed memory back and keeps few prepared products.

    python benchmarks/freed_memory.py

Both are settings of irpretrain.training.compute. The default's encoder with random weights is trained in bf16 on packed
batches of paragraphs, whose sizes differ from step to step, each time in a process of its own, in turn. Prints medians
of user and system time, the peak memory, and the ratios to the C library's own way.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

MEASURE = """
import json, random, resource, sys, torch
from transformers import BertConfig, BertModel
from irpretrain.models.packed import by_sequence
from irpretrain.models.packed import encode_packed
from irpretrain.training.compute import give_back_freed_memory, keep_few_products

how, steps = sys.argv[1], int(sys.argv[2])
if how.startswith("given back") and not give_back_freed_memory():
    sys.exit("this C library has no mallopt")
if how.endswith("few products"):
    keep_few_products()
torch.set_num_threads(1)
torch.manual_seed(0)
random.seed(0)
model = BertModel(BertConfig(hidden_size=384, num_hidden_layers=4, num_attention_heads=12, intermediate_size=1536))


def step():
    lengths = torch.tensor([random.randint(40, 256) for _ in range(16)])
    mask = (torch.arange(256) < lengths[:, None]).long()
    with torch.autocast("cpu", torch.bfloat16):
        states = encode_packed(model, torch.randint(30522, mask.shape), None, mask, by_sequence)
    states.sum().backward()
    model.zero_grad()


step()
before = resource.getrusage(resource.RUSAGE_SELF)
for _ in range(steps):
    step()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "user": used.ru_utime - before.ru_utime, "system": used.ru_stime - before.ru_stime,
    "peak MB": used.ru_maxrss / 1024,
}))
"""
VARIANTS = ("kept by the C library", "given back", "given back, few products")


def measure(how: str, steps: int) -> dict[str, float]:
    """Time and memory of one process."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, how, str(steps)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=50, help="batches of 16 paragraphs (default 50)")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each kind (default 3)")
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {how: [] for how in VARIANTS}
    for _ in range(options.repeats):
        for how in VARIANTS:
            runs[how].append(measure(how, options.steps))
    medians = {
        how: {key: statistics.median(run[key] for run in found) for key in found[0]}
        for how, found in runs.items()
    }
    print("| freed memory | user s | system s | peak MB | time, ratio |")
    print("|---|---:|---:|---:|---:|")
    own = medians[VARIANTS[0]]
    for how, found in medians.items():
        ratio = (found["user"] + found["system"]) / (own["user"] + own["system"])
        print(
            f"| {how} | {found['user']:.1f} | {found['system']:.1f} | {found['peak MB']:,.0f} | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
