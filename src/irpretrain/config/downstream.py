"""Sections `downstream_tasks`, `question_answering`, `sentence_tasks` and `downstream`: what else encoders are tried on
(PHP, section 4.5.2 and Table 4)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

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


class SentencesConfig(FileConfig):
    """Files of labelled sentences, or pairs of them."""

    kind: ClassVar[Kind] = "sentences"

    format: str = option(..., "glue.")


class QuestionFilesConfig(Section):
    """The data of extractive question answering."""

    train: QuestionsConfig = option(..., "Training questions.")
    development: QuestionsConfig = option(..., "Development questions.")


class SentenceFilesConfig(Section):
    """The data of one of GLUE's tasks."""

    train: SentencesConfig = option(..., "Training set.")
    development: SentencesConfig = option(..., "Development set, on which models are compared.")
    mismatched: SentencesConfig | None = option(
        None, "MNLI's second development set, from sources outside the training set."
    )

    @property
    def task(self) -> str:
        """Which of GLUE's tasks it is, by the format's options."""
        return str(self.train.options.get("task"))

    @model_validator(mode="after")
    def _check_tasks(self) -> Self:
        for name in ("development", "mismatched"):
            files = getattr(self, name)
            if files is not None and files.options.get("task") != self.train.options.get("task"):
                raise ValueError(
                    f"{name}.options.task is {files.options.get('task')}, that of train {self.task}; "
                    "give both the same"
                )
        return self


class DownstreamTaskConfig(Section):
    """A task beside retrieval: question answering, or sentence labels."""

    label: str = option(..., "Name in tables.")
    questions: QuestionFilesConfig | None = option(None, "Files of extractive question answering.")
    sentences: SentenceFilesConfig | None = option(None, "Files of a task of GLUE.")
    sample_training: int | None = option(
        None, "Number of training examples (random); null: all.", unit="examples", ge=2
    )
    sample_development: int | None = option(None, "The same for the development sets.", unit="examples", ge=2)
    training: dict[str, Any] = option(
        description="Changes to `question_answering` or `sentence_tasks` for this task.", default_factory=dict
    )
    entry: SkipJsonSchema[str | None] = option(None, ENTRY)

    @property
    def kind(self) -> Literal["questions", "sentences"]:
        return "sentences" if self.questions is None else "questions"

    @property
    def files(self) -> dict[str, FileConfig]:
        """Its files by their part: train, development, and mismatched where there are any."""
        section = self.questions or self.sentences
        parts = ("train", "development", "mismatched")
        files_by_part = {part: getattr(section, part, None) for part in parts}
        return {part: files for part, files in files_by_part.items() if files is not None}

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.questions is None) == (self.sentences is None):
            raise ValueError("give either questions or sentences")
        return self


class DownstreamTrainingConfig(Section):
    """Fine-tuning with a fresh output layer."""

    batch_size: int = option(..., "Sequences a step.", unit="sequences", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option(..., "Peak rates.", min_length=1)
    epochs: int = option(..., "Passes over the training data; the best epoch counts.", ge=1)
    dropout: float | None = option(
        0.1, "Dropout of all layers and before the output layer; null: the model's own.", ge=0, lt=1
    )
    compute: ComputeConfig = option(description="Threads, precision, device.", default_factory=ComputeConfig)


class QuestionAnsweringConfig(DownstreamTrainingConfig):
    """Extractive question answering."""

    batch_size: int = option(24, "Windows a step.", unit="windows", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option([3e-5], "Peak rates.", min_length=1)
    epochs: int = option(4, "Passes over the data; the best epoch counts.", ge=1)
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


class SentenceTasksConfig(DownstreamTrainingConfig):
    """Classification or regression of sentences or pairs (Devlin et al., 2019, section 4.1)."""

    batch_size: int = option(32, "Examples a step.", unit="examples", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option(
        [2e-5, 3e-5, 4e-5, 5e-5], "Peak rates.", min_length=1
    )
    epochs: int = option(3, "Passes over the data; the best epoch counts.", ge=1)
    max_length: int = option(
        128,
        "Maximum length; in a pair the longer sentence is cut first.",
        unit="word pieces",
        ge=8,
    )


class DownstreamConfig(Section):
    """A comparison: every model, task and seed."""

    papers: Annotated[list[Paper], Field(min_length=1)] | None = option(
        None, "Papers whose tables show the entry; null: all. It runs if `report.papers` lists one of them."
    )
    tasks: list[str] = option(..., "Keys of `downstream_tasks`.", min_length=1)
    models: list[str] = option(..., "Keys of `models`.", min_length=1)
    seeds: list[Annotated[int, Field(ge=0)]] = option([1], "Seeds; each is a whole repetition.", min_length=1)
