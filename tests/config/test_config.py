"""The configuration is strict, and every fault is one message that says where and how to mend it."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from base_config import base_config, message
from irpretrain.config import Config, load_config, parse_config
from irpretrain.config.base import deep_merge
from irpretrain.config.usage import training_candidates, used_names
from irpretrain.config.yaml_files import read_yaml
from irpretrain.corpora.sources import used_files
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def given():
    return base_config()


def test_the_default_is_valid():
    assert isinstance(load_config(ROOT / "config.yaml"), Config)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("sed", 3, ["sed: unknown key", "did you mean seed?"]),
        ("pretraining.stepz", 3, ["pretraining.stepz: unknown key", "did you mean steps?"]),
        ("pretraining.steps", "many", ["pretraining.steps", "valid integer", "'many'"]),
        ("pretraining.steps", 0, ["pretraining.steps", "greater than or equal to 1"]),
        ("pretraining.optimiser.learning_rate", float("inf"), ["learning_rate", "finite number"]),
        ("pretraining.margin", float("nan"), ["pretraining.margin", "finite number"]),
        ("pretraining.loss", "hing", ["pretraining.loss", "'hinge', 'pair-softmax' or 'listwise'", "'hing'"]),
        ("objectives.rop.suport", 3, ["rop: suport: unknown key", "did you mean support?"]),
        ("objectives.rop.type", "rup", ["rop.type: 'rup' is unknown", "did you mean rqp or rop"]),
        ("objectives.rop.type", [], ["rop.type: [] is unknown", "allowed are"]),
        (
            "word_vectors.files",
            {"pretrainnig": "a"},
            ["word_vectors.files: 'pretrainnig' is not in collections"],
        ),
        ("corpora.squad-dev.shards", "x", ["corpora.squad-dev.shards", "valid integer"]),
        ("datasets.squad-train.folds", 600, ["600 folds cannot be made of 500 queries", "lower folds"]),
        ("datasets.squad-train.folds", 2, ["no room for training, validation and test; give 3 or more"]),
        (
            "datasets.squad-train.sample_queries",
            2,
            ["2 queries cannot be parted", "name another", "zero-shot"],
        ),
        ("datasets.squad.train_on", "squad", ["datasets.squad.train_on: is the data set itself"]),
        (
            "datasets.squad.train_on",
            "squad-trian",
            ["'squad-trian' is not in datasets", "did you mean squad-train?"],
        ),
        ("datasets.squad.corpus", "squad-dve", ["'squad-dve' is not in corpora", "did you mean squad-dev?"]),
        ("experiments.few-shot.regimes", ["few-50"], ["'few-50' is not a regime", "few-shot-<n>"]),
        ("experiments.few-shot.models", ["porp"], ["'porp' is not in models", "did you mean prop?"]),
        ("models.prop.training.stps", 3, ["models.prop.training: stps: unknown key", "did you mean steps?"]),
        ("models.prop.start", "prop-further", ["goes round in a circle"]),
        (
            "models.prop-further.encoder",
            {"path": "bert", "label": "B"},
            ["models.prop-further.encoder: prop-further starts from prop, whose encoder it has"],
        ),
        ("models.prop.encoder", {"label": "B"}, ["models.prop.encoder.path: is missing"]),
        (
            "models.prop.training",
            {"steps": 7, "mlm_head_steps": 7},
            ["models.prop: with mlm_head_steps 7 and steps 7", "never the encoder"],
        ),
        ("pretraining.snapshots", [5, 5], ["pretraining.snapshots: 5 is listed twice"]),
        ("pretraining.steps", None, ["pretraining: neither steps nor epochs are given"]),
        ("pretraining.epochs", 2, ["pretraining: both steps 100 and epochs 2 are given; set one of them"]),
        ("pretraining.epochs", 0, ["pretraining.epochs", "greater than 0"]),
        ("pretraining.epochs_of", "rop", ["pretraining: epochs_of rop: has no use with steps; give epochs"]),
        (
            "models.prop.training",
            {"epochs": 2, "epochs_of": "rpo"},
            ["models.prop: epochs_of: 'rpo' is not in models.prop.tasks; did you mean rop?"],
        ),
        (
            "models.prop.training",
            {"steps": 7, "epochs": 1.5},
            ["models.prop.training: both steps 7 and epochs 1.5 are given"],
        ),
        (
            "models.prop-rop.training",
            {"epochs": 1, "snapshots": [40]},
            [
                "models.prop-rop.training: snapshots: counts steps",
                "epochs 1",
                "set it to [], or give steps",
            ],
        ),
        (
            "models.prop.training",
            {"epochs": 1, "optimiser": {"decay": "step", "later_rate": 1e-6, "later_from": 9}},
            [
                "models.prop.training: optimiser.later_from: counts steps",
                "set it to null and decay to linear",
            ],
        ),
        ("models.prop.collection", None, ["has tasks but no collection"]),
        (
            "models.prop.tasks",
            [{"objective": "rop", "query_length": 62}],
            ["models.prop.tasks: task rop: query_length 62", "max_length 64"],
        ),
        (
            "models.prop.tasks",
            [{"objective": "rop", "masking": {"anchor_ratio": 0.5}}],
            ["models.prop.tasks: task rop: masking: anchor_ratio: anchors are in queries"],
        ),
        (
            "pretraining.optimiser",
            {"decay": "step", "later_rate": 1e-6, "later_from": 100},
            [
                "pretraining: optimiser: later_from 100 is not between the end of warm-up, step 10, and the last of 100"
            ],
        ),
        (
            "pretraining.optimiser",
            {"later_rate": 1e-6},
            ["pretraining.optimiser: later_rate: has no use with decay linear"],
        ),
        (
            "finetuning.optimiser",
            {"decay": "step", "later_rate": 1e-6, "later_from": 5},
            ["finetuning: optimiser.decay: step has one later_rate"],
        ),
        ("models.prop.tasks", [{"objective": "rop", "weight": 0, "mlm_weight": 0}], ["nothing is learned"]),
        (
            "graph.segment_words",
            31,
            [
                "models.php.tasks: mrds reads query_length 30 word pieces of segments of graph.segment_words 31",
                "lower graph.segment_words or raise query_length",
            ],
        ),
        (
            "models.php-shp.tasks",
            [{"objective": "shp", "query_length": 23}],
            ["models.php-shp.tasks: shp reads query_length 23 word pieces", "graph.segment_words 24 words"],
        ),
        ("preset", "papers", ["preset", "'paper' or 'released'"]),
        ("pretraining.query_length", 61, ["query_length 61", "max_length 64", "lower query_length or raise"]),
        ("reranking.query_length", 96, ["reranking: query_length 96", "max_length 96"]),
        ("finetuning.max_length", 30, ["finetuning: query_length 32", "max_length 30"]),
        (
            "models.prop-rop.training.snapshots",
            [201],
            ["models.prop-rop.training", "201 is not a step of 1 to "],
        ),
        (
            "datasets.squad.measures",
            ["nDGC@20"],
            ["datasets.squad.measures", "'nDGC@20' is not a measure", "nDCG@k"],
        ),
        (
            "datasets.squad.measures",
            ["AP", "nDCG(dcg='exp-log2')@20", "AP", "P@10"],
            ["datasets.squad.measures", "'AP' is listed twice; list each measure once"],
        ),
        (
            "datasets.squad.measures",
            ["nDCG@10", "ndcg_cut_10"],
            ["datasets.squad.measures", "'ndcg_cut_10' is listed twice (as nDCG@10)"],
        ),
        (
            "datasets.squad.validation_measure",
            "P",
            ["datasets.squad.validation_measure", "'P' is not a measure"],
        ),
        ("experiments.few-shot.seeds", [-1], ["experiments.few-shot.seeds.0", "greater than or equal to 0"]),
        ("finetuning.batch_sizes", [0], ["finetuning.batch_sizes.0", "greater than or equal to 1"]),
        ("finetuning.learning_rates", [0.0], ["finetuning.learning_rates.0", "greater than 0"]),
        (
            "corpora.squad-dev.path",
            "",
            ["corpora.squad-dev.path", "at least 1 character"],
        ),
        ("collections.target", [], ["collections.target: is empty"]),
        ("corpora.squad-train-passages", None, ["'squad-train-passages' is not in corpora"]),
        ("report.papers", ["prop", "prop"], ["report.papers: prop is listed twice; list each once"]),
    ],
)
def test_faults_are_explained(given, path, value, expected):
    *parents, last = path.split(".")
    section = given
    for parent in parents:
        section = section.setdefault(parent, {})
    section[last] = value
    text = message(given)
    for part in expected:
        assert part in text
    assert "Traceback" not in text


def held_out(given):
    """The default configuration with a model that is chosen on held-out questions."""
    given["models"]["prop-rop"]["select_on"] = {"dataset": "squad-train"}
    return given


def test_a_model_may_be_chosen_on_held_out_queries(given):
    given["experiments"] = {
        "zero-shot": {"dataset": "squad", "models": ["prop-rop"], "regimes": ["zero-shot"]}
    }
    assert "squad-train" not in used_names(parse_config(given), "datasets")
    parsed = parse_config(held_out(given))
    assert parsed.models["prop-rop"].select_on.measure == "nDCG@20"
    assert "squad-train" in used_names(parsed, "datasets")
    assert "squad-train" in used_names(parsed, "corpora")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"models": {"prop-rop": {"select_on": {"dataset": "squad-trian"}}}}, "did you mean squad-train?"),
        (
            {"models": {"prop-rop": {"select_on": {"measure": "nDGC"}}}},
            "models.prop-rop.select_on.measure: 'nDGC' is not a measure",
        ),
        (
            {"models": {"prop-rop": {"training": {"snapshots": []}}}},
            "models.prop-rop.select_on: prop-rop keeps no snapshots to choose among",
        ),
        (
            {"models": {"prop-rop": {"training": {"snapshots": [], "epochs": 2}}}},
            "prop-rop keeps no snapshots to choose among; give models.prop-rop.training.steps in place of epochs and "
            "list steps in models.prop-rop.training.snapshots",
        ),
        (
            {"models": {"control": {"select_on": {"dataset": "squad-train"}}}},
            "control keeps no snapshots",
        ),
        (
            {"models": {"prop-rop": {"select_on": {"dataset": "squad"}}}},
            "models.prop-rop.select_on.dataset: experiments.zero-shot tests on squad; test queries must not choose",
        ),
        (
            {"datasets": {"squad-train": {"queries": {"path": "embedded:squad-dev"}}}},
            "tests on squad, which has its queries from embedded:squad-dev too; test queries must not choose a model",
        ),
        # The model is tested through another one that starts from it.
        (
            {
                "models": {
                    "prop-further": {"start": "prop-rop"},
                    "prop-rop": {"select_on": {"dataset": "squad"}},
                },
                "experiments": {
                    "zero-shot": {"models": ["prop-further"]},
                    "fine-tuned": None,
                    "few-shot": None,
                },
            },
            "models.prop-rop.select_on.dataset: experiments.zero-shot tests on squad",
        ),
    ],
)
def test_what_cannot_choose_a_model_is_refused(given, changes, expected):
    assert expected in message(deep_merge(held_out(given), changes))


def with_ares(given):
    """The default configuration with a preference predictor, a model that learns from it, and a diagnosis."""
    return deep_merge(
        given,
        {
            "collections": {"paragraphs": ["squad-train"]},
            "predictors": {
                "simple": {"label": "simple", "collection": "paragraphs", "dataset": "squad-train"}
            },
            "objectives": {"ares": {"type": "ares", "predictor": "simple"}},
            "models": {
                "ares": {"label": "ARES", "collection": "paragraphs", "tasks": [{"objective": "ares"}]},
                "ares-further": {"label": "ARES, further", "start": "ares"},
            },
            "experiments": {
                "zero-shot-ares": {"dataset": "squad", "models": ["ares-further"], "regimes": ["zero-shot"]}
            },
            "diagnoses": {"axioms": {"collection": "paragraphs", "models": ["control", "ares"]}},
        },
    )


def test_ares_takes_what_its_preset_says(given):
    parsed = parse_config(with_ares(given))
    assert (parsed.objectives["ares"].draw, parsed.objectives["ares"].ties) == ("until-accepted", "drop")
    released = parse_config({**with_ares(given), "preset": "released"})
    assert (released.objectives["ares"].draw, released.objectives["ares"].ties) == ("first", "keep")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"predictors": {"simple": {"collection": "paragraph"}}},
            "predictors.simple.collection: 'paragraph' is not in collections; did you mean paragraphs?",
        ),
        (
            {"predictors": {"simple": {"dataset": "squad-trian"}}},
            "predictors.simple.dataset: 'squad-trian' is not in datasets; did you mean squad-train?",
        ),
        (
            {"predictors": {"simple": {"collection": "pretraining"}}},
            "predictors.simple: the relevant documents of squad-train are in corpus squad-train, which is not in "
            "collections.pretraining",
        ),
        (
            {"objectives": {"ares": {"predictor": "simpel"}}},
            "objectives.ares.predictor: 'simpel' is not in predictors; did you mean simple?",
        ),
        ({"objectives": {"ares": {"predictor": None}}}, "ares: predictor: is missing"),
        # The model is tested through another one that starts from it.
        (
            {"collections": {"paragraphs": ["squad-dev"]}, "predictors": {"simple": {"dataset": "squad"}}},
            "predictors.simple.dataset: experiments.zero-shot-ares tests on squad; test queries must not teach a "
            "predictor, so name a data set with other queries",
        ),
        (
            {"datasets": {"squad-train": {"queries": {"path": "embedded:squad-dev"}}}},
            "predictors.simple.dataset: experiments.zero-shot-ares tests on squad, which has its queries from "
            "embedded:squad-dev too",
        ),
        (
            {"diagnoses": {"axioms": {"models": ["aers"]}}},
            "diagnoses.axioms.models: 'aers' is not in models; did you mean ares?",
        ),
        (
            {"diagnoses": {"axioms": {"models": ["ares", "ares"]}}},
            "diagnoses.axioms.models: ares is listed twice",
        ),
        (
            {"diagnoses": {"axioms": {"collection": "paragraph"}}},
            "diagnoses.axioms.collection: 'paragraph' is not in collections",
        ),
        (
            {"diagnoses": {"Axioms": {"collection": "paragraphs", "models": ["ares"]}}},
            "diagnoses.Axioms: names",
        ),
        # A model that only a diagnosis needs.
        (
            {
                "experiments": {"zero-shot-ares": None},
                "models": {"ares": {"training": {"steps": 7, "mlm_head_steps": 7}}},
            },
            "models.ares: with mlm_head_steps 7 and steps 7",
        ),
    ],
)
def test_faults_of_predictors_and_diagnoses_are_explained(given, changes, expected):
    assert expected in message(deep_merge(with_ares(given), changes))


def test_a_predictor_may_learn_from_test_queries_that_no_model_of_its_is_tested_on(given):
    ares = with_ares(given)
    ares["collections"]["dev"] = ["squad-dev"]
    ares["predictors"]["dev"] = {"label": "dev", "collection": "dev", "dataset": "squad"}
    parse_config(ares)


def test_all_faults_come_in_one_message(given):
    given["sed"] = 1
    given["retrieval"]["dept"] = 3
    text = message(given)
    assert "2 faults" in text
    assert "sed" in text
    assert "retrieval.dept" in text


def test_models_that_nothing_needs_may_not_fit(given):
    given["pretraining"] |= {"steps": 9, "mlm_head_steps": 0}
    assert "models.prop-rop.training: snapshots" in message(given)
    given["experiments"] = {
        "zero-shot": {"dataset": "squad", "models": ["prop-mlm"], "regimes": ["zero-shot"]}
    }
    parse_config(given)
    given["experiments"]["zero-shot"]["models"] = ["prop-further"]
    given["models"]["prop"]["training"] = {"stepz": 1}
    assert "models.prop.training: stepz" in message(given)  # needed as prop-further's start


def test_every_dangling_name_is_listed(given):
    for name in ("squad-train-passages", "squad-dev", "squad-dev-passages"):
        given["corpora"][name] = None
    text = message(given)
    assert "5 faults" in text
    assert "collections.pretraining: 'squad-train-passages'" in text
    assert "collections.target: 'squad-dev-passages'" in text
    assert "datasets.squad.corpus: 'squad-dev'" in text
    assert "datasets.squad-first-stages.corpus: 'squad-dev'" in text
    assert "weight_distributions.squad-dev.corpora: 'squad-dev'" in text


@pytest.mark.parametrize("name", ["encoder", "bm25", "ql"])
def test_names_with_a_meaning_of_their_own_are_no_models(given, name):
    given["models"][name] = given["models"].pop("prop-mlm")
    assert f"models.{name}: {name} has a meaning of its own here" in message(given)


def test_names_that_could_not_be_paths_are_refused(given):
    given["models"]["../evil"] = given["models"]["prop"]
    assert "models.../evil" in message(given)


def test_presets_fill_only_what_is_left_out(given):
    released = parse_config({**given, "preset": "released"})
    assert released.pretraining.head == "pooled"
    assert released.pretraining.masking.most == 60
    assert released.objectives["rop"].minimum_count == released.pseudo_queries.minimum_count == 10
    assert (
        released.pretraining.optimiser.learning_rate == 1e-4
    )  # the default configuration gives this one itself
    assert parse_config(given).pretraining.head == "mlp"


@pytest.mark.parametrize("name", ["papre", 3])
def test_an_unknown_preset_is_the_only_fault(given, name):
    given["preset"] = name
    text = message(given)
    assert "1 fault" in text
    assert f"preset: should be 'paper' or 'released'; given was {name!r}" in text
    assert "is missing" not in text


def test_pseudo_queries_have_the_words_of_rop(given):
    """PROP, section 4.4.2: words with fewer than 50 occurrences are discarded."""
    paper = parse_config(given)
    assert paper.pseudo_queries.minimum_count == paper.objectives["rop"].minimum_count == 50
    small = parse_config({**given, "pseudo_queries": {"minimum_count": 2}})
    assert small.pseudo_queries.minimum_count == 2


def training(config, model):
    """What the presets say of a model's training: head, what is masked, decay and clipping."""
    options = config.training_of(model)
    optimiser = options.optimiser
    return options.head, options.masking.scope, optimiser.weight_decay, optimiser.clip


