"""Section `finetuning`, regimes, and `models.<name>.neural`."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticKnownError

from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.config.papers import read_recipe, recipe_names
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.training import ComputeConfig, Loss, OptimiserConfig, SequenceConfig

PositiveInt = Annotated[int, Field(ge=1)]

# Groups (relevant documents of the training queries) below which fine-tuning is not shown to teach: docs/settings.md.
FEWEST_GROUPS = 32

REGIME = re.compile(r"zero-shot|full|few-shot-([1-9][0-9]*)")


def shots_of(regime: str) -> int:
    """Return the n of few-shot-<n>; 0 of another regime."""
    match = REGIME.fullmatch(regime)
    return int(match[1] or 0) if match else 0


def keys_unread_by(regime: str) -> set[str]:
    """Return the keys of `finetuning` that decide nothing in a regime."""
    return {"batch_sizes"} if shots_of(regime) else {"few_shot_batch_sizes", "few_shot_queries"}


def _check_recipe(name: str) -> str:
    if name != "none" and read_recipe(name) is None:
        *names, last_name = (repr(recipe) for recipe in ("none", *recipe_names()))
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(names)} or {last_name}"})
    return name


class FinetuningConfig(SequenceConfig):
    """Fine-tuning of a re-ranker on judged queries, under cross-validation."""

    recipe: Annotated[str, AfterValidator(_check_recipe)] = option(
        "none",
        "Sets `finetuning` and `reranking` as in a paper ([Recipes](#recipes)); none takes back a recipe "
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
    batch_sizes: Annotated[list[PositiveInt], LISTED_ONCE] = option(
        [16, 32],
        "Ranking groups per step; the validation fold chooses.",
        unit="groups",
        min_length=1,
    )
    accumulation: int = option(1, "Micro-batches per optimiser step.", ge=1)
    learning_rates: Annotated[list[Annotated[float, Field(gt=0)]], LISTED_ONCE] = option(
        [1e-5, 2e-5], "Peak rates; the validation fold chooses.", min_length=1
    )
    few_shot_batch_sizes: Annotated[list[PositiveInt], LISTED_ONCE] = option(
        [4, 8, 16], "The same in few-shot regimes.", unit="groups", min_length=1
    )
    few_shot_queries: Literal["drawn", "first"] = option(
        "drawn", "Training queries of few-shot-<n>: drawn by the seed, or the first ones (PROP)."
    )
    epochs: int = option(
        10,
        "Maximum passes over the training queries; two without a better validation score are the last.",
        ge=1,
    )
    keep_models: bool = option(False, "Keep each fold's fine-tuned model beside its run.")
    optimiser: OptimiserConfig = option(OptimiserConfig(), "Optimiser; learning_rates overrides its rate.")
    compute: ComputeConfig = option(ComputeConfig(), "Threads, precision, device.")

    def batch_sizes_of(self, regime: str) -> list[int]:
        return self.few_shot_batch_sizes if shots_of(regime) else self.batch_sizes

    def chooses(self, regime: str) -> bool:
        """Whether there is a batch size, a learning rate or an epoch to choose, which takes a validation fold."""
        return self.epochs > 1 or len(self.batch_sizes_of(regime)) * len(self.learning_rates) > 1

    def reranking(self, section: RerankingConfig) -> RerankingConfig:
        """Return how its model ranks candidates, for validation and at the test: as `section`, but with the lengths
        and the computing of this fine-tuning, whose job ranks them."""
        return section.model_copy(
            update={
                "max_length": self.max_length,
                "query_length": self.query_length,
                "compute": self.compute,
            }
        )

    def faults(self) -> Iterator[str]:
        yield from super().faults()
        if self.optimiser.decay == "step":
            yield (
                "optimiser.decay: step has one later_rate, but fine-tuning tries several learning_rates; give linear "
                "or none"
            )


# `models.<name>.neural`: rankers without pre-training, whose input are words (docs/methods/neural-rankers.md).
#
# The keys say which words a ranker reads. Its architecture is the paper's: constants in `irpretrain.models.neural`.


# Width of the convolutions of Duet's distributed model, in words (Mitra et al., 2017; Mitra and Craswell, 2019).
WINDOW = 3

# Neighbouring windows of a document that Duet takes a maximum over (the same papers).
POOLING = 100

# Words of a query and of a document that each ranker reads. KNRM (Xiong et al., SIGIR 2017) and Conv-KNRM (Dai et al.,
# WSDM 2018) state no lengths: ours. DRMM (Guo et al., CIKM 2016) reads whole texts, so its limits are wide.
# Duet: Mitra et al., WWW 2017. Duet v2: Mitra and Craswell, 2019.
WORDS_READ: dict[str, tuple[int, int]] = {
    "knrm": (20, 256),
    "conv-knrm": (20, 256),
    "drmm": (50, 5000),
    "duet": (10, 1000),
    "duet-v2": (20, 200),
}


class NeuralConfig(Section):
    """A ranker over words: KNRM, Conv-KNRM, DRMM, Duet or Duet v2. DRMM's word vectors are not trained."""

    type: Literal["knrm", "conv-knrm", "drmm", "duet", "duet-v2"] = option(..., "Which ranker.")
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
    query_words: int = option(
        20,
        f"Maximum query length; drmm: 50, duet: 10. Duets pad shorter queries and read at least {WINDOW} words.",
        unit="words",
        ge=1,
    )
    document_words: int = option(
        256,
        "Maximum document length; drmm: 5000, duet: 1000, duet-v2: 200. Duets pad shorter documents and read at least "
        f"{WINDOW + POOLING - 1} words.",
        unit="words",
        ge=1,
    )

    @property
    def needs_vectors(self) -> bool:
        """Whether the ranker begins with word vectors."""
        return self.type != "duet"

    @model_validator(mode="before")
    @classmethod
    def _fill_words_read(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("type") not in list(WORDS_READ):
            return values
        query_words, document_words = WORDS_READ[values["type"]]
        return {"query_words": query_words, "document_words": document_words, **values}

    @field_validator("query_words", "document_words")
    @classmethod
    def _check_windows(cls, words: int, info: ValidationInfo) -> int:
        minimum = WINDOW if info.field_name == "query_words" else WINDOW + POOLING - 1
        if info.data.get("type") in ("duet", "duet-v2") and words < minimum:
            raise PydanticKnownError("greater_than_equal", {"ge": minimum})
        return words
