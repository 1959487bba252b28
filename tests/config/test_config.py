"""What a configuration becomes: presets, merged keys, YAML files, and what of it is used."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from pydantic_core import PydanticUndefined

from base_config import base_config
from irpretrain.config import Config, load_config, parse_config
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig
from irpretrain.config.base import Section, deep_merge, leaves
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.objectives import OBJECTIVES, options_class
from irpretrain.config.papers import read_preset
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.yaml_files import read_yaml
from irpretrain.corpora.sources import used_files
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def given():
    return base_config()


def test_a_model_may_be_chosen_on_held_out_queries(given):
    given["experiments"] = {
        "zero-shot": {"dataset": "squad", "models": ["prop-rop"], "regimes": ["zero-shot"]}
    }
    assert "squad-train" not in parse_config(given).used_names("datasets")
    given["models"]["prop-rop"]["select_on"] = {"dataset": "squad-train"}
    parsed = parse_config(given)
    assert "squad-train" in parsed.used_names("datasets")
    assert "squad-train" in parsed.used_names("corpora")


@pytest.mark.parametrize(("regime", "used"), [("zero-shot", False), ("full", True)])
def test_the_data_set_that_fine_tuning_trains_on_is_used_where_models_are_fine_tuned(given, regime, used):
    given["datasets"]["squad"]["train_on"] = "squad-train"
    given["experiments"] = {"all": {"dataset": "squad", "models": ["prop-rop"], "regimes": [regime]}}
    assert ("squad-train" in parse_config(given).used_names("datasets")) is used


def test_presets_fill_only_what_is_left_out(given):
    released = parse_config({**given, "preset": "released"})
    assert released.pretraining.head == "pooled"
    assert released.pretraining.masking.most == 60
    assert released.objectives["rop"].minimum_count == released.pseudo_queries.minimum_count == 10
    assert (
        released.pretraining.optimiser.learning_rate == 1e-4
    )  # the default configuration gives this one itself
    assert parse_config(given).pretraining.head == "mlp"


SECTIONS_OF_PRESETS: dict[str, type[Section]] = {
    "pretraining": PretrainingConfig,
    "pseudo_queries": PseudoQueriesConfig,
    "text": TextConfig,
    "term_weights.<name>": TermWeightsConfig,
    **{f"objectives.{objective_type}": options_class(objective_type) for objective_type in OBJECTIVES},
}


@pytest.mark.parametrize(
    "path", [path for path, _ in leaves(read_preset("paper")) if not path.startswith("models.")]
)
def test_class_defaults_are_what_a_configuration_without_a_preset_gives(path):
    """Or there is none. `models` has what differs by the type of a model's objectives."""
    [section] = [name for name in SECTIONS_OF_PRESETS if path.startswith(f"{name}.")]
    key, *inner_keys = path.removeprefix(f"{section}.").split(".")
    default = SECTIONS_OF_PRESETS[section].model_fields[key].default
    for inner_key in inner_keys:
        default = getattr(default, inner_key)
    assert default in (PydanticUndefined, dict(leaves(read_preset("paper")))[path])


@pytest.mark.parametrize(
    ("section", "key"), [(AxiomsConfig, "bm25"), (CorpusConfig, "malformed")], ids=["bm25", "malformed"]
)
def test_a_key_of_a_part_leaves_the_others_as_they_are(section, key):
    """The part has other defaults here than by itself."""
    required = {"format": "jsonl", "path": "d.jsonl"} if section is CorpusConfig else {}
    part = getattr(section(**required), key)
    assert part != type(part)()
    for name, value in part.model_dump().items():
        assert getattr(section(**required, **{key: {name: value}}), key) == part
    assert getattr(section(**required, **{key: {}}), key) == part


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
    paper, released = parse_config(given), parse_config({**given, "preset": "released"})
    assert training(paper, "prop") == ("mlp", "document", 0.0, None)
    assert training(released, "prop") == ("pooled", "document", 0.01, 1.0)
    assert training(paper, "ares-simple") == ("pooled", "sequence", 0.01, 1.0)
    assert training(released, "ares-simple") == ("pooled", "document", 0.01, 1.0)
    assert training(paper, "control") == ("mlp", "document", 0.01, 1.0)
    # AdamW of the library that ARES's code imports; BERT's own, without bias correction, in PROP's.
    corrections = [released.training_of(m).optimiser.bias_correction for m in ("prop", "ares-simple")]
    assert corrections == [False, True]
    pairs = [config.objectives["ares-simple"] for config in (paper, released)]
    assert [(options.draw, options.ties) for options in pairs] == [
        ("until-accepted", "drop"),
        ("first", "keep"),
    ]


