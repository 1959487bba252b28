"""Groups of a sentence, a passage of its own article and passages of other documents: what ICT and BFS share.

A passage of another document is one that could be preferred in a group of that document, as in Chang et al., where
the others are those of the batch's other pairs: cut at the same sentences, with one left out in the same way. So
nothing but the words tells an article's own passage from the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.text import TextConfig
from irpretrain.objectives.groups import Span

if TYPE_CHECKING:
    import numpy as np

    from irpretrain.objectives.articles import Article
    from irpretrain.objectives.ict import Choice
    from irpretrain.objectives.passages import Passage

    Choose = Callable[[str, Sequence[Passage], Any, np.random.Generator], list[Choice]]


class Draft(NamedTuple):
    """A group that still lacks the passages of the other documents."""

    place: tuple[int, int]
    sample: int
    query: Span
    passage: Span
    others: tuple[str, ...]
    stream: str


def write_passage_groups(
    documents: str | Path,
    tokens: str | Path,
    graph: str | Path,
    options: Any,
    text: TextConfig,
    seed: int,
    output: str | Path,
    collection: Sequence[str | Path],
    collection_tokens: Sequence[str | Path],
    choose: Choose,
) -> dict[str, Any]:
    """Write a group for each choice that `choose` makes of an article's passages; see `ict.build_groups`."""
    from irpretrain.contracts import GROUPS
    from irpretrain.objectives.articles import draft_groups
    from irpretrain.objectives.draws import RandomDocuments, stream_of
    from irpretrain.objectives.groups import group
    from irpretrain.objectives.link_source import LinkSource

    source = LinkSource.open(graph, documents)
    others = RandomDocuments(source.drawable)
    extra = Counter(negatives_repeated=0, negatives_lacking=0, groups_without_negatives=0)

    def drafts_of(article: Article, skipped: Counter[str]) -> Iterator[Draft]:
        own = source.node(article)
        rng = stream_of(seed, options.type, article.document_id)
        made = 0
        for choice in choose(article.body, passages_of(article, options), options, rng):
            spans = own_spans(article, choice)
            negatives, repeated = others.draw(rng, options.negatives, {own})
            if spans is None or not negatives:
                skipped["no_other_documents" if spans else "beyond_token_store"] += 1
                continue
            names = tuple(source.document_id(node) for node in negatives)
            yield Draft(article.place, made, *spans, names, f"{article.document_id}/{made}")
            made += 1
            extra["negatives_repeated"] += repeated
        if not made:
            skipped["no_passage_with_a_sentence"] += 1

    drafts, counts = draft_groups(documents, tokens, text, options.type, drafts_of)
    draw = partial(
        _draw, options=options.model_copy(update={"groups_per_document": 1}), choose=choose, seed=seed
    )
    wanted = ((name, f"{d.stream}/{number}") for d in drafts for number, name in enumerate(d.others))
    drawn = iter(_draw_passages(collection, collection_tokens, text, wanted, draw))

    def rows() -> Iterator[dict[str, Any]]:
        for draft in drafts:
            rest = [span for _ in draft.others if (span := next(drawn)) is not None]
            extra["negatives_lacking"] += len(draft.others) - len(rest)
            if rest:
                extra["sequences"] += 1 + len(rest)
                yield group(draft.place, [draft.query], [draft.passage, *rest], sample=draft.sample)
            else:
                extra["groups_without_negatives"] += 1

    groups = GROUPS.write(output, rows())
    return {**counts, "groups": groups, "sequences": extra.pop("sequences", 0), **extra}


def passages_of(article: Article, options: Any) -> list[Passage]:
    """Return the passages of an article."""
    from irpretrain.objectives.passages import passages

    bounds = [(section.start, section.end) for section in article.sections]
    return passages(article.body, bounds, options.passage_words)


def own_spans(article: Article, choice: Choice) -> tuple[Span, Span] | None:
    """Return the spans of the sentence and of its passage, with a gap where the sentence is left out.

    A passage that begins the body begins with the document's title. None where the token store lacks one of them.
    """
    query = article.span(*choice.sentence)
    passage = article.pieces(choice.passage.start, choice.passage.end)
    if query is None or passage is None:
        return None
    first = 0 if not article.body[: choice.passage.start].strip() else passage[0]
    gap = (query.start, query.end) if choice.without else (0, 0)
    if gap[1] - gap[0] == passage[1] - passage[0]:
        return None
    return query, Span(article.document_id, first, passage[1], *gap)


def _draw_passages(
    collection: Sequence[str | Path],
    collection_tokens: Sequence[str | Path],
    text: TextConfig,
    wanted: Iterable[tuple[str, str]],
    draw: Callable[[Article, Sequence[str]], list[Span | None]],
) -> list[Span | None]:
    """Draw a passage for each of some documents, in one pass over the collection's tables.

    Args:
        collection, collection_tokens: DOCUMENTS table and token store of each shard of the collection.
        text: fields that made the token stores.
        wanted: the document of each draw, by identifier, and the name of the draw's random stream; a document may be
            wanted often.
        draw: makes the draws, by their streams, of one document.

    Returns:
        The span of each draw; None where the document has no such passage.
    """
    import pyarrow as pa

    from irpretrain.objectives.articles import stream_articles
    from irpretrain.objectives.draws import by_document

    places, streams = by_document(wanted)
    names = pa.array(sorted(places), pa.string())
    found: list[Span | None] = [None] * len(streams)
    for documents, tokens in zip(collection, collection_tokens, strict=True):
        for article in stream_articles(documents, tokens, text, names):
            if article is not None:
                here = places[article.document_id]
                for place, span in zip(here, draw(article, [streams[place] for place in here]), strict=True):
                    found[place] = span
    return found


def _draw(
    article: Article, streams: Sequence[str], options: Any, choose: Choose, seed: int
) -> list[Span | None]:
    """Return a passage that a group of `article` could prefer, for each of some random streams."""
    from irpretrain.objectives.draws import stream_of

    found = passages_of(article, options)
    drawn: list[Span | None] = []
    for stream in streams:
        choices = choose(article.body, found, options, stream_of(seed, f"{options.type} passage", stream))
        spans = own_spans(article, choices[0]) if choices else None
        drawn.append(spans and spans[1])
    return drawn
