"""Section `term_weights`: DeepCT (Dai and Callan, "Context-Aware Sentence/Passage Term Importance Estimation For First
Stage Retrieval", 2019), its variants, and what it is compared with."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import (
    ACCUMULATION_TEXT,
    ComputeConfig,
    OptimiserConfig,
    SharedComputeConfig,
)
from irpretrain.text.stop_words import StopList

Model = Literal["regressor", "word-vectors", "oracle", "tf"]
Merge = Literal["farthest-from-edge", "largest", "mean"]
EPOCHS = 3.0
"""Length of a training for which neither steps nor epochs are given."""
TRAINED: tuple[Model, ...] = ("regressor", "word-vectors")
"""Models that learn from labels."""


class TermLabelsConfig(Section):
    """Targets: query-term recall of a passage's words, or term recall of a query's (DeepCT, equations 3 and 5)."""

    rows: Literal["per-text", "per-pair"] = Field(
        "per-text",
        description="per-text: one row a passage, whose targets are shares of all its relevant queries (paper); "
        "per-pair: one row for each relevant (query, passage), whose targets are 0 or 1 (released code). For queries "
        "likewise.",
    )
    stemming: Literal["none", "porter"] = Field(
        "porter", description="What makes a query's and a passage's words the same."
    )
    stop_list: StopList = Field(
        "none", description="Words whose target is 0 whatever they match; they stay in the loss."
    )
    fields: list[Literal["url", "title", "body"]] | None = Field(
        None,
        min_length=1,
        description="Of queries: fields of a relevant document whose words count; null: those of `text.fields`.",
    )


class WindowsConfig(Section):
    """What is done with texts that are longer than `max_length`."""

    overlap: int | None = Field(
        None,
        ge=0,
        description="Read the text in windows that share so many word pieces; the last one ends with the text. null: "
        "read its beginning alone; words after it have no weight (paper).",
        json_schema_extra={"unit": "word pieces"},
    )
    merge: Merge = Field(
        "farthest-from-edge",
        description="The weight of a word that stands in several windows: that of the window in which it is farthest "
        "from the nearest edge (the text's own ends are no edges), the largest, or the mean.",
    )


class TermTrainingConfig(Section):
    """How the token regression is trained."""

    steps: int | None = Field(
        None,
        ge=1,
        description="Optimiser steps; null: as many as `epochs` take.",
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
        16, ge=1, description="Sequences a step.", json_schema_extra={"unit": "sequences"}
    )
    accumulation: int = Field(1, ge=1, description=ACCUMULATION_TEXT)
    reduction: Literal["mean", "sum"] = Field(
        "mean",
        description="The squared errors of a step's words: their mean (released code) or sum (paper, equation 2).",
    )
    dropout: float | None = Field(
        None, ge=0, lt=1, description="Dropout inside the encoder; null keeps the encoder's own."
    )
    head_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout before the linear layer.")
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig, description="Optimiser and schedule.")
    compute: SharedComputeConfig = Field(
        default_factory=SharedComputeConfig, description="Threads, precision, device, processes."
    )
    log_every: int = Field(
        10,
        ge=1,
        description="Steps between status lines; slow steps have one every ten seconds.",
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
    """How weights are predicted; threads and `batch_tokens` change their last digits, precision and device more."""

    batch_tokens: int = Field(
        2048,
        ge=64,
        description="Word pieces of a batch; padding counts where it is computed, which on a CPU it always is with "
        "`packing: auto`. There the last batch of each length in a block is filled up with empty rows; a GPU wants "
        "much more.",
        json_schema_extra={"unit": "word pieces"},
    )
    block: int = Field(
        8192,
        ge=1,
        description="Texts that are sorted by length together. Larger blocks have less padding.",
        json_schema_extra={"unit": "texts"},
    )
    compute: ComputeConfig = Field(default_factory=ComputeConfig, description="Threads, precision, device.")


class TermWeightsConfig(Section):
    """One weighting of passages' or queries' words. A weighting of passages is an index that `first_stages` can
    name."""

    label: str = Field(description="Name in tables.")
    kind: Literal["passages", "queries"] = Field(
        "passages",
        description="What is weighted: the documents of any corpus that is searched, or the queries of any data set.",
    )
    model: Model = Field(
        "regressor",
        description="regressor: an encoder with a linear layer over each word (DeepCT); word-vectors: a linear "
        "regression of a word's vector minus the mean of its text's (DeepCT_W, and DeepTR for queries); oracle: the "
        "targets themselves; tf: how often a word occurs.",
    )
    dataset: str | None = Field(
        None,
        description="Key of the data set that gives the targets: its queries, judgements and corpus. Its own queries "
        "are weighted by models of other folds, those of other data sets by a model of all its queries.",
    )
    collection: str | None = Field(None, description="Key of the collection that the word vectors are of.")
    encoder: EncoderConfig | None = Field(
        None,
        description="A Hugging Face encoder of any architecture with a token classifier and a fast tokenizer; null: "
        "section `encoder`. DeepCT_E's ELMo is in no maintained library; another encoder stands in its place.",
    )
    labels: TermLabelsConfig = Field(default_factory=TermLabelsConfig, description="Targets.")
    max_length: int = Field(
        128,
        ge=8,
        description="Longest sequence, special tokens included (paper: 128 for passages; 30, 50 and 100 for titles, "
        "descriptions and narratives).",
        json_schema_extra={"unit": "word pieces"},
    )
    windows: WindowsConfig = Field(default_factory=WindowsConfig, description="Texts longer than that.")
    training: TermTrainingConfig = Field(
        default_factory=TermTrainingConfig, description="Training of the regressor."
    )
    ridge: float = Field(
        1e-3, ge=0, description="Of word-vectors: L2 penalty of the regression, times the number of words."
    )
    inference: TermInferenceConfig = Field(
        default_factory=TermInferenceConfig, description="Prediction of weights."
    )
    same_as: str | None = Field(
        None,
        description="Name of another weighting of passages whose predicted weights are used, so that nothing is "
        "trained; of this one's keys only scale and square_root count then.",
    )
    scale: float = Field(
        100.0, gt=0, description="N: an integer weight is round(N·y) (equation 4). Not used by tf."
    )
    square_root: bool = Field(False, description="round(N·√y) instead, for weights above 0.")
    seed: Annotated[int, Field(ge=0)] = Field(
        1, description="Seed of the output layer, of dropout and of the order of the data."
    )

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if self.same_as is not None and self.kind != "passages":
            raise ValueError("same_as: has no use for queries, whose weights do not become integers")
        if self.dataset is None and self.model != "tf" and self.same_as is None:
            raise ValueError(f"dataset: is missing, which model {self.model} needs for its targets")
        if self.collection is None and self.model == "word-vectors":
            raise ValueError("collection: is missing, whose word vectors model word-vectors needs")
        overlap, room = self.windows.overlap, self.max_length - 2
        if overlap is not None and 2 * overlap > room:
            raise ValueError(
                f"windows.overlap: {overlap} is more than half of the {room} word pieces that max_length "
                f"{self.max_length} leaves beside special tokens, so a word could stand in three windows; lower it"
            )
        return self
