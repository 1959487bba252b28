"""A page of attributions: for one query and document, what each model's score comes from (ARES, Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.qrels import read_qrels
from irpretrain.evaluation.runs import Place, Run, place_in, read_run
from irpretrain.progress import progress
from irpretrain.report.attributed_words import (
    Word,
    colour,
    quarters,
    relative_residual,
    signed,
    strongest,
    top_words,
    words_of,
)
from irpretrain.report.cases import Case, choose_case
from irpretrain.report.pages import write_page
from irpretrain.report.pair_attributions import AttributionSource
from irpretrain.text.chosen_texts import read_chosen
from irpretrain.text.keyed_texts import read_queries

if TYPE_CHECKING:
    from irpretrain.models.attribution import Attribution

TOP_WORDS = 10
TOLERABLE = 0.05
"""Residual, as a share of all absolute values, above which the page asks for more steps."""


@dataclass(frozen=True)
class AttributedModel:
    """A model of the page.

    Attributes:
        key, label: its name in the configuration, and in tables.
        directory: where it lies.
        run: its run over the candidates; None for a query of the user's own.
    """

    key: str
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
    first_stage: str | Path,
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
    from irpretrain.training.compute import reproducible

    named = [AttributedModel(**model) for model in models]
    runs = [read_run(model.run) for model in named if model.run is not None]
    judged = read_qrels(qrels)
    case = choose_case(name, options, read_queries(queries), judged, runs)
    bodies = read_chosen(documents, [case.document], text)
    source = AttributionSource({case.query or "": case.text}, bodies, text, reranking)
    pair = (case.query or "", case.document)
    attributions: list[Attribution] = []
    with reproducible(reranking.compute) as device:
        for model in progress(named, f"attributions {name}", "models"):
            attributions += source.attribute(model.directory, [pair], options, device)
    views = [
        model_view(model, attribution, place_of(run, case))
        for model, attribution, run in zip(named, attributions, runs or [{}] * len(named), strict=True)
    ]
    write_page(
        "attributions.html.j2",
        output,
        title=f"Attributions: {name}",
        case=case,
        options=options,
        grade=judged.get(case.query or "", {}).get(case.document),
        first_stage=place_of(read_run(first_stage), case),
        views=views,
        occurrences=occurrences(views),
        tolerable=TOLERABLE,
        signed=signed,
    )  # fmt: skip
    return {
        "models": len(views),
        "query": case.query or case.text,
        "document": case.document,
        "word_pieces": sum(len(a.query.pieces) + len(a.document.pieces) for a in attributions),
        "largest_relative_residual": max(relative_residual(attribution) for attribution in attributions),
    }


def place_of(run: Run, case: Case) -> Place | None:
    """Return where the document stands in the query's ranking."""
    return place_in(run.get(case.query or "", []), case.document)


def model_view(model: AttributedModel, attribution: Attribution, place: Place | None) -> dict[str, Any]:
    """Return what the page shows of a model; its colours are normalised by its own strongest word."""
    query, document = words_of(attribution.query), words_of(attribution.document)
    scale = strongest([*query, *document])
    return {
        "key": model.key,
        "label": model.label,
        "place": place,
        "attribution": attribution,
        "residual_share": relative_residual(attribution),
        "query": _coloured(query, scale),
        "document": _coloured(document, scale),
        "words": document,
        "unread": len(attribution.document.text) - sum(len(w.before) + len(w.text) for w in document)
        if attribution.document.cut
        else 0,
        "top": top_words([*query, *document], TOP_WORDS),
        "quarters": quarters(document),
    }


def _coloured(words: Sequence[Word], scale: float) -> list[tuple[Word, str, str]]:
    """Each word with its colour and the class that underlines it: signs are told without colours too."""
    kinds = ("negative", "neutral", "positive")
    shown = [0.0 if abs(word.value) * 20 < scale else word.value for word in words]
    return [
        (word, colour(word.value, scale), kinds[1 + (value > 0) - (value < 0)])
        for word, value in zip(words, shown, strict=True)
    ]


def occurrences(views: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, list[float | None]]]:
    """Return (number, word, value by each model) of every word of the document that some model read."""
    columns: list[list[Word]] = [view["words"] for view in views]
    values = zip_longest(*([word.value for word in words] for words in columns))
    longest = max(columns, key=len)
    return [(n, word.text, list(row)) for n, (word, row) in enumerate(zip(longest, values, strict=True), 1)]