def test_presets_of_models_fill_only_what_is_left_out(given):
    given["pretraining"] = {**given["pretraining"], "head": "mlp", "optimiser": {"clip": 0.5}}
    given["models"]["ares-simple"]["training"] = {"masking": {"scope": "document"}}
    config = parse_config(given)
    assert training(config, "ares-simple") == ("mlp", "document", 0.01, 0.5)
    assert training(config, "prop") == ("mlp", "document", 0.0, 0.5)


def test_presets_say_nothing_of_models_with_objectives_of_several_papers(given):
    given["models"]["prop"]["tasks"] = [{"objective": "rop"}, {"objective": "ares-simple"}]
    assert training(parse_config(given), "prop") == ("mlp", "document", 0.01, 1.0)


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


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.yaml: there is no such configuration file"):
        load_config(tmp_path / "absent.yaml")


# A file, with ¶ for the ends of its lines => line and message, part by part.
YAML_FAULTS = """
experiments:¶  a: {b: 1¶  c: 2 => 3: this is not valid YAML
experiments:¶\ta: 3 => 2: this is not valid YAML: | '\\t'
a: 1¶b: !!bool x => 2: this is not valid YAML: this is no !!bool
a: 1¶b: !!int x => 2: this is not valid YAML: this is no !!int: invalid
a: 1¶b: !!float '' => 2: this is not valid YAML: this is no !!float
a: 1¶b: !!map [c] => 2: this is not valid YAML: a mapping is needed, not a sequence
a: 1¶b: !!set {c} => 2: this is not valid YAML: | constructor for the tag | :set
a: 1¶b: !!timestamp x => 2: this is not valid YAML: | for the tag | :timestamp
a: 1¶b: &b {c: *b} => 2: this is not valid YAML: found unconstructable recursive node
a: 1¶b: {<<: 3} => 2: this is not valid YAML: << needs a mapping, or a list of mappings
a: 1¶b: "\\UFFFFFFFF" => 2: this is not valid YAML: an escape names no character
a: 1¶b: \x07 => 2: this is not valid YAML: the character U+0007 is not allowed
a: 1¶b: {c: 1, c: 2} => 2: c is already in line 2; join the two
a: {1: x,¶  0x1: y} => 2: 0x1 is already in line 1; join the two
a: {'1': x,¶  1: y} => 2: 1 is already in line 1
a: {1: x,¶  1.0: y} => 2: 1.0 is already in line 1
a: &a {x: 1}¶b: &b {y: 2}¶c:¶  <<: *a¶  <<: *b => 5: << is already in line 4
a: &a {o: {x: 1, y: 2}}¶b:¶  <<: *a¶  o: {x: 3} => 4: o replaces the o that << brings, so y would be lost
a: &a {o: {x: 1, y: 2}}¶b: [{<<: [*a], o: {}}] => 2: o replaces | so x, y would be lost; repeat them
a: &a {o: {x: 1}}¶b: &b {<<: *a}¶c: {<<: *b, o: {y: 1}} => 3: o replaces | x would be lost
a: &a {o: {p: {x: 1, y: 2}}}¶b: {<<: *a, o: {p: {x: 3}}} => 2: o replaces | p.y would be lost
a: &a {o: {x: 1}}¶b: &b {o: {y: 2}, k: 1}¶c: {<<: [*a, *b]} => 3: o replaces | y would be lost
a: &a {o: {x: 1}}¶b: &b {o: {y: 2}}¶c: {<<: [*a, *b], o: {x: 5}} => 3: o replaces | y would be lost
"""


