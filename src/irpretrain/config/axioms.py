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
    """How the temperature `calibrated` is found: by the ranks of documents under their pseudo-queries
    (docs/methods/ares.md)."""

    documents: int = Field(
        1000,
        ge=1,
        description="Documents drawn at random by the seed; a larger sample contains a smaller one.",
        json_schema_extra={"unit": "documents"},
    )
    per_document: int = Field(
        4,
        ge=1,
        description="Pseudo-queries of each at every temperature that is tried: the first of those that it would have.",
        json_schema_extra={"unit": "queries"},
    )
    lowest: float = Field(1e-4, ge=1e-9, description="Smallest temperature that is tried.")
    highest: float = Field(1.0, ge=1e-9, description="Largest temperature that is tried.")
    precision: float = Field(
        0.01,
        gt=0,
        le=1,
        description="The search ends when its steps are smaller, relative to the temperature.",
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
        description="Poisson mean of a query's length; lengths of zero are drawn again.",
        json_schema_extra={"unit": "words"},
    )
    length_most: int = Field(
        20, ge=1, le=1000, description="Larger lengths are drawn again.", json_schema_extra={"unit": "words"}
    )
    lengths: Literal["document", "query"] = Field(
        "document",
        description="document: all queries of a document have the length that is drawn for it, so any two make a pair; "
        "query: each has its own, and only queries of equal length make pairs.",
    )
    support: Literal["document", "collection"] = Field(
        "collection",
        description="Words that can be drawn: the document's own, or the whole vocabulary, as equation 6 has it, which "
        "needs a temperature that fits the collection (docs/methods/ares.md).",
    )
    temperature: Temperature = Field(
        "calibrated",
        description="γ is divided by it before the softmax of equation 6. Smaller values prefer the words with the "
        "largest divergence; with support collection, 1 draws from the whole vocabulary almost uniformly. calibrated: "
        "each collection gets the temperature at which its pseudo-queries rank their documents most like the paper's "
        "(`calibration`). A number holds for every collection.",
    )
    calibration: CalibrationConfig = Field(
        default_factory=CalibrationConfig, description="How the temperature `calibrated` is found."
    )
    repeats: bool = Field(False, description="Whether a word may occur twice in a query, which is a set.")
    mu: float | Literal["mean-document-length"] = Field(
        "mean-document-length",
        description="Dirichlet prior of P(w|D) in equation 3.",
        json_schema_extra={"unit": "words"},
    )
    stop_list: StopList = Field(
        "inquery", description="Words that are never drawn and not counted in document length."
    )
    minimum_count: int = Field(
        1,
        ge=1,
        description="Words with fewer occurrences in the collection are not in the vocabulary.",
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
    """Word vectors of the axioms REG and STM, of weights of words and of rankers without pre-training."""

    files: dict[str, str] = Field(
        default_factory=dict,
        description="Collection → a file of vectors for it, in word2vec's text or binary format or in GloVe's. Those "
        "of other collections are trained on them: word2vec (skip-gram, negative sampling; Mikolov et al., 2013) by "
        "gensim.",
    )
    dimensions: int = Field(100, ge=2, description="Size of a trained vector.")
    window: int = Field(
        5, ge=1, description="Words of context on each side.", json_schema_extra={"unit": "words"}
    )
    negatives: int = Field(5, ge=1, description="Noise words a context word.")
    epochs: int = Field(
        5, ge=1, description="Passes over the collection.", json_schema_extra={"unit": "epochs"}
    )
    learning_rate: float = Field(
        0.025,
        gt=0,
        description="At the start of training; it falls to 0.0001. A few million words need more, such as 0.1.",
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
        description="Train on documents, drawn at random by the seed, until so many words are reached; null: on all.",
        json_schema_extra={"unit": "words"},
    )


class AxiomsConfig(Section):
    """How the values behind the axioms are computed; docs/methods/axioms.md has the definitions."""

    stemming: Literal["none", "porter"] = Field(
        "porter",
        description="What makes two words the same term, in all axioms but REG's and STM's similarities.",
    )
    stop_list: StopList = Field(
        "inquery",
        description="Words that are no terms: left out of queries and of document length, not of positions.",
    )
    bm25: Bm25Config = Field(
        default_factory=lambda: Bm25Config(k1=3.8, b=0.87), description="BM25 of the RANK axiom."
    )
    rank_depth: int = Field(
        50, ge=1, description="RANK beyond it is +∞.", json_schema_extra={"unit": "documents"}
    )
    rank_lengths: Literal["exact", "lucene"] = Field(
        "exact", description="Document lengths in BM25: exact, or in one lossy byte as Lucene keeps them."
    )
    ql_mu: float | Literal["mean-document-length"] = Field(
        "mean-document-length",
        description="Dirichlet prior of REP-QL.",
        json_schema_extra={"unit": "words"},
    )
    missing_terms: Literal["worst", "skipped"] = Field(
        "worst",
        description="PROX of a query of which the document lacks a term: worse than any with all terms, or computed "
        "from the terms that it holds.",
    )
    stm_2_threshold: float = Field(
        0.05,
        ge=0,
        description="STM-2 compares matched terms where STM-1's similarities differ by less than this.",
    )
    stm_3_threshold: float = Field(
        0.6, ge=-1, le=1, description="STM-3 counts words whose similarity with the document is above this."
    )
    threads: int = Field(
        2,
        ge=1,
        description="Threads of RANK; results do not depend on them.",
        json_schema_extra={"unit": "threads"},
    )
    memory_mb: int = Field(
        4000,
        ge=256,
        description="Memory in which postings are built; results do not depend on it.",
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
    """A preference predictor: which of two queries a document answers, from the axioms (ARES, section 4.2)."""

    label: str = Field(description="Name in tables.")
    collection: str = Field(
        description="Key of the collection whose pseudo-queries are the negative queries."
    )
    dataset: str = Field(
        description="Key of the data set whose queries are the positive ones for their relevant documents; its corpus "
        "is in the collection."
    )
    judged_terms: Literal["all", "held"] = Field(
        "all",
        description="Terms of a positive query: all, or those that its document holds, which needs "
        "pseudo_queries.support document: such pseudo-queries lack no term, so with all the lack of one tells the two "
        "apart. With support collection most pseudo-queries lack a term, so held would tell the two apart, and is "
        "refused.",
    )
    setting: Literal["I", "II", "III", "IV"] = Field(
        "I",
        description="Negative queries (table 2): I, any pseudo-query of the document; II, by softmax(1 / RANK); III, "
        "as I, of documents that have a pseudo-query of RANK 1; IV, those of RANK `setting_iv_rank` at most.",
    )
    setting_iv_rank: int = Field(
        5, ge=1, description="Largest RANK in setting IV.", json_schema_extra={"unit": "documents"}
    )
    setting_iv_judged: Literal["all", "limited"] = Field(
        "all",
        description="Positive queries of setting IV: all, or those whose own RANK is `setting_iv_rank` at most. Among "
        "all, a good RANK can mark the negative ones, so that the predictor learns to prefer the worse RANK.",
    )
    axioms: list[Axiom] = Field(
        list(AXIOMS), min_length=1, description="Features; a subset makes an ablation."
    )
    model: Literal["boosted", "forest"] = Field(
        "boosted",
        description="XGBoost's boosted trees (paper), or its random forest (released loader).",
    )
    trees: int = Field(100, ge=1, description="Trees.", json_schema_extra={"unit": "trees"})
    depth: int = Field(6, ge=1, le=16, description="Largest depth of a tree.")
    learning_rate: float = Field(0.3, gt=0, le=1, description="Shrinkage of boosted trees.")
    test_share: float = Field(
        0.1, gt=0, lt=1, description="Share of the documents whose pairs the AUC is measured on."
    )
    folds: int = Field(
        2,
        ge=2,
        description="Folds of cross-validation on the other documents; the best model of the folds predicts.",
    )
    most_pairs: int | None = Field(
        None,
        ge=10,
        description="Use this many pairs, drawn at random by the seed; null for all.",
        json_schema_extra={"unit": "pairs"},
    )
    bootstrap: int = Field(
        1000, ge=100, description="Resamples of the test documents for the interval of the AUC."
    )
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1],
        min_length=1,
        description="Seeds of negatives, orientation, split and trees; the first one's model is used.",
    )

    @model_validator(mode="after")
    def _check_axioms(self) -> PredictorConfig:
        if len(set(self.axioms)) < len(self.axioms):
            raise ValueError("axioms: names an axiom twice")
        return self


class DiagnosisConfig(Section):
    """For each axiom, how often a re-ranker prefers the pseudo-query that the axiom prefers."""

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
