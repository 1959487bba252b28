"""Attributions of many pairs of query and document, as plain values for a page's script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.attributions import AttributionConfig
from irpretrain.config.query_pages import PairAttributionsConfig, QueryPageConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.progress import progress
from irpretrain.report.attributed_words import Word, relative_residual, signed, strongest, words_of
from irpretrain.text.chosen_texts import read_chosen

if TYPE_CHECKING:
    from irpretrain.models.attribution import Attribution


class AttributedPair(NamedTuple):
    """A pair: numbers of its query on the page and of its document under the query, and the identifiers of both."""

    place: int
    number: int
    query: str
    document: str

    @property
    def key(self) -> str:
        """By which the page's script finds it."""
        return f"{self.place}/{self.number}"


class AttributionSource(NamedTuple):
    """What attributions are made from: query → text, document → text, and how models read both."""

    queries: Mapping[str, str]
    bodies: Mapping[str, str]
    text: TextConfig
    reranking: RerankingConfig

    def attribute(
        self,
        model: str | Path,
        pairs: Iterable[tuple[str, str]],
        options: AttributionConfig | PairAttributionsConfig,
        device: Any,
    ) -> Iterator[Attribution]:
        """Yield what a model's score of each pair of query and document comes from.

        Raises:
            InputError: the model cannot be loaded.
        """
        from irpretrain.models.attribution import attribute
        from irpretrain.models.reranker import load_reranker

        network = load_reranker(model).to(device)
        network.check_length(self.reranking.max_length, "reranking.max_length")
        for query, document in pairs:
            yield attribute(
                network,
                self.queries[query],
                self.bodies[document],
                self.reranking.max_length,
                self.reranking.query_length,
                options.baseline,
                options.steps,
                longest_document=self.text.max_word_pieces,
            )


def attribute_pairs(
    name: str,
    options: QueryPageConfig,
    models: Sequence[str | Path | None],
    queries: Mapping[str, str],
    pairs: Sequence[AttributedPair],
    documents: Sequence[str | Path],
    text: TextConfig,
    reranking: RerankingConfig,
) -> dict[str, list[dict[str, Any] | None]]:
    """Return the attributions of each pair by each model, None for one whose scores cannot be taken apart.

    Args:
        models: their directories, or None.
        queries: query → text.
        documents: DOCUMENTS tables.
        text: fields of a document's text, and the most word pieces read of it.
        reranking: lengths, threads and device.

    Raises:
        InputError: the corpus lacks a document, or a model cannot be loaded.
    """
    asked = options.attributions
    if asked is None or not pairs:
        return {}
    from irpretrain.training.compute import reproducible

    bodies = read_chosen(documents, {pair.document for pair in pairs}, text)
    source = AttributionSource(queries, bodies, text, reranking)
    views: dict[str, list[dict[str, Any] | None]] = {pair.key: [] for pair in pairs}
    with reproducible(reranking.compute) as device:
        for number, model in enumerate(models, 1):
            if model is None:
                for pair in pairs:
                    views[pair.key].append(None)
                continue
            shown = progress(pairs, f"attributions {name}, {number} of {len(models)}", "pairs")
            asked_pairs = ((pair.query, pair.document) for pair in shown)
            made = source.attribute(model, asked_pairs, asked, device)
            for pair, attribution in zip(pairs, made, strict=True):
                views[pair.key].append(attribution_view(attribution))
    return views


def attribution_view(attribution: Attribution) -> dict[str, Any]:
    """Return an attribution as plain values: each word as what stands before it, itself, its value, and how deep its
    colour is in percent of the strongest word's, negative for a negative value."""
    query, document = words_of(attribution.query), words_of(attribution.document)
    scale = strongest([*query, *document])
    return {
        "score": round(attribution.score, 4),
        "baseline": round(attribution.baseline, 4),
        "missed": round(100 * relative_residual(attribution), 1),
        "cut": attribution.document.cut,
        "query": [_plain(word, scale) for word in query],
        "document": [_plain(word, scale) for word in document],
    }


def _plain(word: Word, scale: float) -> list[str | int]:
    return [word.before, word.text, signed(word.value), round(100 * word.value / scale) if scale > 0 else 0]
