"""PROP's tables at the paper's scale: every cell is filled, by the model that the paper compares there."""

from functools import cache

import numpy as np
import pytest
from overlay_layers import load, made_scores

from irpretrain.config.papers import load_published
from irpretrain.objectives.prop.language_model import keep_probabilities
from irpretrain.report.tables import build_table
from overlay_commands import ROOT

PUBLISHED = load_published(ROOT / "resources/published/prop.yaml")


@cache
def cells(table: str) -> dict[tuple[str, str], str]:
    """(Row, data set) among the paper's data sets → the model whose number stands there, or why there is none."""
    config = load(ROOT / "configs/prop-paper.yaml")
    panel = build_table(PUBLISHED, table, config, made_scores(config)).panels[0]
    return {
        (cell.row, cell.dataset): cell.ours.run.model if cell.ours else cell.note
        for row in panel.rows
        for cell in row.cells
    }


@pytest.mark.parametrize("table", PUBLISHED.tables)
def test_every_cell_of_ours_is_filled(table):
    config = load(ROOT / "configs/prop-paper.yaml")
    for (row, dataset), filled in cells(table).items():
        first_stage = PUBLISHED.tables[table].row(row).is_first_stage
        assert filled in config.models or first_stage or row == "sota", (row, dataset, filled)


def test_tables_3_and_5_are_pre_trained_on_what_the_paper_says():
    config = load(ROOT / "configs/prop-paper.yaml")
    for table, collection in (("table3", "pretraining-msmarco"), ("table5", "pretraining")):
        assert {config.models[model].collection for model in cells(table).values()} == {collection}
    assert config.training_of("prop-random").steps == config.training_of("prop-rop").steps == 250_000


def test_table_4_trains_the_better_model_further_on_what_is_searched():
    """Section 4.8: PROP_Wikipedia for Robust04 and MQ2007, PROP_MSMARCO for the others."""
    config = load(ROOT / "configs/prop-paper.yaml")
    found = cells("table4")
    for dataset in ("robust04", "clueweb09b", "gov2", "mq2007", "mq2008"):
        better = "prop-wikipedia" if dataset in ("robust04", "mq2007") else "prop-msmarco"
        assert found["without", dataset] == better
        further = config.models[found["further", dataset]]
        assert further.start == better
        assert config.collections[further.collection] == [config.datasets[dataset].corpus]


def test_the_judged_candidates_of_letor_are_re_ranked():
    """Section 4.3: MQ2007 and MQ2008 have fewer candidates; LETOR gives some 40 and 20 a query."""
    config = load(ROOT / "configs/prop-paper.yaml")
    candidates = {
        (experiment.dataset, experiment.candidates) for experiment in config.active_experiments.values()
    }
    assert candidates == {
        ("robust04", "bm25"),
        ("clueweb09b", "bm25"),
        ("gov2", "bm25"),
        ("mq2007", "given"),
        ("mq2008", "given"),
    }


def test_bm25_of_given_candidates_is_their_order():
    """LETOR gives its candidates in the order of BM25; query likelihood is ours, by statistics of Gov2."""
    assert cells("table2")["bm25", "mq2007"] == cells("table2")["bm25", "mq2008"] == "given"
    assert cells("table2")["bm25", "gov2"] == "bm25"
    assert cells("table2")["ql", "mq2007"] == cells("table2")["ql", "mq2008"] == "ql-given"


SEQUENCES = {
    "rop": lambda options: 2,  # a pair of word sets
    "ares": lambda options: 2,  # a pair of pseudo-queries
    "ict": lambda options: 1 + options.negatives,
}
"""Of a group of each objective; another objective, or other options, must say how many it has."""


def sequences(config, model: str) -> int:
    """Sequences of a step."""
    [task] = config.models[model].tasks
    options = config.objectives[task.objective]
    return config.training_of(model).batch_groups * SEQUENCES[options.type](options)


