"""Wiki link prediction (WLP; Chang et al., ICLR 2020), a baseline.

A sentence of an article's first section prefers a linked document to random ones. The papers disagree on the direction
of the link; this choice is explained in docs/methods/baselines.md, with every detail.
"""

from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.objectives.draws import LinkSource, RandomDocuments, draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.passages import MINIMUM_QUERY_WORDS
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.text.passages import sentences

NEEDS = frozenset({"positions", "graph"})


class WlpOptions(Section):
    """Wiki link prediction: a sentence of the first section finds a linked document."""

    type: Literal["wlp"] = option(..., "This objective.")
    negatives: int = option(4, "Random documents that the article does not link.", unit="documents", ge=1)
    groups_per_document: int | None = option(1, "Maximum groups per article; null: all.", unit="groups", ge=1)


OPTIONS = WlpOptions


def make_groups(shard: Shard, options: WlpOptions, counts: Counts) -> Iterator[Group]:
    """Yield WLP's groups: one query, the span of a sentence; several whole documents. Counts negatives_repeated."""
    source = LinkSource(shard)
    random_documents = RandomDocuments(source.drawable_words)
    counts.update(negatives_repeated=0)
    for article in shard.articles(counts):
        article_node, linked_nodes = source.node(article), source.targets(article)
        excluded_nodes = {article_node, *linked_nodes}
        targets = [node for node in linked_nodes if source.drawable_words[node] > 0]
        lead = article.sections[0]
        queries = [
            span
            for start, end in sentences(article.body, lead.start, lead.end, article.language)
            if article.words(start, end) >= MINIMUM_QUERY_WORDS
            and (span := article.span(start, end)) is not None
        ]
        if not targets or not queries:
            counts.skip("no_links" if not targets else "no_sentence")
            continue
        rng = shard.stream(options.type, article.document_id)
        for sample, target in enumerate(draw_some(rng, targets, options.groups_per_document)):
            query = queries[int(rng.integers(len(queries)))]
            negatives, repeated_count = random_documents.draw(rng, options.negatives, excluded_nodes)
            if not negatives:
                counts.skip("no_other_documents")
                break
            counts["negatives_repeated"] += repeated_count
            ranked_documents = source.whole_documents((target, *negatives))
            yield group(article.location, [query], ranked_documents, sample=sample)
