"""What pre-training and fine-tuning share: losses, optimisation, masking, lengths of sequences."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section

Loss = Literal["hinge", "pair-softmax", "listwise"]
LOSS_TEXT = (
    "hinge: max(0, margin - s+ + s-) on raw scores, averaged over the other sequences. pair-softmax: softmax over "
    "the scores, then a margin of 1, i.e. 2(1 - p+), as in PROP's code. listwise: cross-entropy of the first sequence "
    "(LCE)."
)


class OptimiserConfig(Section):
    """AdamW with linear warm-up, and decay."""

    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate.")
    warmup: float = Field(0.1, ge=0, le=1, description="Share of the steps with a linearly rising rate.")
    decay: Literal["linear", "none", "step"] = Field(
        "linear",
        description="After warm-up the rate falls to 0 (linear), stays (none), or stays and then becomes "
        "`later_rate` (step).",
    )
    later_rate: float | None = Field(
        None, gt=0, description="For decay step: rate from step `later_from` on (Wikiformer: 5e-6)."
    )
    later_from: int | None = Field(
        None,
        ge=1,
        description="For decay step: number of first steps at the peak rate, warm-up included (Wikiformer: "
        "50000).",
        json_schema_extra={"unit": "steps"},
    )
    weight_decay: float = Field(
        0.01, ge=0, description="Decoupled weight decay; not for biases and LayerNorm."
    )
    betas: tuple[float, float] = Field((0.9, 0.999), description="Adam's decay rates.")
    epsilon: float = Field(1e-8, gt=0, description="Adam's epsilon.")
    bias_correction: bool = Field(True, description="Adam's bias correction; BERT's own optimiser has none.")
    clip: float | None = Field(1.0, gt=0, description="Maximum gradient norm; null: no clipping.")
    clip_by: Literal["all", "tensor"] = Field(
        "all", description="Norm of all gradients together, or of each tensor alone (released PROP)."
    )

    @model_validator(mode="after")
    def _check_later(self) -> Self:
        for name in ("later_rate", "later_from"):
            is_set = getattr(self, name) is not None
            if is_set != (self.decay == "step"):
                fault = f"has no use with decay {self.decay}" if is_set else "is missing; decay step needs it"
                raise ValueError(f"{name}: {fault}; set both {name} and decay step, or neither")
        return self


class MaskingConfig(Section):
    """Masked language modelling. Special tokens and padding are never masked."""

    scope: Literal["document", "sequence"] = Field(
        "document", description="Mask the document's units alone, or the query's too."
    )
    ratio: float = Field(0.15, ge=0, lt=1, description="Share of units (tokens or whole words) to mask.")
    anchor_ratio: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Share of the units of the query's anchor to the document, counted apart (PHP: 0.5); "
        "needs scope sequence. null: treated as other units.",
    )
    unit: Literal["token", "word"] = Field(
        "token", description="Choose word pieces, or whole words with all their pieces."
    )
    most: int | None = Field(
        None,
        ge=1,
        description="Maximum predictions per sequence; null: no cap.",
        json_schema_extra={"unit": "word pieces"},
    )
    replace_by_mask: float = Field(0.8, ge=0, le=1, description="Share of chosen pieces that become [MASK].")
    replace_by_random: float = Field(
        0.1, ge=0, le=1, description="Share that become a random piece; the rest stay."
    )

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        if self.anchor_ratio is not None and self.scope == "document":
            raise ValueError(
                "anchor_ratio: anchors are in queries, but scope document does not mask queries; "
                "set scope to sequence, or anchor_ratio to null"
            )
        if self.replace_by_mask + self.replace_by_random > 1 + 1e-9:
            raise ValueError("replace_by_mask and replace_by_random add up to more than 1; lower one of them")
        return self


class SequenceConfig(Section):
    """Lengths of the sequences that a cross-encoder reads."""

    max_length: int = Field(
        512,
        ge=8,
        description="Maximum length of query and document with their three special tokens.",
        json_schema_extra={"unit": "word pieces"},
    )
    query_length: int = Field(
        64,
        ge=1,
        description="Maximum query length; the document gets the rest of max_length.",
        json_schema_extra={"unit": "word pieces"},
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.query_length + 3 >= self.max_length:
            raise ValueError(
                f"query_length {self.query_length} and three special tokens leave no room for a document in "
                f"max_length {self.max_length}; lower query_length or raise max_length"
            )
        return self