def test_batches_and_optimiser_are_the_paper_s():
    """Section 4.4.2: Adam, 2e-5, batches of 128; 4.2: ICT has the same settings, and Wikipedia."""
    config = load(ROOT / "configs/prop-paper.yaml")
    for model in ("prop-wikipedia", "prop-msmarco", "ict"):
        training = config.training_of(model)
        optimiser = training.optimiser
        assert sequences(config, model) == 128
        assert (training.steps, optimiser.learning_rate, optimiser.warmup) == (300_000, 2e-5, 0.1)
        assert (optimiser.weight_decay, optimiser.clip, training.masking.scope) == (0.0, None, "document")
    assert config.models["ict"].collection == "pretraining"
    tuning = config.finetuning
    assert (tuning.optimiser.weight_decay, tuning.optimiser.clip) == (0.0, None)
    assert tuning.few_shot_queries == "first"


def test_words_are_sub_sampled_by_the_formula_of_the_code_that_the_paper_cites():
    """Section 4.4.2, t = 1e-5, with word2vec's code in its footnote: a word is kept with √(t/f) + t/f."""
    rop = load(ROOT / "configs/prop-paper.yaml").objectives["rop"]
    counts = np.array([100_000, 40_000, 1_000, 100])  # of 10^8 words: f = 1e-3, 4e-4, 1e-5, 1e-6
    keep = keep_probabilities(counts, 10**8, rop.subsampling_threshold, rop.subsampling_minimum_count)
    assert keep == pytest.approx([0.1 + 0.01, 0.1581139 + 0.025, 1.0, 1.0], abs=1e-7)


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_all_that_ares_compares_scores_the_pooled_output(preset, tmp_path):
    """ARES, section 4.3: "for all transformer-based models"; with PROP's own overlay they have PROP's head."""
    (tmp_path / "preset.yaml").write_text(f"preset: {preset}\n")
    ares = load(ROOT / "configs/ares-paper.yaml", tmp_path / "preset.yaml")
    compared = {model for one in ares.active_experiments.values() for model in one.models}
    assert {"control", "ict", "prop-wikipedia", "prop-msmarco", "ares-simple"} <= compared
    assert {ares.training_of(model).head for model in compared} == {"pooled"}
    prop = load(ROOT / "configs/prop-paper.yaml", tmp_path / "preset.yaml")
    heads = {prop.training_of(m).head for one in prop.active_experiments.values() for m in one.models}
    assert heads == {{"paper": "mlp", "released": "pooled"}[preset], "cedr-knrm"}


def test_where_one_model_serves_prop_and_ares_all_of_prop_have_one_head():
    config = load(ROOT / "configs/paper.yaml")
    own = load(ROOT / "configs/prop-paper.yaml")
    of_prop = {model for one in own.active_experiments.values() for model in one.models}
    assert {
        config.training_of(model).head for model in of_prop if config.models[model].start == "encoder"
    } == {"pooled", "cedr-knrm"}


def test_the_released_preset_of_ares_keeps_the_paper_s_numbers(tmp_path):
    """Rates and batches are written out in the overlay; what it leaves out is the released code's."""
    (tmp_path / "preset.yaml").write_text("preset: released\n")
    config = load(ROOT / "configs/ares-paper.yaml", tmp_path / "preset.yaml")
    training = config.training_of("ares-simple")
    assert (training.head, training.loss) == ("pooled", "pair-softmax")
    assert (training.masking.scope, training.masking.unit, training.masking.most) == ("document", "word", 60)
    assert (training.optimiser.learning_rate, sequences(config, "ares-simple")) == (5e-5, 168)
    assert (config.finetuning.learning_rates, config.finetuning.batch_sizes) == ([1e-5], [160])


def test_ares_has_batches_of_168_sequences_for_one_epoch():
    """Section 5.1.4: 28 sequences on each of six GPUs, two pairs of each of 3.2M documents, a test every 10k."""
    config = load(ROOT / "configs/ares-paper.yaml")
    for model in ("ares-simple", "ares-hard", "ares-strict", "ares-rep", "ares-rank"):
        training = config.training_of(model)
        assert sequences(config, model) == 28 * 6
        assert training.steps * training.batch_groups == pytest.approx(2 * 3.2e6, rel=0.01)
        assert training.snapshots == [*range(10_000, training.steps, 10_000)]
        assert (training.head, training.masking.scope) == ("pooled", "sequence")
    tuning = config.finetuning
    assert tuning.batch_sizes[0] * (1 + tuning.negatives) == 40 * 8
    assert tuning.few_shot_batch_sizes == tuning.batch_sizes  # section 5.3.2
    assert (config.pseudo_queries.minimum_count, config.pseudo_queries.temperature) == (50, "calibrated")
