"""Sections `retrieval`, `indexes`, `first_stages` and `reranking`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from irpretrain.config.base import Section
from irpretrain.config.compute import ComputeConfig
from irpretrain.config.corpora import ENTRY, FileConfig, check_measures
from irpretrain.config.training import SequenceConfig
from irpretrain.corpora.registry import Kind


class Bm25Config(Section):
    """BM25 (Robertson and Walker)."""

    k1: float = Field(0.9, ge=0, description="Saturation of term frequency.")
    b: float = Field(0.4, ge=0, le=1, description="Strength of length normalisation.")


class QueryLikelihoodConfig(Section):
    """Query likelihood with Dirichlet smoothing."""

    mu: float = Field(1000.0, gt=0, description="Dirichlet prior.", json_schema_extra={"unit": "words"})


class JelinekMercerConfig(Section):
    """Query likelihood with Jelinek-Mercer smoothing."""

    smoothing: float = Field(0.1, gt=0, le=1, description="λ, the share of the collection's language model.")


class IndriConfig(Section):
    """First stages of model `indri`: analysis and smoothing.

    DeepCT (section 6) speaks of Indri's standard stemming and stop words. The defaults are from Indri's documentation:
    μ = 2500, Krovetz (quick start) and INQUERY's list.
    """

    stemmer: Literal["krovetz", "porter", "none"] = Field("krovetz", description="Stemmer.")
    stop_list: Literal["inquery", "lucene", "none"] = Field(
        "inquery",
        description="Stop words: the 418 of INQUERY, which come with Indri, or Lucene's 33.",
    )
    mu: float = Field(2500.0, gt=0, description="Dirichlet prior.", json_schema_extra={"unit": "words"})


RankingModel = Literal["bm25", "ql", "ql-jm"]
"""BM25; query likelihood with Dirichlet and with Jelinek-Mercer smoothing."""
StageModel = Literal["bm25", "ql", "ql-jm", "indri"]
"""The same, and Indri's query likelihood for weighted and structured queries."""
QueryWords = Literal["lucene", "alphanumeric", "letters"]
"""How a query is cut into words before it is analysed: by Lucene's tokeniser, or as `text.words` cuts documents."""

K1 = Annotated[float, Field(ge=0)]
B = Annotated[float, Field(ge=0, le=1)]
Mu = Annotated[float, Field(gt=0)]
Smoothing = Annotated[float, Field(gt=0, le=1)]


class SweepConfig(Section):
    """The parameter grid for tuning a first stage."""

    measure: str = Field(
        "RR@10", description="Measure whose best mean decides; on a tie the first in the grid wins."
    )
    k1: list[K1] = Field(
        [0.6, 0.9, 1.2, 2.0, 4.0, 7.0, 10.0, 14.0, 18.0], min_length=1, description="Of BM25."
    )
    b: list[B] = Field([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], min_length=1, description="Of BM25.")
    mu: list[Mu] = Field(
        [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0],
        min_length=1,
        description="Of query likelihood (Dirichlet).",
    )
    smoothing: list[Smoothing] = Field(
        [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        min_length=1,
        description="Of query likelihood (Jelinek-Mercer).",
    )

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, given: str) -> str:
        return str(check_measures(given))

    @field_validator("k1", "b", "mu", "smoothing")
    @classmethod
    def _check_values(cls, given: list[float]) -> list[float]:
        if sorted(set(given)) != given:
            raise ValueError("values of a grid must rise, each given once")
        return given


BUILT_IN_FIRST_STAGES = ("bm25", "ql")
"""First stages over the tf index, with the parameters of `retrieval`."""
TF_INDEX = "tf"
"""What `first_stages.<name>.index` calls the index of term frequencies."""