def test_presets_tell_the_papers_of_models_apart(given):
    """By the type of a model's objectives: PROP prints Adam, ARES a head over pooled output and masked queries."""
    given["models"]["ares"] = {**given["models"]["prop"], "tasks": [{"objective": "ares"}]}
    given = with_ares(given)
    paper, released = parse_config(given), parse_config({**given, "preset": "released"})
    assert training(paper, "prop") == ("mlp", "document", 0.0, None)
    assert training(released, "prop") == ("pooled", "document", 0.01, 1.0)
    assert training(paper, "ares") == ("pooled", "sequence", 0.01, 1.0)
    assert training(released, "ares") == ("pooled", "document", 0.01, 1.0)
    assert training(paper, "control") == ("mlp", "document", 0.01, 1.0)
    # AdamW of the library that ARES's code imports; BERT's own, without bias correction, in PROP's.
    assert [released.training_of(m).optimiser.bias_correction for m in ("prop", "ares")] == [False, True]


def test_presets_of_models_fill_only_what_is_left_out(given):
    given["models"]["ares"] = {**given["models"]["prop"], "tasks": [{"objective": "ares"}]}
    given = with_ares(given)
    given["pretraining"] = {**given["pretraining"], "head": "mlp", "optimiser": {"clip": 0.5}}
    given["models"]["ares"]["training"] = {"masking": {"scope": "document"}}
    config = parse_config(given)
    assert training(config, "ares") == ("mlp", "document", 0.01, 0.5)
    assert training(config, "prop") == ("mlp", "document", 0.0, 0.5)


