"""Work and hours of jobs at the scale of the papers, worked out by hand from their overlays."""

import datetime
import math
import re
from pathlib import Path

import pytest

from base_config import base_config
from irpretrain.config import Config, load_config, parse_config
from irpretrain.config.experiments import ModelConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.workflow.costs import PlannedJob, PlannedTime
from irpretrain.workflow.costs.encoder_work import BERT_BASE, Shape, sequences_of_group
from irpretrain.workflow.costs.estimate import (
    DEFAULT_CARD,
    RULES,
    UTILISATION,
    Card,
    CostRow,
    Estimate,
    estimate,
    estimate_text,
    job_times,
    time_text,
)
from irpretrain.workflow.costs.work import Computing, Throughput, Work

ROOT = Path(__file__).resolve().parents[2]
BERT = Computing(encoder="BERT-base", layers=None, precision="bf16", device="gpu")
LENGTH = 512
"""Of re-ranked sequences."""
ROBUST = {"dataset": "robust04", "candidates": "bm25", "model": "prop-msmarco", "seed": "1"}


def rate(stage: str, per_second: float, computing: Computing | None = None) -> Throughput:
    unit = "word pieces" if computing else "documents"
    day = datetime.date(2026, 11, 20)
    return Throughput(
        stage=stage,
        per_second=per_second,
        unit=unit,
        computing=computing,
        of="texts",
        date=day,
        section="s",
    )


@pytest.fixture(scope="module")
def paper() -> Config:
    return load_config(ROOT / "config.yaml", ROOT / "configs/prop-paper.yaml")


def amounts(config: Config, rule: str, **wildcards: str) -> list[tuple[str, float]]:
    return [(work.stage, work.amount) for work in RULES[rule](config, wildcards)]


@pytest.mark.parametrize(
    ("rule", "wildcards", "expected"),
    [
        ("read_corpus", {"corpus": "wikipedia", "shard": "3"}, ("read_corpus wikipedia-dump", 7e6 / 32)),
        ("store_tokens", {"corpus": "robust04", "shard": "0"}, ("store_tokens", 528155 / 8)),
        *(
            (rule, {"corpus": "wikipedia", "shard": "3", "objective": "rop"}, (stage, 7e6 / 32))
            for rule, stage in (
                ("count_words", "count_words"),
                ("store_words", "store_words"),
                ("extract_links", "extract_links"),
                ("build_groups", "build_groups rop"),
                ("weigh_textrank", "weigh_textrank"),
                ("count_term_frequencies", "count_term_frequencies"),
            )
        ),
        *(
            (rule, {"collection": "pretraining"}, (rule, 7e6))
            for rule in ("build_graph", "list_anchor_texts", "build_postings")
        ),
        ("index_corpus", {"corpus": "robust04"}, ("index_corpus", 528155)),
        ("merge_groups", {"collection": "pretraining", "objective": "rop"}, ("merge_groups rop", 7e6)),
        ("search", {"dataset": "robust04", "candidates": "bm25"}, ("search", 249)),
        # 300,000 steps of 128 sequences, 64 pairs, of 512 word pieces
        ("pretrain", {"model": "prop-msmarco", "seed": "1"}, ("pretrain with MLM", 300_000 * 128 * 512)),
        ("pretrain", {"model": "prop-rop", "seed": "1"}, ("pretrain without MLM", 250_000 * 128 * 512)),
        ("pretrain", {"model": "prop-further", "seed": "1"}, ("pretrain with MLM", 30_000 * 128 * 512)),
        ("rerank", ROBUST, ("rerank", 249 * 200 * LENGTH)),
        ("rerank_snapshot", {**ROBUST, "step": "25000"}, ("rerank", 249 * 200 * LENGTH)),
    ],
)
def test_work_by_hand(paper, rule, wildcards, expected) -> None:
    [(stage, amount)] = amounts(paper, rule, **wildcards)
    assert (stage, amount) == (expected[0], pytest.approx(expected[1]))


