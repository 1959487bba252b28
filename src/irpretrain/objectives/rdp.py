"""Representative document prediction (RDP), an objective of HARP (Ma et al., CIKM 2021), a baseline.

Of two documents that a sentence links, the sentence prefers the one whose anchor carries more of its meaning.
docs/methods/baselines.md states everything exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from irpretrain.config.text import TextConfig
from irpretrain.objectives.anchors import Anchor, AnchorOptions

if TYPE_CHECKING:
    from irpretrain.objectives.articles import Article

NEEDS = frozenset({"statistics", "positions", "graph"})


class Options(AnchorOptions):
    """HARP's RDP: of two linked documents, the sentence prefers the one whose anchor carries more of its meaning."""

    type: Literal["rdp"] = Field(description="This objective.")


class Pair(NamedTuple):
    """Two anchors of one sentence; the first one's document is preferred."""

    preferred: Anchor
    other: Anchor


def build_groups(
    documents: str | Path,
    statistics: str | Path,
    tokens: str | Path,
    graph: str | Path,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Write the RDP groups of a corpus shard: one query, the span of a sentence; two whole documents.

    Args:
        documents: DOCUMENTS table of the shard.
        statistics: WORD_COUNTS table of the collection.
        tokens: token store of the shard.
        graph: directory of the collection's graph.
        options: see `Options`.
        text: fields that made the token store, and how a text becomes words.
        seed: of the random streams.
        output: GROUPS table; written whole or not at all.

    Returns:
        Counts: documents, skipped by reason, groups, sequences.
    """
    from irpretrain.objectives.anchors import WordDraws, anchor_text, find_anchors
    from irpretrain.objectives.articles import write_groups
    from irpretrain.objectives.draws import some, stream_of
    from irpretrain.objectives.groups import Span, group
    from irpretrain.objectives.link_source import LinkSource

    source, draws = LinkSource.open(graph, documents), WordDraws(statistics, options, text)
    usable = source.words > 0

    def groups_of(article: Article, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
        links = source.links(article)
        anchors = [] if links is None else find_anchors(article, links, usable)
        found = pairs(anchors, lambda anchor: draws.weight(anchor_text(article, anchor)))
        rng = stream_of(seed, options.type, article.document_id)
        chosen = some(rng, found, options.groups_per_document)
        if not chosen:
            skipped["no_links" if not anchors else "no_sentence_with_two"] += 1
        for sample, pair in enumerate(chosen):
            query = article.span(*pair.preferred.sentence)
            if query is None:
                skipped["beyond_token_store"] += 1
                continue
            ranked = [Span(source.document_id(anchor.target)) for anchor in pair]
            yield group(article.place, [query], ranked, sample=sample)

    return write_groups(documents, tokens, text, output, options.type, groups_of)


def pairs(anchors: Sequence[Anchor], weight: Callable[[Anchor], float]) -> list[Pair]:
    """Return all pairs of anchors to different documents in one sentence, the weightier first; ties are left out."""
    found = []
    for _, run in groupby(anchors, key=lambda anchor: anchor.sentence):
        weighed = [(weight(anchor), anchor) for anchor in run]
        for (one, a), (two, b) in combinations(weighed, 2):
            if a.target != b.target and one != two:
                found.append(Pair(a, b) if one > two else Pair(b, a))
    return found
