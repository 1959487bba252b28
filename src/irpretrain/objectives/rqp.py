"""Representative query prediction (RQP), an objective of HARP (Ma et al., CIKM 2021), a baseline.

A linked document prefers, as its query, the anchor with words of the sentence around it to words of its own.
docs/methods/baselines.md states everything exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from irpretrain.config.text import TextConfig
from irpretrain.objectives.anchors import AnchorOptions

if TYPE_CHECKING:
    from irpretrain.objectives.articles import Article

NEEDS = frozenset({"statistics", "positions", "graph", "collection"})


class Options(AnchorOptions):
    """HARP's RQP: a linked document prefers the query of its anchor and words around it to words of its own."""

    type: Literal["rqp"] = Field(description="This objective.")


class Draft(NamedTuple):
    """A group that still lacks the words of its document."""

    place: tuple[int, int]
    sample: int
    query: str
    document_id: str
    stream: str


def build_groups(
    documents: str | Path,
    statistics: str | Path,
    tokens: str | Path,
    graph: str | Path,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
    collection: Sequence[str | Path],
) -> dict[str, Any]:
    """Write the RQP groups of a corpus shard: two queries, literal; one document, a whole one that is linked.

    Args and returns as for `irpretrain.objectives.rdp.build_groups`, and
        collection: DOCUMENTS tables of all shards of the collection, for the words of linked documents.
    """
    from irpretrain.contracts import GROUPS
    from irpretrain.objectives.anchors import WordDraws, anchor_text, find_anchors
    from irpretrain.objectives.articles import draft_groups
    from irpretrain.objectives.draws import some, stream_of
    from irpretrain.objectives.groups import Span, group
    from irpretrain.objectives.link_source import LinkSource
    from irpretrain.objectives.page_words import draw_page_words

    source, draws = LinkSource.open(graph, documents), WordDraws(statistics, options, text)
    usable = source.words > 0

    def drafts_of(article: Article, skipped: Counter[str]) -> Iterator[Draft]:
        links = source.links(article)
        anchors = [] if links is None else find_anchors(article, links, usable)
        if not anchors:
            skipped["no_links"] += 1
        rng = stream_of(seed, options.type, article.document_id)
        for sample, anchor in enumerate(some(rng, anchors, options.groups_per_document)):
            around = draws.draw(rng, draws.around(article, anchor), draws.size(rng))
            query = " ".join([*around, anchor_text(article, anchor)])
            yield Draft(
                article.place,
                sample,
                query,
                source.document_id(anchor.target),
                f"{article.document_id}/{sample}",
            )

    drafts, counts = draft_groups(documents, tokens, text, options.type, drafts_of)
    wanted = ((draft.document_id, draft.stream) for draft in drafts)
    words = draw_page_words(collection, wanted, draws, seed, options.type)

    def rows() -> Iterator[dict[str, Any]]:
        for number, draft in enumerate(drafts):
            if negative := words.get(number):
                queries = [draft.query, " ".join(negative)]
                yield group(draft.place, queries, [Span(draft.document_id)], sample=draft.sample)

    groups = GROUPS.write(output, rows())
    return {
        **counts,
        "groups": groups,
        "sequences": 2 * groups,
        "documents_without_words": len(drafts) - groups,
    }
