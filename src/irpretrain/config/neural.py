"""`models.<name>.neural`: rankers without pre-training, whose input are words (docs/methods/neural-rankers.md).

The keys say which words a ranker reads. Its architecture is the paper's: constants in `irpretrain.models.neural`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from irpretrain.config.base import Section, option
from irpretrain.text.stop_words import StopList

WINDOW = 3
"""Width of the convolutions of Duet's distributed model, in words (Mitra et al., 2017; Mitra and Craswell, 2019)."""
POOLING = 100
"""Neighbouring windows of a document that Duet takes a maximum over (the same papers)."""

PADDED_QUERY = f"Maximum query length; shorter queries are padded. At least one window of {WINDOW} words."
PADDED_DOCUMENT = (
    f"Maximum document length; shorter documents are padded. At least {POOLING} windows of {WINDOW} words."
)


class WordInputConfig(Section):
    """What every ranker over words reads.

    Attributes:
        ranker: its module and class in `irpretrain.models.neural`.
        needs_vectors: whether the ranker begins with word vectors.
    """

    ranker: ClassVar[str]
    needs_vectors: ClassVar[bool] = True

    collection: str = option(
        ...,
        "Key of the collection of vocabulary and word vectors. It must hold the corpora of "
        "training and test.",
    )
    minimum_count: int = option(
        1,
        "Words with fewer occurrences in the collection are skipped.",
        unit="words",
        ge=1,
    )
    stop_list: StopList = option("none", "Words dropped from queries and documents.")
    query_words: int = option(20, "Maximum query length.", unit="words", ge=1)
    document_words: int = option(256, "Maximum document length.", unit="words", ge=1)


class KnrmConfig(WordInputConfig):
    """KNRM (Xiong et al., SIGIR 2017)."""

    ranker: ClassVar[str] = "knrm.Knrm"
    type: Literal["knrm"] = option(..., "Which ranker.")


class ConvKnrmConfig(WordInputConfig):
    """Conv-KNRM (Dai et al., WSDM 2018)."""

    ranker: ClassVar[str] = "conv_knrm.ConvKnrm"
    type: Literal["conv-knrm"] = option(..., "Which ranker.")


class DrmmConfig(WordInputConfig):
    """DRMM (Guo et al., CIKM 2016). Its histograms have no gradient, so its word vectors stay as they are."""

    ranker: ClassVar[str] = "drmm.Drmm"
    type: Literal["drmm"] = option(..., "Which ranker.")
    query_words: int = option(50, "Longest query; the rest is cut off.", unit="words", ge=1)
    document_words: int = option(5000, "Longest document; the rest is cut off.", unit="words", ge=1)


class DuetConfig(WordInputConfig):
    """Duet (Mitra et al., WWW 2017): a local and a distributed model, whose scores are added."""

    ranker: ClassVar[str] = "duet.Duet"
    needs_vectors: ClassVar[bool] = False
    type: Literal["duet"] = option(..., "Which ranker.")
    query_words: int = option(10, PADDED_QUERY, unit="words", ge=WINDOW)
    document_words: int = option(1000, PADDED_DOCUMENT, unit="words", ge=WINDOW + POOLING - 1)


class DuetV2Config(WordInputConfig):
    """Duet v2 (Mitra and Craswell, 2019): word vectors, idf, ReLU, and a network in place of the sum."""

    ranker: ClassVar[str] = "duet.Duet"
    type: Literal["duet-v2"] = option(..., "Which ranker.")
    query_words: int = option(20, PADDED_QUERY, unit="words", ge=WINDOW)
    document_words: int = option(200, PADDED_DOCUMENT, unit="words", ge=WINDOW + POOLING - 1)


NeuralConfig = Annotated[
    KnrmConfig | ConvKnrmConfig | DrmmConfig | DuetConfig | DuetV2Config, Field(discriminator="type")
]
