"""Section `finetuning`: what is searched, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from irpretrain.config.compute import TrainingComputeConfig
from irpretrain.config.training import Loss, OptimiserConfig, SequenceConfig
from irpretrain.papers.files import read_recipe, recipe_names

Positive = Annotated[int, Field(ge=1)]


def _known_recipe(name: str) -> str:
    if name != "none" and read_recipe(name) is None:
        *names, last = (repr(recipe) for recipe in ("none", *recipe_names()))
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(names)} or {last}"})
    return name


class FinetuningConfig(SequenceConfig):
    """Fine-tuning of a re-ranker on judged queries, under cross-validation."""

    recipe: Annotated[str, AfterValidator(_known_recipe)] = Field(
        "none",
        description="Sets `finetuning` and `reranking` as in a paper ([Recipes](#recipes)); null takes back a "
        "recipe of an earlier file.",
    )
    loss: Loss = Field("hinge", description="As `pretraining.loss`.")
    margin: float = Field(1.0, gt=0, description="Margin of the hinge loss.")
    negatives: int = Field(
        1,
        ge=1,
        description="Non-relevant candidates per relevant document.",
    )
    negative_depth: int | None = Field(
        None,
        ge=1,
        description="Draw negatives from this many top candidates; null: all.",
        json_schema_extra={"unit": "documents"},
    )
    batch_sizes: list[Positive] = Field(
        [16, 32],
        min_length=1,
        description="Ranking groups per step (a relevant document with its `negatives`); the validation fold "
        "chooses.",
        json_schema_extra={"unit": "groups"},
    )
    learning_rates: list[Annotated[float, Field(gt=0)]] = Field(
        [1e-5, 2e-5], min_length=1, description="Peak rates; the validation fold chooses."
    )
    few_shot_batch_sizes: list[Positive] = Field(
        [4, 8, 16],
        min_length=1,
        description="The same in few-shot regimes.",
        json_schema_extra={"unit": "groups"},
    )
    few_shot_queries: Literal["drawn", "first"] = Field(
        "drawn",
        description="Training queries of few-shot-<n>: drawn by the seed, or the first ones (PROP).",
    )
    epochs: int = Field(10, ge=1, description="Maximum passes over the training queries.")
    patience: int = Field(
        2,
        ge=1,
        description="Stop after this many epochs without a better validation score.",
        json_schema_extra={"unit": "epochs"},
    )
    keep_models: bool = Field(False, description="Keep each fold's fine-tuned model beside its run.")
    optimiser: OptimiserConfig = Field(
        default_factory=OptimiserConfig, description="Optimiser; learning_rates overrides its rate."
    )
    compute: TrainingComputeConfig = Field(
        default_factory=TrainingComputeConfig, description="Threads, precision, device, batches."
    )

    def batch_sizes_of(self, regime: str) -> list[int]:
        """Return the batch sizes that are tried in a regime."""
        return self.few_shot_batch_sizes if regime.startswith("few-shot") else self.batch_sizes

    def chooses(self, regime: str) -> bool:
        """Whether there is a batch size, a learning rate or an epoch to choose, which takes a validation fold."""
        return self.epochs > 1 or len(self.batch_sizes_of(regime)) * len(self.learning_rates) > 1

    @model_validator(mode="after")
    def _check_decay(self) -> Self:
        if self.optimiser.decay == "step":
            raise ValueError(
                "optimiser.decay: step has one later_rate, but fine-tuning tries several learning_rates; give linear "
                "or none"
            )
        return self