@pytest.mark.parametrize(
    ("rule", "wildcards", "amount"),
    [
        ("read_corpus", {"corpus": "cut"}, 3000 * 500 / 1000 / 4),
        ("sample_pseudo_queries", {"corpus": "made"}, 1000 * 3 / 4),
        ("compute_axioms", {"corpus": "made"}, 1000 * 3 / 4),
        ("compute_judged_axioms", {"dataset": "made"}, 10),
        ("sample_negative_queries", {"dataset": "made"}, 10 * 3),
        ("make_word_vectors", {"collection": "made"}, (1000 + 3000) * 1000 * 2),
        ("weigh_documents", {"weighting": "deepct-query", "corpus": "made"}, 1000 / 4 * 50),
        ("weigh_queries", {"weighting": "deepct-query", "dataset": "made"}, 10 * 50),
        # Two queries for each of two documents of 200 pairs.
        ("score_diagnosis_pairs", {"diagnosis": "embedded", "model": "prop"}, 200 * 2 * 2 * 96),
        ("score_diagnosis_pairs", {"diagnosis": "embedded", "model": "steps"}, 200 * 2 * 2 * 13 * (30 + 32)),
        ("rerank", {"dataset": "made", "model": "prop"}, 10 * 20 * 96),
        # Documents of 200 words: 1 + (200 - 20) / 15 passages of 20 words, 30 word pieces; at most 30 passages.
        ("rerank", {"dataset": "made", "model": "steps"}, 10 * 20 * 13 * (30 + 32)),
        ("rerank", {"dataset": "made", "model": "dense"}, 10 * 20 * 30 * 62),
        ("rerank", {"dataset": "made", "model": "long"}, 10 * 20 * 1 * 96),
    ],
)
def test_work_of_a_small_configuration_by_hand(rule: str, wildcards: dict[str, str], amount: float) -> None:
    given = base_config()
    for name, changes in {"made": {"about": 1000}, "cut": {"about": 3000, "passage_words": 500}}.items():
        given["corpora"][name] = {"format": "tsv", "path": "made.tsv", "shards": 4, **changes}
    given["collections"]["made"] = ["made", "cut"]
    given["datasets"]["made"] = {**given["datasets"]["squad"], "corpus": "made", "sample_queries": 10}
    given["pseudo_queries"] = {"per_document": 3}
    given["word_vectors"] |= {"epochs": 2, "most_words": 8_000_001}
    for name, words, stride in (("steps", 20, 15), ("dense", 20, 1), ("long", 500, 250)):
        passages = {"words": words, "stride": stride}
        given["models"][name] = {**given["models"]["prop"], "passages": passages}
    [(_, found)] = amounts(parse_config(given), rule, **wildcards)
    assert found == pytest.approx(amount)


def test_fine_tuning_by_hand(paper, tmp_path) -> None:
    """Three of five folds train, one validates in every epoch of every point of the grid, one is tested."""
    (tmp_path / "folds.yaml").write_text(
        "finetuning: {negatives: 3, batch_sizes: [16, 32], learning_rates: [1.0e-5], epochs: 4, max_length: 256}\n"
        "datasets: {robust04: {folds: 5}}\n"
    )
    config = load_config(ROOT / "config.yaml", ROOT / "configs/prop-paper.yaml", tmp_path / "folds.yaml")
    trained, ranked = amounts(config, "finetune", **ROBUST, regime="full", fold="2")
    rounds = 2 * 1 * 4
    assert trained == ("finetune", pytest.approx(17412 * 3 / 5 * (1 + 3) * 256 * rounds))
    assert ranked == ("finetune, ranking", pytest.approx((249 / 5 * rounds + 249 / 5) * 200 * 256))