def test_presets_say_nothing_of_models_with_objectives_of_several_papers(given):
    given["models"]["both"] = {
        **given["models"]["prop"],
        "tasks": [{"objective": "rop"}, {"objective": "ares"}],
    }
    config = parse_config(with_ares(given))
    assert training(config, "both") == ("mlp", "document", 0.01, 1.0)


def test_null_removes_a_named_entry(given):
    assert "few-shot" not in parse_config(deep_merge(given, {"experiments": {"few-shot": None}})).experiments


def test_a_models_training_is_merged_into_pretraining(given):
    given["models"]["prop"]["training"] = {"optimiser": {"learning_rate": 0.5}}
    own = parse_config(given).training_of("prop")
    assert own.optimiser.learning_rate == 0.5
    assert own.optimiser.warmup == 0.1
    assert own.steps == given["pretraining"]["steps"]


def test_a_models_own_length_replaces_the_common_one(given):
    given["models"]["prop"]["training"] = {"epochs": 1}
    own = parse_config(given).training_of("prop")
    assert (own.steps, own.epochs) == (None, 1)
    given["pretraining"] |= {"steps": None, "epochs": 0.5, "epochs_of": "rop"}
    given["models"] |= dict.fromkeys(("prop-rop", "prop-random"))
    given["models"]["prop"]["training"] = {"steps": 70}
    given["experiments"]["zero-shot"]["models"] = ["prop", "prop-mlm"]
    given["report"]["papers"] = ["prop"]
    parsed = parse_config(given)
    assert [(t.steps, t.epochs, t.epochs_of) for t in map(parsed.training_of, ("prop", "prop-mlm"))] == [
        (70, None, None),
        (None, 0.5, "rop"),
    ]


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(ConfigError, match="no such configuration file"):
        load_config(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_config(broken)
    broken.write_text("- 1")
    with pytest.raises(ConfigError, match="mapping"):
        load_config(broken)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("experiments:\n  a: {b: 1\n  c: 2\n", r"o\.yaml:3: this is not valid YAML"),
        ("a: 1\nb: {c: 1, c: 2}\n", r"o\.yaml:2: c is already in line 2; join the two"),
        ("experiments:\n\ta: 3\n", r"o\.yaml:2: this is not valid YAML: .*'\\t'"),
        ("a: 1\nb: 2\na: 3\n", r"o\.yaml:3: a is already in line 1; join the two"),
        ("a: {1: x,\n  0x1: y}\n", r"o\.yaml:2: 0x1 is already in line 1; join the two"),
        ("a: {1: x,\n  '1': y}\n", r"o\.yaml:2: 1 is already in line 1"),
        ("a: {true: x,\n  True: y}\n", r"o\.yaml:2: True is already in line 1"),
        ("a: {1: x,\n  1.0: y}\n", r"o\.yaml:2: 1\.0 is already in line 1"),
        ("a:\n  b: 1\n  b: 2\n", r"o\.yaml:3: b is already in line 2"),
        (
            "a: &a {o: {x: 1, y: 2}}\nb:\n  <<: *a\n  o: {x: 3}\n",
            r"o\.yaml:4: o replaces the o that << brings, so y would",
        ),
        (
            "a: &a {o: {x: 1, y: 2}}\nb: [{<<: [*a], o: {}}]\n",
            r"o\.yaml:2: o replaces .* so x, y would be lost; repeat them",
        ),
        (
            "a: &a {o: {x: 1}}\nb: &b {<<: *a}\nc: {<<: *b, o: {y: 1}}\n",
            r"o\.yaml:3: o replaces .* x would be lost",
        ),
        (
            "a: &a {o: {p: {x: 1, y: 2}}}\nb: {<<: *a, o: {p: {x: 3}}}\n",
            r"o\.yaml:2: o replaces .* p\.y would be lost",
        ),
        (
            "a: &a {o: {x: 1}}\nb: &b {o: {y: 2}, k: 1}\nc: {<<: [*a, *b]}\n",
            r"o\.yaml:3: o replaces .* y would be lost",
        ),
        (
            "a: &a {o: {x: 1}}\nb: &b {o: {y: 2}}\nc: {<<: [*a, *b], o: {x: 5}}\n",
            r"o\.yaml:3: o replaces .* y would be lost",
        ),
        ("a: &a {x: 1}\nb: &b {y: 2}\nc:\n  <<: *a\n  <<: *b\n", r"o\.yaml:5: << is already in line 4"),
    ],
    ids=[
        "brace",
        "key twice in a line",
        "tab",
        "key twice",
        "key in two bases",
        "key as number and as text",
        "key as two truths",
        "key as two numbers",
        "inner key twice",
        "merge",
        "merge of a list",
        "merge of a merge",
        "merge two levels deep",
        "merge of two mappings",
        "merge of two mappings and own keys",
        "two merges",
    ],
)
def test_faults_of_yaml_have_file_and_line(tmp_path, text, message):
    (tmp_path / "o.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(ROOT / "config.yaml", tmp_path / "o.yaml")


def test_a_merge_of_a_deeper_mapping_that_merges_too_is_no_repeated_key(tmp_path):
    """PyYAML reads the outer mapping first, and writes the merged keys into the inner one."""
    (tmp_path / "o.yaml").write_text("a: &a {k: 1, l: 1}\nb: {c: {d: &d {<<: *a, k: 2}}}\ne: {<<: *d}\n")
    assert read_yaml(tmp_path / "o.yaml")["e"] == {"k": 2, "l": 1}


def test_mappings_that_many_merges_share_are_read_once(tmp_path):
    """Merged as PyYAML does, 60 doublings would write 2^60 pairs."""
    doubled = "".join(
        f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}], k{n}: {{x: {n}}}, '=': 1}}\n" for n in range(1, 61)
    )
    (tmp_path / "o.yaml").write_text(f"a0: &a0 {{k: 1}}\n{doubled}")
    assert len(read_yaml(tmp_path / "o.yaml")["a60"]) == 62
    (tmp_path / "o.yaml").write_text(f"a0: &a0 {{k: 1}}\n{doubled}".partition("a9:")[0])
    ours, theirs = read_yaml(tmp_path / "o.yaml"), yaml.safe_load((tmp_path / "o.yaml").read_text())
    assert json.dumps(ours) == json.dumps(theirs), "with the keys in the same order"


