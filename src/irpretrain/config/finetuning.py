"""Section `finetuning`: what is searched, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from irpretrain.config.base import option
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

    recipe: Annotated[str, AfterValidator(_known_recipe)] = option(
        "none",
        "Sets `finetuning` and `reranking` as in a paper ([Recipes](#recipes)); null takes back a recipe "
        "of an earlier file.",
    )
    loss: Loss = option("hinge", "As `pretraining.loss`.")
    margin: float = option(1.0, "Margin of the hinge loss.", gt=0)
    negatives: int = option(1, "Non-relevant candidates per relevant document.", ge=1)
    negative_depth: int | None = option(
        None, "Draw negatives from this many top candidates; null: all.", unit="documents", ge=1
    )
    batch_sizes: list[Positive] = option(
        [16, 32],
        "Ranking groups per step; the validation fold chooses.",
        unit="groups",
        min_length=1,
    )
    learning_rates: list[Annotated[float, Field(gt=0)]] = option(
        [1e-5, 2e-5], "Peak rates; the validation fold chooses.", min_length=1
    )
    few_shot_batch_sizes: list[Positive] = option(
        [4, 8, 16], "The same in few-shot regimes.", unit="groups", min_length=1
    )
    few_shot_queries: Literal["drawn", "first"] = option(
        "drawn", "Training queries of few-shot-<n>: drawn by the seed, or the first ones (PROP)."
    )
    epochs: int = option(10, "Maximum passes over the training queries.", ge=1)
    patience: int = option(
        2, "Stop after this many epochs without a better validation score.", unit="epochs", ge=1
    )
    keep_models: bool = option(False, "Keep each fold's fine-tuned model beside its run.")
    optimiser: OptimiserConfig = option(
        description="Optimiser; learning_rates overrides its rate.", default_factory=OptimiserConfig
    )
    compute: TrainingComputeConfig = option(
        description="Threads, precision, device, batches.", default_factory=TrainingComputeConfig
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
