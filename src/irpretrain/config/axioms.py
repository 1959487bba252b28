"""Sections `pseudo_queries`, `axioms`, `word_vectors`, `predictors` and `diagnoses`: ARES (Chen et al., SIGIR 2022)."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from irpretrain.config.base import Section
from irpretrain.config.retrieval import Bm25Config
from irpretrain.text.stop_words import StopList

Axiom = Literal["RANK", "REP-QL", "REP-TFIDF", "PROX-1", "PROX-2", "REG", "STM-1", "STM-2", "STM-3"]
"""The nine axioms of ARES, table 1."""
AXIOMS: tuple[Axiom, ...] = (
    "RANK",
    "REP-QL",
    "REP-TFIDF",
    "PROX-1",
    "PROX-2",
    "REG",
    "STM-1",
    "STM-2",
    "STM-3",
)


Temperature = Annotated[float, Field(ge=1e-9)] | Literal["calibrated"]


class CalibrationConfig(Section):
    """Search for the temperature `calibrated` (docs/methods/ares.md)."""

    documents: int = Field(
        1000,
        ge=1,
        description="Documents drawn at random by the seed.",
        json_schema_extra={"unit": "documents"},
    )
    per_document: int = Field(
        4,
        ge=1,
        description="Pseudo-queries of each document at every temperature tried.",
        json_schema_extra={"unit": "queries"},
    )
    lowest: float = Field(1e-4, ge=1e-9, description="Smallest temperature tried.")
    highest: float = Field(1.0, ge=1e-9, description="Largest temperature tried.")
    precision: float = Field(
        0.01,
        gt=0,
        le=1,
        description="The search ends when its steps are smaller than this share of the temperature.",
    )

    @model_validator(mode="after")
    def _check_bounds(self) -> CalibrationConfig:
        if not self.lowest < self.highest < math.inf:
            raise ValueError(f"lowest: {self.lowest} is not below highest, which is {self.highest}")
        return self


class PseudoQueriesConfig(Section):
    """Pseudo-queries from the contrastive term distribution (ARES, section 4.1)."""

    per_document: int = Field(
        10, ge=2, description="Pseudo-queries of each document.", json_schema_extra={"unit": "queries"}
    )
    length_mean: float = Field(
        3.0,
        gt=0,
        description="Poisson mean of the query length; zeros are drawn again.",
        json_schema_extra={"unit": "words"},
    )
    length_most: int = Field(
        20,
        ge=1,
        le=1000,
        description="Maximum query length; larger draws are repeated.",
        json_schema_extra={"unit": "words"},
    )
    lengths: Literal["document", "query"] = Field(
        "document",
        description="document: one length for all queries of a document, so any two make a pair. query: each "
        "query has its own length, and only queries of equal length make pairs.",
    )
    support: Literal["document", "collection"] = Field(
        "collection",
        description="Words that can be drawn: those of the document, or the whole vocabulary (equation 6).",
    )
    temperature: Temperature = Field(
        "calibrated",
        description="Divides γ before the softmax of equation 6; smaller values prefer words with a large "
        "divergence. calibrated: each collection gets the temperature at which pseudo-queries "
        "rank their documents most like the paper's (`calibration`).",
    )
    calibration: CalibrationConfig = Field(
        default_factory=CalibrationConfig, description="How the temperature `calibrated` is found."
    )
    repeats: bool = Field(False, description="Allow a word twice in a query.")
    mu: float | Literal["mean-document-length"] = Field(
        "mean-document-length",
        description="Dirichlet prior of P(w|D) in equation 3.",
        json_schema_extra={"unit": "words"},
    )
    stop_list: StopList = Field(
        "inquery", description="Words never drawn and not counted in document length."
    )
    minimum_count: int = Field(
        1,
        ge=1,
        description="Minimum occurrences of a word in the collection.",
        json_schema_extra={"unit": "words"},
    )

    def at(self, temperature: float) -> PseudoQueriesConfig:
        """Return the same options with this temperature."""
        return self.model_copy(update={"temperature": temperature})

    @model_validator(mode="after")
    def _check_mu(self) -> PseudoQueriesConfig:
        if self.mu != "mean-document-length" and not 0 <= self.mu < math.inf:
            raise ValueError(
                f"mu: {self.mu} is not at least 0; give a number of words or mean-document-length"
            )
        return self


class WordVectorsConfig(Section):
    """Word vectors for the axioms REG and STM, for term weights and for rankers over words."""

    files: dict[str, str] = Field(
        default_factory=dict,
        description="Collection → file of word vectors (word2vec, GloVe). Others are trained by gensim "
        "(skip-gram, negative sampling; Mikolov et al., 2013).",
    )
    dimensions: int = Field(100, ge=2, description="Size of a trained vector.")
    window: int = Field(
        5, ge=1, description="Context words on each side.", json_schema_extra={"unit": "words"}
    )
    negatives: int = Field(5, ge=1, description="Noise words per context word.")
    epochs: int = Field(
        5, ge=1, description="Passes over the collection.", json_schema_extra={"unit": "epochs"}
    )
    learning_rate: float = Field(
        0.025,
        gt=0,
        description="Initial rate; it falls to 0.0001. A few million words need more, such as 0.1.",
    )
    minimum_count: int = Field(
        5,
        ge=1,
        description="Words with fewer occurrences have no vector.",
        json_schema_extra={"unit": "words"},
    )
    most_words: int | None = Field(
        None,
        ge=1,
        description="Train on random documents until this many words are reached; null: on all.",
        json_schema_extra={"unit": "words"},
    )


class AxiomsConfig(Section):
    """Values of the axioms; definitions in docs/methods/axioms.md."""

    stemming: Literal["none", "porter"] = Field(
        "porter",
        description="Words with the same stem are the same term, except in the similarities of REG and STM.",
    )
    stop_list: StopList = Field(
        "inquery",
        description="Words that are no terms: dropped from queries and document length, but they keep their "
        "positions.",
    )
    bm25: Bm25Config = Field(
        default_factory=lambda: Bm25Config(k1=3.8, b=0.87), description="BM25 of the RANK axiom."
    )
    rank_depth: int = Field(
        50, ge=1, description="Deeper ranks count as +∞.", json_schema_extra={"unit": "documents"}
    )
    rank_lengths: Literal["exact", "lucene"] = Field(
        "exact", description="Document lengths in BM25: exact, or in one lossy byte as in Lucene."
    )
    ql_mu: float | Literal["mean-document-length"] = Field(
        "mean-document-length",
        description="Dirichlet prior of REP-QL.",
        json_schema_extra={"unit": "words"},
    )
    missing_terms: Literal["worst", "skipped"] = Field(
        "worst",
        description="PROX when the document lacks a query term. worst: worse than any document with all "
        "terms. skipped: computed from the present terms.",
    )
    stm_2_threshold: float = Field(
        0.05,
        ge=0,
        description="STM-2 compares matched terms if the STM-1 similarities differ by less than this.",
    )
    stm_3_threshold: float = Field(
        0.6, ge=-1, le=1, description="STM-3 counts words whose similarity to the document is above this."
    )
    threads: int = Field(
        2,
        ge=1,
        description="Threads of RANK. Results do not depend on it.",
        json_schema_extra={"unit": "threads"},
    )
    memory_mb: int = Field(
        4000,
        ge=256,
        description="Memory for building postings. Results do not depend on it.",
        json_schema_extra={"unit": "MB"},
    )

    @model_validator(mode="after")
    def _check_prior(self) -> AxiomsConfig:
        if self.ql_mu != "mean-document-length" and not 0 < self.ql_mu < math.inf:
            raise ValueError(
                f"ql_mu: {self.ql_mu} is not above 0; give a number of words or mean-document-length"
            )
        return self


class PredictorConfig(Section):
    """A preference predictor: chooses between two queries of a document by axioms (ARES, section 4.2)."""

    label: str = Field(description="Name in tables.")
    collection: str = Field(description="Key of the collection whose pseudo-queries are the negatives.")
    dataset: str = Field(
        description="Key of the data set whose queries are positives for their relevant documents. Its corpus "
        "must be in the collection."
    )
    judged_terms: Literal["all", "held"] = Field(
        "all",
        description="Terms of a positive query: all, or those its document holds. Use held with support "
        "document, whose pseudo-queries lack no term: otherwise a missing term marks the "
        "positive. With support collection held is refused.",
    )
    setting: Literal["I", "II", "III", "IV"] = Field(
        "I",
        description="Negative queries (table 2). I: any pseudo-query of the document. II: drawn by softmax(1 "
        "/ RANK). III: as I, from documents that have a pseudo-query of RANK 1. IV: those with "
        "RANK up to `setting_iv_rank`.",
    )
    setting_iv_rank: int = Field(
        5, ge=1, description="Largest RANK in setting IV.", json_schema_extra={"unit": "documents"}
    )
    setting_iv_judged: Literal["all", "limited"] = Field(
        "all",
        description="Positive queries of setting IV: all, or those with RANK up to `setting_iv_rank`. With "
        "all, the predictor may learn to prefer the worse RANK.",
    )
    axioms: list[Axiom] = Field(
        list(AXIOMS), min_length=1, description="Features; take a subset for an ablation."
    )
    model: Literal["boosted", "forest"] = Field(
        "boosted",
        description="XGBoost's boosted trees (paper) or its random forest (released loader).",
    )
    trees: int = Field(100, ge=1, description="Trees.", json_schema_extra={"unit": "trees"})
    depth: int = Field(6, ge=1, le=16, description="Largest depth of a tree.")
    learning_rate: float = Field(0.3, gt=0, le=1, description="Shrinkage of boosted trees.")
    test_share: float = Field(0.1, gt=0, lt=1, description="Share of documents whose pairs measure the AUC.")
    folds: int = Field(
        2,
        ge=2,
        description="Cross-validation folds over the other documents; the best fold's model predicts.",
    )
    most_pairs: int | None = Field(
        None,
        ge=10,
        description="Number of pairs (random); null: all.",
        json_schema_extra={"unit": "pairs"},
    )
    bootstrap: int = Field(1000, ge=100, description="Resamples of test documents for the AUC's interval.")
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1],
        min_length=1,
        description="Seeds of negatives, orientation, split and trees. The model of the first seed is used.",
    )

    @model_validator(mode="after")
    def _check_axioms(self) -> PredictorConfig:
        if len(set(self.axioms)) < len(self.axioms):
            raise ValueError("axioms: names an axiom twice")
        return self


class DiagnosisConfig(Section):
    """For each axiom: how often a re-ranker agrees with the axiom on pairs of pseudo-queries."""

    label: str = Field(description="Name in tables.")
    collection: str = Field(description="Key of the collection whose pseudo-queries are scored.")
    models: list[str] = Field(min_length=1, description="Keys of `models`, scored as they are (zero-shot).")
    documents: int = Field(
        200, ge=1, description="Documents drawn by the seed.", json_schema_extra={"unit": "documents"}
    )
    pairs_per_document: int = Field(
        2, ge=1, description="Random pairs of pseudo-queries of each.", json_schema_extra={"unit": "pairs"}
    )
    seed: Annotated[int, Field(ge=0)] = Field(1, description="Seed of the models.")