def test_overlays_are_laid_as_snakemake_does(tmp_path):
    from snakemake.utils import update_config

    layers = [tmp_path / "removes.yaml", tmp_path / "makes.yaml"]
    layers[0].write_text("term_weights: {deepct: null}\n")
    layers[1].write_text("term_weights: {deepct: {max_length: 50}}\n")
    laid, given = {}, yaml.safe_load((ROOT / "config.yaml").read_text())
    for layer in layers:
        update_config(laid, yaml.safe_load(layer.read_text()))
    update_config(given, laid)
    ours = load_config(ROOT / "config.yaml", *layers)
    assert ours == parse_config(given)
    assert (ours.term_weights["deepct"].max_length, ours.term_weights["deepct"].training.steps) == (50, 50)


def test_merging_leaves_its_arguments_alone():
    base, over = {"a": {"b": 1}}, {"a": {"c": 2}}
    before = copy.deepcopy((base, over))
    assert deep_merge(base, over) == {"a": {"b": 1, "c": 2}}
    assert (base, over) == before


def test_a_page_of_attributions_names_what_there_is(given):
    page = {"dataset": "squad", "models": ["control", "prop"]}
    given["attributions"] = {"case": page}
    assert parse_config(given).attributions["case"].seed == 1
    given["attributions"] = {"Case": page, "other": {"dataset": "squid", "models": ["prop", "porp"]}}
    text = message(given)
    assert "attributions.Case: names are lower-case" in text
    assert "attributions.other.dataset: 'squid' is not in datasets; did you mean squad?" in text
    assert "attributions.other.models: 'porp' is not in models; did you mean prop?" in text


