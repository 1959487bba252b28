"""Representative words prediction (ROP), the objective of PROP (Ma et al., WSDM 2021, section 3.1).

Two word sets of equal size are drawn from a document's language model; the one with the higher likelihood is
preferred. One ranking group is one pair: one document, two queries.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from irpretrain.config.base import Section


class Options(Section):
    """How word sets are drawn and scored. Keys that PROP's paper and its released code set differently come from the preset."""

    type: Literal["rop"] = Field(description="This objective.")
    preset: Literal["paper", "released"] | None = Field(None, description="Preset of this objective alone; null takes the global one.")
    sampling: Literal["document-language-model", "random"] = Field(
        "document-language-model", description="random draws every word of the vocabulary with equal probability (PROP, Table 5)."
    )
    pairs_per_document: int = Field(ge=1, description="Pairs drawn for each document.", json_schema_extra={"unit": "pairs"})
    set_size_mean: float = Field(3.0, gt=0, description="Poisson mean of the size of a word set; sizes of zero are drawn again.", json_schema_extra={"unit": "words"})
    set_size_most: int = Field(20, ge=1, description="Larger sizes are drawn again.", json_schema_extra={"unit": "words"})
    stop_list: Literal["none", "inquery", "nltk+inquery"] = Field(description="Words that are never drawn and not counted in document length.")
    stemming: Literal["none", "porter"] = Field(
        "none", description="porter: the model is over Porter stems; a drawn stem becomes one of its surface forms with probability ∝ log(count + 1)."
    )
    background: Literal["word-counts", "document-frequencies"] = Field(description="What the collection model P(w|C) is estimated from.")
    mu: float | Literal["mean-document-length"] = Field(
        "mean-document-length", description="Dirichlet prior; by default the mean document length after the removal of stop words.", json_schema_extra={"unit": "words"}
    )
    minimum_count: int = Field(ge=1, description="Words with fewer occurrences in the collection are not in the vocabulary.", json_schema_extra={"unit": "words"})
    subsampling_threshold: float = Field(ge=0, description="Threshold t of word2vec's sub-sampling of frequent words; 0 for none.")
    subsampling_minimum_count: int = Field(ge=0, description="Words with fewer occurrences are always kept.", json_schema_extra={"unit": "words"})
    subsampling_keep: Literal["word2vec-paper", "word2vec-code"] = Field(
        description="Probability that a drawn word is kept: √(t/f), or √(t/f) + t/f as in word2vec's code; at most 1."
    )
    support: Literal["vocabulary", "document-and-sample"] = Field(
        description="Words that can be drawn: the whole vocabulary, or the document's words and others drawn by document frequency up to `support_size`."
    )
    support_size: int = Field(500, ge=1, description="Size of document-and-sample; a document with more words of its own gets 100 others.", json_schema_extra={"unit": "words"})
    score_smoothing: Literal["normalised", "unnormalised"] = Field(
        description="Score sets by P(w|D) of equation 3, or without its division by |D| + μ (the order of two sets of one size is the same)."
    )
    ties: Literal["second", "drop"] = Field("second", description="Equal likelihoods: the second set is preferred (Algorithm 1, line 16), or the pair is dropped.")
    short_document_pieces: int = Field(ge=0, description="Documents with fewer word pieces are skipped with probability `short_document_skip`.", json_schema_extra={"unit": "word pieces"})
    short_document_skip: float = Field(ge=0, le=1, description="Probability of skipping a short document.")
