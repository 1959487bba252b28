"""Inverse cloze task (ICT; Lee et al., ACL 2019; Chang et al., ICLR 2020), a baseline.

A sentence prefers the passage it was taken from, without it, to passages of other documents.
docs/methods/baselines.md states everything exactly.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from irpretrain.config.base import option
from irpretrain.objectives.draws import some
from irpretrain.objectives.groups import Group
from irpretrain.objectives.own_passages import Choice, PassageOptions, passage_groups
from irpretrain.objectives.passages import Passage, long_sentences
from irpretrain.objectives.shard import Counts, Shard

NEEDS = frozenset({"positions", "graph", "collection", "collection_tokens"})


class Options(PassageOptions):
    """Inverse cloze task: a sentence finds its passage."""

    type: Literal["ict"] = option(..., "This objective.")
    keep_sentence: float = option(
        0.0,
        "Probability that the sentence stays in its passage.",
        ge=0,
        le=1,
    )


def make_groups(shard: Shard, options: Options, counts: Counts) -> Iterator[Group]:
    """Yield ICT's groups: one query, the span of a sentence; several documents, spans.

    Counts as `own_passages.passage_groups` does.
    """
    return passage_groups(shard, options, counts, choose)


def choose(body: str, found: Sequence[Passage], options: Options, rng: np.random.Generator) -> list[Choice]:
    """Return a sentence of each of some passages that have another one, in the order of the text."""
    usable = [
        (passage, candidates)
        for passage in found
        if len(passage.sentences) > 1
        and (candidates := long_sentences(body, passage, options.minimum_query_words))
    ]
    choices = []
    for passage, candidates in some(rng, usable, options.groups_per_document):
        sentence = candidates[int(rng.integers(len(candidates)))]
        choices.append(Choice(passage, sentence, bool(rng.random() >= options.keep_sentence)))
    return choices
