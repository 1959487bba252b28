"""Options of PROP's pairs of word sets, which the objective and its sampler read."""

from collections.abc import Iterator
from typing import Literal

from irpretrain.config.base import Section, option
from irpretrain.text.stop_words import StopList


class RopOptions(Section):
    """PROP's pairs of word sets from one document; the likelier set is preferred."""

    type: Literal["rop"] = option(..., "This objective.")
    sampling: Literal["document-language-model", "random"] = option(
        "document-language-model",
        "random: draw every vocabulary word with equal probability, without sub-sampling (PROP, Table 5).",
    )
    pairs_per_document: int = option(..., "Pairs used per document.", unit="pairs", ge=1)
    generated_pairs: int | None = option(
        None,
        "Pairs drawn per document; `pairs_per_document` of them are kept at random. null: all.",
        unit="pairs",
        ge=1,
    )
    stop_list: StopList = option(..., "Words neither drawn nor counted.")
    background: Literal["word-counts", "document-frequencies"] = option(..., "Source of P(w|C).")
    minimum_count: int = option(..., "Minimum occurrences in the collection.", unit="words", ge=1)
    rare_words: Literal["excluded", "counted"] = option(
        ...,
        "Whether words under `minimum_count` count in lengths and totals.",
    )
    subsampling_threshold: float = option(..., "Threshold t of sub-sampling; 0: none.", ge=0)
    subsampling_minimum_count: int = option(
        ..., "Words with fewer occurrences are always kept.", unit="words", ge=0
    )
    support: Literal["vocabulary", "document-and-sample"] = option(
        ...,
        "Words that can be drawn: the vocabulary, or the document's words and others by document frequency.",
    )
    score_smoothing: Literal["normalised", "unnormalised"] = option(
        ...,
        "For document-and-sample: P(w|D) normalised over the support, or that of equation 3.",
    )
    short_document_pieces: int = option(
        ..., "Shorter documents are skipped with probability `short_document_skip`.", unit="word pieces", ge=0
    )
    short_document_skip: float = option(..., "Probability of skipping a short document.", ge=0, le=1)

    def faults(self) -> Iterator[str]:
        if self.generated_pairs is not None and self.generated_pairs < self.pairs_per_document:
            yield (
                f"generated_pairs: {self.generated_pairs} pairs are drawn but pairs_per_document keeps "
                f"{self.pairs_per_document}; raise generated_pairs or set it to null"
            )

    @property
    def skips_short_documents(self) -> bool:
        """Whether documents are skipped by their number of word pieces, so that a token store is needed."""
        return self.short_document_pieces > 0 and self.short_document_skip > 0
