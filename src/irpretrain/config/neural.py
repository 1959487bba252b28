"""`models.<name>.neural`: rankers without pre-training, whose input are words (docs/methods/neural-rankers.md)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section, option
from irpretrain.text.stop_words import StopList

Embeddings = Literal["trained", "frozen"]
EMBEDDINGS_TEXT = "Whether training changes the word vectors."
DISTRIBUTED_TEXT = "Input: a word's character n-graphs, or its vector."
MATCHES_TEXT = "Value of an exact match: 1, or the word's idf over the largest idf."
COMBINATION_TEXT = "Add the two scores, or score the sum of the last hidden layers by a network."
PADDED_QUERY = "Maximum query length; shorter queries are padded."
PADDED_DOCUMENT = "Maximum document length; shorter documents are padded."


class WordInputConfig(Section):
    """What every ranker over words reads; `ranker` is its class in `irpretrain.models.neural`."""

    ranker: ClassVar[str]

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

    @property
    def needs_vectors(self) -> bool:
        """Whether the ranker begins with word vectors."""
        return True


class KernelConfig(WordInputConfig):
    """Kernel pooling, of KNRM and Conv-KNRM."""

    embeddings: Embeddings = option("trained", EMBEDDINGS_TEXT)
    kernels: int = option(
        11,
        "Kernels: one for exact matches; the others' means are the middles of equal intervals of [-1, 1].",
        ge=2,
    )
    sigma: float = option(0.1, "Standard deviation of the other kernels.", gt=0)
    exact_sigma: float = option(1e-3, "Standard deviation of the exact-match kernel.", gt=0)
    log_scale: float = option(0.01, "Factor of the logarithms (the released code's).", gt=0)
    score: Literal["tanh", "linear"] = option(
        "tanh", "tanh of the weighted features (papers), or the weighted features."
    )


class KnrmConfig(KernelConfig):
    """KNRM (Xiong et al., SIGIR 2017)."""

    ranker: ClassVar[str] = "knrm.Knrm"
    type: Literal["knrm"] = option(..., "Which ranker.")


class ConvKnrmConfig(KernelConfig):
    """Conv-KNRM (Dai et al., WSDM 2018)."""

    ranker: ClassVar[str] = "conv_knrm.ConvKnrm"
    type: Literal["conv-knrm"] = option(..., "Which ranker.")
    ngrams: int = option(3, "Longest n-gram; all lengths from 1 up are matched.", unit="words", ge=1, le=9)
    filters: int = option(128, "Size of an n-gram's vector.", ge=1)
    cross_match: bool = option(True, "Match n-grams of different lengths too.")


class DrmmConfig(WordInputConfig):
    """DRMM (Guo et al., CIKM 2016). Its histograms have no gradient, so its word vectors stay as they are."""

    ranker: ClassVar[str] = "drmm.Drmm"
    type: Literal["drmm"] = option(..., "Which ranker.")
    query_words: int = option(50, "Longest query; the rest is cut off.", unit="words", ge=1)
    document_words: int = option(5000, "Longest document; the rest is cut off.", unit="words", ge=1)
    bins: int = option(30, "Bins of the similarity histogram; the last bin counts equal words only.", ge=2)
    histogram: Literal["log-count", "count", "normalised"] = option(
        "log-count", "ln(1 + count), the count, or the count divided by the document's length."
    )
    hidden: list[Annotated[int, Field(ge=1)]] = option([5], "Sizes of the matching network's hidden layers.")
    gate: Literal["idf", "vector"] = option(
        "idf", "Weight of a query word: from its idf, or from its vector."
    )


class DuetOptions(WordInputConfig):
    """What both Duets have."""

    ranker: ClassVar[str] = "duet.Duet"
    distributed: Literal["ngraphs", "words"] = option("ngraphs", DISTRIBUTED_TEXT)
    embeddings: Embeddings = option("trained", f"{EMBEDDINGS_TEXT} Of `distributed: words` only.")
    ngraphs: int = option(2000, "Vocabulary of character n-graphs: the most frequent ones.", ge=1)
    ngraph_length: int = option(5, "Longest n-graph.", unit="characters", ge=1, le=9)
    matches: Literal["binary", "idf"] = option("binary", MATCHES_TEXT)
    activation: Literal["tanh", "relu"] = option("tanh", "Of all layers.")
    combination: Literal["sum", "network"] = option("sum", COMBINATION_TEXT)
    hidden: int = option(300, "Size of every layer.", ge=1)
    window: int = option(3, "Width of the distributed model's convolutions.", unit="words", ge=1)
    pooling: int = option(
        100, "Max-pooling size over neighbouring windows of the document.", unit="windows", ge=1
    )
    dropout: float = option(0.2, "In training.", ge=0, lt=1)

    @property
    def needs_vectors(self) -> bool:
        """Whether the ranker begins with word vectors."""
        return self.distributed == "words"

    @model_validator(mode="after")
    def _check_windows(self) -> Self:
        if self.query_words < self.window:
            raise ValueError(
                f"query_words: {self.query_words} are fewer than a window of {self.window}; raise them"
            )
        fewest = self.window + self.pooling - 1
        if self.document_words < fewest:
            raise ValueError(
                f"document_words: {self.document_words} are fewer than the {fewest} that one maximum over "
                f"{self.pooling} windows of {self.window} words needs; raise them, or lower pooling"
            )
        return self


class DuetConfig(DuetOptions):
    """Duet (Mitra et al., WWW 2017): a local and a distributed model, whose scores are added."""

    type: Literal["duet"] = option(..., "Which ranker.")
    query_words: int = option(10, PADDED_QUERY, unit="words", ge=1)
    document_words: int = option(1000, PADDED_DOCUMENT, unit="words", ge=1)


class DuetV2Config(DuetOptions):
    """Duet v2 (Mitra and Craswell, 2019): word vectors, idf, ReLU, and a network in place of the sum."""

    type: Literal["duet-v2"] = option(..., "Which ranker.")
    query_words: int = option(20, PADDED_QUERY, unit="words", ge=1)
    document_words: int = option(200, PADDED_DOCUMENT, unit="words", ge=1)
    distributed: Literal["ngraphs", "words"] = option("words", DISTRIBUTED_TEXT)
    matches: Literal["binary", "idf"] = option("idf", MATCHES_TEXT)
    activation: Literal["tanh", "relu"] = option("relu", "Of all layers.")
    combination: Literal["sum", "network"] = option("network", COMBINATION_TEXT)
    dropout: float = option(0.5, "In training.", ge=0, lt=1)


NeuralConfig = Annotated[
    KnrmConfig | ConvKnrmConfig | DrmmConfig | DuetConfig | DuetV2Config, Field(discriminator="type")
]
