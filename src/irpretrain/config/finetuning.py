"""Section `finetuning`, and `models.<name>.neural`.

Section `finetuning`: what is searched, and for how long.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from irpretrain.config.base import Section, option
from irpretrain.config.training import Loss, OptimiserConfig, SequenceConfig, TrainingComputeConfig
from irpretrain.papers.files import read_recipe, recipe_names
from irpretrain.text.stop_words import StopList

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
    positives: Literal["candidates", "all"] = option(
        "candidates",
        "Relevant documents that are learned from: those among the candidates, and all of a query without any there; "
        "or all of every query.",
    )
    negatives: int = option(1, "Non-relevant candidates per relevant document.", ge=1)
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


# `models.<name>.neural`: rankers without pre-training, whose input are words (docs/methods/neural-rankers.md).
#
# The keys say which words a ranker reads. Its architecture is the paper's: constants in `irpretrain.models.neural`.


# Width of the convolutions of Duet's distributed model, in words (Mitra et al., 2017; Mitra and Craswell, 2019).
WINDOW = 3

# Neighbouring windows of a document that Duet takes a maximum over (the same papers).
POOLING = 100

PADDED_QUERY = f"Maximum query length; shorter queries are padded. At least one window of {WINDOW} words."
PADDED_DOCUMENT = (
    f"Maximum document length; shorter documents are padded. At least {POOLING} windows of {WINDOW} words."
)


class WordInputConfig(Section):
    """What every ranker over words reads."""

    ranker: ClassVar[str]  # its module and class in `irpretrain.models.neural`
    needs_vectors: ClassVar[bool] = True  # whether the ranker begins with word vectors

    collection: str = option(
        ...,
        "Key of the collection of vocabulary and word vectors. It must hold the corpora of "
        "training and test.",
    )
    minimum_count: int = option(
        1,
        "Words with fewer occurrences in the collection are skipped.",
        unit="words",
        ge=1,
    )
    stop_list: StopList = option("none", "Words dropped from queries and documents.")
    query_words: int = option(20, "Maximum query length.", unit="words", ge=1)
    document_words: int = option(256, "Maximum document length.", unit="words", ge=1)


class KnrmConfig(WordInputConfig):
    """KNRM (Xiong et al., SIGIR 2017)."""

    ranker: ClassVar[str] = "knrm.Knrm"
    type: Literal["knrm"] = option(..., "Which ranker.")


class ConvKnrmConfig(WordInputConfig):
    """Conv-KNRM (Dai et al., WSDM 2018)."""

    ranker: ClassVar[str] = "knrm.ConvKnrm"
    type: Literal["conv-knrm"] = option(..., "Which ranker.")


class DrmmConfig(WordInputConfig):
    """DRMM (Guo et al., CIKM 2016). Its histograms have no gradient, so its word vectors stay as they are."""

    ranker: ClassVar[str] = "drmm.Drmm"
    type: Literal["drmm"] = option(..., "Which ranker.")
    query_words: int = option(50, "Longest query; the rest is cut off.", unit="words", ge=1)
    document_words: int = option(5000, "Longest document; the rest is cut off.", unit="words", ge=1)


class DuetConfig(WordInputConfig):
    """Duet (Mitra et al., WWW 2017): a local and a distributed model, whose scores are added."""

    ranker: ClassVar[str] = "duet.Duet"
    needs_vectors: ClassVar[bool] = False
    type: Literal["duet"] = option(..., "Which ranker.")
    query_words: int = option(10, PADDED_QUERY, unit="words", ge=WINDOW)
    document_words: int = option(1000, PADDED_DOCUMENT, unit="words", ge=WINDOW + POOLING - 1)


class DuetV2Config(WordInputConfig):
    """Duet v2 (Mitra and Craswell, 2019): word vectors, idf, ReLU, and a network in place of the sum."""

    ranker: ClassVar[str] = "duet.Duet"
    type: Literal["duet-v2"] = option(..., "Which ranker.")
    query_words: int = option(20, PADDED_QUERY, unit="words", ge=WINDOW)
    document_words: int = option(200, PADDED_DOCUMENT, unit="words", ge=WINDOW + POOLING - 1)


NeuralConfig = Annotated[
    KnrmConfig | ConvKnrmConfig | DrmmConfig | DuetConfig | DuetV2Config, Field(discriminator="type")
]
