"""Rates of building batches: groups read from their table, batches built, word pieces masked; beside Hugging Face.

    python benchmarks/batch_building.py
    python benchmarks/batch_building.py --before ../main

Word pieces a second of the building thread's processor time, on generated work (generated_work.py), for `passages` and
`articles`. `new words`: the first pass over the groups, most of whose queries' words the builder has never seen, as
the generated ones are drawn evenly; `known words`: the next pass. `--before` measures another checkout of this project
in turns with this one. Hugging Face's way is its fast tokenizer, called on the texts of queries and documents, and
DataCollatorWithPadding.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MIXES = ("passages", "articles")
PARTS = ("table", "builder", "masker", "all, new words", "all, known words", "Hugging Face")


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    began = time.thread_time()
    return work(*arguments), time.thread_time() - began


def measure(folder: Path, small: bool, mix: str, groups: int) -> dict[str, float]:
    """Return word pieces a second of each part, of two passes over the groups."""
    from generated_work import GeneratedWork
    from irpretrain.config.training import MaskingConfig
    from irpretrain.text.token_store import TokenStore
    from irpretrain.text.word_pieces import load_tokenizer
    from irpretrain.training.batches import BatchBuilder
    from irpretrain.training.group_table import GroupTable
    from irpretrain.training.masking import Masker

    work = GeneratedWork(folder, small)
    lengths = work.lengths(mix)
    store, tokenizer = TokenStore.open([work.tokens(mix)]), load_tokenizer(work.encoder())
    table = GroupTable(work.groups(mix), store, groups, 1, "rop/0")
    masker = Masker(MaskingConfig(), tokenizer, 1, lengths.longest, name="rop/0")
    steps = max(len(table) // groups, 1)
    warm = BatchBuilder(store, tokenizer, lengths.longest, lengths.query).build(table.groups(2 * steps))
    masker.apply(warm, 0)
    builder = BatchBuilder(store, tokenizer, lengths.longest, lengths.query)
    seconds, pieces = dict.fromkeys(PARTS[:-1], 0.0), 0
    for step in range(2 * steps):
        known = step >= steps
        read, reading = timed(table.groups, step)
        batch, building = timed(builder.build, read)
        _, masking = timed(masker.apply, batch, step)
        seconds[PARTS[4 if known else 3]] += reading + building
        if known:
            pieces += batch.tokens
            for part, value in zip(PARTS, (reading, building, masking), strict=False):
                seconds[part] += value
    return {part: pieces / value for part, value in seconds.items()}


def measure_hugging_face(folder: Path, small: bool, mix: str, groups: int) -> float:
    """Return word pieces a second of a pass of a fast tokenizer and a collator over as many pairs a batch."""
    from transformers import AutoTokenizer, DataCollatorWithPadding

    from generated_work import GeneratedWork

    work = GeneratedWork(folder, small)
    lengths = work.lengths(mix)
    tokenizer = AutoTokenizer.from_pretrained(work.encoder(), local_files_only=True, trust_remote_code=False)
    collate = DataCollatorWithPadding(tokenizer, return_tensors="np")
    pairs = 2 * groups
    documents = [text for text in work.texts(mix, groups) for _ in range(2)]
    queries = [" ".join(text.split()[:5]) for text in reversed(documents)]
    batches = [slice(first, first + 128) for first in range(0, min(pairs, 512), 128)]

    def build(batch: slice) -> Any:
        encoded = tokenizer(
            queries[batch], documents[batch], truncation="only_second", max_length=lengths.longest
        )
        rows = range(len(encoded["input_ids"]))
        return collate([{name: encoded[name][row] for name in encoded} for row in rows])

    seconds, pieces = 0.0, 0
    for batch in batches:
        made, spent = timed(build, batch)
        seconds += spent
        pieces += int(made["attention_mask"].sum())
    return pieces / seconds


def in_checkout(checkout: Path, arguments: list[str]) -> dict[str, float]:
    """Return what `measure` finds with the library of a checkout, in a process of its own."""
    paths = [str(checkout / "src"), str(ROOT / "benchmarks")]
    if checkout != ROOT:
        paths[1] = str(checkout / "benchmarks")  # its own generated work, which reads its own library
    threads = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(paths)}
    code = f"import runpy; runpy.run_path({str(Path(__file__).resolve())!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="another checkout of this project")
    parser.add_argument("--groups", type=int, nargs="+", default=[64, 1024], help="of a step")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="short texts and few, to see that all runs")
    parser.add_argument(
        "--folder", type=Path, help="where generated work is kept; a temporary one by default"
    )
    parser.add_argument("--measure", nargs=2, metavar=("MIX", "GROUPS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        mix, groups = given.measure[0], int(given.measure[1])
        rates = measure(given.folder, given.small, mix, groups)
        rates["Hugging Face"] = measure_hugging_face(given.folder, given.small, mix, groups)
        print(json.dumps(rates))
        return
    checkouts = {"before": given.before.resolve()} if given.before else {}
    checkouts["now"] = ROOT
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        options = ["--folder", str(folder.resolve()), *(["--small"] if given.small else [])]
        print("Million word pieces a second of one core.\n")
        print(f"| work | library | {' | '.join(PARTS)} |\n|---|---|{'---:|' * len(PARTS)}")
        for mix in MIXES:
            for groups in given.groups:
                rounds: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
                for _ in range(given.rounds):
                    for name, checkout in checkouts.items():
                        rounds[name].append(in_checkout(checkout, [*options, "--measure", mix, str(groups)]))
                for name, turns in rounds.items():
                    medians = [statistics.median(turn[part] for turn in turns) / 1e6 for part in PARTS]
                    cells = " | ".join(f"{rate:.2f}" for rate in medians)
                    print(f"| {mix}, {groups} groups | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
