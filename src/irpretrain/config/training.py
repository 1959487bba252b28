"""What pre-training and fine-tuning share: losses, optimisation, masking, lengths of sequences."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from irpretrain.config.base import Section, option

Loss = Literal["hinge", "pair-softmax", "listwise"]
LOSS_TEXT = (
    "hinge: max(0, margin - s+ + s-) on raw scores. pair-softmax: 2(1 - p+) with p the "
    "softmax, as in PROP's code. listwise: cross-entropy of the first sequence (LCE)."
)


class OptimiserConfig(Section):
    """AdamW with linear warm-up, and decay."""

    learning_rate: float = option(2e-5, "Peak learning rate.", gt=0)
    warmup: float = option(0.1, "Share of the steps with a rising rate.", ge=0, le=1)
    decay: Literal["linear", "none", "step"] = option(
        "linear",
        "After warm-up the rate falls to 0, stays, or stays and then becomes `later_rate`.",
    )
    later_rate: float | None = option(
        None, "For decay step: rate from step `later_from` on (Wikiformer: 5e-6).", gt=0
    )
    later_from: int | None = option(
        None,
        "For decay step: first steps at the peak rate, warm-up included (Wikiformer: 50000).",
        unit="steps",
        ge=1,
    )
    weight_decay: float = option(0.01, "Decoupled weight decay; not for biases and LayerNorm.", ge=0)
    betas: tuple[float, float] = option((0.9, 0.999), "Adam's decay rates.")
    epsilon: float = option(1e-8, "Adam's epsilon.", gt=0)
    bias_correction: bool = option(True, "Adam's bias correction.")
    clip: float | None = option(1.0, "Maximum gradient norm; null: no clipping.", gt=0)
    clip_by: Literal["all", "tensor"] = option(
        "all", "Norm of all gradients together, or of each tensor alone (released PROP)."
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

    scope: Literal["document", "sequence"] = option(
        "document", "Mask the document's units alone, or the query's too."
    )
    ratio: float = option(0.15, "Share of units (tokens or whole words) to mask.", ge=0, lt=1)
    anchor_ratio: float | None = option(
        None,
        "Share of the units of the query's anchor to the document (PHP: 0.5); needs scope "
        "sequence. null: as other units.",
        ge=0,
        le=1,
    )
    unit: Literal["token", "word"] = option(
        "token", "Choose word pieces, or whole words with all their pieces."
    )
    most: int | None = option(
        None, "Maximum predictions per sequence; null: no cap.", unit="word pieces", ge=1
    )
    replace_by_mask: float = option(0.8, "Share of chosen pieces that become [MASK].", ge=0, le=1)
    replace_by_random: float = option(0.1, "Share that become a random piece; the rest stay.", ge=0, le=1)

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

    max_length: int = option(
        512, "Maximum length of query and document with special tokens.", unit="word pieces", ge=8
    )
    query_length: int = option(
        64, "Maximum query length; the document gets the rest of max_length.", unit="word pieces", ge=1
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.query_length + 3 >= self.max_length:
            raise ValueError(
                f"query_length {self.query_length} and three special tokens leave no room for a document in "
                f"max_length {self.max_length}; lower query_length or raise max_length"
            )
        return self
