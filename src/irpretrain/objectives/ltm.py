"""Long texts matching (LTM), an objective of Wikiformer (Su et al., AAAI 2024, "Long Texts Matching").

An article is the query; an article that its See Also section names is preferred to random ones.
docs/methods/wikiformer.md has every detail.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.objectives.draws import LinkSource, RandomDocuments
from irpretrain.objectives.groups import Group, Span, group
from irpretrain.objectives.shard import Counts, Shard, ShardArticle
from irpretrain.wikipedia.article import SEE_ALSO, in_roles

NEEDS = frozenset({"positions", "graph"})

# Why an edge of the configured kind gives no group.
UNUSED_REASONS = (
    "of_skipped_documents",
    "to_disambiguation_pages",
    "to_short_documents",
    "without_other_documents",
)


# Shorter articles are not used. Wikiformer's paper gives no minimum, so one word is enough.
MINIMUM_WORDS = 1


class LtmOptions(Section):
    """Wikiformer's LTM: a linked article is preferred to random ones."""

    type: Literal["ltm"] = option(..., "This objective.")
    links: Literal["see-also", "symmetric"] = option(
        "see-also",
        "Related articles: linked in See Also, or linking each other anywhere (not in the paper).",
    )
    negatives: int = option(4, "Random documents.", unit="documents", ge=1)


OPTIONS = LtmOptions


def make_groups(shard: Shard, options: LtmOptions, counts: Counts) -> Iterator[Group]:
    """Yield LTM's groups: one query, an article; several whole documents.

    Counts negatives_repeated; edges of the shard's documents, by kind: those used, each in one group, and those of the
    configured kind that were not, by reason.
    """
    source = LinkSource(shard)
    random_documents = RandomDocuments(source.drawable_words, MINIMUM_WORDS)
    used_edges = Counter({"see-also": 0, "symmetric": 0})
    unused_edges = Counter(dict.fromkeys(UNUSED_REASONS, 0))
    counts.update(negatives_repeated=0, edges_used=used_edges, edges_not_used=unused_edges)
    for article in shard.articles(counts):
        neighbours = source.see_also(article) if options.links == "see-also" else source.symmetric(article)
        query = query_span(article)
        if article.length < MINIMUM_WORDS or query is None:
            counts.skip("no_text_before_see_also" if article.length >= MINIMUM_WORDS else "short")
            unused_edges["of_skipped_documents"] += len(neighbours)
            continue
        # Random documents are never disambiguation pages, so the model could recognise such a positive by its format.
        articles = [node for node in neighbours if not source.graph.disambiguation[node]]
        positives = [node for node in articles if source.graph.words[node] >= MINIMUM_WORDS]
        unused_edges["to_disambiguation_pages"] += len(neighbours) - len(articles)
        unused_edges["to_short_documents"] += len(articles) - len(positives)
        if not positives:
            counts.skip("short_links" if articles else "no_links")
        rng = shard.stream(options.type, article.document_id)
        excluded_nodes = {source.node(article), *positives}
        for sample, positive in enumerate(positives):
            negatives, repeated_count = random_documents.draw(rng, options.negatives, excluded_nodes)
            if not negatives:
                counts.skip("no_other_documents")
                unused_edges["without_other_documents"] += 1
                continue
            counts["negatives_repeated"] += repeated_count
            used_edges[options.links] += 1
            yield group(
                article.location, [query], source.whole_documents((positive, *negatives)), sample=sample
            )


def query_span(article: ShardArticle) -> Span | None:
    """Return the article up to its first See Also section, which names the preferred documents."""
    if article.pieces(0, len(article.body)) is None:
        return None
    in_see_also = in_roles(article.sections, (SEE_ALSO,))
    if True not in in_see_also:
        return Span(article.document_id)
    # The heading itself stands before its section's text, after that of the section before.
    see_also_start = article.sections[in_see_also.index(True) - 1].end
    pieces = article.pieces(0, see_also_start)
    return None if pieces is None else Span(article.document_id, 0, pieces[1])
