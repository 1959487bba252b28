"""What a message says of a name that does not exist."""

import re

import pytest

from irpretrain.config.objectives import read_options
from irpretrain.config.references import unknown_names
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.registry import format_of
from irpretrain.evaluation.measures import parse_measure
from irpretrain.foundation.errors import ConfigError, did_you_mean, instead_of, nearest
from irpretrain.foundation.resources import resources_directory


def test_names_that_are_equally_near_are_all_reported():
    assert sorted(nearest("rup", ["rop", "rqp", "srr"])) == ["rop", "rqp"]
    assert re.fullmatch("did you mean (rop or rqp|rqp or rop)\\?", instead_of("rup", ["rop", "srr", "rqp"]))


def test_names_are_listed_only_where_none_is_near():
    assert instead_of("SQuAT", ["Squad", "robust04"]) == "did you mean Squad?"
    assert instead_of("planets", ["squad", "robust04"], "datasets has") == "datasets has squad, robust04"
    assert instead_of("planets", []) == "there are no entries"
    assert instead_of("x", [f"name-{n}" for n in range(33)]).endswith("name-29 and 3 more")


def test_a_name_from_elsewhere_says_where_from_and_the_configuration_s_own_comes_first():
    assert instead_of("robust-04", ["squad"], origins={"robust04": "the catalogue"}) == (
        "did you mean robust04, from the catalogue?"
    )
    assert instead_of("robust-04", ["robust04"], origins={"robust04": "the catalogue"}) == (
        "did you mean robust04?"
    )


@pytest.mark.parametrize(
    ("section", "name", "near"),
    [
        ("datasets", "robust-04", "robust04"),
        ("corpora", "wikipedia-en", "wikipedia"),
        ("first_stages", "oficial", "official"),
        ("downstream_tasks", "mrqa-squat", "mrqa-squad"),
    ],
)
def test_the_catalogue_s_names_count_as_near(section, name, near):
    [fault] = unknown_names("experiments.r.dataset", [name], ["squad", "squad-train"], section)
    assert (
        fault
        == f"experiments.r.dataset: {name!r} is not in {section}; did you mean {near}, from the catalogue?"
    )


def test_a_first_stage_of_other_data_sets_says_of_which():
    [fault] = unknown_names("experiments.r.candidates", ["ance"], ["bm25", "ql"], "first_stages")
    assert fault == (
        "experiments.r.candidates: the catalogue has runs of 'ance' for msmarco-doc, msmarco-train, trec-dl-2019 "
        "alone; first_stages has bm25, ql"
    )


def test_a_pattern_is_never_meant_nor_a_path_that_only_shares_its_folder():
    target = "results/models/pretrained/prop/seed-x"
    assert did_you_mean(target, ["results/models/pretrained/{model,[a-z]+}/seed-{seed,\\d+}"]) == ""
    assert did_you_mean("results/pretrained/prop/seed-1/", ["results/claims/prop.csv"]) == ""
    assert (
        did_you_mean("results/datasets.mdd", ["results/datasets.md"]) == "did you mean results/datasets.md?"
    )


def message(refused, *arguments) -> str:
    with pytest.raises((ConfigError, ValueError)) as error:
        refused(*arguments)
    return str(error.value)


def test_every_other_name_that_is_looked_up_has_the_same_words():
    manifest = read_manifest(resources_directory() / "embedded.yaml")
    assert "did you mean squad-train?" in message(manifest.asset, "squad-trian")
    assert "did you mean jsonl?" in message(format_of, "documents", "jsonlines")
    assert "did you mean rop?" in message(read_options, "mine", {"type": "ropp"})
    assert "did you mean RR@10?" in message(parse_measure, "RRR@10")
    assert "did you mean nDCG@20?" in message(parse_measure, "ncdg@20")
