"""Body first selection (BFS; Chang et al., ICLR 2020), a baseline.

A sentence of an article's first section prefers a passage of the article to passages of other documents.
docs/methods/baselines.md states everything exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from irpretrain.config.text import TextConfig
from irpretrain.objectives.ict import Choice, PassageOptions

if TYPE_CHECKING:
    import numpy as np

    from irpretrain.objectives.passages import Passage

NEEDS = frozenset({"positions", "graph", "collection", "collection_tokens"})


class Options(PassageOptions):
    """Body first selection: a sentence of the first section finds a passage of its article."""

    type: Literal["bfs"] = Field(description="This objective.")


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
    """Write the BFS groups of a corpus shard: one query, the span of a sentence; several documents, spans.

    Args and returns as for `irpretrain.objectives.ict.build_groups`.
    """
    from irpretrain.objectives.own_passages import write_passage_groups

    return write_passage_groups(
        documents, tokens, graph, options, text, seed, output, collection, collection_tokens, choose
    )


def choose(body: str, found: Sequence[Passage], options: Options, rng: np.random.Generator) -> list[Choice]:
    """Return sentences of the first section, each with a random passage of the article that is more than the sentence.

    The sentence is left out of a passage that holds it.
    """
    from irpretrain.objectives.draws import some
    from irpretrain.objectives.passages import long_sentences

    lead = [passage for passage in found if passage.section == 0]
    sentences = [s for passage in lead for s in long_sentences(body, passage, options.minimum_query_words)]
    choices = []
    for sentence in some(rng, sentences, options.groups_per_document):
        others = [passage for passage in found if passage.sentences != (sentence,)]
        if others:
            passage = others[int(rng.integers(len(others)))]
            choices.append(Choice(passage, sentence, sentence in passage.sentences))
    return choices
