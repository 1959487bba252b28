"""Sections `models`, `experiments` and `evaluation`: what is trained, compared and reported."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from irpretrain.config.base import Section
from irpretrain.config.corpora import check_measures
from irpretrain.config.neural import NeuralConfig
from irpretrain.config.retrieval import PassagesConfig
from irpretrain.config.training import TaskConfig


class SelectionConfig(Section):
    """Held-out queries that choose among the snapshots of a model: never those that it is tested on."""

    dataset: str = Field(
        description="Key of the data set; all its queries are ranked zero-shot by every snapshot and the last step."
    )
    measure: str = Field(
        "nDCG@20",
        description="Measure whose best mean decides, the earlier of equal ones; ir_measures' notation.",
    )
    candidates: str = Field(
        "bm25", description="First stage that is re-ranked: bm25, ql, or a key of `first_stages`."
    )

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, given: Any) -> Any:
        return check_measures(given)


class ModelConfig(Section):
    """A model to pre-train. One without tasks is the encoder itself with an untrained score head."""

    label: str = Field("", description="Name in tables; where it is left out, the entry's key.")
    start: str = Field(
        "encoder", description="encoder, or the key of the model whose weights it starts from."
    )
    collection: str | None = Field(None, description="Key of the collection it is pre-trained on.")
    tasks: list[TaskConfig] = Field(
        default_factory=list, description="Objectives; their weighted losses are added."
    )
    training: dict[str, Any] = Field(
        default_factory=dict,
        description="Keys of `pretraining` that differ for this model (nested keys are merged).",
    )
    select_on: SelectionConfig | None = Field(
        None,
        description="The final model is the snapshot that is best on these queries (Wikiformer); null: the weights "
        "after the last step.",
    )
    cross_encoder: str | None = Field(
        None,
        min_length=1,
        description="A re-ranker that is not trained here: Hugging Face directory of a cross-encoder with one label, "
        "or two (scored by the logit of label 1 minus that of label 0), or embedded:<asset>. It keeps its own "
        "tokenizer, is tested zero-shot only, and has none of the other keys but `label` and `passages`.",
    )
    neural: NeuralConfig | None = Field(
        None,
        description="A ranker without pre-training, over words; it is fine-tuned only, and has none of the other keys "
        "but `label` and `finetuning`.",
    )
    passages: PassagesConfig | None = Field(
        None,
        description="Of a cross-encoder: the passages that documents are cut into for it (BERT-maxP); null: "
        "`reranking.passages`.",
    )
    finetuning: dict[str, Any] = Field(
        default_factory=dict,
        description="Keys of `finetuning` that differ for this model (nested keys are merged), such as the learning "
        "rates of a ranker over words.",
    )


Paper = Literal["prop", "wikiformer", "php", "ares", "deepct"]
"""Papers whose tables and figures are made."""


class ExperimentConfig(Section):
    """Cells to fill: every model in every regime, with every seed, on one data set's candidates."""

    papers: Annotated[list[Paper], Field(min_length=1)] | None = Field(
        None,
        description="Papers whose tables and figures show it; null: all. An experiment for none of `report.papers` is "
        "not run.",
    )

    dataset: str = Field(description="Key of `datasets`.")
    candidates: str = Field(
        "bm25", description="First stage that is re-ranked: bm25, ql, or a key of `first_stages`."
    )
    first_stages: list[str] = Field(
        default_factory=list,
        description="Keys of `first_stages` that are evaluated beside the candidates, bm25 and ql, which every "
        "experiment has.",
    )
    models: list[str] = Field(
        default_factory=list, description="Keys of `models`; without any, only first stages are compared."
    )
    regimes: list[str] = Field(
        default_factory=list,
        description="zero-shot, full, or few-shot-<n> for fine-tuning with n training queries "
        "(`finetuning.few_shot_queries`); empty where there are no models.",
    )
    depths: list[Annotated[int, Field(ge=1)]] = Field(
        default_factory=list,
        description="Depths at which recall of the candidates and every re-ranked run, cut to so many candidates, are "
        "measured (DeepCT, Table 4). Such an experiment stands in tables of depths alone.",
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
        description="Paired two-tailed t-test, or Fisher's randomisation test; paper: in each table the one that its "
        "paper used, in the headline table the t-test.",
    )
    permutations: int = Field(100_000, ge=100, description="Draws of the randomisation test.")
    correction: Literal["none", "holm"] = Field(
        "none", description="Correction for multiple comparisons within a table."
    )
    level: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Significance level; null: in each table the paper's, in the headline table 0.05.",
    )
    bootstrap: int = Field(2_000, ge=100, description="Resamples of the queries for confidence intervals.")
    confidence: float = Field(0.95, gt=0, lt=1, description="Confidence of intervals.")
    intervals: Literal["seeds", "queries and seeds"] = Field(
        "seeds",
        description="What intervals are over where several seeds were run. seeds: Student's t over the means of the "
        "seeds; queries and seeds: a bootstrap that draws both. One seed: always a bootstrap over queries.",
    )


class ReportConfig(Section):
    """Tables, figures and the report."""

    title: str = Field("IR-Pretrain", description="Title of the report.")
    papers: list[Paper] = Field(
        ["prop"],
        min_length=1,
        description="Papers whose tables and figures are made; each is also a target, `snakemake php`.",
    )
    notes: list[str] = Field(
        default_factory=list, description="Remarks shown at the top of the report and under each table."
    )
