"""A trained model as others take it: its Hugging Face directory with a model card."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from irpretrain.foundation.atomic import atomic_directory, read_csv
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.foundation.yaml_scalars import dump_yaml
from irpretrain.models.encoder_files import CEDR_FILE
from irpretrain.report.pages import templates
from irpretrain.report.probes import probe_markdown
from irpretrain.report.table_files import pipe_table
from irpretrain.training.selection import EXTRA_FILES

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
# Regime of the scores that these very weights reached.
ZERO_SHOT = "zero-shot"


class CardFacts(NamedTuple):
    """What the configuration says of a model."""

    key: str
    label: str
    seed: int
    scored: Mapping[str, Sequence[str]]  # column of a table of scores → its values in the rows to show
    encoder: Source  # the encoder that it starts from, directly or through other models
    corpora: Sequence[Source]
    papers: Sequence[str]  # citations of the papers whose tables show it
    # Its trainings, the first one first: `model` (its key), `tasks` (objectives with all their options) and
    # `training` (options of pre-training).
    stages: Sequence[Mapping[str, Any]]
    encoder_caveat: str = ""  # what a reader of any number made with the encoder must know; empty for nothing
    language: str = ""  # of the texts, ISO 639-1; empty where it has no code

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return the facts of a job, whose `encoder` and `corpora` came as plain lists."""
        corpora = [Source(*corpus) for corpus in values["corpora"]]
        return cls(**{**values, "encoder": Source(*values["encoder"]), "corpora": corpora})


def export_model(
    model: str | Path,
    # Outputs of the trainings of `facts.stages`, whose sidecars give the provenance.
    training_outputs: Sequence[str | Path],
    scores: Sequence[str | Path],  # CSV files of `evaluation.evaluate`, as far as there are any
    facts: CardFacts,
    output: str | Path,
    # CSV files of what each training made of held-out groups, in their order.
    probes: Sequence[str | Path] = (),
) -> dict[str, Any]:
    """Write a model's directory, without snapshots, with its card.

    Raises:
        InputError: the training has no sidecar that can be read, the model's directory is gone, or its score head is
            that of CEDR-KNRM.
    """
    records = [read_sidecar(output) for output in training_outputs]
    if not all(records):
        missing_record = f"{training_outputs[records.index({})]}.meta.json"
        raise InputError(missing_record, "is missing or no record of a training", remedy="Train it again.")
    if not Path(model).is_dir():
        remedy = f"Delete {training_outputs[-1]} and run the workflow again."
        raise InputError(model, "is no longer there", remedy=remedy)
    if (Path(model) / CEDR_FILE).exists():
        raise InputError(
            model,
            f"has the score head of CEDR-KNRM ({CEDR_FILE}), which Hugging Face has no shape for: the card's code "
            "would give random scores",
            remedy="Use the directory itself with irpretrain.CrossEncoder, or export a model with another head.",
        )
    rows = read_scores_of(scores, facts.scored)
    with atomic_directory(output) as folder:
        shutil.copytree(model, folder, ignore=shutil.ignore_patterns(*EXTRA_FILES, CARD), dirs_exist_ok=True)
        files = sum(path.is_file() for path in folder.rglob("*"))
        card = write_card(facts, records, rows, probe_markdown(probes))
        (folder / CARD).write_text(card, encoding="utf-8")
    return {"files": files, "scores": len(rows)}


def read_scores_of(
    scores: Sequence[str | Path], allowed_values: Mapping[str, Sequence[str]]
) -> list[dict[str, str]]:
    """Return the rows whose columns have some values, each once, in the order of the files."""
    row_by_key: dict[tuple[str, ...], dict[str, str]] = {}
    for path in scores:
        for row in read_csv(path):
            if all(row[column] in values for column, values in allowed_values.items()):
                key = tuple(row[name] for name in ("dataset", "candidates", "model", "regime", "measure"))
                row_by_key.setdefault(key, row)
    return list(row_by_key.values())


def write_card(
    facts: CardFacts,
    records: Sequence[Mapping[str, Any]],  # sidecars of the trainings of `facts.stages`
    scores: Sequence[Mapping[str, str]] = (),  # rows of `read_scores_of`
    probe_table: str = "",  # table of the model's accuracy on held-out groups, after its last step; empty for none
) -> str:
    """Return the text of a card."""
    names = ("dataset", "candidates", "regime", "measure", "value", "queries")
    card = (
        templates()
        .get_template("model_card.md.j2")
        .render(
            front=_front_matter(facts, scores).rstrip(),
            facts=facts,
            training=facts.stages[-1]["training"],
            tasks=_yaml_of(facts.stages, "tasks"),
            trainings=_yaml_of(facts.stages, "training"),
            zero_shot=ZERO_SHOT,
            scores=scores,
            score_table=pipe_table(names, [[row[name] for name in names] for row in scores]),
            probed=probe_table,
            corpora=pipe_table(["corpus", "licence"], [corpus[:2] for corpus in facts.corpora]),
            encoder=pipe_table(["encoder", "licence"], [facts.encoder[:2]]),
            records=list(zip(facts.stages, records, strict=True)),
            facts_of=_provenance_facts,
        )
    )
    return f"{card.rstrip()}\n"


def _yaml_of(stages: Sequence[Mapping[str, Any]], name: str) -> str:
    content = {"stages": [{"model": stage["model"], name: stage[name]} for stage in stages]}
    if len(stages) == 1:
        content = {name: stages[0][name]}
    return dump_yaml(json.loads(json.dumps(content)))


def _front_matter(facts: CardFacts, scores: Sequence[Mapping[str, str]]) -> str:
    from huggingface_hub import EvalResult, ModelCardData

    eval_results = [
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
        language=facts.language or None,
        library_name="transformers",
        pipeline_tag="text-ranking",
        tags=["cross-encoder", "information-retrieval", *objectives],
        base_model=facts.encoder.hub or None,
        datasets=list(dict.fromkeys(corpus.hub for corpus in facts.corpora if corpus.hub)) or None,
        model_name=facts.label,
        eval_results=eval_results or None,
        license=licence or "other",
        license_name=None if licence else "see-the-card",
    )
    return fields.to_yaml()


def _provenance_facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    versions = record.get("versions", {}).items()
    facts = {
        "commit": record.get("commit"),
        "options": record.get("parameters_hash"),
        "versions": ", ".join(f"{name} {version}" for name, version in versions if version),
        "hardware": ", ".join(str(value) for value in record.get("hardware", {}).values()),
        "counts": json.dumps(record.get("counts", {}), sort_keys=True),
    }
    return [(name, value) for name, value in facts.items() if value]
