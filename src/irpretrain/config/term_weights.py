"""Section `term_weights`: DeepCT (Dai and Callan, "Context-Aware Sentence/Passage Term Importance Estimation For First
Stage Retrieval", 2019), its variants, and what it is compared with."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section
from irpretrain.config.compute import ComputeConfig, SharedComputeConfig
from irpretrain.config.pretraining import ACCUMULATION_TEXT
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import OptimiserConfig
from irpretrain.text.stop_words import StopList

Model = Literal["regressor", "word-vectors", "oracle", "tf"]
Merge = Literal["farthest-from-edge", "largest", "mean"]
EPOCHS = 3.0
"""Length of a training for which neither steps nor epochs are given."""
TRAINED: tuple[Model, ...] = ("regressor", "word-vectors")
"""Models that learn from labels."""


class TermLabelsConfig(Section):
    """Targets: query-term recall for passages, term recall for queries (DeepCT, equations 3 and 5)."""

    rows: Literal["per-text", "per-pair"] = Field(
        "per-text",
        description="per-text: one row per passage; a target is a share of its relevant queries (paper). "
        "per-pair: one row per relevant (query, passage) with targets 0 or 1 (released code). The "
        "same for queries.",
    )
    stemming: Literal["none", "porter"] = Field("porter", description="Words with the same stem match.")
    stop_list: StopList = Field("none", description="Words whose target is always 0; they stay in the loss.")
    fields: list[Literal["url", "title", "body"]] | None = Field(
        None,
        min_length=1,
        description="For queries: fields of a relevant document whose words count; null: `text.fields`.",
    )


class WindowsConfig(Section):
    """Texts longer than `max_length`."""

    overlap: int | None = Field(
        None,
        ge=0,
        description="Read long texts in windows that share this many word pieces; the last window ends with "
        "the text. null: read only the beginning; later words have no weight (paper).",
        json_schema_extra={"unit": "word pieces"},
    )
    merge: Merge = Field(
        "farthest-from-edge",
        description="Weight of a word in several windows: from the window in which it is farthest from an "
        "edge, the largest, or the mean.",
    )


class TermTrainingConfig(Section):
    """Training of the token regression."""

    steps: int | None = Field(
        None,
        ge=1,
        description="Optimiser steps; null: from `epochs`.",
        json_schema_extra={"unit": "steps"},
    )
    epochs: float | None = Field(
        None,
        gt=0,
        description="Passes over the training sequences (paper: 3 for passages, 10 for queries); null without "
        "steps: 3.",
        json_schema_extra={"unit": "epochs"},
    )
    batch_size: int = Field(
        16, ge=1, description="Sequences per step.", json_schema_extra={"unit": "sequences"}
    )
    accumulation: int = Field(1, ge=1, description=ACCUMULATION_TEXT)
    reduction: Literal["mean", "sum"] = Field(
        "mean",
        description="Squared errors of a step: mean (released code) or sum (paper, equation 2).",
    )
    dropout: float | None = Field(
        None, ge=0, lt=1, description="Dropout inside the encoder; null: the encoder's own."
    )
    head_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout before the linear layer.")
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig, description="Optimiser and schedule.")
    compute: SharedComputeConfig = Field(
        default_factory=SharedComputeConfig, description="Threads, precision, device, processes."
    )
    log_every: int = Field(
        10,
        ge=1,
        description="Steps between status lines (at least every ten seconds).",
        json_schema_extra={"unit": "steps"},
    )

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if self.steps is not None and self.epochs is not None:
            raise ValueError(
                f"both steps {self.steps} and epochs {self.epochs:g} are given; set one of them to null"
            )
        for fault in (
            self.compute.too_few(self.batch_size, "batch_size"),
            self.compute.split_twice(self.accumulation),
        ):
            if fault:
                raise ValueError(fault)
        return self


class TermInferenceConfig(Section):
    """Prediction of weights. Threads and `batch_tokens` change the last digits; precision and device change more."""

    batch_tokens: int = Field(
        2048,
        ge=64,
        description="Word pieces per batch, padding included where it is computed. A GPU needs a much larger "
        "value.",
        json_schema_extra={"unit": "word pieces"},
    )
    block: int = Field(
        8192,
        ge=1,
        description="Texts sorted by length together; larger blocks have less padding.",
        json_schema_extra={"unit": "texts"},
    )
    compute: ComputeConfig = Field(default_factory=ComputeConfig, description="Threads, precision, device.")


class TermWeightsConfig(Section):
    """One weighting of words in passages or queries. `first_stages` can use a weighting of passages as an index."""

    label: str = Field(description="Name in tables.")
    kind: Literal["passages", "queries"] = Field(
        "passages",
        description="Weight the documents of any searched corpus, or the queries of any data set.",
    )
    model: Model = Field(
        "regressor",
        description="regressor: an encoder with a linear layer over each word (DeepCT). word-vectors: a "
        "linear regression on a word's vector minus its text's mean vector (DeepCT_W; DeepTR for "
        "queries). oracle: the targets. tf: term counts.",
    )
    dataset: str | None = Field(
        None,
        description="Key of the data set that gives the targets. Its own queries get weights from models of "
        "other folds.",
    )
    collection: str | None = Field(None, description="Key of the collection of the word vectors.")
    encoder: EncoderConfig | None = Field(
        None,
        description="Any Hugging Face encoder with a token classifier and a fast tokenizer; null: section "
        "`encoder`.",
    )
    labels: TermLabelsConfig = Field(default_factory=TermLabelsConfig, description="Targets.")
    max_length: int = Field(
        128,
        ge=8,
        description="Maximum sequence length with special tokens (paper: 128 for passages; 30, 50 and 100 for "
        "titles, descriptions and narratives).",
        json_schema_extra={"unit": "word pieces"},
    )
    windows: WindowsConfig = Field(
        default_factory=WindowsConfig, description="Texts longer than `max_length`."
    )
    training: TermTrainingConfig = Field(
        default_factory=TermTrainingConfig, description="Training of the regressor."
    )
    ridge: float = Field(
        1e-3, ge=0, description="For word-vectors: L2 penalty of the regression, times the number of words."
    )
    inference: TermInferenceConfig = Field(
        default_factory=TermInferenceConfig, description="Prediction of weights."
    )
    same_as: str | None = Field(
        None,
        description="Name of another passage weighting whose predictions are used without training; only "
        "scale and square_root count then.",
    )
    scale: float = Field(
        100.0, gt=0, description="N: an integer weight is round(N·y) (equation 4). Unused by tf."
    )
    square_root: bool = Field(False, description="Use round(N·√y) for weights above 0.")
    seed: Annotated[int, Field(ge=0)] = Field(1, description="Seed of output layer, dropout and data order.")

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if self.same_as is not None and self.kind != "passages":
            raise ValueError("same_as: has no use for queries, whose weights do not become integers")
        if self.dataset is None and self.model != "tf" and self.same_as is None:
            raise ValueError(f"dataset: is missing; model {self.model} needs it for its targets")
        if self.collection is None and self.model == "word-vectors":
            raise ValueError("collection: is missing; model word-vectors needs its word vectors")
        overlap, room = self.windows.overlap, self.max_length - 2
        if overlap is not None and 2 * overlap > room:
            raise ValueError(
                f"windows.overlap: {overlap} is more than half of the {room} word pieces that max_length "
                f"{self.max_length} leaves beside special tokens, so a word could stand in three windows; lower it"
            )
        return self
