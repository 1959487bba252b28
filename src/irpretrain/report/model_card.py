"""A trained model as others take it: its Hugging Face directory with a model card.

The card says what the weights were made from, how, under which licences, and what they reached where they were tested.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml

from irpretrain.errors import InputError
from irpretrain.foundation.atomic import atomic_directory, read_csv
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.models.encoder_files import CEDR_FILE
from irpretrain.report.run_views import probe_markdown
from irpretrain.report.table_files import pipe_table
from irpretrain.training.selection import NOT_CONTENT

# A licence as the manifest and the catalogue name it → the Hub's identifier.
HUB_LICENCES = {
    "Apache-2.0": "apache-2.0",
    "CC BY-SA 3.0": "cc-by-sa-3.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "Apache-2.0.": "apache-2.0",
    "MIT": "mit",
}


class Source(NamedTuple):
    """Data or weights that something was made from: name, licence as far as it is known, and its name on the Hugging
    Face Hub, or nothing."""

    name: str
    licence: str
    hub: str = ""


CARD = "README.md"
LICENCE = (
    "The code that made it is Apache-2.0. The weights were made from the encoder and the data above, under the "
    "licences named there; whoever passes them on must see to these."
)
# Regime of the scores that these very weights reached.
ZERO_SHOT = "zero-shot"
FINE_TUNED = "Scores of regimes other than zero-shot are those of fine-tuned copies; the weights here are those before."
# Transformers' own truncation cuts the document alone: it fails on a query that is longer than the sequence.
USE = """\
```python
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(".")
model = AutoModelForSequenceClassification.from_pretrained(".")
backend = tokenizer.backend_tokenizer
backend.no_truncation()
backend.no_padding()
backend.encode_special_tokens = True  # names of special tokens in a text are text, as in training
query, document = backend.encode_batch(["a query", "a document"], add_special_tokens=False)
query.truncate({query_length})  # word pieces, as in training; the document has the rest of {length}
document.truncate({length} - backend.num_special_tokens_to_add(is_pair=True) - len(query))
pair = backend.post_process(query, document)
inputs = {{"input_ids": pair.ids, "token_type_ids": pair.type_ids, "attention_mask": pair.attention_mask}}
score = model(**{{name: torch.tensor([inputs[name]]) for name in tokenizer.model_input_names}}).logits[0, 0]
```
A larger score is more relevant."""


class CardFacts(NamedTuple):
    """What the configuration says of a model.

    Attributes:
        scored: column of a table of scores → its values in the rows to show.
        encoder: the encoder that it starts from, directly or through other models.
        papers: citations of the papers whose tables show it.
        stages: its trainings, the first one first: `model` (its key), `tasks` (objectives with all their options) and
            `training` (options of pre-training).
        encoder_caveat: what a reader of any number made with the encoder must know; empty for nothing.
    """

    key: str
    label: str
    seed: int
    scored: Mapping[str, Sequence[str]]
    encoder: Source
    corpora: Sequence[Source]
    papers: Sequence[str]
    stages: Sequence[Mapping[str, Any]]
    encoder_caveat: str = ""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return the facts of a job, whose `encoder` and `corpora` came as plain lists."""
        corpora = [Source(*corpus) for corpus in values["corpora"]]
        return cls(**{**values, "encoder": Source(*values["encoder"]), "corpora": corpora})


