"""Abstract texts identification (ATI), an objective of Wikiformer (Su et al., AAAI 2024).

An article's title prefers the abstract, its lead section, to its other sections. Or, as the model could recognise an
abstract by its form: the abstract prefers the article's title to those of other articles. docs/methods/wikiformer.md
has every detail.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.base import Section, option
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.objectives.draws import RandomDocuments, draw_some
from irpretrain.objectives.groups import Group, group
from irpretrain.objectives.shard import Counts, Shard
from irpretrain.wikipedia.article import build_tree

NEEDS = frozenset({"positions", "collection"})


class AtiOptions(Section):
    """Wikiformer's ATI: the abstract is preferred to sections for the article's title."""

    type: Literal["ati"] = option(..., "This objective.")
    negatives: Literal["sections", "titles"] = option(
        "sections",
        "Negatives: other sections of the article, for its title (paper); or random "
        "articles' titles, for the abstract (not in the paper).",
    )
    most_negatives: int | None = option(
        None, "Maximum negatives per group; null: all sections.", unit="sections or titles", ge=1
    )

    def faults(self) -> Iterator[str]:
        if self.negatives == "titles" and self.most_negatives is None:
            yield "negatives: titles needs most_negatives, how many titles are drawn"


OPTIONS = AtiOptions


def make_groups(shard: Shard, options: AtiOptions, counts: Counts) -> Iterator[Group]:
    """Yield one group per article: its title and several documents, the lead section first; or the reverse."""
    titles = _Titles(shard.collection) if options.negatives == "titles" else None
    for article in shard.articles(counts):
        tree = build_tree(article.title, article.sections, drop_boilerplate=True)
        abstract, *section_spans = (
            article.span(node.start, node.end) if article.words(node.start, node.end) > 0 else None
            for node in tree.nodes
        )
        sections = [span for span in section_spans if span is not None]
        rng = shard.stream(options.type, article.document_id)
        if not article.title:
            counts.skip("no_title")
        elif abstract is None:
            counts.skip("no_abstract")
        elif not sections:
            counts.skip("no_other_section")
        elif titles is None:
            negatives = draw_some(rng, sections, options.most_negatives)
            yield group(article.location, [article.title], [abstract, *negatives])
        elif queries := titles.draw(rng, options.most_negatives or 0, article.title):
            yield group(article.location, [article.title, *queries], [abstract])
        else:
            counts.skip("no_other_title")


class _Titles:
    def __init__(self, collection: Sequence[str | Path]) -> None:
        columns = ["document_id", "title", "disambiguation"]
        documents = pa.concat_tables([DOCUMENTS.read(path, columns=columns) for path in collection])
        # By identifier, an order that does not depend on shards.
        articles = documents.filter(pc.invert(documents["disambiguation"])).sort_by("document_id")
        self._titles = pc.utf8_trim_whitespace(articles["title"])
        self._random_documents = RandomDocuments(pc.utf8_length(self._titles).to_numpy())

    def draw(self, rng: np.random.Generator, max_titles: int, title: str) -> list[str]:
        """Return at most `max_titles` different titles at random, without the article's own."""
        rows, _repeat_count = self._random_documents.draw(rng, max_titles + 1, ())
        drawn_titles = dict.fromkeys(self._titles[row].as_py() for row in rows)
        drawn_titles.pop(title, None)
        return list(drawn_titles)[:max_titles]
