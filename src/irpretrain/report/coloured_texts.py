"""A query's document with a colour for each word: what it counts for in a model's score (ARES, Figure 4), or its share
of the document's weight in an index (DeepCT, Table 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irpretrain.config.experiments import CaseConfig
from irpretrain.config.retrieval import RerankingConfig, RetrievalConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Qrels, Run, read_qrels, read_run, relevant
from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.foundation.errors import ConfigError, IntegrityError
from irpretrain.foundation.progress import progress
from irpretrain.report.pages import cut_words, write_json, write_page
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.weighted_index import analysed_weights
from irpretrain.text.passages import text_passages
from irpretrain.text.texts import read_chosen, read_queries
from irpretrain.text.words import WordKind, find_words, word_spans

if TYPE_CHECKING:
    from irpretrain.models.attribution import AttributedText, Attribution

TEMPLATE = "coloured_texts.html.j2"
# Opacity of the strongest colour: dark letters stay readable on it.
MAX_OPACITY = 0.75
RED, BLUE = "214,39,40", "44,100,220"
# Words below this part of the strongest have neither colour nor line.
MIN_DEPTH = 1 / 20


class Case(NamedTuple):
    """A query and a document."""

    query_id: str
    query_text: str
    document_id: str


class CaseSource(NamedTuple):
    """What cases come from: DOCUMENTS tables of a corpus, a QUERIES table, qrels, and how texts are read."""

    documents: Sequence[str | Path]
    queries: str | Path
    qrels: str | Path
    text: TextConfig

    def read(self, config_key: str, options: CaseConfig, runs: Sequence[Run]) -> tuple[Case, str]:
        """Return the chosen case and the document's text; raise InputError where the corpus lacks the document."""
        case = choose_case(config_key, options, read_queries(self.queries), read_qrels(self.qrels), runs)
        return case, read_chosen(self.documents, [case.document_id], self.text)[case.document_id]


