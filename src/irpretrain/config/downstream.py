"""Sections `downstream_tasks`, `question_answering`, `sentence_tasks` and `downstream`: what else encoders are tried on
(PHP, section 4.5.2 and Table 4)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from irpretrain.config.base import Section
from irpretrain.config.compute import TrainingComputeConfig
from irpretrain.config.corpora import ENTRY, FileConfig
from irpretrain.config.experiments import Paper
from irpretrain.config.training import OptimiserConfig
from irpretrain.corpora.registry import Kind


class QuestionsConfig(FileConfig):
    """Files of questions whose answers are spans of a text."""

    kind: ClassVar[Kind] = "questions"

    format: str = Field(description="mrqa, or squad.")


class SentencesConfig(FileConfig):
    """Files of labelled sentences, or pairs of them."""

    kind: ClassVar[Kind] = "sentences"

    format: str = Field(description="glue.")


class QuestionFilesConfig(Section):
    """The data of extractive question answering."""

    train: QuestionsConfig = Field(description="Training questions.")
    development: QuestionsConfig = Field(description="Development questions.")


class SentenceFilesConfig(Section):
    """The data of one of GLUE's tasks."""

    train: SentencesConfig = Field(description="Training set.")
    development: SentencesConfig = Field(description="Development set, on which models are compared.")
    mismatched: SentencesConfig | None = Field(
        None, description="MNLI's second development set, from sources outside the training set."
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

    label: str = Field(description="Name in tables.")
    questions: QuestionFilesConfig | None = Field(None, description="Files of extractive question answering.")
    sentences: SentenceFilesConfig | None = Field(None, description="Files of a task of GLUE.")
    choose_on: Literal["development", "training"] | None = Field(
        None,
        description="Data that chooses epoch and learning rate. development: half of the development set, the "
        "other half is the test (PHP's question answering). training: the share `held_out` of the "
        "training set. null: development for questions, training for sentences.",
    )
    held_out: float = Field(0.1, gt=0, lt=1, description="Share of the training set that chooses.")
    sample_training: int | None = Field(
        None,
        ge=2,
        description="Number of training examples (random); null: all.",
        json_schema_extra={"unit": "examples"},
    )
    sample_development: int | None = Field(
        None,
        ge=2,
        description="The same for the development set (for each, if there are two).",
        json_schema_extra={"unit": "examples"},
    )
    training: dict[str, Any] = Field(
        default_factory=dict,
        description="Changes to `question_answering` or `sentence_tasks` for this task.",
    )
    entry: str | None = Field(None, description=ENTRY)

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

    batch_size: int = Field(ge=1, description="Sequences a step.", json_schema_extra={"unit": "sequences"})
    learning_rates: list[Annotated[float, Field(gt=0)]] = Field(
        min_length=1, description="Peak rates; the examples that choose decide."
    )
    epochs: int = Field(ge=1, description="Passes over the training data; the best epoch is kept.")
    dropout: float | None = Field(
        0.1,
        ge=0,
        lt=1,
        description="Dropout of all layers and before the output layer; null: the model's own.",
    )
    accumulation: int = Field(1, ge=1, description="Micro-batches one optimiser step is split into.")
    optimiser: OptimiserConfig = Field(
        default_factory=OptimiserConfig, description="Optimiser; learning_rates overrides its rate."
    )
    compute: TrainingComputeConfig = Field(
        default_factory=TrainingComputeConfig, description="Threads, precision, device, batches."
    )
    prediction_batch: int = Field(
        32, ge=1, description="Sequences predicted at once.", json_schema_extra={"unit": "sequences"}
    )
    log_every: int = Field(
        50,
        ge=1,
        description="Steps between status lines (at least every ten seconds).",
        json_schema_extra={"unit": "steps"},
    )
    keep_models: bool = Field(False, description="Keep the fine-tuned models beside their predictions.")

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
    """Extractive question answering: predict start and end of the answer in windows of the text."""

    batch_size: int = Field(24, ge=1, description="Windows a step.", json_schema_extra={"unit": "windows"})
    learning_rates: list[Annotated[float, Field(gt=0)]] = Field(
        [3e-5], min_length=1, description="Peak rates; the questions that choose decide."
    )
    epochs: int = Field(4, ge=1, description="Passes over the training windows; the best epoch is kept.")
    max_length: int = Field(
        384,
        ge=8,
        description="Maximum length of question and window with their three special tokens.",
        json_schema_extra={"unit": "word pieces"},
    )
    question_length: int = Field(
        64, ge=1, description="Maximum question length.", json_schema_extra={"unit": "word pieces"}
    )
    stride: int = Field(
        128,
        ge=1,
        description="Distance between window starts, as in BERT's code (not the overlap).",
        json_schema_extra={"unit": "word pieces"},
    )
    answer_length: int = Field(
        30,
        ge=1,
        description="Maximum length of a predicted answer.",
        json_schema_extra={"unit": "word pieces"},
    )
    without_answer: Literal["first-token", "drop"] = Field(
        "first-token",
        description="Training windows that do not hold a whole answer: target the first token [CLS] (BERT), "
        "or drop the window.",
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
    """Classification or regression of sentences, or pairs of them, from [CLS] (Devlin et al., 2019, section 4.1)."""

    batch_size: int = Field(32, ge=1, description="Examples a step.", json_schema_extra={"unit": "examples"})
    learning_rates: list[Annotated[float, Field(gt=0)]] = Field(
        [2e-5, 3e-5, 4e-5, 5e-5],
        min_length=1,
        description="Peak rates; the examples that choose decide.",
    )
    epochs: int = Field(3, ge=1, description="Passes over the training set; the best epoch is kept.")
    max_length: int = Field(
        128,
        ge=8,
        description="Maximum length; in a pair the longer sentence is cut first, at its end.",
        json_schema_extra={"unit": "word pieces"},
    )


class DownstreamConfig(Section):
    """A comparison: every model, task and seed."""

    papers: Annotated[list[Paper], Field(min_length=1)] | None = Field(
        None,
        description="Papers whose tables and figures show it; null: all. It runs if `report.papers` lists "
        "one.",
    )
    tasks: list[str] = Field(min_length=1, description="Keys of `downstream_tasks`.")
    models: list[str] = Field(min_length=1, description="Keys of `models`.")
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1], min_length=1, description="Seeds; each is a whole repetition."
    )
