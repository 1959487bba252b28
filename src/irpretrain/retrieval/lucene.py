"""First-stage retrieval with Lucene: Anserini's command line indexes, Anserini's classes search in this process.

Documents and queries go through Lucene's English analyser, or, in another language, through `retrieval.analysis`. A
query is a bag of its words with repeats; operators of query languages are text. docs/methods/evaluation.md has the
exact scores.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import (
    MODEL_PARAMETERS,
    QueryWords,
    RankingModel,
    RetrievalConfig,
    SweepConfig,
)
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.measures import mean_of_run, parse_measure
from irpretrain.evaluation.runs import Ranking, Run, rank, read_qrels, read_run, write_rankings, write_run
from irpretrain.foundation.atomic import atomic_directory, working_directory, write_csv, write_text
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import MAKE_AGAIN, InputError, IntegrityError, refusing_damage
from irpretrain.foundation.progress import Counter, print_line, progress
from irpretrain.retrieval.analysis import anserini_texts
from irpretrain.retrieval.java import java_class, java_faults, run_anserini
from irpretrain.retrieval.opened_index import ANALYSIS, IDENTIFIER, RECORD, OpenedIndex, log_lost_queries
from irpretrain.text.languages import ENGLISH
from irpretrain.text.texts import read_queries, stream_texts
from irpretrain.text.words import language_of

# Documents in one input file. Anserini indexes files, not documents, in parallel.
DOCUMENTS_IN_FILE = 50_000

# Line that Anserini prints once a minute while it indexes.
INDEXED_LINE = re.compile(r"([\d,]+) documents indexed")


def index(
    documents: Sequence[str | Path], options: RetrievalConfig, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Index a corpus (DOCUMENTS, all shards) into a directory. Its bytes differ from run to run; its results do not.

    Returns:
        Counts: documents, and those without text, which Lucene leaves out.

    Raises:
        InputError: no document has text.
        IntegrityError: Lucene indexed another number of documents.
        SetupError, JavaError: see `run_anserini`.
    """
    counts = {"documents": 0, "documents_without_text": 0}
    to_indexed_texts = anserini_texts(options, text.word_kind)

    def contents() -> Iterator[dict[str, str]]:
        counter = Counter("write documents for Lucene", "documents", sum(map(DOCUMENTS.count, documents)))
        for path in documents:
            for identifiers, texts in stream_texts(path, text):
                for document, indexed_text in zip(identifiers, to_indexed_texts(texts), strict=True):
                    counts["documents"] += 1
                    counts["documents_without_text"] += not indexed_text
                    counter.add(1)
                    yield {"id": document, "contents": indexed_text}

    with working_directory(output, "input") as source:
        write_input(source, contents())
        if counts["documents"] == counts["documents_without_text"]:
            raise InputError(documents[0], "no document has text to index")
        text_count = counts["documents"] - counts["documents_without_text"]
        arguments = ["-collection", "JsonCollection", *_analyser_arguments(options, text.word_kind)]
        record = counts if text.language == ENGLISH else {**counts, "query_words": text.word_kind}
        run_indexing(source, output, arguments, options, expected=text_count, further_facts=record)
    return counts


