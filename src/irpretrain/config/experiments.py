"""Sections `models`, `experiments`, `report`, `attributions`, the views of term weights, and tasks downstream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from irpretrain.config.base import LISTED_ONCE, Names, Section, Seeds, option
from irpretrain.config.corpora import ENTRY, FileConfig, Measure
from irpretrain.config.finetuning import NeuralConfig
from irpretrain.config.papers import known_papers, papers_with_depths
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, PassagesConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.corpora.registry import Kind


class SelectionConfig(Section):
    """Held-out queries that choose among a model's snapshots. Test queries are refused here."""

    dataset: str = option(..., "Key of the data set.")
    measure: Measure = option("nDCG@20", "Measure whose best mean decides.")
    candidates: str = option("bm25", "First stage to re-rank: bm25, ql, or a key of `first_stages`.")


class ModelConfig(Section):
    """A model to pre-train. Without tasks it is the encoder with an untrained score head."""

    label: str = option("", "Name in tables; null: the key.")
    start: str = option("encoder", "encoder, or the key of the model whose weights are the start.")
    encoder: EncoderConfig | None = option(
        None, "Encoder of this model and of those that start from it; null: section `encoder`."
    )
    collection: str | None = option(None, "Key of the collection for pre-training.")
    tasks: list[TaskConfig] = option([], "Objectives; their weighted losses are summed.")
    training: dict[str, Any] = option({}, "Changes to `pretraining` for this model.")
    select_on: SelectionConfig | None = option(
        None, "Keep the snapshot that is best on these queries; null: the last step."
    )
    cross_encoder: str | None = option(
        None,
        "A ready re-ranker, zero-shot only (to fine-tune it, `encoder` and `training.head: kept`): Hugging Face "
        "directory, or embedded:<asset>. Other keys allowed: `label`, `passages`.",
        min_length=1,
    )
    neural: NeuralConfig | None = option(
        None,
        "A ranker over words without pre-training, fine-tuned only. Other keys allowed: `label`, "
        "`finetuning`.",
    )
    passages: PassagesConfig | None = option(
        None,
        "Passages that documents are cut into for a cross-encoder (BERT-maxP); null: `reranking.passages`.",
    )
    finetuning: dict[str, Any] = option({}, "Changes to `finetuning` for this model.")

    @property
    def has_encoder(self) -> bool:
        """Whether it is an encoder with a score head: no re-ranker given by its path, and no ranker over words."""
        return self.cross_encoder is None and self.neural is None

    @property
    def is_control(self) -> bool:
        """Whether it is section `encoder` with an untrained score head, reading documents as other models do."""
        departs = self.passages is not None or self.encoder is not None or self.start != "encoder"
        has_fresh_head = not self.tasks and self.training.get("head") not in ("cedr-knrm", "kept")
        return self.has_encoder and has_fresh_head and not departs


if TYPE_CHECKING:
    Paper = str
else:
    Paper = Literal[known_papers()]
"""Papers whose tables and figures are made: the files of `resources/published`."""


class ComparisonConfig(Section):
    """What some papers' tables show."""

    papers: Annotated[list[Paper], Field(min_length=1), LISTED_ONCE] | None = option(
        None, "Papers whose tables show the entry; null: all. It runs if `report.papers` lists one of them."
    )

    def is_active(self, papers: Iterable[Paper]) -> bool:
        """Whether a report of some papers shows the entry; no other is run."""
        return self.papers is None or not set(self.papers).isdisjoint(papers)


class ExperimentConfig(ComparisonConfig):
    """A comparison: every model, regime and seed on the candidates of one data set."""

    dataset: str = option(..., "Key of `datasets`.")
    candidates: str = option("bm25", "First stage to re-rank: bm25, ql, or a key of `first_stages`.")
    first_stages: Names = option([], "Keys of `first_stages` to evaluate beside the candidates, bm25 and ql.")
    models: Names = option([], "Keys of `models`; empty: only first stages are compared.")
    regimes: Names = option(
        [], "zero-shot, full, or few-shot-<n>: fine-tuning with n training queries. Empty without models."
    )
    depths: Annotated[list[Annotated[int, Field(ge=1)]], LISTED_ONCE] = option(
        [],
        "Cut candidates and re-ranked runs at these depths and measure recall; only DeepCT's Table 4 and "
        "`results/depths/<name>.csv` show it.",
        unit="documents",
    )
    seeds: Seeds = option([1], "Seeds; each is a whole repetition.")

    @property
    def is_finetuned(self) -> bool:
        """Whether some regime fine-tunes its models."""
        return bool(set(self.regimes) - {"zero-shot"})

    @property
    def shown_stages(self) -> list[str]:
        """The first stages whose runs it shows: those built in, its candidates, and those it names."""
        return list(dict.fromkeys([*BUILT_IN_FIRST_STAGES, self.candidates, *self.first_stages]))

    def hides_depths(self, papers: Iterable[Paper]) -> bool:
        """Whether some of the report's papers show it, and none that has a table for its depths."""
        papers_with_table = {*papers_with_depths()}.intersection(papers)
        shown_by = papers if self.papers is None else self.papers
        return super().is_active(papers) and bool(self.depths) and papers_with_table.isdisjoint(shown_by)

    def is_active(self, papers: Iterable[Paper]) -> bool:
        return super().is_active(papers) and not self.hides_depths(papers)


