"""Attributions of word pieces → words of the text with their colours, as a page shows them.

Words are those of the text, not of a vocabulary, so that the maps of models with different tokenizers can be compared:
runs of letters and digits, single Chinese or Japanese characters, and every other sign by itself. A piece counts
for the word that its first character lies in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.config.experiments import AttributionConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import RankColumn, Run, rank_in, read_qrels, read_run
from irpretrain.progress import progress
from irpretrain.report.cases import Case, choose_case
from irpretrain.report.pages import write_page
from irpretrain.text.texts import read_chosen, read_queries

if TYPE_CHECKING:
    from irpretrain.models.attribution import AttributedText, Attribution


EAST_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{EAST_ASIAN}]|[^\W_{EAST_ASIAN}]+|\S")
# Opacity of the strongest colour: dark letters stay readable on it.
STRONGEST = 0.75
RED, BLUE = "214,39,40", "44,100,220"


@dataclass(frozen=True)
class Word:
    """A word of a text that the model read.

    Attributes:
        before: the characters between the word before it and this one.
        text: the word as written.
        value: sum of its pieces.
        pieces: (vocabulary entry, value) of each.
    """

    before: str
    text: str
    value: float
    pieces: tuple[tuple[str, float], ...]

    @property
    def title(self) -> str:
        """What is shown on pointing at it: its value, and those of its pieces where there are several."""
        if len(self.pieces) == 1:
            return signed(self.value)
        parts = ", ".join(f"{piece} {signed(value)}" for piece, value in self.pieces)
        return f"{signed(self.value)} = {parts}" if self.pieces else f"{signed(self.value)} (no word piece)"


def signed(value: float) -> str:
    """Three significant digits with a sign; 0 without one."""
    return f"{value:+.3g}" if value else "0"


def words_of(side: AttributedText) -> list[Word]:
    """Return the words up to the last one that the model read a piece of; their values sum to that of the pieces."""
    spans = [match.span() for match in WORD.finditer(side.text)]
    if not spans:
        return []
    starts = np.array([start for start, _ in spans])
    pieces: list[list[tuple[str, float]]] = [[] for _ in spans]
    for piece, (first, end), value in zip(side.pieces, side.spans, side.values, strict=True):
        while (
            first < end and side.text[first].isspace()
        ):  # some vocabularies write the space before a word with it
            first += 1
        position = max(0, int(np.searchsorted(starts, first, side="right")) - 1)
        pieces[position].append((piece, float(value)))
    last = (
        len(spans)
        if not side.cut
        else 1 + max((i for i, of_word in enumerate(pieces) if of_word), default=-1)
    )
    ends = [0, *(end for _, end in spans)]
    return [
        Word(side.text[ends[i] : start], side.text[start:end], sum(v for _, v in pieces[i]), tuple(pieces[i]))
        for i, (start, end) in enumerate(spans[:last])
    ]


def colour(value: float, scale: float) -> str:
    """Return the background of a word: red for positive, blue for negative, white for 0; `scale` is the strongest."""
    depth = STRONGEST * min(1.0, abs(value) / scale) if scale > 0 else 0.0
    return f"rgba({RED if value > 0 else BLUE},{depth:.3f})" if depth >= 0.0005 else "transparent"


def strongest(words: Sequence[Word]) -> float:
    """Return the largest absolute value, by which the colours of a model are normalised."""
    return max((abs(word.value) for word in words), default=0.0)


def relative_residual(attribution: Attribution) -> float:
    """Return the size of the residual of completeness as a share of the sum of all absolute values."""
    size = float(np.abs(attribution.query.values).sum() + np.abs(attribution.document.values).sum())
    return abs(attribution.residual) / size if size > 0 else 0.0


# A page of attributions: for one query and document, what each model's score comes from (ARES, Figure 4).


@dataclass(frozen=True)
class AttributedModel:
    """A model of the page.

    Attributes:
        label: its name in tables.
        directory: where it lies.
        run: its run over the candidates; None for a query of the user's own.
    """

    label: str
    directory: str | Path
    run: str | Path | None


def write_attributions(
    name: str,
    options: AttributionConfig,
    models: Sequence[Mapping[str, Any]],
    documents: Sequence[str | Path],
    queries: str | Path,
    qrels: str | Path,
    text: TextConfig,
    reranking: RerankingConfig,
    output: str | Path,
) -> dict[str, Any]:
    """Write a page of attributions.

    Args:
        models: fields of `AttributedModel`, in the order of the page.
        documents: DOCUMENTS tables of the data set's corpus.
        queries: QUERIES table.
        text: fields of a document's text, and the most word pieces read of it.
        reranking: lengths, threads and device; always in single precision.

    Returns:
        Counts: models, word pieces attributed (of all models), and the largest share that completeness misses.

    Raises:
        ConfigError: the case cannot be chosen; see `cases.choose_case`.
        InputError: the corpus lacks the document, or a model cannot be loaded.
    """
    from irpretrain.models.attribution import attribute
    from irpretrain.models.reranker import load_reranker
    from irpretrain.training.compute import reproducible

    named = [AttributedModel(**model) for model in models]
    runs = [read_run(model.run) for model in named if model.run is not None]
    case = choose_case(name, options, read_queries(queries), read_qrels(qrels), runs)
    bodies = read_chosen(documents, [case.document], text)
    attributions: list[Attribution] = []
    with reproducible(reranking.compute) as device:
        for model in progress(named, f"attributions {name}", "models"):
            network = load_reranker(model.directory).to(device)
            network.check_length(reranking.max_length, "reranking.max_length")
            attributions.append(
                attribute(
                    network,
                    case.text,
                    bodies[case.document],
                    reranking.max_length,
                    reranking.query_length,
                    longest_document=text.max_word_pieces,
                )
            )
    views = [
        model_view(model, attribution, rank_of(run, case))
        for model, attribution, run in zip(named, attributions, runs or [{}] * len(named), strict=True)
    ]
    write_page(
        "attributions.html.j2",
        output,
        title=f"Attributions: {name}",
        case=case,
        views=views,
        signed=signed,
    )  # fmt: skip
    return {
        "models": len(views),
        "query": case.query or case.text,
        "document": case.document,
        "word_pieces": sum(len(a.query.pieces) + len(a.document.pieces) for a in attributions),
        "largest_relative_residual": max(relative_residual(attribution) for attribution in attributions),
    }


def rank_of(run: Run, case: Case) -> RankColumn | None:
    """Return where the document stands in the query's ranking."""
    return rank_in(run.get(case.query or "", []), case.document)


def model_view(
    model: AttributedModel, attribution: Attribution, position: RankColumn | None
) -> dict[str, Any]:
    """Return what the page shows of a model; its colours are normalised by its own strongest word."""
    query, document = words_of(attribution.query), words_of(attribution.document)
    scale = strongest([*query, *document])
    return {
        "label": model.label,
        "position": position,
        "attribution": attribution,
        "residual_share": relative_residual(attribution),
        "query": _coloured(query, scale),
        "document": _coloured(document, scale),
        "unread": len(attribution.document.text) - sum(len(w.before) + len(w.text) for w in document)
        if attribution.document.cut
        else 0,
    }


def _coloured(words: Sequence[Word], scale: float) -> list[tuple[Word, str, str]]:
    """Each word with its colour and the class that underlines it: signs are told without colours too."""
    kinds = ("negative", "neutral", "positive")
    visible = [0.0 if abs(word.value) * 20 < scale else word.value for word in words]
    return [
        (word, colour(word.value, scale), kinds[1 + (value > 0) - (value < 0)])
        for word, value in zip(words, visible, strict=True)
    ]