def choose_case(
    config_key: str, options: CaseConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> Case:
    """Return the query and document that the options name, or those on which runs disagree most.

    Raises:
        ConfigError: at the key `config_key`, the query is not in the data set, or no relevant document is in all runs.
    """
    query_id, document_id = options.query, options.document
    if query_id is not None and query_id not in texts:
        raise ConfigError(f"{config_key}: {query_id!r} is not among the queries of the data set")
    if query_id is not None and document_id is not None:
        return Case(query_id, texts[query_id], document_id)
    # Minus the distance of a document's best and worst ranks, query, document: of equal ones the first by identifiers.
    disagreements: list[tuple[int, str, str]] = []
    for possible_query in texts if query_id is None else [query_id]:
        ranks = [
            {ranked_document: rank for rank, (ranked_document, _) in enumerate(run.get(possible_query, ()))}
            for run in runs
        ]
        for shared_document in relevant(qrels.get(possible_query, {})).intersection(*ranks):
            document_ranks = [ranks_in_run[shared_document] for ranks_in_run in ranks]
            disagreements.append((min(document_ranks) - max(document_ranks), possible_query, shared_document))
    if not disagreements:
        query_description = "any query" if query_id is None else f"query {query_id!r}"
        raise ConfigError(
            f"{config_key}: no relevant document of {query_description} is in all runs; name query and document"
        )
    _, query_id, document_id = min(disagreements)
    return Case(query_id, texts[query_id], document_id)


class Word(NamedTuple):
    """A word of a text."""

    before: str  # the characters between the word before it and this one
    text: str  # the word as written
    value: float = 0.0
    title: str = ""  # its numbers, for a reader who points at it
    style: str = ""  # its colour, and a line under it, so that the value is visible without colours
    in_query: bool = False

    def coloured(self, scale: float) -> Word:
        """Return the word in the colour of its value: red for positive, blue for negative; `scale` is the strongest."""
        depth = min(1.0, abs(self.value) / scale) if scale > 0 else 0.0
        if depth < MIN_DEPTH:
            return self
        colour, line = (RED, "solid") if self.value > 0 else (BLUE, "dotted")
        width = 1 + int(4 * depth)
        style = f"background:rgba({colour},{MAX_OPACITY * depth:.3f});border-bottom:{width}px {line}"
        return self._replace(style=style)


class ColouredText(NamedTuple):
    """The words of a text, the characters after the last, and what of it was not read."""

    words: Sequence[Word]
    ending: str = ""
    unread: str = ""


class ColourMap(NamedTuple):
    """Texts as one model or weighting colours them, under its label and its numbers."""

    label: str
    detail: str
    texts: Sequence[ColouredText]


# Attributions: pieces of a vocabulary are summed by the words of the text, so that models with different tokenizers can
# be compared. A piece counts for the word that its first character lies in.


EAST_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# A run of letters and digits, a single Chinese or Japanese character, or any other sign.
WORD = re.compile(rf"[{EAST_ASIAN}]|[^\W_{EAST_ASIAN}]+|\S")
READING_ATTRIBUTIONS = (
    "Red words (solid line) raise the score, blue words (dotted line) lower it. Each model's colours are normalised by "
    "its own strongest word; words below a twentieth of it have none. Point at a word for its value and the values "
    "of its pieces."
)


def write_attributions(
    name: str,
    options: CaseConfig,
    # In the order of the page: `model` (its key), `label`, `directory`, `run`, and `reranking` (fields of a
    # RerankingConfig: how it reads and computes, here always in single precision).
    models: Sequence[Mapping[str, Any]],
    source: CaseSource,
    output: str | Path,
    words: str | Path,
) -> dict[str, Any]:
    """Write, for one query and document, what each model's score comes from; return counts.

    `output` is a page of its own. `words` is JSON for the searches in the report: `page` (its name), `query` and
    `document` (identifiers), and `models`, each model's key → [its numbers as a sentence, the words of the query, those
    of the document], a word as [the characters before it, itself, its value as text, its colour as CSS].

    Raises:
        ConfigError: see `choose_case`.
        InputError: the corpus lacks the document, or a model cannot be loaded.
    """
    from irpretrain.models.attribution import attribute, best_passage
    from irpretrain.models.reranker import load_reranker
    from irpretrain.training.compute import reproducible

    runs = [read_run(model["run"]) for model in models]
    case, body = source.read(f"attributions.{name}", options, runs)
    longest_document = source.text.max_word_pieces
    attributions: list[Attribution] = []
    maps = []
    for model, run in zip(progress(models, f"attributions {name}", "models"), runs, strict=True):
        reranking = RerankingConfig(**model["reranking"])
        with reproducible(reranking.compute) as device:
            network = load_reranker(model["directory"]).to(device)
            network.check_length(reranking.max_length, "reranking.max_length")
            passages = [body]
            if reranking.passages is not None:
                passages = text_passages(body, reranking.passages, source.text.language)
            lengths = reranking.max_length, reranking.query_length
            best = best_passage(
                network, case.query_text, passages, *lengths, document_length=longest_document
            )
            attributions.append(
                attribute(
                    network, case.query_text, passages[best], *lengths, document_length=longest_document
                )
            )
        passage_note = "" if len(passages) == 1 else f" Passage {best + 1} of {len(passages)} scores best."
        maps.append(_attribution_map(model["label"], attributions[-1], case, run, passage_note))
    title = f"Attributions: {name}"
    write_page(TEMPLATE, output, title=title, reading=READING_ATTRIBUTIONS, case=case, maps=maps)
    displayed_case = {"query": case.query_id, "document": case.document_id}
    described_models = {
        model["model"]: [
            colour_map.detail,
            *(
                [(word.before, word.text, word.title, word.style) for word in text.words]
                for text in colour_map.texts
            ),
        ]
        for model, colour_map in zip(models, maps, strict=True)
    }
    write_json(words, {"page": name, **displayed_case, "models": described_models})
    sides = [side for attribution in attributions for side in (attribution.query, attribution.document)]
    return {
        "models": len(maps),
        **displayed_case,
        "word_pieces": sum(len(side.pieces) for side in sides),
        "largest_relative_residual": max(map(relative_residual, attributions)),
    }


def _attribution_map(
    label: str, attribution: Attribution, case: Case, run: Run, passage_note: str
) -> ColourMap:
    query, document = words_of(attribution.query), words_of(attribution.document)
    scale = max((abs(word.value) for word in (*query, *document)), default=0.0)
    unread = len(attribution.document.text) - sum(len(word.before) + len(word.text) for word in document)
    ranked_documents = [name for name, _ in run.get(case.query_id, [])]
    rank_text = "not in the run"
    if case.document_id in ranked_documents:
        rank_text = f"rank {ranked_documents.index(case.document_id) + 1} of {len(ranked_documents)}"
    detail = (
        f"Score {attribution.score:+z.4f}, {rank_text}; score of the baseline {attribution.baseline:+z.4f}, sum of all "
        f"values {signed(attribution.total)}, residual {relative_residual(attribution):.2%} of the absolute "
        f"values.{passage_note}"
    )
    query_note = "the rest is not read" if attribution.query.is_cut else ""
    is_cut = attribution.document.is_cut and unread
    document_note = f"{unread:,} more characters are not read" if is_cut else ""
    texts = [
        ColouredText([word.coloured(scale) for word in words], unread=note)
        for words, note in ((query, query_note), (document, document_note))
    ]
    return ColourMap(label, detail, texts)


def words_of(attributed_text: AttributedText) -> list[Word]:
    """Return the words up to the last one that the model read a piece of; their values sum to that of the pieces."""
    spans = [match.span() for match in WORD.finditer(attributed_text.text)]
    if not spans:
        return []
    word_starts = np.array([start for start, _ in spans])
    pieces_by_word: list[list[tuple[str, float]]] = [[] for _ in spans]
    for piece, (piece_start, piece_end), value in zip(
        attributed_text.pieces, attributed_text.spans, attributed_text.values, strict=True
    ):
        # Some vocabularies write the space before a word with it.
        while piece_start < piece_end and attributed_text.text[piece_start].isspace():
            piece_start += 1
        word_index = max(0, int(np.searchsorted(word_starts, piece_start, side="right")) - 1)
        pieces_by_word[word_index].append((piece, float(value)))
    while attributed_text.is_cut and pieces_by_word and not pieces_by_word[-1]:
        pieces_by_word.pop()
    return [
        Word(before, text, sum(value for _, value in pieces_of_word), _sum_text(pieces_of_word))
        for (before, text), pieces_of_word in zip(
            cut_words(attributed_text.text, spans)[0], pieces_by_word, strict=False
        )
    ]


def _sum_text(pieces: Sequence[tuple[str, float]]) -> str:
    """Return "+0.25 = gold +0.5, ##fish -0.25": the value of a word, and of its pieces where it has several."""
    total = signed(sum(value for _, value in pieces))
    if len(pieces) == 1:
        return total
    addends = ", ".join(f"{piece} {signed(value)}" for piece, value in pieces)
    return f"{total} = {addends}" if pieces else f"{total} (no word piece)"


def signed(value: float) -> str:
    """Three significant digits with a sign; 0 without one."""
    return f"{value:+.3g}" if value else "0"


def relative_residual(attribution: Attribution) -> float:
    """Return the size of the residual of completeness as a share of the sum of all absolute values."""
    absolute_sum = float(np.abs(attribution.query.values).sum() + np.abs(attribution.document.values).sum())
    return abs(attribution.residual) / absolute_sum if absolute_sum > 0 else 0.0


# Weights of an index: words are those of `irpretrain.text.words`, with their positions in the text as written. A word
# has the weight of the terms that the index's analyser makes of it. Words of one stem share a term, and each occurrence
# shows all of its weight. Of overlapping words (Chinese, Japanese, Korean) each shows its first letter, the last of
# them all that is left.


# Share of a passage's weight that has the deepest shade: a half, as in DeepCT's Table 5.
FULL_SHADE_SHARE = 0.5
READING_WEIGHTS = (
    "A word's shade, and the line under it, show the share of the passage's weight that its term has in the index: a "
    "half or more has the deepest shade, less than a fortieth none. Words of one stem are one term. Bold words are in "
    "the query. Point at a word for its numbers."
)


def write_term_weight_page(
    name: str,
    options: CaseConfig,
    # `label` and `vectors` (TERM_VECTORS tables, all shards of the corpus) of each, in the order of the page.
    weightings: Sequence[Mapping[str, Any]],
    runs: Sequence[str | Path],  # of the page's first stages, which choose what is left out
    source: CaseSource,
    retrieval: RetrievalConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write what several weightings give the words of a query's passage; return counts.

    Raises:
        ConfigError: see `choose_case`.
        InputError: the corpus lacks the document.
        IntegrityError: a weighting lacks it.
        SetupError: Java or the jar is missing.
    """
    case, body = source.read(f"term_weight_pages.{name}", options, [read_run(run) for run in runs])
    word_kind = source.text.word_kind
    analyser = Analyser.of(retrieval, word_kind)
    passage, unread_text = read_passage(
        body, word_kind, analyser, query_terms(case.query_text, word_kind, analyser)
    )
    maps = []
    for weighting in weightings:
        weights = read_weights(weighting["vectors"], case.document_id, analyser)
        maps.append(ColourMap(weighting["label"], "", [ColouredText(shade(passage, weights), unread_text)]))
    write_page(TEMPLATE, output, title=f"Term weights: {name}", reading=READING_WEIGHTS, case=case, maps=maps)
    displayed_case = {"query": case.query_id, "document": case.document_id}
    return {"weightings": len(maps), **displayed_case, "words": len(passage)}


def read_weights(vectors: Sequence[str | Path], document: str, analyser: Analyser) -> dict[str, int]:
    """Return the weights of a document's terms, as an index holds them; IntegrityError where there are none."""
    counts = {"words": 0, "words_without_terms": 0}
    for path in vectors:
        batches = TERM_VECTORS.stream_documents(path, [document], ["document_id", "terms"])
        for _, weights in analysed_weights(batches, analyser, counts):
            return weights
    raise IntegrityError(
        vectors[0],
        f"document {document!r} of the corpus has no row of weights",
        remedy="Delete the term vectors of this weighting and run the workflow again.",
    )


def query_terms(query: str, word_kind: WordKind, analyser: Analyser) -> frozenset[str]:
    """Return the different terms of a query, which is cut into words as documents are."""
    return frozenset(analyser.terms([" ".join(find_words(query, word_kind))])[0])


Passage = list[tuple[Word, tuple[str, ...]]]


def read_passage(
    text: str, word_kind: WordKind, analyser: Analyser, terms_of_query: frozenset[str]
) -> tuple[Passage, str]:
    """Cut a passage into its words, each with the different terms of the index that it counts for, and the characters
    after the last; `terms_of_query` are terms of the query."""
    spans = word_spans(text, word_kind)
    analyser.learn(spans.words)
    starts, ends = spans.starts.tolist(), spans.ends.tolist()
    words, unread_text = cut_words(text, list(zip(starts, ends, strict=True)))
    passage, end_of_query_terms = Passage(), 0
    for (text_before, word_text), indexed, start, end in zip(words, spans.words, starts, ends, strict=True):
        terms = tuple(dict.fromkeys(analyser.terms_of_word(indexed)))
        if not terms_of_query.isdisjoint(terms):
            end_of_query_terms = end
        passage.append((Word(text_before, word_text, in_query=start < end_of_query_terms), terms))
    return passage, unread_text


def shade(passage: Passage, weights: Mapping[str, int]) -> list[Word]:
    """Return every word with the share that one weighting gives its terms; `weights` is term → weight."""
    total = sum(weights.values())
    shaded_words = []
    for word, terms in passage:
        if weight := sum(weights.get(term, 0) for term in terms):
            terms_note = f" as {' + '.join(terms)}" if terms != (word.text.lower(),) else ""
            title = f"{word.text}{terms_note}: {weight / total:.1%}, weight {weight:,} of {total:,}"
            word = word._replace(value=weight / total, title=title).coloured(FULL_SHADE_SHARE)
        shaded_words.append(word)
    return shaded_words
