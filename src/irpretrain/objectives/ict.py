"""Inverse cloze task (ICT; Lee et al., ACL 2019; Chang et al., ICLR 2020), a baseline.

A sentence prefers the passage it was taken from, without it, to passages of other documents.
docs/methods/baselines.md states everything exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.config.text import TextConfig

if TYPE_CHECKING:
    import numpy as np

    from irpretrain.objectives.articles import Article
    from irpretrain.objectives.passages import Passage
    from irpretrain.text.sentences import Characters

NEEDS = frozenset({"positions", "graph", "collection_tokens"})


class PassageOptions(Section):
    """What the two objectives that match a sentence with a passage of its article (ICT and BFS) share."""

    passage_words: int = Field(
        128,
        ge=1,
        description="Longest passage: whole sentences of one section; a longer sentence is a passage of its own.",
        json_schema_extra={"unit": "words"},
    )
    minimum_query_words: int = Field(
        3, ge=1, description="Shorter sentences are no queries.", json_schema_extra={"unit": "words"}
    )
    negatives: int = Field(
        4,
        ge=1,
        description="Passages of random other documents of the collection that the article's own is preferred to.",
        json_schema_extra={"unit": "passages"},
    )
    groups_per_document: int | None = Field(
        1,
        ge=1,
        description="Groups made of a document at most, drawn at random; null for all.",
        json_schema_extra={"unit": "groups"},
    )


class Options(PassageOptions):
    """Which sentences are taken out of which passages."""

    type: Literal["ict"] = Field(description="This objective.")
    keep_sentence: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Probability that the sentence stays in its passage (0 in Chang et al., 0.1 in Lee et al.).",
    )


class Choice(NamedTuple):
    """A passage, one of its sentences, and whether this is left out of it."""

    passage: Passage
    sentence: Characters
    without: bool


def build_groups(
    documents: str | Path,
    statistics: str | Path | None,
    tokens: str | Path,
    graph: str | Path,
    options: Options,
    text: TextConfig,
    seed: int,
    output: str | Path,
    collection_tokens: Sequence[str | Path],
) -> dict[str, Any]:
    """Write the ICT groups of a corpus shard: one query, the span of a sentence; several documents, spans.

    Args and returns as for `irpretrain.objectives.ltm.build_groups`, and
        collection_tokens: token stores of all shards of the collection, for passages of other documents.
    """
    from irpretrain.objectives.own_passages import write_passage_groups

    def choices_of(article: Article, found: list[Passage], rng: np.random.Generator) -> list[Choice]:
        return choose(article.body, found, options, rng)

    return write_passage_groups(
        documents, tokens, graph, options, text, seed, output, collection_tokens, choices_of
    )


def choose(body: str, found: Sequence[Passage], options: Options, rng: np.random.Generator) -> list[Choice]:
    """Return a sentence of each of some passages that have another one, in the order of the text."""
    from irpretrain.objectives.draws import some
    from irpretrain.objectives.passages import long_sentences

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