class AbsenceConfig(Section):
    """An experiment that is not run because files of the catalogue are not there."""

    dataset: str = option(..., "Key of `datasets`.")
    candidates: str = option(..., "First stage that would be re-ranked.")
    reason: str = option(..., "What is missing.")


class ReportConfig(Section):
    """Tables, figures and the report."""

    papers: Annotated[list[Paper], LISTED_ONCE] = option(
        [], "Papers whose tables and figures are built; each is also a target (`snakemake php`)."
    )
    notes: list[str] = option([], "Remarks at the top of the report and under each table.")
    name: str = option("", "Name of the run in the titles of reports; by default that of its folder.")


# First stage whose run the models of a page re-rank: it gives the ranks of documents, as in ARES's Figure 4.
ATTRIBUTED_CANDIDATES = "bm25"


class CaseConfig(Section):
    """A query and a document whose words a page colours."""

    dataset: str = option(..., "Key of `datasets`.")
    query: str | None = option(
        None,
        "Query id; null: the query on which the page's runs disagree most.",
        coerce_numbers_to_str=True,
    )
    document: str | None = option(
        None,
        "Document id; null: the relevant document on whose rank the page's runs disagree most.",
        coerce_numbers_to_str=True,
    )

    def faults(self) -> Iterator[str]:
        if self.document is not None and self.query is None:
            yield "document is given without a query; give query"


class AttributionConfig(CaseConfig):
    """A page that shows which words a score comes from (docs/methods/attributions.md)."""

    models: Names = option(..., "Keys of `models` (zero-shot), in the order of the page.", min_length=1)
    seed: int = option(1, "Seed of the models.", ge=0)


# Sections `weight_distributions` and `term_weight_pages`: how integer weights of words look (DeepCT, Figure 1 and
# Table 5).


WEIGHTINGS = "tf, or keys of `term_weights` of kind passages or of `indexes`"


class WeightDistributionConfig(Section):
    """Weightings of a collection's passages, for the share of weight on the heaviest terms."""

    label: str = option(..., "The collection's name in the figure.")
    corpora: Names = option(..., "Keys of `corpora`, taken as one collection.", min_length=1)
    weightings: Names = option(..., f"{WEIGHTINGS}, in the order of the figure.", min_length=1)


class TermWeightPageConfig(CaseConfig):
    """A page of `snakemake term_weight_pages` (docs/methods/term-weight-pages.md)."""

    weightings: Names = option(..., f"{WEIGHTINGS}, in the order of the page.", min_length=1)
    first_stages: Names = option(
        ["bm25"],
        "bm25, ql or keys of `first_stages`. Their runs choose the case.",
        min_length=1,
    )


# Sections `downstream_tasks`, `question_answering` and `downstream`: what else encoders are tried on.
#
# PHP, section 4.5.2 and Table 4.


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
    learning_rate: float = option(3e-5, "Peak rate.", gt=0)
    epochs: int = option(4, "Passes over the data; the best epoch counts.", ge=1)
    dropout: float | None = option(
        0.1, "Dropout of all layers and before the output layer; null: the model's own.", ge=0, lt=1
    )
    compute: ComputeConfig = option(ComputeConfig(), "Threads, precision, device.")
    max_length: int = option(
        384,
        "Maximum length of question and window with special tokens.",
        unit="word pieces",
        ge=8,
    )
    stride: int = option(128, "Overlap of consecutive windows.", unit="word pieces", ge=0)

    def faults(self) -> Iterator[str]:
        # The question takes up to half of the sequence.
        if self.stride >= (text_room := self.max_length // 2 - 3):
            yield (
                f"stride {self.stride} leaves windows of max_length {self.max_length} no new text beside a long "
                f"question; set it below {text_room}, or raise max_length"
            )


class DownstreamConfig(ComparisonConfig):
    """A comparison: every model, task and seed."""

    tasks: Names = option(..., "Keys of `downstream_tasks`.", min_length=1)
    models: Names = option(..., "Keys of `models`.", min_length=1)
    seeds: Seeds = option([1], "Seeds; each is a whole repetition.")
