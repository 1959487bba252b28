"""Sections `pseudo_queries`, `axioms`, `word_vectors`, `predictors` and `diagnoses`: ARES (Chen et al., SIGIR 2022)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from irpretrain.config.base import LISTED_ONCE, Names, Section, Seeds, needing, option
from irpretrain.config.retrieval import Bm25Config
from irpretrain.text.stop_words import StopList

# The nine axioms of ARES, table 1.
Axiom = Literal["RANK", "REP-QL", "REP-TFIDF", "PROX-1", "PROX-2", "REG", "STM-1", "STM-2", "STM-3"]
AXIOMS: tuple[Axiom, ...] = get_args(Axiom)

Temperature = Annotated[
    Annotated[float, Field(ge=1e-9)] | Literal["calibrated"], needing("a number from 1e-9 up, or calibrated,")
]


class PseudoQueriesConfig(Section):
    """Pseudo-queries from the contrastive term distribution (ARES, section 4.1)."""

    per_document: int = option(10, "Pseudo-queries of each document.", unit="queries", ge=2)
    support: Literal["document", "collection"] = option(
        "collection", "Words that can be drawn: the document's, or the whole vocabulary (equation 6)."
    )
    temperature: Temperature = option(
        "calibrated",
        "Divides γ in equation 6. calibrated: the value at which pseudo-queries rank their "
        "documents most like the paper's (docs/methods/ares.md).",
    )
    stop_list: StopList = option("inquery", "Words neither drawn nor counted.")
    minimum_count: int = option(50, "Minimum occurrences in the collection.", unit="words", ge=1)

    def at(self, temperature: float) -> PseudoQueriesConfig:
        """Return the same options with this temperature."""
        return self.model_copy(update={"temperature": temperature})


class WordVectorsConfig(Section):
    """Word vectors for the axioms REG and STM, for term weights and for rankers over words."""

    files: dict[str, str] = option(
        {},
        "Collection → file of word vectors (word2vec, GloVe). Vectors of other collections are trained "
        "(skip-gram, negative sampling; Mikolov et al., 2013).",
    )
    dimensions: int = option(100, "Size of a trained vector.", ge=2)
    epochs: int = option(5, "Passes over the collection.", unit="epochs", ge=1)
    learning_rate: float = option(
        0.025, "Initial rate; it falls to 0.0001. Small collections need more, such as 0.1.", gt=0
    )
    minimum_count: int = option(5, "Words with fewer occurrences have no vector.", unit="words", ge=1)
    most_words: int | None = option(
        None, "Train on random documents until this many words are reached; null: on all.", unit="words", ge=1
    )


class AxiomsConfig(Section):
    """Values of the axioms; definitions in docs/methods/axioms.md."""

    stemming: Literal["none", "porter"] = option(
        "porter", "Words with one stem are one term (not in REG and STM)."
    )
    stop_list: StopList = option(
        "inquery",
        "Words that are no terms; they keep their positions.",
    )
    bm25: Bm25Config = option(Bm25Config(k1=3.8, b=0.87), "BM25 of the RANK axiom.")
    rank_depth: int = option(50, "Deeper ranks count as +∞.", unit="documents", ge=1)
    missing_terms: Literal["worst", "skipped"] = option(
        "worst",
        "PROX when the document lacks a query term. worst: worst value. skipped: from the present terms.",
    )
    stm_2_threshold: float = option(0.05, "STM-2 compares terms if STM-1 differs by less.", ge=0)
    stm_3_threshold: float = option(
        0.6, "STM-3 counts words whose similarity to the document is above this.", ge=-1, le=1
    )
    threads: int = option(
        2,
        "Threads of RANK, and of a predictor's folds. No effect on results.",
        unit="threads",
        decides=False,
        ge=1,
    )
    memory_mb: int = option(
        4000, "Memory for building postings. No effect on results.", unit="MB", decides=False, ge=256
    )


class PredictorConfig(Section):
    """A preference predictor: chooses between two queries of a document by axioms (ARES, section 4.2)."""

    label: str = option(..., "Name in tables.")
    collection: str = option(..., "Key of the collection of the negatives.")
    dataset: str = option(
        ...,
        "Key of the data set whose queries are the positives. Its corpus must be in the collection.",
    )
    negative_terms: Literal["any", "equal"] = option(
        "any",
        "Terms of a negative query. any: a pseudo-query of the document (section 4.2), so that the predictor also "
        "learns lengths. equal: one drawn with as many terms as its positive query has.",
    )
    setting: Literal["I", "II", "III", "IV"] = option(
        "I",
        "Negative queries (table 2). I: any pseudo-query of the document. II: by softmax(1 "
        "/ RANK). III: as I, for documents with a pseudo-query of RANK 1. IV: RANK up to 5.",
    )
    axioms: Annotated[list[Axiom], LISTED_ONCE] = option(list(AXIOMS), "Features.", min_length=1)
    model: Literal["boosted", "forest"] = option(
        "boosted", "XGBoost's boosted trees (paper) or random forest (released loader)."
    )
    seeds: Seeds = option([1], "Seeds; the model of the first one is used.")


# Random pairs of pseudo-queries of each document in a diagnosis: as many as ARES's released loader takes.
PAIRS_PER_DOCUMENT = 2


class DiagnosisConfig(Section):
    """How often a re-ranker agrees with each axiom on pairs of pseudo-queries."""

    collection: str = option(..., "Key of the collection whose pseudo-queries are scored.")
    models: Names = option(..., "Keys of `models` (zero-shot).", min_length=1)
    documents: int = option(200, "Documents drawn by the seed.", unit="documents", ge=1)
    seeds: Seeds = option([1], "Seeds of the models.")
