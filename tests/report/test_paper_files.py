"""Which papers there are follows from the files of published numbers."""

from pathlib import Path
from typing import get_args

import pytest

from irpretrain.config import papers
from irpretrain.config.base import leaves
from irpretrain.config.experiments import Paper
from irpretrain.config.papers import (
    figure_names,
    known_papers,
    read_paper,
    read_preset,
    read_recipe,
    recipe_names,
)
from irpretrain.foundation.errors import InputError


def test_a_paper_is_a_file() -> None:
    files = (Path(__file__).parents[2] / "resources/published").glob("*.yaml")
    assert known_papers() == tuple(sorted(file.stem for file in files))
    assert {"ares", "deepct", "php", "prop", "wikiformer"} <= set(known_papers())
    assert get_args(Paper) == known_papers()
    assert all(read_paper(paper).paper == paper for paper in known_papers())


def test_a_recipe_belongs_to_the_paper_that_it_is_called_after() -> None:
    assert recipe_names() == ["ares", "php", "prop", "wikiformer", "wikiformer-legal"]
    assert [read_recipe(name) for name in ("none", "deepct", "php-legal", "lead")] == [None] * 4


def test_a_preset_has_the_keys_of_all_papers() -> None:
    paper, released = read_preset("paper"), read_preset("released")
    assert dict(leaves(paper)).keys() == dict(leaves(released)).keys()
    assert list(paper["objectives"]) == ["ares", "rop", "srr"]
    assert paper["term_weights"]["<name>"]["training"]["reduction"] == "sum"
    assert (paper["pretraining"]["loss"], released["pretraining"]["loss"]) == ("hinge", "pair-softmax")
    assert read_preset("realeased") == {}


def test_two_papers_that_give_the_same_key_of_a_preset_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lead = read_paper("php").model_copy(update={"presets": {"paper": {"text": {"words": "letters"}}}})
    monkeypatch.setattr(papers, "known_papers", lambda: ("lead", "prop"))
    monkeypatch.setattr(papers, "read_paper", {"lead": lead, "prop": read_paper("prop")}.__getitem__)
    with pytest.raises(InputError, match=r"prop\.yaml: presets\.paper: another paper gives text\.words too"):
        read_preset.__wrapped__("paper")


def test_figures_are_in_the_report_s_order() -> None:
    assert figure_names(["prop", "deepct"]) == [
        "prop_figure1a", "prop_figure1b", "prop_figure2", "deepct_figure1",
    ]  # fmt: skip
