"""Overlays that lie under another: in which order, where from, and what is refused."""

import re
from pathlib import Path

import pytest

from irpretrain.config.load import lay_overlays, load_config
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def _write(name: str, text: str) -> str:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        return name

    _write("base.yaml", "a: {x: 0, y: 0, z: 0}\n")
    return _write


def test_layers_lie_under_the_overlay_that_names_them_and_over_the_base(write):
    write("deep/low.yaml", "a: {x: 1, y: 1}\n")
    write("deep/middle.yaml", "layers: [low.yaml]\na: {y: 2}\n")
    top = write("top.yaml", "layers: [deep/middle.yaml]\na: {z: 3}\n")
    assert lay_overlays("base.yaml", [top]) == {"a": {"x": 1, "y": 2, "z": 3}}


def test_a_layer_of_several_lies_where_it_is_first_named(write):
    write("common.yaml", "a: {x: 1}\n")
    one = write("one.yaml", "layers: [common.yaml]\na: {x: 2}\n")
    two = write("two.yaml", "layers: [common.yaml]\na: {y: 2}\n")
    assert lay_overlays("base.yaml", [one, two])["a"] == {"x": 2, "y": 2, "z": 0}
    both = write("both.yaml", "layers: [one.yaml, two.yaml]\n")
    assert lay_overlays("base.yaml", [both])["a"] == {"x": 2, "y": 2, "z": 0}


def test_an_overlay_that_is_given_lies_where_it_is_given(write):
    """So that one paper's overlay over all papers' has the last word."""
    one = write("one.yaml", "a: {x: 1}\n")
    two = write("two.yaml", "a: {x: 2}\n")
    both = write("both.yaml", "layers: [one.yaml, two.yaml]\n")
    assert lay_overlays("base.yaml", [both, one])["a"]["x"] == 1
    assert lay_overlays("base.yaml", [both, two])["a"]["x"] == 2


def test_circles_end(write):
    one = write("one.yaml", "layers: [two.yaml]\na: {x: 1}\n")
    write("two.yaml", "layers: [one.yaml]\na: {x: 2}\n")
    assert lay_overlays("base.yaml", [one])["a"]["x"] == 1


def test_keys_of_the_command_line_are_last_and_null_stays(write):
    one = write("one.yaml", "a: null\nb: {c: 1}\n")
    assert lay_overlays("base.yaml", [one], {"b": {"c": 2}}) == {"a": None, "b": {"c": 2}}


def test_what_is_no_list_or_is_not_there_is_one_message(write):
    one = write("one.yaml", "layers: low.yaml\n")
    with pytest.raises(
        ConfigError, match=r"one\.yaml: layers must be a list of overlays' paths; given was 'low"
    ):
        lay_overlays("base.yaml", [one])
    two = write("two.yaml", "layers: [low.yaml]\n")
    with pytest.raises(ConfigError, match=r"low\.yaml: there is no such configuration file; check the path"):
        lay_overlays("base.yaml", [two])


def test_an_overlay_of_the_project_is_named_from_ones_own_folder(write):
    mine = write("mine.yaml", "layers: [prop-paper.yaml]\n")
    with pytest.raises(ConfigError, match="is relative to the folder of the overlay") as caught:
        lay_overlays("base.yaml", [mine])
    [meant] = re.findall(r"did you mean (\S+)\?", str(caught.value))
    assert Path(meant).resolve() == ROOT / "configs/prop-paper.yaml"


def test_an_entry_without_a_value_removes_one_or_is_refused(write):
    Path("base.yaml").write_text("experiments: {old: {a: 1}}\n")
    removes = write("removes.yaml", "experiments: {old: null}\n")
    assert lay_overlays("base.yaml", [removes]) == {"experiments": {"old": None}}
    adds = write("adds.yaml", "experiments: {new: {a: 2}}\n")
    takes_back = write("back.yaml", "experiments: {new: null}\n")
    assert lay_overlays("base.yaml", [adds, takes_back])["experiments"] == {"old": {"a": 1}, "new": None}
    for section in ("experiments", "corpora", "models"):
        forgotten = write("forgotten.yaml", f"{section}:\n  mine:\n")
        with pytest.raises(
            ConfigError, match=rf"forgotten\.yaml: {section}\.mine: is empty; give its keys, or leave it"
        ):
            lay_overlays("base.yaml", [forgotten])
    with pytest.raises(ConfigError, match=r"--config: experiments\.mine: is empty"):
        lay_overlays("base.yaml", [], {"experiments": {"mine": None}})


def test_an_overlay_may_inherit_definitions_without_what_is_requested_for(write):
    Path("base.yaml").write_text(
        "models: {m: {}}\nreport: {papers: [ares]}\nexperiments: {old: {}}\ndiagnoses: {d: {}}\n"
        "objectives: {o: {predictor: used}}\npredictors: {used: {}, shown: {}}\n"
    )
    under = write("under.yaml", "experiments: {under: {}}\nmodels: {n: {}}\n")
    mine = write("mine.yaml", "inherit: definitions\nexperiments: {mine: {}}\npredictors: {own: {}}\n")
    over = write("over.yaml", "experiments: {over: {}}\n")
    assert lay_overlays("base.yaml", [under, mine, over]) == {
        "models": {"m": {}, "n": {}},
        "objectives": {"o": {"predictor": "used"}},
        "predictors": {"used": {}, "own": {}},
        "experiments": {"mine": {}, "over": {}},
    }
    wrong = write("wrong.yaml", "inherit: some\n")
    with pytest.raises(
        ConfigError, match=r"wrong\.yaml: inherit must be all, definitions or nothing; .*'some'"
    ):
        lay_overlays("base.yaml", [wrong])


