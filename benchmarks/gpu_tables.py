"""Tables of what gpu.py measured, and the entries of resources/throughput.yaml that follow from them.

    python benchmarks/gpu_tables.py gpu.json [more.json ...]
    python benchmarks/gpu_tables.py gpu.json [more.json ...] --rates

Without `--rates` it prints each file's tables. With it: the section "One GPU" for docs/benchmarks.md, and the entries,
which name it. A stage's rate is that of BERT-base computed as the papers' overlays compute it (`STAGES`); where
several files have one, that of the last. Needs only Python.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]
SECTION = "One GPU"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{value:.1%}"


def _small(value: float) -> str:
    return f"{value:.1e}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_number(item) for item in value)
    return str(value)


def _tera(value: float) -> str:
    return f"{value / 1e12:,.4g}"


def _giga(value: float) -> str:
    return f"{value / 1e9:,.4g}"


COLUMNS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "work": ("work", _plain),
    "model": ("model", _plain),
    "lengths": ("lengths", _plain),
    "system": ("system", _plain),
    "tests": ("tests", _plain),
    "precision": ("precision", _plain),
    "packing": ("packing", _plain),
    "dropout": ("dropout", _plain),
    "groups": ("groups", _plain),
    "batch_tokens": ("batch, word pieces", _plain),
    "shape": ("shape", lambda shape: " × ".join(map(str, shape))),
    "copy": ("copy", _plain),
    "per_second": ("TFLOP/s", _tera),
    "bytes_per_second": ("GB/s", _giga),
    "pairs_per_second": ("pairs/s", _number),
    "passages_per_second": ("passages/s", _number),
    "word_pieces_per_second": ("word pieces/s", _number),
    "mfu": ("MFU", _share),
    "waited": ("waited", _share),
    "memory_gib": ("peak GiB", _plain),
    "one_alone": ("one alone, word pieces/s", _number),
    "both": ("both", _number),
    "ours": ("ours/s", _number),
    "theirs": ("theirs/s", _number),
    "ratio": ("ratio", _number),
    "apart": ("apart", _small),
    "tolerance": ("tolerance", _small),
    "apart_without_kill": ("apart without a kill", _small),
    "equal_weights": ("equal weights", _plain),
    "killed_after_steps": ("killed after steps", _plain),
    "tests_passed": ("passed", _plain),
    "tests_failed": ("failed", _plain),
    "tests_skipped": ("skipped", _plain),
    "passed": ("right", _plain),
    "failed": ("failed", _plain),
}
"""What tables show, in their order: key → heading, and how a value is printed. The JSON has more."""


def markdown(result: dict[str, Any]) -> str:
    """Return the tables of a run."""
    machine = result["machine"]
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if name != "line")
    lines = [f"`{result['command']}`, {result['started']}", "", f"{machine['line']}, {facts}"]
    lines += aims(result)
    for name, part in result["parts"].items():
        lines += ["", f"### {name}: {part['state']}, {part['seconds']} s", "", *table(part["rows"])]
    return "\n".join(lines) + "\n"


AIMS = (
    (
        "pre-training at 512 in bf16: MFU",
        "training",
        {"work": "pre-training", "lengths": "articles"},
        "mfu",
        0.45,
    ),
    ("re-ranking at 512: pairs/s", "reranking", {"lengths": "articles"}, "pairs_per_second", 5000),
    ("pre-training against the Trainer", "others", {"work": "pre-training", "system": "Trainer"}, "ratio", 2),
)
"""What is aimed at on one card of H200's class with BERT-base: title, part, what rows say, figure, aim."""
CHOICES = ("precision", "packing", "dropout", "groups", "batch_tokens")


def aims(result: dict[str, Any]) -> list[str]:
    """Return a line for each aim whose figure was measured: the best, and where."""
    lines = []
    for title, part, case, figure, aim in AIMS:
        rows = result["parts"].get(part, {"rows": []})["rows"]
        measured = [row for row in rows if case.items() <= row.items() and row.get(figure) is not None]
        if measured and not result["small"]:
            best = max(measured, key=lambda row: row[figure])
            show, choices = COLUMNS[figure][1], [_cell(best, key) for key in list(COLUMNS)[5:11]]
            lines.append(
                f"- {title}: {show(best[figure])}, aim {show(aim)} ({', '.join(filter(None, choices))})"
            )
    return lines and ["", *lines]