@pytest.mark.parametrize("case", YAML_FAULTS.strip().splitlines())
def test_faults_of_yaml_have_file_and_line(tmp_path, case):
    text, expected = case.split(" => ")
    (tmp_path / "o.yaml").write_text(text.replace("¶", "\n"))
    with pytest.raises(ConfigError) as caught:
        load_config(ROOT / "config.yaml", tmp_path / "o.yaml")
    missing_parts = [part for part in f"o.yaml:{expected}".split(" | ") if part not in str(caught.value)]
    assert missing_parts == [], caught.value


def test_a_merge_of_a_deeper_mapping_that_merges_too_is_no_repeated_key(tmp_path):
    """PyYAML reads the outer mapping first, and writes the merged keys into the inner one."""
    (tmp_path / "o.yaml").write_text("a: &a {k: 1, l: 1}\nb: {c: {d: &d {<<: *a, k: 2}}}\ne: {<<: *d}\n")
    assert read_yaml(tmp_path / "o.yaml")["e"] == {"k": 2, "l": 1}


def test_the_first_of_several_merged_mappings_wins(tmp_path):
    """As YAML 1.1's merge keys say; PyYAML 6.0.4 takes the last where a name has several letters."""
    (tmp_path / "o.yaml").write_text("a: &a {depth: 1}\nb: &b {depth: 2, seed: 3}\nc: {<<: [*a, *b]}\n")
    assert read_yaml(tmp_path / "o.yaml")["c"] == {"depth": 1, "seed": 3}


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


def test_a_re_ranker_given_by_its_path_is_a_file_in_use(given):
    given["models"]["theirs"] = {"label": "theirs", "cross_encoder": "models/theirs", "passages": {}}
    given["experiments"]["zero-shot"]["models"].append("theirs")
    parsed = parse_config(given)
    assert "models.theirs.cross_encoder" in [files.key for files in used_files(parsed)]
    assert parsed.reranking_of("theirs").passages is not None
    Config(**parsed.model_dump(mode="json"))  # as jobs get it, with every key written out


def test_data_of_predictors_are_used_where_they_are_displayed(given):
    config = parse_config(given)
    assert "squad-questions" in config.used_names("datasets")
    assert "squad-questions" not in config.of_papers(["php"]).used_names("datasets")


def test_first_stages_that_take_runs_of_others(given):
    run = {"path": "run", "format": "tsv", "options": {"columns": ["query_id", "document_id", "score"]}}
    given["first_stages"]["theirs"] = {"label": "Theirs", "runs": {"squad": run}}
    given["experiments"]["zero-shot"]["candidates"] = "theirs"
    parsed = parse_config(given)
    assert parsed.first_stages["theirs"].runs["squad"].options == {**run["options"], "header": False}
    assert "first_stages.theirs.runs.squad.path" in [files.key for files in used_files(parsed)]
    assert parse_config(parsed.model_dump()).first_stages == parsed.first_stages
    given["experiments"]["fine-tuned"]["candidates"] = "theirs"
    given["first_stages"]["theirs"]["training_candidates"] = "ql"
    config = parse_config(given)
    assert config.training_candidates("squad", "theirs") == "ql"
    assert config.training_candidates("squad", "bm25") == "bm25"


@pytest.mark.parametrize("stages", [[], ["bm25", "ql"], ["bm25"]], ids=["none", "both", "bm25"])
def test_first_stages_may_be_compared_alone(given, stages):
    given["experiments"] = {"first": {"dataset": "squad", "first_stages": stages}}
    assert parse_config(given).used_names("first_stages") == []


def test_measures_of_trec_eval_have_one_name_in_tables():
    given = base_config()
    given["datasets"]["squad"] |= {
        "measures": ["ndcg_cut_10", "map", "P@5"],
        "validation_measure": "recip_rank",
    }
    squad = parse_config(given).datasets["squad"]
    assert (squad.measures, squad.validation_measure) == (["nDCG@10", "AP", "P@5"], "RR")
