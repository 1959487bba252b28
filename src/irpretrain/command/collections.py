"""Commands on documents: a dump, ranking groups, a search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from irpretrain.command.files import (
    JSONL_TEXT,
    SEED,
    Command,
    Input,
    combined,
    open_output,
    output,
    read_arguments,
    read_settings,
    settings,
    write_lines,
    write_objects,
    written_text,
)
from irpretrain.corpora.registry import FORMATS
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.progress import Counter, progress

if TYPE_CHECKING:
    from irpretrain.evaluation.runs import Ranking

# Of searches: queries × depth.
RESULTS_PER_BLOCK = 1 << 20
DOCUMENT_OPTIONS = combined(
    click.option(
        "--format",
        type=click.Choice(sorted({*FORMATS["documents"]} - {"ir_datasets"})),
        metavar="FORMAT",
        help="Format of the documents (docs/corpora.md); by default known by their beginning.",
    ),
    click.option(
        "--option",
        "format_options",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the format, such as id_field=key (docs/corpora.md), or files=[PATTERN, …]; repeat it.",
    ),
)
DOCUMENTS = combined(
    click.argument("documents", type=Input(), help="File or folder of documents, or ir_datasets:<id>."),
    DOCUMENT_OPTIONS,
)
PRESET = click.option("--preset", type=click.Choice(["paper", "released"]), default="paper")
TOPIC_OPTIONS = combined(
    click.option(
        "--topics-format",
        type=click.Choice(sorted({*FORMATS["topics"]} - {"ir_datasets"})),
        metavar="FORMAT",
        help="By default known by the beginning of the file.",
    ),
    click.option(
        "--topics-option", multiple=True, metavar="KEY=VALUE", help="Such as fields=[title, description]."
    ),
)
TOPICS = combined(
    click.argument("topics", type=Input(), help="Queries, in any format of topics (docs/corpora.md)."),
    TOPIC_OPTIONS,
)
SEARCH_EPILOG = """bm25 is the workflow's first stage: k1 0.9, b 0.4, Porter's stems, Lucene's stop words, ties by
identifier. ares-bm25 is that of ARES's axiom RANK: k1 3.8, b 0.87, INQUERY's stop words. DOCUMENTS may be an index
that the workflow made (results/indexes/...): Lucene searches it. That needs the installation of the workflow."""
SEARCH_KEYS = "A key of a section, such as retrieval.bm25.k1=1.2, or axioms.bm25.k1=2 for ares-bm25"
DOCUMENT_MODELS, INDEX_MODELS = ("bm25", "ares-bm25"), ("bm25", "ql", "ql-jm")


def open_collection(
    documents: str,
    settings: dict[str, Any],
    sections: Mapping[str, Any] | None = None,
    *,
    format: str | None,
    format_options: Iterable[str],
    encoder: str | None = None,
    **choices: Any,
) -> Any:
    """Return the collection of the documents; `malformed` is taken out of `settings`."""
    from irpretrain.library.collection import Collection
    from irpretrain.library.options import Options

    format_settings = read_arguments("--option", format_options)
    format_settings |= {key: settings.pop(key) for key in ("malformed",) if key in settings}
    options = Options(**choices, **(sections or {}))
    return Collection.read(documents, format, options, encoder, **format_settings)


@click.command("parse-dump", Command)
@click.argument(
    "dump", type=Input(), help="pages-articles dump of MediaWiki, packed or not, or a folder of its parts."
)
@output(JSONL_TEXT)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after so many articles.")
@settings("An option of the format wikipedia-dump (docs/corpora.md)", "--set", "--option")
def parse_dump(dump: str, output: str, limit: int | None, settings: dict[str, Any]) -> str:
    """Write the articles of a Wikipedia dump: text, sections, links."""
    from irpretrain.library.documents import read_documents

    articles = islice(read_documents(dump, "wikipedia-dump", **settings), limit)
    return write_lines(output, (article.to_json() for article in articles), "article")


@click.command("groups", Command)
@click.argument("objective", help="Its type, such as rop, srr or ict (docs/library.md).")
@DOCUMENTS
@output(f"{JSONL_TEXT}: queries, documents, scores; the first sequence is preferred")
@click.option(
    "--encoder", type=Input(), metavar="DIR", help="Hugging Face directory, which most objectives need."
)
@PRESET
@SEED
@settings("A key of the objective, or of a section, such as graph.segment_words=100 (docs/reference/config)")
def groups(
    objective: str, documents: str, output: str, settings: dict[str, Any], **collection_options: Any
) -> str:
    """Make the ranking groups of an objective, for `pretrain`."""
    from irpretrain.library.options import Options, read_by_objective

    section_names = settings.keys() & Options.model_fields.keys()
    # Objective ares has a key axioms too, a list, which is no section.
    sections = {name: settings.pop(name) for name in section_names if isinstance(settings[name], dict)}
    collection = open_collection(documents, settings, sections, **collection_options)
    read = read_by_objective(collection.options.objective(objective, **settings))
    _refuse_unread(sections, f"groups of {objective}", read)
    group_list = collection.groups(objective, **settings)
    # What `pretrain` chooses its options by; its seed is its own.
    changes = {key: value for key, value in collection.options.changes().items() if key != "seed"}
    origin = {"objective": objective, "options": changes}
    rows = (
        {"queries": g.queries, "documents": g.documents, "scores": g.scores, **origin} for g in group_list
    )
    return write_objects(output, rows, "group", len(group_list)) + group_list.skipped_note()


@click.command("search", Command, epilog=SEARCH_EPILOG)
@DOCUMENTS
@TOPICS
@output("TREC run, which the workflow takes in first_stages.<name>.runs")
@click.option("--depth", type=click.IntRange(1), default=1000, help="Documents per query.")
@click.option(
    "--model",
    type=click.Choice([*DOCUMENT_MODELS, *INDEX_MODELS[1:]]),
    default="bm25",
    help="ares-bm25 is of documents, ql and ql-jm are of an index.",
)
@PRESET
@settings(SEARCH_KEYS)
def search(
    documents: str,
    topics: str,
    output: str,
    topics_format: str | None,
    topics_option: tuple[str, ...],
    depth: int,
    model: str,
    settings: dict[str, Any],
    **collection_options: Any,
) -> str:
    """Find the best documents of queries: a first stage."""
    from irpretrain.evaluation.runs import write_ranking
    from irpretrain.library.formats import read_topics
    from irpretrain.library.options import READ_BY_SEARCH
    from irpretrain.retrieval.opened_index import RECORD

    is_index = os.path.exists(os.path.join(documents, RECORD))
    if is_index and (collection_options["format"] or collection_options["format_options"]):
        raise click.UsageError("--format and --option are of documents, and this is an index.")
    if is_index and collection_options["preset"] != "paper":
        raise click.UsageError("--preset is of documents, and this is an index.")
    if not is_index:
        is_folder = os.path.isdir(documents)  # Path's own would raise where the name is too long
        if is_folder and (
            indexes := sorted(path.parent.name for path in Path(documents).glob(f"*/{RECORD}"))
        ):
            raise InputError(documents, "the folder holds indexes", remedy=f"Give one: {', '.join(indexes)}.")
        if model not in DOCUMENT_MODELS:
            raise click.UsageError(f"--model {model} is of an index, and these are documents.")
        _refuse_unread(settings, f"this search by {model}", READ_BY_SEARCH[model])
    elif model not in INDEX_MODELS:
        raise click.UsageError(f"--model {model} is of documents, and this is an index.")
    queries = read_topics(topics, topics_format, read_settings("--topics-option", topics_option))
    queries = {name: queries[name] for name in sorted(queries)}
    if is_index:
        rankings = _rank_by_index(documents, queries, depth, model, settings)
    else:
        collection = open_collection(documents, settings, settings, **collection_options)
        rankings = _rank_documents(collection, queries, depth, model)
    ranked_count = 0
    with open_output(output) as handle:
        for query, ranking in rankings:
            ranked_count += 1
            write_ranking(handle, query, ranking, model)
    unranked_count = len(queries) - ranked_count
    unranked_note = (
        f"; no document for {unranked_count:,} of {count_of(len(queries), 'query')}" if unranked_count else ""
    )
    return f"{written_text(output, ranked_count, 'query')}{unranked_note}"


def _rank_documents(
    collection: Any, queries: Mapping[str, str], depth: int, model: str
) -> Iterator[tuple[str, Ranking]]:
    from irpretrain.retrieval.opened_index import anserini_scores, as_printed

    query_ids = progress(list(queries), "irpretrain", "queries", len(queries))
    block_size = max(1, RESULTS_PER_BLOCK // min(depth, len(collection) + 1))
    while block := list(islice(query_ids, block_size)):
        results = collection.search({query_id: queries[query_id] for query_id in block}, depth, model)
        for query_id, results_of_query in results.groupby("query_id", sort=False):
            documents = results_of_query["doc_id"].tolist()
            if model == "bm25":
                yield query_id, as_printed(documents, anserini_scores(results_of_query["score"]).tolist())
            else:
                scores = (float(f"{score:.9g}") for score in results_of_query["score"])
                yield query_id, list(zip(documents, scores, strict=True))


def _refuse_unread(sections: Mapping[str, Any], use: str, read: list[str]) -> None:
    from irpretrain.library.options import unread_keys, unread_message

    for key in unread_keys(sections, read):
        raise click.UsageError(f"--set {unread_message(key, use, read)}")


def _rank_by_index(
    index: str, queries: Mapping[str, str], depth: int, model: Any, settings: dict[str, Any]
) -> Iterator[tuple[str, Ranking]]:
    from irpretrain.config.retrieval import MODEL_SECTIONS
    from irpretrain.library.options import Options
    from irpretrain.retrieval.opened_index import OpenedIndex, index_analysis

    read = [f"retrieval.{MODEL_SECTIONS[model]}", "retrieval.threads"]
    _refuse_unread(settings, f"this search by {model}", read)
    if isinstance(section := settings.get("retrieval", {}), dict):
        # Stems and stop words are those of the index.
        settings = settings | {"retrieval": section | index_analysis(index) | {"depth": depth}}
    options = Options(**settings).retrieval
    opened_index = OpenedIndex(index, model, options)
    try:
        terms = opened_index.terms(queries)
        yield from opened_index.search(terms, depth, Counter("irpretrain", "queries", len(terms)))
    finally:
        opened_index.reader.close()


COLLECTION_COMMANDS = (parse_dump, groups, search)