def export_model(
    model: str | Path,
    trained: Sequence[str | Path],
    scores: Sequence[str | Path],
    facts: CardFacts,
    output: str | Path,
    probes: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Write a model's directory, without snapshots, with its card.

    Args:
        trained: outputs of the trainings of `facts.stages`, whose sidecars give the provenance.
        scores: CSV files of `evaluation.evaluate`, as far as there are any.
        probes: CSV files of what each training made of held-out groups, in their order.

    Raises:
        InputError: the training has no sidecar that can be read, the model's directory is gone, or its score head is
            that of CEDR-KNRM.
    """
    records = [read_sidecar(output) for output in trained]
    if not all(records):
        missing = trained[records.index({})]
        raise InputError(
            f"{missing}.meta.json", "is missing or no record of a training", remedy="Train it again."
        )
    if not Path(model).is_dir():
        raise InputError(
            model, "is no longer there", remedy=f"Delete {trained[-1]} and run the workflow again."
        )
    if (Path(model) / CEDR_FILE).exists():
        raise InputError(
            model,
            f"has the score head of CEDR-KNRM ({CEDR_FILE}), which Hugging Face has no shape for: the card's code "
            "would give random scores",
            remedy="Use the directory itself with irpretrain.CrossEncoder, or export a model with another head.",
        )
    rows = read_scores_of(scores, facts.scored)
    with atomic_directory(output) as folder:
        shutil.copytree(model, folder, ignore=shutil.ignore_patterns(*NOT_CONTENT, CARD), dirs_exist_ok=True)
        files = sum(path.is_file() for path in folder.rglob("*"))
        card = write_card(facts, records, rows, probe_markdown(probes))
        (folder / CARD).write_text(card, encoding="utf-8")
    return {"files": files, "scores": len(rows)}


def read_scores_of(scores: Sequence[str | Path], scored: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return the rows whose columns have some values, each once, in the order of the files."""
    row_by_key: dict[tuple[str, ...], dict[str, str]] = {}
    for path in scores:
        for row in read_csv(path):
            if all(row[column] in values for column, values in scored.items()):
                key = tuple(row[name] for name in ("dataset", "candidates", "model", "regime", "measure"))
                row_by_key.setdefault(key, row)
    return list(row_by_key.values())


def write_card(
    facts: CardFacts,
    records: Sequence[Mapping[str, Any]],
    scores: Sequence[Mapping[str, str]] = (),
    probed: str = "",
) -> str:
    """Return the text of a card.

    Args:
        records: sidecars of the trainings of `facts.stages`.
        scores: rows of `read_scores_of`.
        probed: table of the model's accuracy on held-out groups, after its last step; empty for none.
    """
    training, provenances = facts.stages[-1]["training"], list(map(_provenance, records))
    if len(records) > 1:
        titles = (f"### {stage['model']}" for stage in facts.stages)
        provenances = [f"{title}\n\n{text}" for title, text in zip(titles, provenances, strict=True)]
    sections = {
        "Use": USE.format(length=training["max_length"], query_length=training["query_length"]),
        "Scores": _scores(scores),
        "Held-out groups": probed,
        "Objective": _stage_block(facts.stages, "tasks"),
        "Data": pipe_table(["corpus", "licence"], [corpus[:2] for corpus in facts.corpora]),
        "Encoder": "\n\n".join(
            filter(None, [pipe_table(["encoder", "licence"], [facts.encoder[:2]]), facts.encoder_caveat])
        ),
        "Licence": LICENCE,
        "Training": _stage_block(facts.stages, "training"),
        "Provenance": "\n\n".join(provenances),
        "Papers": "\n".join(f"- {paper}" for paper in facts.papers),
    }
    what = f"A cross-encoder for re-ranking. Made with IR-Pretrain: `{facts.key}`, seed {facts.seed}."
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items() if text)
    return f"---\n{_front(facts, scores).rstrip()}\n---\n\n# {facts.label}\n\n{what}\n\n{body}\n"


def _stage_block(stages: Sequence[Mapping[str, Any]], name: str) -> str:
    content = {"stages": [{"model": stage["model"], name: stage[name]} for stage in stages]}
    if len(stages) == 1:
        content = {name: stages[0][name]}
    plain = json.loads(json.dumps(content))
    return f"```yaml\n{yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)}```"


def _front(facts: CardFacts, scores: Sequence[Mapping[str, str]]) -> str:
    from huggingface_hub import EvalResult, ModelCardData

    reached = [
        EvalResult(
            task_type="text-ranking",
            dataset_type=row["dataset"],
            dataset_name=f"{row['dataset']}, candidates of {row['candidates']}, {row['regime']}",
            metric_type=row["measure"],
            metric_value=float(row["value"]),
        )
        for row in scores
        if row["regime"] == ZERO_SHOT
    ]
    objectives = dict.fromkeys(str(task["objective"]) for stage in facts.stages for task in stage["tasks"])
    licences = {HUB_LICENCES.get(source.licence) for source in (facts.encoder, *facts.corpora)}
    licence = licences.pop() if len(licences) == 1 else None
    fields = ModelCardData(
        library_name="transformers",
        pipeline_tag="text-ranking",
        tags=["cross-encoder", "information-retrieval", *objectives],
        base_model=facts.encoder.hub or None,
        datasets=list(dict.fromkeys(corpus.hub for corpus in facts.corpora if corpus.hub)) or None,
        model_name=facts.label,
        eval_results=reached or None,
        license=licence or "other",
        license_name=None if licence else "see-the-card",
    )
    return fields.to_yaml()


def _scores(rows: Sequence[Mapping[str, str]]) -> str:
    if not rows:
        return ""
    names = ("dataset", "candidates", "regime", "measure", "value", "queries")
    table = pipe_table(names, [[row[name] for name in names] for row in rows])
    return f"{table}\n\n{FINE_TUNED}" if any(row["regime"] != ZERO_SHOT for row in rows) else table


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