def test_models_of_a_page_are_checked_though_no_experiment_needs_them(given):
    given["models"]["other"] = {"label": "other", "training": {"stepz": 1}}
    parse_config(given)
    given["attributions"] = {"case": {"dataset": "squad", "models": ["other"]}}
    assert "models.other.training: stepz" in message(given)


def test_a_re_ranker_given_by_its_path_is_tested_zero_shot_only(given):
    given["models"]["theirs"] = {"label": "theirs", "cross_encoder": "models/theirs"}
    given["experiments"]["zero-shot"]["models"].append("theirs")
    parsed = parse_config(given)
    assert "models.theirs.cross_encoder" in [files.key for files in used_files(parsed)]
    Config(**parsed.model_dump(mode="json"))  # as jobs get it, with every key written out
    given["experiments"]["few-shot"]["models"].append("theirs")
    assert "experiments.few-shot.regimes: theirs has cross_encoder and is not fine-tuned here" in message(
        given
    )


def test_what_would_train_a_given_re_ranker_is_refused(given):
    given["models"]["theirs"] = {
        "label": "theirs",
        "cross_encoder": "a",
        "collection": "target",
        "start": "prop",
    }
    given["models"]["further"] = {"label": "further", "start": "theirs"}
    text = message(given)
    assert (
        "models.theirs: a model with cross_encoder is not pre-trained here; remove start, collection" in text
    )
    assert "models.further.start: theirs is a re-ranker given by its path" in text