def run_indexing(
    source: Path,  # folder of Anserini's JSON lines
    output: str | Path,  # directory of the index
    arguments: list[str],  # collection and analysis, as Anserini's options
    options: RetrievalConfig,  # threads and Java heap; stemmer and stop words, for the record
    *,
    expected: int,  # how many documents Lucene must report as indexed
    further_facts: Mapping[str, Any],  # further facts for the record
) -> None:
    """Index the files in `source` and store the record of the analysis beside the index.

    Raises:
        IntegrityError: Lucene indexed another number of documents.
    """
    # Lucene buffers up to this much before it writes a segment; Anserini's own 4 GB would overflow the heap.
    buffer_mb = max(16, options.memory_mb // 4)
    with atomic_directory(output) as temporary:
        all_arguments = [*arguments, "-generator", "DefaultLuceneDocumentGenerator", "-input", str(source)]
        all_arguments += ["-index", str(temporary), "-threads", str(options.threads)]
        all_arguments += ["-memoryBuffer", str(buffer_mb), "-optimize"]
        counter = Counter("index by Lucene", "documents", expected)
        print_line(f"[index by Lucene] 0/{expected:,} documents, Lucene says once a minute how far it is")

        def count(line: str) -> None:
            if match := INDEXED_LINE.search(line):
                counter.reach(int(match[1].replace(",", "")))

        lines = run_anserini("index.IndexCollection", all_arguments, options.memory_mb, count)
        printed_counts = re.findall(r"\bindexed: +([\d,]+)", "\n".join(lines))
        indexed = int(printed_counts[-1].replace(",", "")) if printed_counts else 0
        if indexed != expected:
            raise IntegrityError(output, f"Lucene indexed {indexed:,} of {expected:,} documents with text")
        record_json = json.dumps({**options.model_dump(include={*ANALYSIS}), **further_facts}, indent=1)
        (temporary / RECORD).write_text(record_json + "\n", encoding="utf-8")


def _analyser_arguments(options: RetrievalConfig, words: QueryWords) -> list[str]:
    if language_of(words) != ENGLISH:  # documents and queries are terms already
        return ["-pretokenized"]
    return ["-stemmer", options.stemmer, *(["-keepStopwords"] if options.stop_list == "none" else [])]


def write_input(folder: Path, documents: Iterable[Mapping[str, Any]]) -> None:
    """Write documents as Anserini's JSON lines, in files that it reads in parallel."""
    for file_index, file_entries in groupby(
        enumerate(documents), key=lambda entry: entry[0] // DOCUMENTS_IN_FILE
    ):
        with open(folder / f"{file_index:06d}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(document) + "\n" for _, document in file_entries)


def search(
    index: str | Path,  # directory that `index` or `index_weights` made
    queries: str | Path,  # QUERIES table
    model: RankingModel,  # bm25, or query likelihood with Dirichlet (ql) or Jelinek-Mercer (ql-jm) smoothing
    # Depth, parameters of the model, stemmer and stop words as in the index, threads.
    options: RetrievalConfig,
    output: str | Path,  # TREC run, gzip, without queries that have no word in the index.
    tag: str = "",  # last column of the run; by default the model
    queries_are_documents: bool = False,  # whether to leave out a query's own document, that of its identifier
) -> dict[str, Any]:
    """Retrieve the first `options.depth` documents of each query.

    Returns:
        Counts: queries, queries without candidates, candidates.

    Raises:
        IntegrityError: there is no index, or it has another stemmer or other stop words.
        SetupError, JavaError: see `run_anserini`.
    """
    query_texts = read_queries(queries)
    opened_index = OpenedIndex(index, model, options)
    terms_of_query = opened_index.terms({query: query_texts[query] for query in sorted(query_texts)})
    ranked_queries: set[str] = set()

    def rankings() -> Iterator[tuple[str, Ranking]]:
        counter = Counter("search", "queries", len(terms_of_query))
        for query, ranking in opened_index.search(
            terms_of_query, options.depth, counter, queries_are_documents
        ):
            ranked_queries.add(query)
            yield query, rank(ranking)

    candidates = write_rankings(output, rankings(), tag or model)
    opened_index.reader.close()
    return {
        "queries": len(query_texts),
        "queries_without_candidates": log_lost_queries(output, query_texts, ranked_queries),
        "candidates": candidates,
    }


def search_grid(
    index: str | Path,  # as in `search`, and so for `model` and errors
    query_texts: Mapping[str, str],  # query → text
    model: RankingModel,
    # Values of each parameter of the model; the last parameter changes fastest.
    grid: Mapping[str, Sequence[float]],
    options: RetrievalConfig,  # stemmer and stop words, threads; its own parameters do not count
    depth: int,  # documents per query
    queries_are_documents: bool = False,
) -> Iterator[tuple[dict[str, float], Run]]:
    """Search with every combination of parameters, in one process, and yield each with its run."""
    opened_index = OpenedIndex(index, model, options)
    terms_of_query = opened_index.terms(query_texts)
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    counter = Counter("search", "queries", len(terms_of_query) * len(points))
    for point in points:
        opened_index.rank_by(model, point)
        yield point, dict(opened_index.search(terms_of_query, depth, counter, queries_are_documents))
    opened_index.reader.close()


# Candidates of another first stage, ranked by Lucene's BM25 or query likelihood.
#
# Wikiformer (Tables 2 to 4), PHP (Table 3) and ARES (Table 4) rank given candidates so. Statistics are those of the
# whole index, so a candidate's score is the one that a search of the whole index gives it.


def rank_candidates(
    index: str | Path,  # directory of a Lucene index
    queries: str | Path,  # QUERIES table
    candidates: str | Path,  # TREC run; its scores do not count
    model: RankingModel,
    options: RetrievalConfig,  # parameters of the model, stemmer and stop words as in the index
    # TREC run, gzip. A candidate without a word of the query has score 0, the sum of no terms.
    output: str | Path,
    tag: str,  # last column of the run
) -> dict[str, Any]:
    """Rank every candidate of every query.

    Returns:
        Counts: queries, queries without candidates, candidates, those without a word of the query.

    Raises:
        InputError: a query of the candidates is not in the data set.
        IntegrityError, SetupError, JavaError: as in `search`.
    """
    query_texts = read_queries(queries)
    candidate_run = read_run(candidates)
    if unknown_queries := sorted(candidate_run.keys() - query_texts.keys()):
        raise InputError(candidates, f"query {unknown_queries[0]!r} is not in the data set ({queries})")
    opened_index = OpenedIndex(index, model, options)
    terms_of_query = opened_index.terms({query: query_texts[query] for query in candidate_run})
    run: Run = {}
    unmatched_count = 0
    for query, terms in progress(list(terms_of_query.items()), "rank candidates", "queries"):
        documents = [document for document, _ in candidate_run[query]]
        with java_faults(f"ranking candidates by {index}", "give fewer candidates or shorter queries"):
            scores = dict(_rank_candidates(opened_index, terms, documents)) if terms else {}
        unmatched_count += len(documents) - len(scores)
        run[query] = [(document, scores.get(document, 0.0)) for document in documents]
    opened_index.reader.close()
    return {
        "queries": len(query_texts),
        "queries_without_candidates": log_lost_queries(output, query_texts, run),
        "candidates": write_run(output, run, tag),
        "candidates_without_query_words": unmatched_count,
    }


def _rank_candidates(opened_index: OpenedIndex, terms: Sequence[str], documents: Iterable[str]) -> Ranking:
    """Return those of some documents that hold a term of the query, with Lucene's single-precision scores."""
    identifiers = java_class("java.util.ArrayList")()
    for document in documents:
        identifiers.add(java_class("org.apache.lucene.index.Term")(IDENTIFIER, document).bytes())
    is_candidate = java_class("org.apache.lucene.search.TermInSetQuery")(IDENTIFIER, identifiers)
    occurs = java_class("org.apache.lucene.search.BooleanClause$Occur")
    builder = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    builder.add(opened_index.bag_of_words(terms), occurs.MUST)
    builder.add(is_candidate, occurs.FILTER)
    return opened_index.ranking(opened_index.searcher.search(builder.build(), identifiers.size()))


# Parameters of a first stage, chosen on training queries in a grid (DeepCT, section 4): a sweep per index.
#
# Frequencies up to 100 saturate with a k1 that suits term frequencies, so each index has its own sweep.


def tune(
    index: str | Path,  # Lucene index of the corpus of the training queries
    queries: str | Path,  # QUERIES table of the training queries
    qrels: str | Path,  # their judgements; queries without any are not searched
    model: RankingModel,
    sweep: SweepConfig,
    options: RetrievalConfig,
    # JSON: measure, number of queries, the chosen parameters and what they are worth, and which of them lie
    # at an edge of the grid, beyond which something better may be.
    tuning: str | Path,
    grid: str | Path,  # CSV, one row a point: its parameters and the measure's mean, in the grid's order
    queries_are_documents: bool = False,  # as in `irpretrain.retrieval.lucene.search`
) -> dict[str, Any]:
    """Measure every point of the grid and write the best; return counts of queries and points.

    Raises:
        InputError: no query is judged; further as `irpretrain.retrieval.lucene.search`.
    """
    grid_values: dict[str, list[float]] = {name: getattr(sweep, name) for name in MODEL_PARAMETERS[model]}
    judgements = read_qrels(qrels)
    query_texts = read_queries(queries)
    judged_queries = [query for query in query_texts if query in judgements]
    if not judged_queries:
        raise InputError(queries, "none of these queries is judged, so nothing can be tuned on them")
    depth = parse_measure(sweep.measure).params.get("cutoff", options.depth)
    judged_texts = {query: query_texts[query] for query in judged_queries}
    runs = search_grid(index, judged_texts, model, grid_values, options, depth, queries_are_documents)
    points = [
        {**point, sweep.measure: mean_of_run(run, judgements, sweep.measure, judged_queries)}
        for point, run in progress(runs, "sweep", "settings")
    ]
    best = max(points, key=lambda point: point[sweep.measure])
    parameters = {name: best[name] for name in grid_values}
    tuning_record = {
        "model": model,
        "measure": sweep.measure,
        "queries": len(judged_queries),
        "parameters": parameters,
        "value": best[sweep.measure],
        "at_edge": [
            name
            for name, values in grid_values.items()
            if len(values) > 1 and parameters[name] in (values[0], values[-1])
        ],
    }
    write_csv(grid, list(points[0]), [list(point.values()) for point in points])
    write_text(tuning, json.dumps(tuning_record, indent=1) + "\n")
    return {"queries": len(judged_queries), "points": len(points)}


def stage_parameters(parameters: Mapping[str, float | None], tuning: str | Path | None) -> dict[str, float]:
    """Return a first stage's own parameters: what `tune` chose, or those given that are not None."""
    if tuning is None:
        return {name: value for name, value in parameters.items() if value is not None}
    with refusing_damage(tuning, "these are not tuned parameters", MAKE_AGAIN):
        tuned_parameters = json.loads(Path(tuning).read_text(encoding="utf-8"))["parameters"]
        return {name: float(value) for name, value in tuned_parameters.items()}


def search_tuned(
    index: str | Path,  # Lucene index, and so for `queries`, `output` and errors: as in `search`
    queries: str | Path,
    name: str,  # of the first stage; last column of the run
    model: RankingModel,
    options: RetrievalConfig,
    output: str | Path,
    ranked: str | Path | None = None,  # run of the other first stage; None to search the whole index
    queries_are_documents: bool = False,  # as in `search`; candidates lack a query's own document already
) -> dict[str, Any]:
    """Search with a first stage's own parameters, or rank the candidates of another first stage with them."""
    if ranked is None:
        counts = search(index, queries, model, options, output, name, queries_are_documents)
    else:
        counts = rank_candidates(index, queries, ranked, model, options, output, name)
    return {**counts, "parameters": options.parameters_of(model)}