def test_a_few_shots_are_as_many_queries(paper, tmp_path) -> None:
    (tmp_path / "few.yaml").write_text(
        "finetuning: {negatives: 1, few_shot_batch_sizes: [4], learning_rates: [1.0e-5], epochs: 1, max_length: 512}\n"
        "datasets: {robust04: {folds: 5}}\n"
    )
    config = load_config(ROOT / "config.yaml", ROOT / "configs/prop-paper.yaml", tmp_path / "few.yaml")
    [(_, trained), _] = amounts(config, "finetune", **ROBUST, regime="few-shot-10", fold="1")
    assert trained == pytest.approx(10 * 17412 / 249 * 2 * 512)


def test_training_of_weights_by_hand(tmp_path) -> None:
    """Three epochs of all relevant passages; ten of the queries of four of five folds, by an encoder of its own."""
    own = "term_weights: {deepct-title: {encoder: {path: data/own, label: Own}}}\n"
    (tmp_path / "own.yaml").write_text(own)
    config = load_config(ROOT / "config.yaml", ROOT / "configs/deepct-paper.yaml", tmp_path / "own.yaml")
    found = {
        name: RULES["train_term_weights"](config, {"weighting": name, "fold": fold})[0]
        for name, fold in (("deepct-msmarco", "0"), ("deepct-title", "2"))
    }
    length = config.term_weights["deepct-msmarco"].max_length
    assert found["deepct-msmarco"].amount == pytest.approx(532761 * 3 * length)
    assert found["deepct-title"].amount == pytest.approx(249 * 4 / 5 * 10 * 30)
    encoders = [work.computing.encoder if work.computing else "" for work in found.values()]
    assert encoders == [config.encoder.label, "Own"]


@pytest.mark.parametrize(("name", "validating"), [("ares", 1), ("wikiformer", 0)])
def test_a_data_set_that_trains_on_another_is_tested_whole(name: str, validating: int) -> None:
    """MS MARCO: of 70 folds of its training queries one validates where there is something to choose (ARES: an epoch of
    20; Wikiformer: nothing), the others train; all development queries are tested.
    """
    paper = load_config(ROOT / "config.yaml", ROOT / f"configs/{name}-paper.yaml")
    wildcards = {**ROBUST, "dataset": "msmarco-doc", "regime": "full", "fold": "0"}
    [(_, trained), (_, ranked)] = amounts(paper, "finetune", **wildcards)
    options = paper.finetuning_of("prop-msmarco")
    rounds = len(options.batch_sizes) * len(options.learning_rates) * options.epochs
    each = (1 + options.negatives) * options.max_length
    assert trained == pytest.approx(367013 * (70 - validating) / 70 * each * rounds)
    assert ranked == pytest.approx((367013 / 70 * validating * rounds + 5193) * 100 * LENGTH)


def test_validation_ranks_as_many_documents_as_the_training_data_set_has() -> None:
    """One of 70 folds validates in each epoch, 20 documents of a query; of a tested query 40 are ranked."""
    given = load_config(ROOT / "config.yaml", ROOT / "configs/ares-paper.yaml").model_dump()
    given["datasets"]["msmarco-doc"]["depth"], given["datasets"]["msmarco-train"]["depth"] = 40, 20
    config = Config.model_validate(given)
    wildcards = {**ROBUST, "dataset": "msmarco-doc", "regime": "full", "fold": "0"}
    _, (_, ranked) = amounts(config, "finetune", **wildcards)
    options = config.finetuning_of("prop-msmarco")
    rounds = len(options.batch_sizes) * len(options.learning_rates) * options.epochs
    assert ranked == pytest.approx((367013 / 70 * rounds * 20 + 5193 * 40) * LENGTH)


def test_a_training_predicts_masked_words_where_one_of_its_tasks_does() -> None:
    given = base_config()
    for weight in (0, 1):
        tasks = [{"objective": "rop", "mlm_weight": 0}, {"objective": "rop", "mlm_weight": weight}]
        given["models"][f"mlm-{weight}"] = {"label": f"{weight}", "collection": "pretraining", "tasks": tasks}
    stages = [amounts(parse_config(given), "pretrain", model=f"mlm-{weight}")[0][0] for weight in (0, 1)]
    assert stages == ["pretrain without MLM", "pretrain with MLM"]


