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

    from irpretrain.objectives.passages import Passage
    from irpretrain.text.sentences import Characters

NEEDS = frozenset({"positions", "graph", "collection", "collection_tokens"})


class PassageOptions(Section):
    """What the two objectives that match a sentence with a passage of its article (ICT and BFS) share."""

    passage_words: int = Field(
        128,
        ge=1,
        description="Maximum passage length: whole sentences of one section; a longer sentence is a passage "
        "alone.",
        json_schema_extra={"unit": "words"},
    )
    minimum_query_words: int = Field(
        3, ge=1, description="Minimum length of a query sentence.", json_schema_extra={"unit": "words"}
    )
    negatives: int = Field(
        4,
        ge=1,
        description="Passages of other random documents, as negatives.",
        json_schema_extra={"unit": "passages"},
    )
    groups_per_document: int | None = Field(
        1,
        ge=1,
        description="Maximum groups per document, drawn at random; null: all.",
        json_schema_extra={"unit": "groups"},
    )


class Options(PassageOptions):
    """Inverse cloze task: a sentence finds its passage."""

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
    collection: Sequence[str | Path],
    collection_tokens: Sequence[str | Path],
) -> dict[str, Any]:
    """Write the ICT groups of a corpus shard: one query, the span of a sentence; several documents, spans.

    Args:
        documents: DOCUMENTS table of the shard.
        statistics: not used.
        tokens: token store of the shard.
        graph: directory of the collection's graph.
        options: see `Options`.
        text: fields that made the token stores.
        seed: of the random streams.
        output: GROUPS table; written whole or not at all.
        collection: DOCUMENTS tables of all shards of the collection, for passages of other documents.
        collection_tokens: token stores of these shards, in the same order.

    Returns:
        Counts: documents, skipped by reason, groups not made of others by reason, groups, sequences; of what was drawn
        of other documents negatives_repeated, negatives_lacking (of documents without such a passage), and
        groups_without_negatives (not made, as all were lacking).
    """
    from irpretrain.objectives.own_passages import write_passage_groups

    return write_passage_groups(
        documents, tokens, graph, options, text, seed, output, collection, collection_tokens, choose
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
