"""A trained model as others take it: its Hugging Face directory with a model card.

The card says what the weights were made from, how, and under which licences. Scores are a file beside the model's
directory, of the target `exported_models` alone: a model is exported without anything being evaluated.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from irpretrain.atomic import atomic_directory, write_text
from irpretrain.errors import InputError
from irpretrain.provenance import read_sidecar
from irpretrain.report.cards import Source, cell, source_table, yaml_block
from irpretrain.training.selection import NOT_CONTENT

CARD = "README.md"
LICENCE = (
    "The code that made it is Apache-2.0. The weights were made from the encoder and the data above, under the "
    "licences named there; whoever passes them on must see to these."
)
FINE_TUNED = "Scores of regimes other than zero-shot are those of fine-tuned copies; the weights here are those before."
USE = """\
```python
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(".")
model = AutoModelForSequenceClassification.from_pretrained(".")
pairs = tokenizer(["a query"], ["a document"], truncation="only_second", max_length={length}, return_tensors="pt")
score = model(**pairs).logits[0, 0]  # larger is more relevant
```"""


class CardFacts(NamedTuple):
    """What the configuration says of a model.

    Attributes:
        key: of `models`.
        label: name in tables.
        seed: of the training.
        encoder: the encoder that it starts from, directly or through other models.
        corpora: of its collection.
        papers: citations of the papers whose tables show it.
        tasks: objectives with all their options.
        training: options of its pre-training.
        encoder_caveat: what a reader of any number made with the encoder must know; empty for nothing.
    """

    key: str
    label: str
    seed: int
    encoder: Source
    corpora: Sequence[Source]
    papers: Sequence[str]
    tasks: Sequence[Mapping[str, Any]]
    training: Mapping[str, Any]
    encoder_caveat: str = ""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> CardFacts:
        """Return the facts that plain values give."""
        corpora = [Source(*corpus) for corpus in values["corpora"]]
        return cls(**{**values, "encoder": Source(*values["encoder"]), "corpora": corpora})


def export_model(
    model: str | Path, trained: str | Path, facts: CardFacts, output: str | Path
) -> dict[str, Any]:
    """Write a model's directory, without snapshots, with its card.

    Args:
        model: Hugging Face directory of the final model.
        trained: directory that pre-training wrote, whose sidecar gives the provenance.
        facts: what the configuration says of it.
        output: directory to write.

    Returns:
        Counts: files copied.

    Raises:
        InputError: the pre-trained model has no sidecar that can be read.
    """
    record = read_sidecar(trained)
    if not record:
        raise InputError(
            f"{trained}.meta.json", "is missing or no record of a training", remedy="Train it again."
        )
    with atomic_directory(output) as folder:
        shutil.copytree(model, folder, ignore=shutil.ignore_patterns(*NOT_CONTENT, CARD), dirs_exist_ok=True)
        files = sum(path.is_file() for path in folder.rglob("*"))
        (folder / CARD).write_text(write_card(facts, record), encoding="utf-8")
    return {"files": files}


def write_scores(
    scores: Sequence[str | Path], model: str, label: str, seed: int, output: str | Path
) -> dict[str, Any]:
    """Write what a model reached as Markdown, for its card.

    Args:
        scores: CSV files of `evaluation.evaluate`.
        model: key of `models`.
        label: its name in tables.
        seed: of the training.
        output: Markdown.

    Returns:
        Counts: scores shown.
    """
    means = read_means(scores, model, seed)
    write_text(output, f"# Scores of {label}, seed {seed}\n\n{_scores(means)}\n")
    return {"scores": len(means)}


def read_means(scores: Sequence[str | Path], model: str, seed: int) -> list[dict[str, str]]:
    """Return the rows with means of one model and seed, each once, in the order of the files."""
    row_by_key: dict[tuple[str, ...], dict[str, str]] = {}
    for path in scores:
        with open(path, encoding="utf-8", newline="") as handle:
            for row in csv.DictReader(handle):
                if (row["model"], row["seed"], row["fold"]) == (model, str(seed), "0"):
                    key = tuple(row[name] for name in ("dataset", "candidates", "regime", "measure"))
                    row_by_key.setdefault(key, row)
    return list(row_by_key.values())


def write_card(facts: CardFacts, record: Mapping[str, Any]) -> str:
    """Return the text of a card.

    Args:
        facts: what the configuration says.
        record: sidecar of the training.
    """
    head = {
        "library_name": "transformers",
        "pipeline_tag": "text-ranking",
        "tags": ["cross-encoder", "information-retrieval", *(str(task["objective"]) for task in facts.tasks)],
        "license": "other",
    }
    sections = {
        "Use": USE.format(length=facts.training["max_length"]),
        "Objective": yaml_block({"tasks": [dict(task) for task in facts.tasks]}),
        "Data": source_table("corpus", facts.corpora),
        "Encoder": "\n\n".join(
            filter(None, [source_table("encoder", [facts.encoder]), facts.encoder_caveat])
        ),
        "Licence": LICENCE,
        "Training": yaml_block({"training": dict(facts.training)}),
        "Provenance": _provenance(record),
    }
    if facts.papers:
        sections["Papers"] = "\n".join(f"- {paper}" for paper in facts.papers)
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    what = f"A cross-encoder for re-ranking, made with IR-Pretrain: model `{facts.key}`, seed {facts.seed}."
    return f"---\n{front}---\n\n# {facts.label}\n\n{what}\n\n{body}\n"


def _scores(means: Sequence[Mapping[str, str]]) -> str:
    if not means:
        return "No experiment of the configuration tests it."
    names = ("dataset", "candidates", "regime", "measure", "value", "queries")
    rows = [[cell(row[name]) for name in names] for row in means]
    lines = [f"| {' | '.join(row)} |" for row in [list(names), ["---"] * len(names), *rows]]
    return "\n".join([*lines, "", FINE_TUNED])


def _provenance(record: Mapping[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {version}" for name, version in record.get("versions", {}).items() if version
    )
    facts = {
        "commit": record.get("commit"),
        "options": record.get("parameters_hash"),
        "versions": versions,
        "hardware": ", ".join(str(value) for value in record.get("hardware", {}).values()),
        "counts": json.dumps(record.get("counts", {}), sort_keys=True),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    inputs = [f"- `{path}`: sha256 {digest}" for path, digest in sorted(record.get("inputs", {}).items())]
    return "\n".join([*lines, "", "Made from:", "", *inputs])
