"""Sections `downstream_tasks`, `question_answering`, `sentence_tasks` and `downstream`: what else encoders are tried on
(PHP, section 4.5.2 and Table 4)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section, option
from irpretrain.config.compute import TrainingComputeConfig
from irpretrain.config.corpora import ENTRY, FileConfig
from irpretrain.config.experiments import Paper
from irpretrain.config.training import OptimiserConfig
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
        """Which of GLUE's tasks it is, as the format's options say."""
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
    choose_on: Literal["development", "training"] | None = option(
        None,
        "Data that choose epoch and rate: half of the development set (the other half "
        "tests), or `held_out` of the training set. null: development for questions, "
        "training for sentences.",
    )
    held_out: float = option(0.1, "Share of the training set that chooses.", gt=0, lt=1)
    sample_training: int | None = option(
        None, "Number of training examples (random); null: all.", unit="examples", ge=2
    )
    sample_development: int | None = option(None, "The same for the development sets.", unit="examples", ge=2)
    training: dict[str, Any] = option(
        description="Changes to `question_answering` or `sentence_tasks` for this task.", default_factory=dict
    )
    entry: str | None = option(None, ENTRY)

    @property
    def kind(self) -> Literal["questions", "sentences"]:
        """What its examples are."""
        return "sentences" if self.questions is None else "questions"

    @property
    def chooses_on(self) -> Literal["development", "training"]:
        """`choose_on`, or what stands for null."""
        return self.choose_on or ("training" if self.questions is None else "development")

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
    epochs: int = option(..., "Passes over the training data; the best epoch is kept.", ge=1)
    dropout: float | None = option(
        0.1, "Dropout of all layers and before the output layer; null: the model's own.", ge=0, lt=1
    )
    accumulation: int = option(1, "Micro-batches one optimiser step is split into.", ge=1)
    optimiser: OptimiserConfig = option(
        description="Optimiser; learning_rates overrides its rate.", default_factory=OptimiserConfig
    )
    compute: TrainingComputeConfig = option(
        description="Threads, precision, device, batches.", default_factory=TrainingComputeConfig
    )
    prediction_batch: int = option(32, "Sequences predicted at once.", unit="sequences", ge=1)
    log_every: int = option(50, "Steps between status lines.", unit="steps", decides=False, ge=1)
    keep_models: bool = option(False, "Keep the fine-tuned models beside their predictions.")

    @model_validator(mode="after")
    def _check_training(self) -> Self:
        if self.optimiser.decay == "step":
            raise ValueError(
                "optimiser.decay: step has one later_rate, but several learning_rates are tried; give linear or none"
            )
        if fault := self.compute.split_twice(self.accumulation):
            raise ValueError(fault)
        return self


class QuestionAnsweringConfig(DownstreamTrainingConfig):
    """Extractive question answering."""

    batch_size: int = option(24, "Windows a step.", unit="windows", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option([3e-5], "Peak rates.", min_length=1)
    epochs: int = option(4, "Passes over the data; the best epoch is kept.", ge=1)
    max_length: int = option(
        384,
        "Maximum length of question and window with special tokens.",
        unit="word pieces",
        ge=8,
    )
    question_length: int = option(64, "Maximum question length.", unit="word pieces", ge=1)
    stride: int = option(128, "Distance between window starts (not the overlap).", unit="word pieces", ge=1)
    answer_length: int = option(30, "Maximum length of a predicted answer.", unit="word pieces", ge=1)
    without_answer: Literal["first-token", "drop"] = option(
        "first-token",
        "Training windows without a whole answer: target [CLS] (BERT), or drop the window.",
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        if self.question_length + 3 >= self.max_length:
            raise ValueError(
                f"question_length {self.question_length} and three special tokens leave no room for a text in "
                f"max_length {self.max_length}; lower question_length or raise max_length"
            )
        return self


class SentenceTasksConfig(DownstreamTrainingConfig):
    """Classification or regression of sentences or pairs (Devlin et al., 2019, section 4.1)."""

    batch_size: int = option(32, "Examples a step.", unit="examples", ge=1)
    learning_rates: list[Annotated[float, Field(gt=0)]] = option(
        [2e-5, 3e-5, 4e-5, 5e-5], "Peak rates.", min_length=1
    )
    epochs: int = option(3, "Passes over the data; the best epoch is kept.", ge=1)
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
