"""Groups of a sentence, a passage of its own article and passages of other documents: what ICT and BFS share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irpretrain.config.text import TextConfig

if TYPE_CHECKING:
    import numpy as np

    from irpretrain.objectives.articles import Article
    from irpretrain.objectives.groups import Span
    from irpretrain.objectives.ict import Choice
    from irpretrain.objectives.passages import Passage


def write_passage_groups(
    documents: str | Path,
    tokens: str | Path,
    graph: str | Path,
    options: Any,
    text: TextConfig,
    seed: int,
    output: str | Path,
    collection_tokens: Sequence[str | Path],
    choices_of: Callable[[Article, list[Passage], np.random.Generator], Sequence[Choice]],
) -> dict[str, Any]:
    """Write a group for each choice that `choices_of` makes of an article's passages; see `ict.build_groups`."""
    from irpretrain.objectives.articles import write_groups
    from irpretrain.objectives.draws import RandomDocuments, stream_of
    from irpretrain.objectives.groups import Span, group
    from irpretrain.objectives.link_source import LinkSource
    from irpretrain.objectives.passages import passages
    from irpretrain.objectives.word_blocks import WordBlocks

    source = LinkSource.open(graph, documents)
    others, blocks = RandomDocuments(source.drawable), WordBlocks.open(collection_tokens, source.graph)
    extra: Counter[str] = Counter()

    def groups_of(article: Article, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
        own = source.node(article)
        bounds = [(section.start, section.end) for section in article.sections]
        found = passages(article.body, bounds, options.passage_words)
        rng = stream_of(seed, options.type, article.document_id)
        made = 0
        for choice in choices_of(article, found, rng):
            spans = own_spans(article, choice)
            negatives, repeated = others.draw(rng, options.negatives, {own})
            if spans is None or not negatives:
                skipped["no_other_documents" if spans else "beyond_token_store"] += 1
                continue
            words = count_words(article, spans[1])
            rest = [Span(source.document_id(node), *blocks.draw(rng, node, words)) for node in negatives]
            yield group(article.place, spans[:1], [spans[1], *rest], sample=made)
            made += 1
            extra["negatives_repeated"] += repeated
        if not made:
            skipped["no_passage_with_a_sentence"] += 1

    counts = write_groups(documents, tokens, text, output, options.type, groups_of)
    return {**counts, "negatives_repeated": extra["negatives_repeated"]}


def own_spans(article: Article, choice: Choice) -> list[Span] | None:
    """Return the spans of the sentence and of its passage, with a gap where the sentence is left out.

    A passage that begins the body begins with the document's title, as the first block of another document does. None
    where the token store lacks one of them.
    """
    from irpretrain.objectives.groups import Span

    query = article.span(*choice.sentence)
    passage = article.pieces(choice.passage.start, choice.passage.end)
    if query is None or passage is None:
        return None
    first = 0 if not article.body[: choice.passage.start].strip() else passage[0]
    gap = (query.start, query.end) if choice.without else (0, 0)
    if gap[1] - gap[0] == passage[1] - passage[0]:
        return None
    return [query, Span(article.document_id, first, passage[1], *gap)]


def count_words(article: Article, span: Span) -> int:
    """Return how many words of the token store begin in a span of an article, its gap left out."""
    starts = article.store.word_starts(article.row)
    return int(starts[span.start : span.end].sum() - starts[span.gap_start : span.gap_end].sum())