def test_every_collection_is_calibrated_unless_the_user_gives_a_number(given):
    default = base_config()
    assert load_config(ROOT / "config.yaml").pseudo_queries.temperature == "calibrated"
    assert not {"temperature", "temperatures"} & set(default.get("pseudo_queries", {}))
    given["pseudo_queries"] = {"temperature": "hot"}
    text = message(given)
    assert "pseudo_queries.temperature" in text
    assert "'calibrated'; given was 'hot'" in text


def test_data_of_predictors_are_used_where_they_are_displayed(given):
    config = parse_config(given)
    assert "squad-questions" in used_names(config, "datasets")
    assert "squad-questions" not in used_names(config.of_papers(["php"]), "datasets")


def test_first_stages_that_take_runs_of_others(given):
    run = {"path": "run", "format": "tsv", "options": {"columns": ["query_id", "document_id", "score"]}}
    stages = {"theirs": {"label": "Theirs", "runs": {"squad": run}}}
    taken = deep_merge(
        given, {"first_stages": stages, "experiments": {"zero-shot": {"candidates": "theirs"}}}
    )
    parsed = parse_config(taken)
    assert parsed.first_stages["theirs"].runs["squad"].options == {**run["options"], "header": False}
    assert "first_stages.theirs.runs.squad.path" in [files.key for files in used_files(parsed)]
    assert parse_config(parsed.model_dump()).first_stages == parsed.first_stages
    changes = (
        (
            {"runs": {"squat": run}},
            "first_stages.theirs.runs: 'squat' is not in datasets; did you mean squad?",
        ),
        ({"model": "ql"}, "first_stages.theirs: takes runs of others, so nothing is searched; remove model"),
        ({"runs": {"squad": {"format": "treck"}}}, "'treck' is not a format of runs; did you mean trec?"),
        (
            {"runs": {"squad": {"options": {"columns": ["query_id"]}}}},
            "rank or score must be among the columns",
        ),
    )
    for change, expected in changes:
        assert expected in message(deep_merge(taken, {"first_stages": {"theirs": change}}))
    fine_tuned = {"experiments": {"fine-tuned": {"candidates": "theirs"}}}
    expected = "experiments.fine-tuned.candidates: theirs has no run for squad-train; add it as "
    assert expected + "first_stages.theirs.runs.squad-train" in message(deep_merge(taken, fine_tuned))
    misspelt = deep_merge(fine_tuned, {"experiments": {"fine-tuned": {"dataset": "squda"}}})
    assert "experiments.fine-tuned.dataset: 'squda' is not in datasets" in message(
        deep_merge(taken, misspelt)
    )
    others = deep_merge(taken, {"first_stages": {"theirs": {"training_candidates": "ql"}}} | fine_tuned)
    assert training_candidates(parse_config(others), "squad", "theirs") == "ql"
    assert training_candidates(parse_config(given), "squad", "bm25") == "bm25"
    others["first_stages"]["theirs"]["training_candidates"] = "pl"
    assert "first_stages.theirs.training_candidates: 'pl' is not in first_stages" in message(others)
    others["first_stages"]["theirs"] = {"label": "Ours", "training_candidates": "ql"}
    assert "first_stages.theirs.training_candidates: is for runs of others" in message(others)


