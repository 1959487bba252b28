"""Sections `retrieval` and `reranking`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section
from irpretrain.config.training import ComputeConfig, SequenceConfig


class Bm25Config(Section):
    """BM25 (Robertson and Walker)."""

    k1: float = Field(0.9, ge=0, description="Saturation of term frequency.")
    b: float = Field(0.4, ge=0, le=1, description="Strength of length normalisation.")


class QueryLikelihoodConfig(Section):
    """Query likelihood with Dirichlet smoothing."""

    mu: float = Field(1000.0, gt=0, description="Dirichlet prior.", json_schema_extra={"unit": "words"})


class RetrievalConfig(Section):
    """First-stage retrieval with Lucene through Anserini."""

    depth: int = Field(200, ge=1, description="Candidates a query.", json_schema_extra={"unit": "documents"})
    bm25: Bm25Config = Field(default_factory=Bm25Config, description="BM25 parameters.")
    query_likelihood: QueryLikelihoodConfig = Field(
        default_factory=QueryLikelihoodConfig, description="QL parameters."
    )
    stemmer: Literal["porter", "krovetz", "none"] = Field(
        "porter", description="Stemmer of the Lucene analyser."
    )
    keep_stop_words: bool = Field(False, description="Keep Lucene's stop words in index and queries.")
    threads: int = Field(
        2,
        ge=1,
        description="Threads of indexing and search; results do not depend on them.",
        json_schema_extra={"unit": "threads"},
    )
    memory_mb: int = Field(2048, ge=256, description="Java heap.", json_schema_extra={"unit": "MB"})


class RerankingConfig(SequenceConfig):
    """Scoring of candidates by a cross-encoder."""

    depth: int | None = Field(
        None,
        ge=1,
        description="Re-rank only this many top candidates; null for all.",
        json_schema_extra={"unit": "documents"},
    )
    batch_tokens: int = Field(
        16384,
        ge=512,
        description="Word pieces, padding included, that are scored at once.",
        json_schema_extra={"unit": "word pieces"},
    )
    compute: ComputeConfig = Field(default_factory=ComputeConfig, description="Threads, precision, device.")