def test_an_encoder_with_fresh_heads_costs_nothing(paper) -> None:
    assert amounts(paper, "pretrain", model="control", seed="1") == []


def test_what_the_configuration_does_not_say_is_unknown() -> None:
    default = load_config(ROOT / "config.yaml")
    default.corpora["squad-train-passages"] = default.corpora["squad-train-passages"].model_copy(
        update={"about": None}
    )
    for rule in ("store_tokens", "read_corpus"):
        [(_, amount)] = amounts(default, rule, corpus="squad-train-passages", shard="0")
        assert math.isnan(amount)


def test_passages_are_counted_and_their_records_by_words() -> None:
    default = load_config(ROOT / "config.yaml")
    job = {"corpus": "squad-train-passages", "shard": "0"}
    assert amounts(default, "store_tokens", **job) == [("store_tokens", 24274)]
    assert amounts(default, "read_corpus", **job) == [("read_corpus squad", 24274 * 40 / 1000)]


def test_a_plan_without_a_gpu_names_no_card(paper) -> None:
    default = load_config(ROOT / "config.yaml")
    job = PlannedJob("pretrain", {"model": "prop", "seed": "1"}, 1000, [])
    text = estimate_text(estimate(default, [job]))
    assert "NVIDIA" not in text
    assert "Estimate:" not in text, "it was measured"
    assert "`about`" not in text, "no size is unknown"
    other = rate("rerank", 1e5, BERT)
    model = PlannedJob("pretrain", {"model": "prop-msmarco", "seed": "1"}, 1000, [])
    assert "NVIDIA A100" in estimate_text(estimate(paper, [model], [])).replace("\n", " ")
    assert "NVIDIA A100" in estimate_text(estimate(paper, [model], [other])).replace("\n", " ")


def test_a_group_has_its_preferred_sequence_and_its_negatives(paper, tmp_path) -> None:
    default = load_config(ROOT / "config.yaml")
    found = {name: sequences_of_group(default.objectives[name]) for name in ("rop", "srr", "ltm", "rwi")}
    assert found == {"rop": 2, "srr": 4, "ltm": 4, "rwi": 2}


def test_hours_by_hand(paper) -> None:
    """Two shards of 218,750 articles at 1,000 a second are 437.5 s; 19.7G word pieces at 1M are 5.46 h of a GPU."""
    jobs = [PlannedJob("read_corpus", {"corpus": "wikipedia", "shard": str(shard)}) for shard in (0, 1)]
    jobs += [
        PlannedJob("pretrain", {"model": "prop-msmarco", "seed": "1"}),
        PlannedJob("evaluate", {"experiment": "zero-shot"}),
    ]
    rates = [rate("read_corpus wikipedia-dump", 1000), rate("pretrain with MLM", 1e6, BERT)]
    found = estimate(paper, jobs, rates)
    assert found.jobs == 4
    assert found.unestimated == {"evaluate": 1}
    reading, training = found.rows
    assert (reading.jobs, reading.device, reading.hours) == (2, "cpu", pytest.approx(437.5 / 3600))
    assert (training.jobs, training.device, training.hours) == (1, "gpu", pytest.approx(19660.8 / 3600))
    lines = estimate_text(found).splitlines()
    assert [line.split()[0] for line in lines if "  measured" in line] == ["read_corpus", "pretrain"]
    [total] = [line.split() for line in lines if line.startswith("total")]
    assert " ".join(total) == "total 4 7 min 5.5 h"
    assert found.disk == pytest.approx(2 * 218_750 * 2632 + BERT_BASE.model_bytes), "docs/benchmarks.md"
    assert BERT_BASE.model_bytes == 4 * (12 * (4 * 768**2 + 2 * 768 * 3072) + 30522 * 768)


