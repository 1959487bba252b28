"""Like with like: no comparison of a shipped configuration differs in more than the experiment."""

import re
from functools import cache
from pathlib import Path

import pytest
from overlay_layers import load, made_scores

from irpretrain.config import Config, load_config
from irpretrain.config.papers import read_paper
from irpretrain.config.run import Run
from irpretrain.evaluation.ledger import LONGEST_LINE
from irpretrain.report.cells import Table
from irpretrain.report.paper_table import PaperTable
from irpretrain.report.scores import Scores
from irpretrain.report.tables import HeadlineTable
from like_with_like import unlike
from overlay_commands import OVERLAYS, ROOT

CONFIGS = [ROOT / "config.yaml", *OVERLAYS]
ON_THE_TESTED_CORPUS = ("prop-further", "prop-msmarco", "prop-mlm-msmarco", "ares-")
"""How models begin whose papers pre-train them on the tested corpus: that is the experiment."""


@cache
def compared(path: Path) -> tuple[Config, Scores, list[Table]]:
    """A configuration and the tables that compare its runs, as if every experiment had been run."""
    config = load_config(path) if path.stem == "config" else load(path)
    scores = made_scores(config)
    tables = [HeadlineTable(config, scores).build("headline")]
    for paper in config.report.papers:
        narrowed, published = config.of_papers([paper]), read_paper(paper)
        narrowed_scores = made_scores(narrowed)
        for name in published.table_names():
            if name in published.tables:
                table = PaperTable(published, published.tables[name], narrowed, narrowed_scores)
                tables.append(table.build())
    return config, scores, tables


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.deep) if path.stem == "paper" else path for path in CONFIGS],
    ids=lambda path: path.stem,
)
def test_no_comparison_differs_in_queries_lists_depth_or_withheld_articles(path: Path) -> None:
    config, scores, tables = compared(path)
    faults = {}
    for table in tables:
        for runs in table.compared_runs():
            rows = [scores.facts_of(config, run) for run in runs]
            rows = [
                row for row in rows if not (row.tested_texts and row.model.startswith(ON_THE_TESTED_CORPUS))
            ]
            for column, by_value in unlike(rows).items():
                faults[table.name, column] = {
                    value: sorted({row.model for row in same}) for value, same in by_value.items()
                }
    assert faults == {}


def test_no_line_is_longer_than_a_reader_wants() -> None:
    _, _, tables = compared(ROOT / "configs/paper.yaml")
    notes = (note for table in tables for note in table.notes)
    lines = [note for note in notes if note.startswith("Not equal between rows: ")]
    assert max(map(len, lines)) <= len("Not equal between rows: .") + LONGEST_LINE
    assert "groups read" in lines[0]


# Overlays for documents of one's own: nobody has chosen lengths for SQuAD's paragraphs there.
OWN_DATA = ("my-collection", "robust04", "msmarco")


@pytest.mark.parametrize("name", OWN_DATA)
def test_the_columns_on_own_documents_read_equally(name: str) -> None:
    """Case few-topics-fine-tuned: zero-shot read 96 word pieces and fine-tuned 256."""
    config = load_config(ROOT / "config.yaml", ROOT / f"configs/{name}.yaml")
    read = {
        Run(config, experiment.dataset, experiment.candidates, model, regime).test_reads
        for experiment in config.experiments.values()
        for model in experiment.models
        for regime in experiment.regimes
        if config.models[model].neural is None
    }
    assert len(read) == 1


@pytest.mark.parametrize("name", ["prop", "ares", "wikiformer", "php", "deepct", "legal", "baselines"])
def test_models_at_paper_scale_read_documents_equally_far_in_every_stage(name: str) -> None:
    """The papers cut sequences at 512 word pieces at both ends; lengths of queries are those of each objective."""
    config = load(ROOT / f"configs/{name}-paper.yaml")
    runs = [
        Run(config, experiment.dataset, experiment.candidates, model, regime)
        for experiment in config.active_experiments.values()
        for model in experiment.models
        for regime in experiment.regimes
        if config.models[model].neural is None
    ]
    read = {text for run in runs for text in (run.pretraining_reads, run.finetuning_reads, run.test_reads)}
    assert {part for text in read for part in re.findall(r"cut at \d+ word pieces", text)} == {
        "cut at 512 word pieces"
    }