def test_an_overlay_may_begin_anew_where_nothing_of_the_user_is_lost(write):
    Path("base.yaml").write_text("models: {m: {}}\nseed: 3\n")
    anew = write("anew.yaml", "inherit: nothing\nmodels: {n: {}}\n")
    mine = write("mine.yaml", "layers: [anew.yaml]\nmodels: {o: {}}\n")
    assert lay_overlays("base.yaml", [anew, mine]) == {"models": {"n": {}, "o": {}}}
    assert lay_overlays("base.yaml", [mine]) == {"models": {"n": {}, "o": {}}}
    other = write("other.yaml", "seed: 4\n")
    with pytest.raises(
        ConfigError, match=r"anew\.yaml: starts from nothing .*the content of .*other\.yaml would be lost"
    ):
        lay_overlays("base.yaml", [other, anew])


def test_a_predictor_of_no_model_in_use_is_not_displayed(write):
    """ARES's report of one's own encoder: its predictor would read SQuAD's questions for one row of a table."""
    mine = (
        "inherit: definitions\nreport: {papers: [ares]}\n"
        "corpora: {mine: {format: jsonl, path: documents}}\ncollections: {pretraining: [mine]}\n"
        "datasets: {mine: {corpus: mine, queries: {path: topics.txt}, qrels: {path: qrels.txt}}}\n"
        "experiments: {mine: {dataset: mine, models: [control, prop], regimes: [zero-shot]}}\nreranking: {depth: 20}\n"
    )
    config = load_config(ROOT / "config.yaml", write("mine.yaml", mine))
    assert config.used_names("predictors") == []
    assert config.used_names("corpora") == config.used_names("datasets") == ["mine"]
    left_out = write("left-out.yaml", "absent: {x: {dataset: mine, candidates: bm25, reason: no file}}\n")
    assert load_config(ROOT / "config.yaml", write("mine.yaml", mine), left_out).active("predictors")
    for_table = write(
        "table.yaml", "predictors: {mine: {label: I, collection: pretraining, dataset: mine}}\n"
    )
    assert load_config(ROOT / "config.yaml", write("mine.yaml", mine), for_table).used_names(
        "predictors"
    ) == ["mine"]


def test_a_predictor_of_ones_own_leaves_squad_out(write):
    """The two lines of docs/corpora.md; without them ARES learns what to prefer from SQuAD's questions."""
    for name in ("docs.jsonl", "topics.tsv", "others.tsv", "qrels.txt"):
        write(name, "")
    judged = "qrels: {format: trec, path: qrels.txt}"
    mine = write(
        "mine.yaml",
        f"""inherit: definitions
corpora:
  fruit: {{format: jsonl, path: docs.jsonl}}
collections:
  pretraining: [fruit]
datasets:
  fruit: {{label: F, corpus: fruit, queries: {{format: tsv, path: topics.tsv}}, {judged}}}
  fruit-train: {{label: T, corpus: fruit, queries: {{format: tsv, path: others.tsv}}, {judged}}}
experiments:
  mine: {{dataset: fruit, models: [prop, ares-simple], regimes: [zero-shot]}}
reranking: {{depth: 20}}
""",
    )
    assert "squad-questions" in load_config(ROOT / "config.yaml", mine).used_names("datasets")
    guide = (ROOT / "docs/corpora.md").read_text().partition("### ARES on your own text")[2]
    predictor = write("predictor.yaml", guide.split("```yaml\n")[1].partition("```")[0])
    config = load_config(ROOT / "config.yaml", mine, predictor)
    assert config.used_names("corpora") == ["fruit"]
    assert set(config.used_names("datasets")) == {"fruit", "fruit-train"}
    assert config.used_names("predictors") == ["simple"]


def test_another_encoder_takes_nothing_from_the_one_below(write):
    Path("base.yaml").write_text("encoder: {path: small, label: S, layers: 4, vocabulary_size: 9}\n")
    other = write("other.yaml", "encoder: {path: large}\n")
    assert lay_overlays("base.yaml", [other]) == {"encoder": {"path": "large"}}
    assert EncoderConfig(**lay_overlays("base.yaml", [other])["encoder"]).label == "large"
    fewer = write("fewer.yaml", "encoder: {layers: 2}\n")
    assert lay_overlays("base.yaml", [fewer])["encoder"]["vocabulary_size"] == 9
    assert lay_overlays("base.yaml", [other, fewer])["encoder"] == {"path": "large", "layers": 2}
    assert lay_overlays("base.yaml", [fewer], {"encoder": {"path": "large"}})["encoder"] == {"path": "large"}


@pytest.mark.parametrize("name", ["a" * 300 + ".yaml", "a/" * 3000 + "b.yaml", "a\\0b.yaml", "."])
def test_no_name_of_a_layer_is_more_than_a_message(write, name):
    top = write("top.yaml", f'layers: ["{name}"]\n')
    with pytest.raises(
        ConfigError, match=r"there is no such configuration file|cannot be opened|this is a folder"
    ):
        lay_overlays("base.yaml", [top])