def test_rows_come_in_one_order_whatever_that_of_the_jobs(paper) -> None:
    short = ModelConfig(label="short", encoder=EncoderConfig(path="bert", label="BERT-base", layers=6))
    config = paper.model_copy(update={"models": {**paper.models, "short": short}})
    jobs = [
        PlannedJob("rerank", {**ROBUST, "model": name, "regime": "zero-shot"})
        for name in ("prop-msmarco", "short")
    ]
    layers = [
        [row.work.computing.layers for row in estimate(config, order).rows] for order in (jobs, jobs[::-1])
    ]
    assert layers == [[6, None]] * 2


def test_times_of_jobs_by_hand(paper) -> None:
    """The jobs of `test_hours_by_hand`, each: reading on two threads, training on one GPU."""
    jobs = [
        PlannedJob("read_corpus", {"corpus": "wikipedia", "shard": "0"}, threads=2),
        PlannedJob("pretrain", {"model": "prop-msmarco", "seed": "1"}, threads=2),
        PlannedJob("pretrain", {"model": "control", "seed": "1"}),
        PlannedJob("evaluate", {"experiment": "zero-shot"}),
    ]
    rates = [rate("read_corpus wikipedia-dump", 1000), rate("pretrain with MLM", 1e6, BERT)]
    assert job_times(paper, jobs, rates) == [
        PlannedTime("read_corpus", pytest.approx(218.75 / 2)),
        PlannedTime("pretrain", pytest.approx(19660.8)),
        PlannedTime("pretrain", 0.0),
        PlannedTime("evaluate", 0.0),
    ]
    [(_, seconds)] = job_times(paper, [PlannedJob("store_tokens", {"corpus": "robust04", "shard": "0"})], [])
    assert math.isnan(seconds)


def test_another_encoder_or_device_is_an_estimate_by_operations(paper) -> None:
    """19.7G word pieces; forward a word piece takes 12 (8 + 4 × 4) 768² + 12 × 4 × 512 × 768 operations."""
    jobs = [PlannedJob("pretrain", {"model": "prop-msmarco", "seed": "1"}, 1000)]
    forward = 12 * (24 * 768**2 + 4 * 512 * 768)
    head = 0.15 * 2 * 768 * (768 + 30522)
    assert BERT_BASE.operations("rerank") == forward
    expected = 300_000 * 128 * 512 * 3 * (forward + head) / (312e12 * UTILISATION) / 3600
    for other in ({"encoder": "MiniLM"}, {"layers": 4}, {"precision": "fp32"}, {"device": "cpu"}):
        rates = [rate("pretrain with MLM", 1e6, BERT.model_copy(update=other))]
        found = estimate(paper, jobs, rates)
        assert (found.rows[0].rate, found.rows[0].hours) == (None, pytest.approx(expected))
        assert "Memory: 1 GB for the largest job." in estimate_text(found)
        assert found.disk == pytest.approx(BERT_BASE.model_bytes)
        assert "estimate: BERT-base" in estimate_text(found)
    small = estimate(paper, jobs, [], {"BERT-base": Shape(4, 384, 1536, 30522)}).rows[0].hours
    assert small is not None
    assert small < expected / 5


def test_a_stage_that_was_not_measured_follows_from_another_of_its_encoder(paper) -> None:
    """Training takes three times the operations of ranking, which is the same whoever asks for it."""
    jobs = [PlannedJob("finetune", {**ROBUST, "regime": "full", "fold": "1"})]
    found = estimate(paper, jobs, [rate("rerank", 600, BERT)])
    assert {row.work.stage: (row.rate, row.per_second) for row in found.rows} == {
        "finetune": (None, pytest.approx(200)),
        "finetune, ranking": (None, pytest.approx(600)),
    }
    assert estimate_text(found).count("estimate: BERT-base") == 2


