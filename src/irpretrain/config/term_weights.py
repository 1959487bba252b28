"""Section `term_weights`: DeepCT (Dai and Callan, "Context-Aware Sentence/Passage Term Importance Estimation For First
Stage Retrieval", 2019), its variants, and what it is compared with."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import ACCUMULATION_TEXT, ComputeConfig, OptimiserConfig, SharedComputeConfig
from irpretrain.text.stop_words import StopList

Model = Literal["regressor", "word-vectors", "oracle", "tf"]

# Models that learn from labels.
TRAINED_MODELS: tuple[Model, ...] = ("regressor", "word-vectors")


class TermLabelsConfig(Section):
    """Targets (DeepCT, equations 3 and 5)."""

    rows: Literal["per-text", "per-pair"] = option(
        "per-text",
        "per-text: targets are shares over a passage's relevant queries (paper). per-pair: "
        "a row per relevant pair, targets 0 or 1 (released code).",
    )
    stop_list: StopList = option("none", "Words whose target is always 0; they stay in the loss.")
    fields: Annotated[list[Literal["url", "title", "body"]], LISTED_ONCE] | None = option(
        None,
        "For queries: fields of a relevant document whose words count; null: `text.fields`.",
        min_length=1,
    )


class TermTrainingConfig(Section):
    """Training of the token regression."""

    steps: int | None = option(None, "Optimiser steps; null: from `epochs`.", unit="steps", ge=1)
    epochs: float | None = option(
        None,
        "Passes over the training sequences (paper: 3 for passages, 10 for queries); null without steps: 3.",
        unit="epochs",
        gt=0,
    )
    batch_size: int = option(16, "Sequences per step.", unit="sequences", ge=1)
    accumulation: int = option(1, ACCUMULATION_TEXT, ge=1)
    reduction: Literal["mean", "sum"] = option(
        "sum", "Squared errors of a step: sum (paper, equation 2) or mean (released code)."
    )
    dropout: float | None = option(None, "Dropout inside the encoder; null: the encoder's own.", ge=0, lt=1)
    optimiser: OptimiserConfig = option(OptimiserConfig(), "Optimiser and schedule.")
    compute: SharedComputeConfig = option(SharedComputeConfig(), "Threads, precision, device, processes.")
    log_every: int = option(10, "Steps between status lines.", unit="steps", decides=False, ge=1)

    @property
    def length_in_epochs(self) -> float:
        """Passes over the training sequences, where no steps are given."""
        return self.epochs or 3.0

    def faults(self) -> Iterator[str]:
        if self.steps is not None and self.epochs is not None:
            yield f"both steps {self.steps} and epochs {self.epochs:g} are given; set one of them to null"
        if fault := self.compute.too_few(self.batch_size, "batch_size"):
            yield fault


class TermInferenceConfig(Section):
    """Prediction of weights. Threads and `batch_tokens` change the last digits."""

    batch_tokens: int | None = option(
        None,
        "Word pieces per batch, computed padding included. null: 2,048 on a processor, 65,536 on a GPU.",
        unit="word pieces",
        ge=64,
    )
    compute: ComputeConfig = option(ComputeConfig(), "Threads, precision, device.")


class TermWeightsConfig(Section):
    """One weighting of words in passages or queries. `first_stages` can use a weighting of passages as an index."""

    label: str = option(..., "Name in tables.")
    kind: Literal["passages", "queries"] = option(
        "passages", "Weight documents of searched corpora, or queries of data sets."
    )
    model: Model = option(
        "regressor",
        "regressor: an encoder with a linear layer over each word (DeepCT). word-vectors: a "
        "linear regression on a word's vector minus its text's mean (DeepCT_W; DeepTR for "
        "queries). oracle: the targets. tf: term counts.",
    )
    dataset: str | None = option(
        None,
        "Key of the data set that gives the targets.",
    )
    collection: str | None = option(None, "Key of the collection of the word vectors.")
    encoder: EncoderConfig | None = option(
        None,
        "Any Hugging Face encoder with a token classifier and a fast tokenizer; null: section `encoder`.",
    )
    labels: TermLabelsConfig = option(TermLabelsConfig(), "Targets.")
    max_length: int = option(
        128,
        "Maximum sequence length with special tokens (paper: 30, 50 and 100 for titles, "
        "descriptions and narratives).",
        unit="word pieces",
        ge=8,
    )
    window_overlap: int | None = option(
        None,
        "Read longer texts in windows that share this many word pieces; a word has its weight in the window "
        "where it is farthest from an edge. null: read only the beginning (paper).",
        unit="word pieces",
        ge=0,
    )
    training: TermTrainingConfig = option(TermTrainingConfig(), "Training of the regressor.")
    inference: TermInferenceConfig = option(TermInferenceConfig(), "Prediction of weights.")
    same_as: str | None = option(
        None,
        "Another passage weighting whose predictions are used; only square_root counts then.",
    )
    square_root: bool = option(
        False, "Integer weights are round(100·√y) in place of round(100·y) (equation 4)."
    )
    seed: Annotated[int, Field(ge=0)] = option(1, "Seed of output layer, dropout and data order.")

    @property
    def reads(self) -> str:
        """What of a text decides the weights of its words."""
        if self.model != "regressor":
            return "whole texts"
        if self.window_overlap is not None:
            return f"whole texts, their weights in windows of {self.max_length} word pieces"
        return f"the first {self.max_length} word pieces, later words without weight"

    def faults(self) -> Iterator[str]:
        if self.same_as is not None and self.kind != "passages":
            yield "same_as: has no use for queries, whose weights do not become integers"
        if self.dataset is None and self.model != "tf" and self.same_as is None:
            yield f"dataset: is missing; model {self.model} needs it for its targets"
        if self.collection is None and self.model == "word-vectors":
            yield "collection: is missing; model word-vectors needs its word vectors"
        overlap, window_pieces = self.window_overlap, self.max_length - 2
        if overlap is not None and 2 * overlap > window_pieces:
            yield (
                f"window_overlap: {overlap} is more than half of the {window_pieces} word pieces that max_length "
                f"{self.max_length} leaves beside special tokens, so a word could stand in three windows; lower it"
            )
