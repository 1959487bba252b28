"""Body first selection (BFS; Chang et al., ICLR 2020), a baseline.

A sentence of an article's first section prefers a passage of the article to passages of other documents.
docs/methods/baselines.md has every detail.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from irpretrain.config.base import option
from irpretrain.objectives.draws import draw_some
from irpretrain.objectives.groups import Group
from irpretrain.objectives.passages import (
    Passage,
    PassageChoice,
    PassageOptions,
    passage_groups,
    query_sentences,
)
from irpretrain.objectives.shard import Counts, Shard

NEEDS = frozenset({"positions", "graph", "collection", "collection_tokens"})


class BfsOptions(PassageOptions):
    """Body first selection: a sentence of the first section finds a passage of its article."""

    type: Literal["bfs"] = option(..., "This objective.")


OPTIONS = BfsOptions


def make_groups(shard: Shard, options: BfsOptions, counts: Counts) -> Iterator[Group]:
    """Yield BFS's groups: one query, the span of a sentence; several documents, spans. Counts as `passage_groups`."""
    return passage_groups(shard, options, counts, choose)


def choose(
    body: str, passages: Sequence[Passage], options: BfsOptions, rng: np.random.Generator
) -> list[PassageChoice]:
    """Return sentences of the first section, each with a random passage of the article, without the sentence."""
    lead_passages = [passage for passage in passages if passage.section == 0]
    sentences = [s for passage in lead_passages for s in query_sentences(body, passage)]
    choices = []
    for sentence in draw_some(rng, sentences, options.groups_per_document):
        candidates = [passage for passage in passages if passage.sentences != (sentence,)]
        if candidates:
            passage = candidates[int(rng.integers(len(candidates)))]
            choices.append(PassageChoice(passage, sentence, sentence in passage.sentences))
    return choices