def test_jobs_without_an_estimate_are_named_and_counted(paper) -> None:
    jobs = [PlannedJob("pretrain", {"model": "control", "seed": "1"}), PlannedJob("evaluate", {})]
    sentence = "Without an estimate: 2 jobs of evaluate, pretrain without training."
    assert estimate_text(estimate(paper, jobs)) == sentence
    assert sentence in estimate_text(estimate(paper, [*jobs, PlannedJob("rerank", ROBUST)]))


def test_a_card_is_known_by_a_part_of_its_name() -> None:
    assert Card.find("h200").rates["bf16"] == 989.5
    assert Card.find(DEFAULT_CARD).operations_per_second("auto") == 312e12 * UTILISATION
    assert Card.find("T4").operations_per_second("fp16") == 65e12 * UTILISATION
    assert Card.find("V100").operations_per_second("bf16") == 15.7e12 * UTILISATION, (
        "single precision is left"
    )


def test_times_are_minutes_below_an_hour() -> None:
    assert [time_text(hours) for hours in (0.001, 0.5, 1.2, 1234.4)] == [
        "< 1 min",
        "30 min",
        "1.2 h",
        "1,234 h",
    ]


def cells_of(row: CostRow) -> list[str]:
    """The cells of a row's line that are not empty."""
    return re.split("  +", estimate_text(Estimate(rows=[row])).splitlines()[3])


def test_jobs_of_unknown_size_are_told_apart() -> None:
    work = Work("store_tokens", "documents", math.nan)
    row = CostRow(work, rate("store_tokens", 10), 0, 10, jobs=3, amount=36000, unknown_jobs=1)
    assert row.hours == pytest.approx(1)
    assert cells_of(row) == ["store_tokens", "3", "≥ 36k documents", "1.0 h", "measured"]
    unknown = CostRow(work, rate("store_tokens", 10), 0, 10, jobs=3, unknown_jobs=3)
    assert unknown.hours is None
    assert cells_of(unknown) == ["store_tokens", "3", "documents unknown", "measured"]
    assert cells_of(CostRow(work, None, 0, jobs=1, amount=1)) == [
        "store_tokens",
        "1",
        "1 documents",
        "unknown",
    ]
    assert "Not whole in the total: store_tokens." in estimate_text(Estimate(rows=[unknown, row]))


def test_what_holds_for_some_rows_is_explained() -> None:
    computing = (BERT, BERT.model_copy(update={"device": "cpu"}))
    rows = [CostRow(Work("rerank", "word pieces", 1, kind), None, 0, 10, jobs=1) for kind in computing]
    rows += [CostRow(Work("search", "queries", 1), None, 0, jobs=2, unknown_jobs=number) for number in (0, 1)]
    text = " ".join(estimate_text(Estimate(rows=rows)).split())
    for explanation in ("Estimate:", "--card NAME", "passages as 200 words", "`about`"):
        assert explanation in text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        *((0.05, "0.05"), (1.23, "1.2"), (99.4, "99"), (99.6, "100"), (1234, "1,234"), (9994, "9,994")),
        *((9999, "10k"), (10_000, "10k"), (999_499, "999k"), (999_600, "1M"), (3.21e6, "3.21M")),
        *((999.6e6, "1G"), (1e9, "1G"), (999.6e9, "1T"), (2.5e12, "2.5T")),
    ],
)
def test_an_amount_has_two_or_three_digits_that_count(amount: float, text: str) -> None:
    row = CostRow(Work("search", "queries", amount), None, 0, jobs=1, amount=amount)
    assert cells_of(row)[2] == f"{text} queries"


def test_the_order_of_jobs_does_not_matter(paper) -> None:
    jobs = [
        PlannedJob("search", {"dataset": "robust04"}),
        PlannedJob("read_corpus", {"corpus": "wikipedia"}),
        PlannedJob("rerank", ROBUST),
    ]
    assert estimate_text(estimate(paper, jobs)) == estimate_text(estimate(paper, jobs[::-1]))
