"""Inverse cloze task (ICT; Lee et al., ACL 2019; Chang et al., ICLR 2020), a baseline.

A sentence prefers its own passage, without the sentence, to passages of other documents. docs/methods/baselines.md has
every detail.
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


class IctOptions(PassageOptions):
    """Inverse cloze task: a sentence finds its passage."""

    type: Literal["ict"] = option(..., "This objective.")
    keep_sentence: float = option(
        0.0,
        "Probability that the sentence stays in its passage.",
        ge=0,
        le=1,
    )


OPTIONS = IctOptions


def make_groups(shard: Shard, options: IctOptions, counts: Counts) -> Iterator[Group]:
    """Yield ICT's groups: one query, the span of a sentence; several documents, spans. Counts as `passage_groups`."""
    return passage_groups(shard, options, counts, choose)


def choose(
    body: str, passages: Sequence[Passage], options: IctOptions, rng: np.random.Generator
) -> list[PassageChoice]:
    """Return a sentence of each of some passages that have another one, in the order of the text."""
    usable_passages = [
        (passage, candidates)
        for passage in passages
        if len(passage.sentences) > 1 and (candidates := query_sentences(body, passage))
    ]
    choices = []
    for passage, candidates in draw_some(rng, usable_passages, options.groups_per_document):
        sentence = candidates[int(rng.integers(len(candidates)))]
        choices.append(PassageChoice(passage, sentence, bool(rng.random() >= options.keep_sentence)))
    return choices
