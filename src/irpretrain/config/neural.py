"""`models.<name>.neural`: rankers without pre-training, whose input are words (docs/methods/neural-rankers.md)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section
from irpretrain.text.stop_words import StopList

Embeddings = Literal["trained", "frozen"]
EMBEDDINGS_TEXT = "Whether training changes the word vectors."
DISTRIBUTED_TEXT = "Input of the distributed model: a word's character n-graphs, or its vector."
MATCHES_TEXT = "Value of an exact match in the local model: 1, or the word's idf over the largest idf."
COMBINATION_TEXT = "Add the two models' scores, or score the sum of their last hidden layers by a network."
PADDED_QUERY = "Maximum query length; shorter queries are padded."
PADDED_DOCUMENT = "Maximum document length; shorter documents are padded."


class WordInputConfig(Section):
    """What every ranker over words reads; `ranker` is its class in `irpretrain.models.neural`."""

    ranker: ClassVar[str]

    collection: str = Field(
        description="Key of the collection that gives the vocabulary and the initial word vectors "
        "(`word_vectors`). It must hold the corpora of training and test."
    )
    minimum_count: int = Field(
        1,
        ge=1,
        description="Words with fewer occurrences in the collection are unknown and skipped in queries and "
        "documents.",
        json_schema_extra={"unit": "words"},
    )
    stop_list: StopList = Field("none", description="Words dropped from queries and documents.")
    query_words: int = Field(
        20, ge=1, description="Maximum query length.", json_schema_extra={"unit": "words"}
    )
    document_words: int = Field(
        256, ge=1, description="Maximum document length.", json_schema_extra={"unit": "words"}
    )

    @property
    def needs_vectors(self) -> bool:
        """Whether the ranker begins with word vectors."""
        return True


class KernelConfig(WordInputConfig):
    """Kernel pooling, of KNRM and Conv-KNRM."""

    embeddings: Embeddings = Field("trained", description=EMBEDDINGS_TEXT)
    kernels: int = Field(
        11,
        ge=2,
        description="Number of kernels: one for exact matches with mean 1; the means of the others are the "
        "middles of equal intervals of [-1, 1].",
    )
    sigma: float = Field(0.1, gt=0, description="Standard deviation of the other kernels.")
    exact_sigma: float = Field(1e-3, gt=0, description="Standard deviation of the exact-match kernel.")
    log_scale: float = Field(0.01, gt=0, description="Factor of the logarithms (the released code's).")
    score: Literal["tanh", "linear"] = Field(
        "tanh", description="tanh of the weighted features (papers), or the weighted features."
    )


class KnrmConfig(KernelConfig):
    """KNRM (Xiong et al., SIGIR 2017)."""

    ranker: ClassVar[str] = "knrm.Knrm"
    type: Literal["knrm"] = Field(description="Which ranker.")


class ConvKnrmConfig(KernelConfig):
    """Conv-KNRM (Dai et al., WSDM 2018)."""

    ranker: ClassVar[str] = "conv_knrm.ConvKnrm"
    type: Literal["conv-knrm"] = Field(description="Which ranker.")
    ngrams: int = Field(
        3,
        ge=1,
        le=9,
        description="Longest n-gram; all lengths from 1 up are matched.",
        json_schema_extra={"unit": "words"},
    )
    filters: int = Field(128, ge=1, description="Size of an n-gram's vector.")
    cross_match: bool = Field(True, description="Match n-grams of different lengths too.")


class DrmmConfig(WordInputConfig):
    """DRMM (Guo et al., CIKM 2016). Its histograms have no gradient, so its word vectors stay as they are."""

    ranker: ClassVar[str] = "drmm.Drmm"
    type: Literal["drmm"] = Field(description="Which ranker.")
    query_words: int = Field(
        50, ge=1, description="Longest query; the rest is cut off.", json_schema_extra={"unit": "words"}
    )
    document_words: int = Field(
        5000, ge=1, description="Longest document; the rest is cut off.", json_schema_extra={"unit": "words"}
    )
    bins: int = Field(
        30, ge=2, description="Bins of the similarity histogram; the last bin counts equal words only."
    )
    histogram: Literal["log-count", "count", "normalised"] = Field(
        "log-count",
        description="ln(1 + count), the count, or the count divided by the document's length.",
    )
    hidden: list[Annotated[int, Field(ge=1)]] = Field(
        [5], description="Sizes of the matching network's hidden layers."
    )
    gate: Literal["idf", "vector"] = Field(
        "idf", description="Weight of a query word: from its idf, or from its vector."
    )


class DuetOptions(WordInputConfig):
    """What both Duets have."""

    ranker: ClassVar[str] = "duet.Duet"
    distributed: Literal["ngraphs", "words"] = Field("ngraphs", description=DISTRIBUTED_TEXT)
    embeddings: Embeddings = Field("trained", description=f"{EMBEDDINGS_TEXT} Of `distributed: words` only.")
    ngraphs: int = Field(2000, ge=1, description="Vocabulary of character n-graphs: the most frequent ones.")
    ngraph_length: int = Field(
        5, ge=1, le=9, description="Longest n-graph.", json_schema_extra={"unit": "characters"}
    )
    matches: Literal["binary", "idf"] = Field("binary", description=MATCHES_TEXT)
    activation: Literal["tanh", "relu"] = Field("tanh", description="Of all layers.")
    combination: Literal["sum", "network"] = Field("sum", description=COMBINATION_TEXT)
    hidden: int = Field(300, ge=1, description="Size of every layer.")
    window: int = Field(
        3,
        ge=1,
        description="Width of the distributed model's convolutions.",
        json_schema_extra={"unit": "words"},
    )
    pooling: int = Field(
        100,
        ge=1,
        description="Max-pooling size over neighbouring windows of the document.",
        json_schema_extra={"unit": "windows"},
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="In training.")

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

    type: Literal["duet"] = Field(description="Which ranker.")
    query_words: int = Field(10, ge=1, description=PADDED_QUERY, json_schema_extra={"unit": "words"})
    document_words: int = Field(1000, ge=1, description=PADDED_DOCUMENT, json_schema_extra={"unit": "words"})


class DuetV2Config(DuetOptions):
    """Duet v2 (Mitra and Craswell, 2019): word vectors, idf, ReLU, and a network in place of the sum."""

    type: Literal["duet-v2"] = Field(description="Which ranker.")
    query_words: int = Field(20, ge=1, description=PADDED_QUERY, json_schema_extra={"unit": "words"})
    document_words: int = Field(200, ge=1, description=PADDED_DOCUMENT, json_schema_extra={"unit": "words"})
    distributed: Literal["ngraphs", "words"] = Field("words", description=DISTRIBUTED_TEXT)
    matches: Literal["binary", "idf"] = Field("idf", description=MATCHES_TEXT)
    activation: Literal["tanh", "relu"] = Field("relu", description="Of all layers.")
    combination: Literal["sum", "network"] = Field("network", description=COMBINATION_TEXT)
    dropout: float = Field(0.5, ge=0, lt=1, description="In training.")


NeuralConfig = Annotated[
    KnrmConfig | ConvKnrmConfig | DrmmConfig | DuetConfig | DuetV2Config, Field(discriminator="type")
]
