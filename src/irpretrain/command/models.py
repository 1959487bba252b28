"""Commands on models: pre-train, fine-tune, score pairs, re-rank a run."""

import os
from pathlib import Path
from typing import Any

import click

from irpretrain.command.collections import DOCUMENTS, TOPICS, open_collection
from irpretrain.command.files import (
    JSONL_TEXT,
    SEED,
    STANDARD,
    Command,
    Input,
    Named,
    Session,
    displayed_name,
    open_output,
    output,
    read_pairs,
    read_settings,
    settings,
    write_objects,
    written_text,
)
from irpretrain.corpora.registry import FORMATS, format_of
from irpretrain.foundation.errors import InputError, count_of

GROUPS_HELP = (
    f"{JSONL_TEXT}: queries and documents, the preferred one first, as `irpretrain groups` writes them; a query and a "
    "document are a pair, which is preferred to what BM25 finds first among the other documents. Or a folder of "
    "documents, topics and judgements, as `irpretrain init` finds them: a pair per relevant document."
)
# Field that `score` adds.
SCORE_FIELD = "score"


def groups_to_learn(path: str, encoder: str, seed: int, negatives: int, settings: dict[str, Any]) -> Any:
    """Return the groups of a file or of a folder with judgements; what `settings` has of documents is taken out."""
    from irpretrain.library.groups import OWN_GROUPS
    from irpretrain.library.options import Options
    from irpretrain.library.own_groups import checked_groups, common_objective, read_groups

    if os.path.isdir(path):
        documents = {key: settings.pop(key) for key in settings.keys() & document_options()}
        return read_groups(path, encoder, Options(seed=seed), negatives, **documents)
    pair_lines, name = list(read_pairs(path, ())), displayed_name(path)
    groups = [line.fields for line in pair_lines]
    changes = {} if common_objective(groups) == OWN_GROUPS else groups[0].get("options")
    # A user's own lines may have anything in this field.
    if not isinstance(changes, dict) or any(group.get("options") != changes for group in groups):
        changes = {}
    options = Options(**{**changes, "seed": seed})
    return checked_groups(
        groups,
        name,
        lambda group_number: f"{name}:{pair_lines[group_number].line}",
        encoder,
        options,
        negatives,
    )


def document_options() -> set[str]:
    """Return the options by which documents are read: those of their files, and of all formats."""
    formats = (format_of("documents", name) for name in FORMATS["documents"])
    return {"malformed", "files"}.union(*(documents.options.model_fields for documents in formats))


def folder(description: str) -> Any:
    """Return the argument OUTPUT of a command that writes a folder."""
    return click.argument("output", type=Named(), callback=_no_stream, help=description)


def training_settings(section: str) -> Any:
    """Return the option for keys of a section and, as messages on a folder's documents advise, for their options."""
    description = (
        f"A key of section {section} (docs/reference/config); with a folder, also an option of its documents"
    )
    return settings(description, "--set", "--option")


def _no_stream(ctx: click.Context, _: click.Parameter, value: str) -> str:
    if value == STANDARD:
        raise InputError(value, "this command writes a folder", remedy="Name a folder.")
    if session := ctx.find_object(Session):
        session.folders.append(value)
    return value


NEGATIVES = click.option(
    "--negatives",
    type=click.IntRange(1),
    default=1,
    help="Other documents beside a pair's own.",
)


@click.command("pretrain", Command)
@click.argument("groups", type=Input(), help=GROUPS_HELP)
@folder("Model directory to write.")
@click.option(
    "--encoder", type=Input(), required=True, metavar="DIR", help="Hugging Face directory to start from."
)
@SEED
@NEGATIVES
@training_settings("pretraining, such as epochs=2 or batch_groups=32")
def pretrain(
    groups: str, output: str, encoder: str, seed: int, negatives: int, settings: dict[str, Any]
) -> str:
    """Pre-train a cross-encoder on ranking groups or pairs."""
    from irpretrain.library.models import pretrain as run

    ranking_groups = groups_to_learn(groups, encoder, seed, negatives, settings)
    counts = run(ranking_groups, output, **settings)
    return f"{count_of(counts['steps'], 'step')}; the model is in {output}"


