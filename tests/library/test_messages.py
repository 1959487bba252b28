"""Faults name what the user gave and what to do; models are looked for as the workflow does, never on the network."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from irpretrain import Collection, CrossEncoder, Options, TermWeigher, export, parse_wikitext, pretrain
from irpretrain.command import main
from irpretrain.errors import ConfigError, InputError, SetupError

COMMIT = "1" * 40


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of the hub, and no way to it; HF_HUB_OFFLINE is not set."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network is asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("load", [CrossEncoder, TermWeigher, lambda name: Collection(["a"], encoder=name)])
def test_a_model_that_is_not_there_is_refused_with_the_command(load: Any, no_network: Path) -> None:
    with pytest.raises(InputError, match=r"there is no such folder\n.*\n.*`hf download me/model --include"):
        load("me/model")
    with pytest.raises(InputError, match="nope: there is no such folder"):
        load("nope")


def test_the_card_names_the_encoder_of_the_cache(no_network: Path, tiny_encoder: Path) -> None:
    cache = no_network / "cache/models--me--enc"
    shutil.copytree(tiny_encoder, cache / "snapshots" / COMMIT)
    (cache / "refs").mkdir()
    (cache / "refs/main").write_text(COMMIT)
    texts = ["word01 word02 word03 ab cd", "word01 ef gh", "word05 word06 word07 word01"]
    groups = Collection(texts, encoder="me/enc").groups("rop", minimum_count=1)
    pretrain(groups, "prop", steps=1, batch_groups=2, max_length=32, query_length=8)
    export("prop", "exported")
    card = Path("exported/README.md").read_text()
    assert "base_model: me/enc\n" in card
    assert "| me/enc |" in card
    with pytest.raises(ConfigError, match=r"layers: should be greater than or equal to 1; given was 0"):
        pretrain(groups, "other", layers=0, steps=1, batch_groups=2)


@pytest.mark.parametrize(
    ("language", "category"),
    [
        ("de", "Kategorie"),
        ("fr", "Catégorie"),
        ("es", "Categoría"),
        ("ru", "Категория"),
        ("zh", "分类"),
        ("ja", "カテゴリ"),
    ],
)
def test_categories_of_a_language_are_not_shown(language: str, category: str) -> None:
    page = parse_wikitext(f"Text.\n[[{category}:x]]", language=language)
    assert (page.body, len(page.links)) == ("Text.", 0)


def test_a_language_without_wikipedia_is_refused() -> None:
    with pytest.raises(ConfigError, match="language: no Wikipedia is known in 'plum'"):
        parse_wikitext("Text.", language="plum")


def test_a_reranker_is_no_weigher(tmp_path: Path) -> None:
    from tiny_models import write_bert

    with pytest.raises(InputError, match="this is a sequence classifier, no token classifier"):
        TermWeigher(write_bert(tmp_path / "model", labels=1), max_length=32)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0], [99], "second: rows are whole numbers from 0 to 2"),
        ([-1], [0], "first: rows are whole numbers from 0 to 2"),
        ([0.5], [0], "first: rows are whole numbers from 0 to 2"),
        ([0, 1], [1], "first has 2 rows and second 1"),
        ([0, 0], [1, 2], "pair 1: its queries are of different documents, 'a' and 'b'"),
    ],
    ids=["beyond", "negative", "fraction", "numbers", "documents"],
)
def test_pairs_of_rows_are_checked(first: Any, second: Any, message: str) -> None:
    import pandas as pd

    from irpretrain import preference_probabilities
    from irpretrain.axioms.predictor import Predictor
    from irpretrain.axioms.registry import DEFINITIONS
    from irpretrain.config.axioms import AxiomsConfig

    record = {"axioms": AxiomsConfig().model_dump(mode="json")}
    predictor: Any = type("Stub", (), {"record": record, "probabilities": Predictor.probabilities})()
    columns = {definition.column: [1.0, 1.0, 1.0] for definition in DEFINITIONS.values()}
    values = pd.DataFrame({"document_id": ["a", "a", "b"], **columns})
    with pytest.raises(ConfigError, match=message):
        preference_probabilities(predictor, values, iter(first), second)


def test_the_parser_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    monkeypatch.delitem(sys.modules, "irpretrain.wikipedia.mwparserfromhell_parser", raising=False)
    dump = tmp_path / "dump.xml"
    dump.write_text('<mediawiki xml:lang="en"><page><title>A</title><ns>0</ns><id>1</id></page></mediawiki>')
    arguments = ["parse-dump", str(dump), str(tmp_path / "out"), "--set", "parser=mwparserfromhell"]
    assert main(arguments) == 2
    shown = capfd.readouterr().err
    assert (
        "the package mwparserfromhell, which is not installed.\n  pip install 'irpretrain[workflow]'" in shown
    )
    assert "Traceback" not in shown


def test_faults_name_what_was_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^documents: no word outside the stop list occurs"):
        Collection(["a pie"]).groups("rop")
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "text": "pie"}\n')
    collection = Collection.read(file)
    for compute in (
        lambda: collection.groups("rop"),
        lambda: collection.log_likelihoods([("pie", "a")]),
        lambda: collection.pseudo_queries(temperature=1),
    ):
        with pytest.raises(InputError) as raised:
            compute()
        assert str(raised.value).startswith(f"{file}: no word outside the stop list occurs")


def test_options_have_one_message() -> None:
    with pytest.raises(
        ConfigError, match=r"^Options: 1 fault in the configuration\n  - presett: unknown key"
    ):
        Options(presett="paper")


def test_a_remedy_is_no_second_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises((ConfigError, SetupError)) as raised:
        Collection.read("ir_datasets:vaswani")
    assert "2 faults" not in str(raised.value)
    assert "pip install ir_datasets" in str(raised.value)


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_malformed_records_are_left_out_where_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    documents, output = tmp_path / "d.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in (("a", "apple pie"), ("b", " "))]
    documents.write_text("\n".join([*lines, "{", ""]))
    arguments = ("groups", "rop", documents, output, "--set", "minimum_count=1")
    assert run(*arguments) == 2
    assert "set malformed: {skip: 0.4} to leave such records out" in capsys.readouterr().err
    assert run(*arguments, "--set", "malformed={skip: 0.4}") == 0
    shown = capsys.readouterr().err
    assert "1 malformed records of 3 are left out" in shown
    assert "left out: 1 × empty document, first" in shown
    assert len(Collection.read(documents, malformed="skip")) == 1


def test_a_fault_of_the_seed_is_named(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        run("groups", "rop", "d.jsonl", "out.jsonl", "--seed", "-1")
    assert "argument --seed: '-1' is no whole number of 0 or more" in capsys.readouterr().err


def test_a_text_is_no_curve(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "x.txt").write_text("word")
    assert run("curves", tmp_path / "x.txt") == 2
    assert "x.txt: holds no step of a training" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]