class ParametersConfig(Section):
    """Parameters of a first stage; null: from `retrieval`, for indri from `retrieval.indri`."""

    k1: K1 | None = Field(None, description="Of BM25.")
    b: B | None = Field(None, description="Of BM25.")
    mu: Mu | None = Field(None, description="Of query likelihood (Dirichlet) and of indri.")
    smoothing: Smoothing | None = Field(None, description="Of query likelihood (Jelinek-Mercer).")

    def given(self) -> dict[str, float]:
        """Return those that are not null."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


MODEL_PARAMETERS: dict[StageModel, tuple[str, ...]] = {
    "bm25": ("k1", "b"),
    "ql": ("mu",),
    "ql-jm": ("smoothing",),
    "indri": ("mu",),
}
"""Which parameters each ranking model has."""


class DependenceConfig(Section):
    """Sequential dependence (Metzler and Croft, 2005): weights of the three parts of a query."""

    terms: float = Field(
        0.8, ge=0, description="Weight of the single terms, which may have weights of their own."
    )
    ordered: float = Field(0.1, ge=0, description="Weight of neighbouring terms as a phrase, #od1.")
    unordered: float = Field(
        0.1, ge=0, description="Weight of neighbouring terms in any order within a window, #uw."
    )
    window: int = Field(8, ge=2, description="Size of that window.", json_schema_extra={"unit": "words"})


class RunConfig(FileConfig):
    """Run files of others for the queries of a data set."""

    kind: ClassVar[Kind] = "runs"

    format: str = Field("trec", description="trec, tsv, or another one in docs/corpora.md.")
    order_by: Literal["score", "rank"] = Field(
        "score",
        description="score: order by score; ranks that contradict it are an error. rank: order by rank and "
        "ignore scores (such as distances).",
    )
    depth: int | None = Field(
        None,
        ge=1,
        description="Documents taken of each query; null: `retrieval.depth`.",
        json_schema_extra={"unit": "documents"},
    )
    unknown_documents: Literal["refuse", "drop"] = Field(
        "refuse", description="Documents outside the corpus: an error, or dropped and counted."
    )
    missing_queries: Literal["refuse", "ignore"] = Field(
        "refuse", description="Queries of the data set without a document: an error, or counted."
    )
    entry: str | None = Field(None, description=ENTRY)


class FirstStageConfig(Section):
    """A way to retrieve candidates: an index with a ranking model, or run files of others."""

    label: str = Field(description="Name in tables.")
    index: str = Field(
        TF_INDEX,
        description="tf (the index of term frequencies), or a key of `indexes` or `term_weights`.",
    )
    model: StageModel = Field(
        "bm25",
        description="By Lucene: bm25, query likelihood with Dirichlet (ql) or Jelinek-Mercer smoothing "
        "(ql-jm). indri: Indri's query likelihood over positions, with the analysis of "
        "`retrieval.indri`.",
    )
    query_weights: str | None = Field(
        None,
        description="For indri: key of the `term_weights` for query terms; null: term counts.",
    )
    dependence: DependenceConfig | None = Field(
        None, description="For indri: sequential dependence; null: bag of words."
    )
    depth: int | None = Field(
        None,
        ge=1,
        description="Candidates a query; null: `retrieval.depth`.",
        json_schema_extra={"unit": "documents"},
    )
    parameters: ParametersConfig = Field(
        default_factory=ParametersConfig, description="Parameters of the model if they are not tuned."
    )
    tuned_on: str | None = Field(
        None,
        description="Key of the data set whose queries choose the parameters in `sweep`; none of these "
        "queries may be tested. null: the parameters are fixed.",
    )
    sweep: SweepConfig | None = Field(None, description="Its own grid; null: `retrieval.sweep`.")
    runs: dict[str, RunConfig] = Field(
        default_factory=dict,
        description="Run files of others instead of a search, by the key of their data set. Other keys with "
        "an effect: `label`, `training_candidates`.",
    )
    training_candidates: str | None = Field(
        None,
        description="For runs of others: first stage whose candidates fine-tune models if the training data "
        "set has no run. null: it must have one.",
    )


class TextRankConfig(Section):
    """TextRank (Mihalcea and Tarau, 2004): PageRank of the words of each text."""

    type: Literal["textrank"] = Field(description="Which kind of index.")
    scale: int = Field(
        100, ge=1, description="N: a weight is round(N × PageRank); weights below 1 are dropped."
    )
    window: int = Field(
        4,
        ge=2,
        description="Words within a window of this size are linked; 2: neighbours only.",
        json_schema_extra={"unit": "words"},
    )
    damping: float = Field(0.85, ge=0, lt=1, description="Probability of following a link.")


class ExpansionConfig(Section):
    """Documents plus text from a file, such as the queries of Doc2Query (Nogueira et al., 2019)."""

    type: Literal["expansion"] = Field(description="Which kind of index.")
    path: str = Field(
        min_length=1,
        description="Text to add by document: tab-separated lines `document_id, text`; JSON lines with "
        "`document_id` (or `id`) and `queries` (a list) or `text`; or a Parquet table of "
        "expansions. May be gzipped.",
    )
    times: int = Field(
        1, ge=1, description="How often the added text counts; the document's text counts once."
    )


class Doc2QueryConfig(Section):
    """Documents plus queries that a sequence-to-sequence model writes (Doc2Query)."""

    type: Literal["doc2query"] = Field(description="Which kind of index.")
    model: str = Field(
        min_length=1,
        description="Hugging Face directory of a model trained to write queries, of any architecture for "
        "AutoModelForSeq2SeqLM (T5, BART), with model.safetensors and tokenizer.json; or "
        "embedded:<asset>.",
    )
    prefix: str = Field(
        "", description="Prefix that the model expects before a document, with its final space."
    )
    max_length: int = Field(
        512,
        ge=8,
        description="Maximum input length with special tokens; the rest of a document is ignored.",
        json_schema_extra={"unit": "word pieces"},
    )
    queries: int = Field(
        10,
        ge=1,
        description="Queries per document (docT5query: 40 and more).",
        json_schema_extra={"unit": "queries"},
    )
    decoding: Literal["sampling", "beam"] = Field(
        "sampling",
        description="sampling: draw each piece among the `top_k` most probable ones. beam: a beam search of "
        "width `queries`.",
    )
    top_k: int = Field(10, ge=1, description="For sampling: number of most probable pieces to draw from.")
    query_length: int = Field(
        64, ge=1, description="Maximum query length.", json_schema_extra={"unit": "word pieces"}
    )
    times: int = Field(1, ge=1, description="How often the queries count; the document's text counts once.")
    seed: Annotated[int, Field(ge=0)] = Field(1, description="Seed of the draws.")
    batch_queries: int = Field(
        64, ge=1, description="Queries written at once.", json_schema_extra={"unit": "queries"}
    )
    block: int = Field(
        512,
        ge=1,
        description="Documents sorted by length together.",
        json_schema_extra={"unit": "documents"},
    )
    compute: ComputeConfig = Field(default_factory=ComputeConfig, description="Threads, precision, device.")


IndexConfig = Annotated[TextRankConfig | ExpansionConfig | Doc2QueryConfig, Field(discriminator="type")]


class RetrievalConfig(Section):
    """First-stage retrieval with Lucene through Anserini."""

    depth: int = Field(
        200, ge=1, description="Candidates per query.", json_schema_extra={"unit": "documents"}
    )
    bm25: Bm25Config = Field(default_factory=Bm25Config, description="BM25 parameters.")
    query_likelihood: QueryLikelihoodConfig = Field(
        default_factory=QueryLikelihoodConfig, description="QL parameters."
    )
    jelinek_mercer: JelinekMercerConfig = Field(
        default_factory=JelinekMercerConfig, description="Parameters of QL with Jelinek-Mercer smoothing."
    )
    sweep: SweepConfig = Field(default_factory=SweepConfig, description="Grid for `tuned_on`.")
    stemmer: Literal["porter", "krovetz", "none"] = Field(
        "porter", description="Stemmer of the Lucene analyser."
    )
    stop_list: Literal["lucene", "none"] = Field(
        "lucene", description="Stop words of index and queries: Lucene's 33, or none."
    )
    indri: IndriConfig = Field(default_factory=IndriConfig, description="First stages of model indri.")
    threads: int = Field(
        2,
        ge=1,
        description="Threads of indexing and search. Results do not depend on it.",
        json_schema_extra={"unit": "threads"},
    )
    memory_mb: int = Field(2048, ge=256, description="Java heap.", json_schema_extra={"unit": "MB"})

    def parameters_of(self, model: RankingModel) -> dict[str, float]:
        """Return the parameters of a ranking model by name."""
        if model == "bm25":
            return {"k1": self.bm25.k1, "b": self.bm25.b}
        if model == "ql":
            return {"mu": self.query_likelihood.mu}
        return {"smoothing": self.jelinek_mercer.smoothing}

    def with_parameters(self, parameters: dict[str, float]) -> RetrievalConfig:
        """Return these options with parameters of ranking models in the place of their own."""
        bm25 = {"k1": self.bm25.k1, "b": self.bm25.b}
        bm25 |= {name: parameters[name] for name in bm25 if name in parameters}
        changed: dict[str, Section] = {"bm25": Bm25Config(**bm25)}
        if "mu" in parameters:
            changed["query_likelihood"] = QueryLikelihoodConfig(mu=parameters["mu"])
            changed["indri"] = self.indri.model_copy(update={"mu": parameters["mu"]})
        if "smoothing" in parameters:
            changed["jelinek_mercer"] = JelinekMercerConfig(smoothing=parameters["smoothing"])
        return self.model_copy(update=changed)


class PassagesConfig(Section):
    """Documents cut into passages; each passage gets its own score (Dai and Callan, SIGIR 2019)."""

    words: int = Field(150, ge=1, description="Length of a passage.", json_schema_extra={"unit": "words"})
    stride: int = Field(75, ge=1, description="Distance between starts.", json_schema_extra={"unit": "words"})
    score: Literal["max", "first", "sum"] = Field(
        "max",
        description="A document's score: of its best passage, of its first, or the sum.",
    )
    most: int | None = Field(
        30,
        ge=1,
        description="Maximum passages per document, evenly spaced with first and last; null: all.",
        json_schema_extra={"unit": "passages"},
    )
    most_in_training: int | None = Field(
        8, ge=1, description="The same in fine-tuning.", json_schema_extra={"unit": "passages"}
    )

    @model_validator(mode="after")
    def _check_stride(self) -> Self:
        if self.stride > self.words:
            raise ValueError(
                f"stride {self.stride} is more than words {self.words}, so what lies between passages would not be "
                "read; lower stride"
            )
        return self


class RerankingConfig(SequenceConfig):
    """Scoring of candidates by a cross-encoder. Fine-tuned models use the lengths of `finetuning`."""

    depth: int | None = Field(
        None,
        ge=1,
        description="Re-rank only this many candidates; null: all.",
        json_schema_extra={"unit": "documents"},
    )
    batch_tokens: int = Field(
        16384,
        ge=512,
        description="Word pieces per batch; padding counts if it is computed (`compute.packing`).",
        json_schema_extra={"unit": "word pieces"},
    )
    passages: PassagesConfig | None = Field(
        None,
        description="Cut documents into passages, in fine-tuning too. null: a document is one sequence, cut "
        "at its end.",
    )
    compute: ComputeConfig = Field(default_factory=ComputeConfig, description="Threads, precision, device.")