@pytest.mark.parametrize("stages", [[], ["bm25", "ql"], ["bm25"]], ids=["none", "both", "bm25"])
def test_first_stages_may_be_compared_alone(given, stages):
    given["experiments"] = {"first": {"dataset": "squad", "first_stages": stages}}
    assert used_names(parse_config(given), "first_stages") == []


@pytest.mark.parametrize("ranked", [["p"], ["q", "p"]], ids=["itself", "in a circle"])
def test_first_stages_that_rank_their_own_candidates_are_refused(given, ranked):
    given["first_stages"] |= {
        name: {"label": name, "candidates": candidates}
        for name, candidates in zip(("p", "q"), ranked, strict=False)
    }
    given["experiments"] = {"first": {"dataset": "squad", "candidates": "p"}}
    fault = (
        f"first_stages.p.candidates: {ranked[0]} ranks candidates itself; name the first stage that has them"
    )
    assert fault in message(given)


def test_measures_of_trec_eval_have_one_name_in_tables():
    given = base_config()
    given["datasets"]["squad"] |= {
        "measures": ["ndcg_cut_10", "map", "P@5"],
        "validation_measure": "recip_rank",
    }
    squad = parse_config(given).datasets["squad"]
    assert (squad.measures, squad.validation_measure) == (["nDCG@10", "AP", "P@5"], "RR")


def test_queries_that_are_documents_are_refused_where_documents_are_cut(tmp_path):
    corpus = "corpora: {mine: {format: jsonl, path: d%s}}\n"
    dataset = "{corpus: mine, queries: {path: q}, qrels: {path: r}, queries_are_documents: true}"
    (tmp_path / "o.yaml").write_text(corpus % ", passage_words: 50" + f"datasets: {{mine: {dataset}}}\n")
    fault = r"datasets\.mine\.queries_are_documents: corpora\.mine\.passage_words cuts documents"
    with pytest.raises(ConfigError, match=fault):
        load_config(ROOT / "config.yaml", tmp_path / "o.yaml")
    (tmp_path / "o.yaml").write_text(corpus % "" + f"datasets: {{mine: {dataset}}}\n")
    load_config(ROOT / "config.yaml", tmp_path / "o.yaml")
