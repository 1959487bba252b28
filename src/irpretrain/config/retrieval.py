"""Sections `retrieval`, `indexes`, `first_stages` and `reranking`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from irpretrain.config.base import Section, option
from irpretrain.config.corpora import ENTRY, FileConfig, Measure
from irpretrain.config.training import ComputeConfig, SequenceConfig
from irpretrain.corpora.registry import Kind


class Bm25Config(Section):
    """BM25 (Robertson and Walker)."""

    k1: float = option(0.9, "Saturation of term frequency.", ge=0)
    b: float = option(0.4, "Strength of length normalisation.", ge=0, le=1)


class QueryLikelihoodConfig(Section):
    """Query likelihood with Dirichlet smoothing."""

    mu: float = option(1000.0, "Dirichlet prior.", unit="words", gt=0)


class IndriOptions(NamedTuple):
    """First stages of model `indri`: how texts are analysed, and how queries are scored.

    The defaults are from Indri's documentation; DeepCT (section 6) names only "standard" stemming and stop words.
    """

    stemmer: Literal["krovetz", "porter", "none"] = "krovetz"
    stop_list: Literal["inquery", "lucene", "none"] = "inquery"
    mu: float = 2500.0  # Dirichlet prior, in words
    dependence: bool = False  # sequential dependence queries in place of bags of words


class JelinekMercerConfig(Section):
    """Query likelihood with Jelinek-Mercer smoothing."""

    smoothing: float = option(0.1, "λ, the share of the collection's language model.", gt=0, le=1)


# BM25; query likelihood with Dirichlet and with Jelinek-Mercer smoothing.
RankingModel = Literal["bm25", "ql", "ql-jm"]

# The same, and Indri's query likelihood for weighted and structured queries.
StageModel = Literal["bm25", "ql", "ql-jm", "indri"]
LUCENE_WORDS = "lucene"

# How a query is cut into words before it is analysed: by Lucene's tokeniser (LUCENE_WORDS), or as documents are (a
# `text.words.WordKind`).
QueryWords = str

K1 = Annotated[float, Field(ge=0)]
B = Annotated[float, Field(ge=0, le=1)]
Mu = Annotated[float, Field(gt=0)]
Smoothing = Annotated[float, Field(gt=0, le=1)]


class SweepConfig(Section):
    """The parameter grid for tuning a first stage."""

    measure: Measure = option("RR@10", "Measure whose best mean decides.")
    k1: list[K1] = option([0.6, 0.9, 1.2, 2.0, 4.0, 7.0, 10.0, 14.0, 18.0], "Of BM25.", min_length=1)
    b: list[B] = option([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "Of BM25.", min_length=1)
    mu: list[Mu] = option(
        [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0],
        "Of query likelihood (Dirichlet).",
        min_length=1,
    )
    smoothing: list[Smoothing] = option(
        [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "Of query likelihood (Jelinek-Mercer).",
        min_length=1,
    )

    @field_validator("k1", "b", "mu", "smoothing")
    @classmethod
    def _check_values(cls, values: list[float]) -> list[float]:
        if sorted(set(values)) != values:
            raise ValueError("values of a grid must rise, each given once")
        return values


# First stages over the tf index, with the parameters of `retrieval`.
BUILT_IN_FIRST_STAGES = ("bm25", "ql")

# What `first_stages.<name>.index` calls the index of term frequencies.
TF_INDEX = "tf"


class ParametersConfig(Section):
    """Parameters of a first stage; null: from `retrieval`, for indri its own default, mu 2500."""

    k1: K1 | None = option(None, "Of BM25.")
    b: B | None = option(None, "Of BM25.")
    mu: Mu | None = option(None, "Of query likelihood (Dirichlet) and of indri.")
    smoothing: Smoothing | None = option(None, "Of query likelihood (Jelinek-Mercer).")


# Which parameters each ranking model has.
MODEL_PARAMETERS: dict[StageModel, tuple[str, ...]] = {
    "bm25": ("k1", "b"),
    "ql": ("mu",),
    "ql-jm": ("smoothing",),
    "indri": ("mu",),
}

# Key of `retrieval` that has a ranking model's parameters.
MODEL_SECTIONS: dict[str, str] = {
    "bm25": "bm25",
    "ql": "query_likelihood",
    "ql-jm": "jelinek_mercer",
}


class DependenceConfig(Section):
    """Sequential dependence (Metzler and Croft, 2005). It has no keys: `irpretrain.retrieval.indri` has its weights."""


class RunConfig(FileConfig):
    """Run files of others for the queries of a data set."""

    kind: ClassVar[Kind] = "runs"

    format: str = option("trec", "trec, tsv, or another one in docs/corpora.md.")
    order_by: Literal["score", "rank"] | None = option(
        None,
        "score: ranks order equal scores only. rank: scores are ignored (such as distances). "
        "null: score, and ranks that contradict the scores are an error.",
    )
    unknown_documents: Literal["refuse", "drop"] = option(
        "refuse", "Documents outside the corpus: an error, or drop."
    )
    missing_queries: Literal["refuse", "ignore"] = option(
        "refuse", "Queries without a document: an error, or ignored."
    )
    entry: SkipJsonSchema[str | None] = option(None, ENTRY)


class FirstStageConfig(Section):
    """A way to retrieve candidates: an index with a ranking model, or run files of others."""

    label: str = option(..., "Name in tables.")
    index: str = option(
        TF_INDEX, "tf (the index of term frequencies), or a key of `indexes` or `term_weights`."
    )
    model: StageModel = option(
        "bm25",
        "bm25, query likelihood with Dirichlet (ql) or Jelinek-Mercer smoothing (ql-jm); "
        "indri: Indri's query likelihood over positions, with Krovetz' stemmer and INQUERY's stop words.",
    )
    candidates: str | None = option(
        None,
        "First stage whose candidates are all ranked, by the statistics of the whole index; "
        "null: search the whole index.",
    )
    query_weights: str | None = option(
        None, "For indri: key of the `term_weights` for query terms; null: term counts."
    )
    dependence: DependenceConfig | None = option(
        None, "For indri: {} is sequential dependence, with Indri's weights; null: bag of words."
    )
    parameters: ParametersConfig = option(
        ParametersConfig(), "Parameters of the model if they are not tuned."
    )
    tuned_on: str | None = option(
        None,
        "Key of the data set whose queries choose the parameters; none of them may be "
        "tested. null: fixed parameters.",
    )
    runs: dict[str, RunConfig] = option(
        {},
        "Run files of others instead of a search, by data set. Other keys with an "
        "effect: `label`, `training_candidates`.",
    )
    training_candidates: str | None = option(
        None,
        "For runs of others: first stage whose candidates fine-tune models if the training "
        "data set has no run.",
    )


class TextRankConfig(Section):
    """TextRank (Mihalcea and Tarau, 2004): PageRank of the words of each text."""

    type: Literal["textrank"] = option(..., "Which kind of index.")


class ExpansionConfig(Section):
    """Documents plus text from a file, such as the queries of Doc2Query (Nogueira et al., 2019)."""

    type: Literal["expansion"] = option(..., "Which kind of index.")
    path: str = option(
        ...,
        "Text to add by document: tab-separated lines `document_id, text`, or JSON lines with "
        "`document_id` (or `id`) and `queries` (a list) or `text`.",
        min_length=1,
    )


IndexConfig = Annotated[TextRankConfig | ExpansionConfig, Field(discriminator="type")]


class RetrievalConfig(Section):
    """First-stage retrieval with Lucene through Anserini."""

    depth: int = option(
        200,
        "Candidates per query of data sets that give no `depth`; measures look no deeper where nothing is re-ranked.",
        unit="documents",
        ge=1,
    )
    bm25: Bm25Config = option(Bm25Config(), "BM25 parameters.")
    query_likelihood: QueryLikelihoodConfig = option(QueryLikelihoodConfig(), "QL parameters.")
    jelinek_mercer: JelinekMercerConfig = option(
        JelinekMercerConfig(), "Parameters of QL with Jelinek-Mercer smoothing."
    )
    sweep: SweepConfig = option(SweepConfig(), "Grid for `tuned_on`.")
    stemmer: Literal["porter", "krovetz", "none"] = option("porter", "Stemmer of the Lucene analyser.")
    stop_list: Literal["lucene", "none"] = option(
        "lucene", "Stop words of index and queries: Lucene's 33, or none."
    )
    threads: int = option(
        2, "Threads of indexing and search. No effect on results.", unit="threads", decides=False, ge=1
    )
    memory_mb: int = option(
        2048, "Java heap of indexing; a search has 512 MB.", unit="MB", decides=False, ge=256
    )

    def parameters_of(self, model: RankingModel) -> dict[str, float]:
        section: Section = getattr(self, MODEL_SECTIONS[model])
        return section.model_dump()

    def with_parameters(self, parameters: dict[str, float]) -> RetrievalConfig:
        """Return these options with parameters of ranking models in the place of their own."""
        new_sections: dict[str, Section] = {}
        for key in MODEL_SECTIONS.values():
            section: Section = getattr(self, key)
            values = {name: parameters.get(name, value) for name, value in section.model_dump().items()}
            new_sections[key] = type(section)(**values)
        return self.model_copy(update=new_sections)


# Passages of a document that are read at most: as many as by the released code of BERT-maxP.
MAX_PASSAGES = 30


class PassagesConfig(Section):
    """Documents cut into passages; the best one gives the score (BERT-maxP; Dai and Callan, SIGIR 2019)."""

    words: int = option(150, "Length of a passage.", unit="words", ge=1)
    stride: int = option(75, "Distance between starts.", unit="words", ge=1)

    def faults(self) -> Iterator[str]:
        if self.stride > self.words:
            yield (
                f"stride {self.stride} is more than words {self.words}, so what lies between passages would not be "
                "read; lower stride"
            )


class RerankingConfig(SequenceConfig):
    """Scoring of candidates by a cross-encoder. Fine-tuned models use lengths and `compute` of `finetuning`."""

    depth: int | None = option(
        None,
        "Re-rank and score only this many candidates, first stages too; null: all.",
        unit="documents",
        ge=1,
    )
    batch_tokens: int | None = option(
        None,
        "Word pieces per batch, computed padding included. null: 2,048 on a processor, 65,536 on a GPU.",
        unit="word pieces",
        ge=512,
    )
    passages: PassagesConfig | None = option(
        None,
        "Cut documents into passages, in fine-tuning too. null: cut a document at its end.",
    )
    compute: ComputeConfig = option(ComputeConfig(), "Threads, precision, device.")