def table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table with the columns that any row has."""
    displayed = [key for key in COLUMNS if any(row.get(key) is not None for row in rows)]
    if not displayed:
        return ["nothing was measured"]
    body = [[_cell(row, key) for key in displayed] for row in rows]
    heads = [COLUMNS[key][0] for key in displayed]
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *body)]


def _cell(row: Row, key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    text = _number(value) if key == "memory_gib" and not isinstance(value, list) else COLUMNS[key][1](value)
    return " ".join(text.replace("|", "/").split())


class Stage(NamedTuple):
    """Where the rate of a stage is found: a part, what its row must say, and what it was measured on, in words."""

    part: str
    case: Row
    of: str


BATCH = {"lengths": "articles", "precision": "bf16", "packing": "auto"}
TRAINED = BATCH | {"dropout": "all", "groups": 64}
RANKED = Stage("reranking", BATCH | {"batch_tokens": 16384}, "generated articles cut at 512")
STAGES = {
    "pretrain with MLM": Stage("training", TRAINED | {"work": "pre-training"}, RANKED.of),
    "pretrain without MLM": Stage("training", TRAINED | {"work": "pre-training without MLM"}, RANKED.of),
    "finetune": Stage("training", TRAINED | {"work": "fine-tuning"}, RANKED.of),
    "finetune, ranking": RANKED,
    "rerank": RANKED,
    "score_diagnosis_pairs": RANKED,
    "train_term_weights": Stage("weighing", {"work": "training", "precision": "bf16"}, "generated passages"),
    "weigh_documents": Stage("weighing", {"work": "weights", "precision": "bf16"}, "generated passages"),
}
"""Stage, as `encoder_work` calls it → its row. Batches, dropout and packing are those of the papers' overlays."""
ENCODERS = {
    "BERT-base": tuple(STAGES),
    "LinkBERT-base": ("finetune", "finetune, ranking"),
    "BERT Re-Ranker": ("rerank",),
}
"""Encoders of BERT-base's shape, which alone decides the rate, and what configs/paper.yaml computes with each."""


def rates(results: Sequence[dict[str, Any]]) -> dict[str, tuple[float, str, dict[str, Any]]]:
    """Return the rate of each stage that was measured on a GPU with BERT-base, what it was measured on, and its run."""
    measured = {}
    for result in results:
        if result["small"] or result["machine"].get("device", "cpu") == "cpu":
            continue
        for name, stage in STAGES.items():
            for row in result["parts"].get(stage.part, {"rows": []})["rows"]:
                if stage.case.items() <= row.items() and "word_pieces_per_second" in row:
                    measured[name] = (round(row["word_pieces_per_second"]), stage.of, result)
    return measured


def section(results: Sequence[dict[str, Any]]) -> str:
    """Return the section of docs/benchmarks.md."""
    measured = rates(results)
    runs = {id(result): result for _, _, result in measured.values()}.values()
    reported = "; ".join(
        f"`{run['command']}`, {run['started'][:10]}, {run['machine']['device']}" for run in runs
    )
    return f"## {SECTION}\n\n{reported}"


def entries(results: Sequence[dict[str, Any]]) -> str:
    """Return the entries of resources/throughput.yaml."""
    text, measured = [], rates(results)
    for encoder, stages in ENCODERS.items():
        for name in filter(measured.get, stages):
            rate, of, result = measured[name]
            text += [
                f'- stage: "{name}"',
                f"  per_second: {rate}",
                "  unit: word pieces",
                f"  computing: {{encoder: {encoder}, layers: null, precision: bf16, device: gpu}}",
                f'  of: "{of}, {result["machine"]["device"]}"',
                f"  date: {result['started'][:10]}",
                f"  section: {SECTION}",
            ]
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="JSON that gpu.py wrote")
    parser.add_argument("--rates", action="store_true", help="print what the cost table takes")
    options = parser.parse_args(arguments)
    results = [json.loads(path.read_text()) for path in options.files]
    if not options.rates:
        print("\n".join(markdown(result) for result in results))
    elif measured := rates(results):
        lacking = ", ".join(name for name in STAGES if name not in measured)
        print(section(results), entries(results), f"# not measured: {lacking}" if lacking else "", sep="\n\n")
    else:
        parser.exit(1, "no file has a rate of BERT-base on a GPU\n")


if __name__ == "__main__":
    main()
