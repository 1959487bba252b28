"""Sections `models`, `experiments` and `evaluation`: what is trained, compared and reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator

from irpretrain.config.base import Section
from irpretrain.config.corpora import check_measures
from irpretrain.config.neural import NeuralConfig
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.retrieval import PassagesConfig
from irpretrain.papers.files import known_papers


class SelectionConfig(Section):
    """Held-out queries that choose among a model's snapshots. Test queries are refused here."""

    dataset: str = Field(
        description="Key of the data set. Every snapshot and the last step rank all its queries zero-shot."
    )
    measure: str = Field(
        "nDCG@20",
        description="Measure whose best mean decides; on a tie the earlier snapshot wins. ir_measures' "
        "notation.",
    )
    candidates: str = Field(
        "bm25", description="First stage to re-rank: bm25, ql, or a key of `first_stages`."
    )

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, given: Any) -> Any:
        return check_measures(given)


class ModelConfig(Section):
    """A model to pre-train. Without tasks it is the encoder with an untrained score head."""

    label: str = Field("", description="Name in tables; default: the key.")
    start: str = Field("encoder", description="encoder, or the key of the model whose weights are the start.")
    collection: str | None = Field(None, description="Key of the collection for pre-training.")
    tasks: list[TaskConfig] = Field(
        default_factory=list, description="Objectives; their weighted losses are summed."
    )
    training: dict[str, Any] = Field(
        default_factory=dict,
        description="Changes to `pretraining` for this model.",
    )
    select_on: SelectionConfig | None = Field(
        None,
        description="Keep the snapshot that is best on these queries (Wikiformer); null: keep the last step.",
    )
    cross_encoder: str | None = Field(
        None,
        min_length=1,
        description="A ready re-ranker: Hugging Face directory of a cross-encoder with one label, or two "
        "(score: logit 1 minus logit 0), or embedded:<asset>. Zero-shot only. Other keys allowed: "
        "`label`, `passages`.",
    )
    neural: NeuralConfig | None = Field(
        None,
        description="A ranker over words without pre-training, fine-tuned only. Other keys allowed: `label`, "
        "`finetuning`.",
    )
    passages: PassagesConfig | None = Field(
        None,
        description="Passages that documents are cut into for a cross-encoder (BERT-maxP); null: "
        "`reranking.passages`.",
    )
    finetuning: dict[str, Any] = Field(
        default_factory=dict,
        description="Changes to `finetuning` for this model.",
    )


if TYPE_CHECKING:
    Paper = str
else:
    Paper = Literal[known_papers()]
"""Papers whose tables and figures are made: the files of `resources/published`."""


class ExperimentConfig(Section):
    """A comparison: every model, regime and seed on the candidates of one data set."""

    papers: Annotated[list[Paper], Field(min_length=1)] | None = Field(
        None,
        description="Papers whose tables and figures show it; null: all. It runs if `report.papers` lists "
        "one.",
    )

    dataset: str = Field(description="Key of `datasets`.")
    candidates: str = Field(
        "bm25", description="First stage to re-rank: bm25, ql, or a key of `first_stages`."
    )
    first_stages: list[str] = Field(
        default_factory=list,
        description="Keys of `first_stages` to evaluate beside the candidates, bm25 and ql.",
    )
    models: list[str] = Field(
        default_factory=list, description="Keys of `models`; empty: only first stages are compared."
    )
    regimes: list[str] = Field(
        default_factory=list,
        description="zero-shot, full, or few-shot-<n>: fine-tuning with n training queries "
        "(`finetuning.few_shot_queries`). Empty without models.",
    )
    depths: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=list,
        description="Cut candidates and re-ranked runs at these depths and measure recall (DeepCT, Table 4); "
        "shown only in tables of depths.",
        json_schema_extra={"unit": "documents"},
    )
    seeds: list[Annotated[int, Field(ge=0)]] = Field(
        [1], min_length=1, description="Seeds; each is a whole repetition."
    )


class AbsenceConfig(Section):
    """An experiment that is not run because files of the catalogue are not there."""

    dataset: str = Field(description="Key of `datasets`.")
    candidates: str = Field(description="First stage that would be re-ranked.")
    reason: str = Field(description="What is missing.")


class EvaluationConfig(Section):
    """Significance and intervals."""

    test: Literal["paper", "t-test", "randomisation"] = Field(
        "paper",
        description="Paired two-tailed t-test, or Fisher's randomisation test. paper: each table uses its "
        "paper's test, the headline table the t-test.",
    )
    permutations: int = Field(100_000, ge=100, description="Draws of the randomisation test.")
    correction: Literal["none", "holm"] = Field(
        "none", description="Correction for multiple comparisons within a table."
    )
    level: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Significance level; null: each table uses its paper's, the headline table 0.05.",
    )
    bootstrap: int = Field(2_000, ge=100, description="Resamples of the queries for confidence intervals.")
    confidence: float = Field(0.95, gt=0, lt=1, description="Confidence of intervals.")
    intervals: Literal["seeds", "queries and seeds"] = Field(
        "seeds",
        description="Intervals over several seeds. seeds: Student's t over the seeds' means. queries and "
        "seeds: a bootstrap over both.",
    )


class ReportConfig(Section):
    """Tables, figures and the report."""

    title: str = Field("IR-Pretrain", description="Title of the report.")
    papers: list[Paper] = Field(
        ["prop"],
        min_length=1,
        description="Papers whose tables and figures are built; each is also a target (`snakemake php`).",
    )
    notes: list[str] = Field(
        default_factory=list, description="Remarks at the top of the report and under each table."
    )
