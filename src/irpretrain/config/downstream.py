"""Sections `downstream_tasks`, `question_answering` and `downstream`: what else encoders are tried on.

PHP, section 4.5.2 and Table 4.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from irpretrain.config.base import Section, option
from irpretrain.config.corpora import ENTRY, FileConfig
from irpretrain.config.experiments import Paper
from irpretrain.config.training import ComputeConfig
from irpretrain.corpora.registry import Kind


class QuestionsConfig(FileConfig):
    """Files of questions whose answers are spans of a text."""

    kind: ClassVar[Kind] = "questions"

    format: str = option(..., "mrqa, or squad.")


class QuestionFilesConfig(Section):
    """The data of extractive question answering."""

    train: QuestionsConfig = option(..., "Training questions.")
    development: QuestionsConfig = option(..., "Development questions.")


class DownstreamTaskConfig(Section):
    """A task beside retrieval: extractive question answering."""

    label: str = option(..., "Name in tables.")
    questions: QuestionFilesConfig = option(..., "Files of the questions.")
    sample_training: int | None = option(
        None, "Number of training examples (random); null: all.", unit="examples", ge=2
    )
    sample_development: int | None = option(None, "The same for the development sets.", unit="examples", ge=2)
    entry: SkipJsonSchema[str | None] = option(None, ENTRY)

    @property
    def files(self) -> dict[str, FileConfig]:
        """Its files by their part."""
        return {"train": self.questions.train, "development": self.questions.development}


class QuestionAnsweringConfig(Section):
    """Fine-tuning for extractive question answering, with a fresh output layer."""

    batch_size: int = option(24, "Windows a step.", unit="windows", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option([3e-5], "Peak rates.", min_length=1)
    epochs: int = option(4, "Passes over the data; the best epoch counts.", ge=1)
    dropout: float | None = option(
        0.1, "Dropout of all layers and before the output layer; null: the model's own.", ge=0, lt=1
    )
    compute: ComputeConfig = option(description="Threads, precision, device.", default_factory=ComputeConfig)
    max_length: int = option(
        384,
        "Maximum length of question and window with special tokens.",
        unit="word pieces",
        ge=8,
    )
    stride: int = option(128, "Overlap of consecutive windows.", unit="word pieces", ge=0)

    @model_validator(mode="after")
    def _check_stride(self) -> Self:
        # The question takes up to half of the sequence.
        if self.stride >= (room := self.max_length // 2 - 3):
            raise ValueError(
                f"stride {self.stride} leaves windows of max_length {self.max_length} no new text beside a long "
                f"question; set it below {room}, or raise max_length"
            )
        return self


class DownstreamConfig(Section):
    """A comparison: every model, task and seed."""

    papers: Annotated[list[Paper], Field(min_length=1)] | None = option(
        None, "Papers whose tables show the entry; null: all. It runs if `report.papers` lists one of them."
    )
    tasks: list[str] = option(..., "Keys of `downstream_tasks`.", min_length=1)
    models: list[str] = option(..., "Keys of `models`.", min_length=1)
    seeds: list[Annotated[int, Field(ge=0)]] = option([1], "Seeds; each is a whole repetition.", min_length=1)