@click.command("finetune", Command)
@click.argument("model", type=Input(), help="Directory of the cross-encoder to start from.")
@click.argument("groups", type=Input(), help=GROUPS_HELP)
@folder("Model directory to write.")
@SEED
@NEGATIVES
@training_settings("finetuning, such as epochs=2 or batch_sizes=[16]")
def finetune(
    model: str, groups: str, output: str, seed: int, negatives: int, settings: dict[str, Any]
) -> str:
    """Fine-tune a cross-encoder on groups of one query, or pairs."""
    from irpretrain.library.models import finetune as run

    ranking_groups = groups_to_learn(groups, model, seed, negatives, settings)
    counts = run(ranking_groups, output, **settings)
    queries, epochs = (
        count_of(counts["training_queries"], "query"),
        count_of(counts["epochs_trained"], "epoch"),
    )
    return f"{queries}, {epochs}; the model is in {output}"


@click.command("score", Command)
@click.argument("model", type=Input(), help="Hugging Face directory.")
@click.argument("pairs", type=Input(), help=f"{JSONL_TEXT}: query, document (both texts).")
@output("The same with a score; larger is more relevant")
@settings("A key of section reranking (docs/reference/config)")
def score(model: str, pairs: str, output: str, settings: dict[str, Any]) -> str:
    """Score pairs of a query and a document by a cross-encoder."""
    from irpretrain.library.cross_encoder import CrossEncoder

    if "depth" in settings:
        raise click.UsageError("--set depth changes nothing here: all pairs are scored.")
    rows = []
    for line in read_pairs(pairs, ("query", "document")):
        if SCORE_FIELD in line.fields:
            fault = f"there is a field {SCORE_FIELD} already, which the model's would replace"
            raise InputError(pairs, fault, line.line, "Rename it.")
        rows.append(line.fields)
    if not rows:
        raise InputError(pairs, "there is no pair in it", remedy="Give query and document on each line.")
    scores = CrossEncoder(model, **settings).predict([(row["query"], row["document"]) for row in rows])
    scored_rows = (row | {SCORE_FIELD: float(str(value))} for row, value in zip(rows, scores, strict=True))
    return write_objects(output, scored_rows, "pair")


@click.command("rerank", Command)
@click.argument("run", type=Input(), help="Candidates of the topics, in any format of runs.")
@DOCUMENTS
@TOPICS
@output("TREC run, as the workflow writes it")
@click.option(
    "--model", type=Input(), required=True, metavar="DIR", help="Hugging Face directory of a cross-encoder."
)
@settings("A key of section reranking, such as depth=100 (docs/reference/config)")
def rerank(
    run: str,
    documents: str,
    topics: str,
    output: str,
    model: str,
    topics_format: str | None,
    topics_option: tuple[str, ...],
    settings: dict[str, Any],
    **collection_options: Any,
) -> str:
    """Re-rank a run by a cross-encoder, which reads as in its training."""
    from irpretrain.evaluation.runs import write_ranking
    from irpretrain.library.cross_encoder import CrossEncoder
    from irpretrain.library.formats import read_ranked, read_topics
    from irpretrain.retrieval.rerank import TAG

    queries = read_topics(topics, topics_format, read_settings("--topics-option", topics_option))
    candidates = read_ranked(run, queries, displayed_name(run), "rerank", "topics")
    reranker = CrossEncoder(model, **settings)
    collection = open_collection(documents, {}, **collection_options)
    candidates = collection.candidates_with_text(candidates, displayed_name(run))
    candidate_documents = {name for ranking in candidates.values() for name, _ in ranking}
    if unknown_documents := sorted(name for name in candidate_documents if name not in collection):
        count_text = count_of(len(unknown_documents), "document")
        fault = f"{count_text} not among the documents, such as {unknown_documents[0]}"
        raise InputError(run, fault, remedy="Run and documents must belong together.")
    reranked_run = reranker.rerank([Path(collection.documents)], collection.options.text, queries, candidates)
    with open_output(output) as handle:
        for query, ranking in reranked_run.items():
            write_ranking(handle, query, ranking, TAG)
    return written_text(output, len(reranked_run), "query")


MODEL_COMMANDS = (pretrain, finetune, score, rerank)
