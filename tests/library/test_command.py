"""The command `irpretrain`: files to files; bad input is one message, exit code 2, and no output."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from irpretrain import Collection, CrossEncoder, pretrain
from irpretrain.command import main, parser
from tiny_models import write_bert

BODIES = {"d0": "word01 word02 word03 ab cd", "d1": "word01 ef gh", "d2": "word05 word06 word07 word01"}
DUMP = """<mediawiki xml:lang="en">
<page><title>Pear</title><ns>0</ns><id>1</id><revision><text>A [[fruit]].
== Use ==
In pies.</text></revision></page>
<page><title>Pears</title><ns>0</ns><id>2</id><redirect title="Pear"/><revision><text>#REDIRECT [[Pear]]</text>
</revision></page>
<page><title>Fruit</title><ns>0</ns><id>3</id><revision><text>It is sweet.</text></revision></page>
</mediawiki>
"""


def write_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_lines(
        tmp_path / "documents.jsonl", [{"id": key, "text": text} for key, text in BODIES.items()]
    )


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_dump_becomes_articles(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "dump.xml").write_text(DUMP)
    output = tmp_path / "articles.jsonl"
    assert run("parse-dump", tmp_path / "dump.xml", output, "--set", "wiki=enwiki") == 0
    pear, fruit = read_lines(output)
    assert (pear["document_id"], pear["title"], pear["body"]) == (
        "enwiki/1",
        "Pear",
        "A fruit.\nUse\nIn pies.",
    )
    assert [section["heading"] for section in pear["sections"]] == ["", "Use"]
    assert [link["target"] for link in pear["links"]] == ["fruit"]
    assert fruit["title"] == "Fruit"
    assert capsys.readouterr().err.endswith(f"\n2 articles in {output}\n")
    assert run("parse-dump", tmp_path / "dump.xml", output, "--limit", 1) == 0
    assert len(read_lines(output)) == 1


def test_groups_are_those_of_the_library(documents: Path, tmp_path: Path, tiny_encoder: Path) -> None:
    output = tmp_path / "groups.jsonl"
    assert run("groups", "rop", documents, output, "--seed", 3, "--set", "minimum_count=1") == 0
    from irpretrain import Options

    expected = Collection(BODIES.items(), Options(seed=3)).groups("rop", minimum_count=1)
    assert [group["queries"] for group in read_lines(output)] == [group.queries for group in expected]


def test_pairs_are_scored(tmp_path: Path) -> None:
    model = write_bert(tmp_path / "model", labels=1)
    pairs = [{"id": n, "query": "word01", "document": text} for n, text in enumerate(BODIES.values())]
    output = tmp_path / "scores.jsonl"
    lengths = ("--set", "max_length=32", "--set", "query_length=8")
    assert run("score", model, write_lines(tmp_path / "pairs.jsonl", pairs), output, *lengths) == 0
    scored = read_lines(output)
    assert [{key: pair[key] for key in ("id", "query", "document")} for pair in scored] == pairs
    expected = CrossEncoder(model, max_length=32, query_length=8).score(
        [("word01", t) for t in BODIES.values()]
    )
    assert [pair["score"] for pair in scored] == pytest.approx(expected.tolist(), abs=1e-6)


def test_words_are_weighted(documents: Path, tmp_path: Path, tiny_encoder: Path) -> None:
    from irpretrain.models.term_weight_regressor import TermWeightRegressor

    TermWeightRegressor.from_encoder(tiny_encoder).save(tmp_path / "weigher")
    output = tmp_path / "weights.jsonl"
    assert run("weigh", tmp_path / "weigher", documents, output, "--set", "max_length=32") == 0
    rows = read_lines(output)
    assert [row["document_id"] for row in rows] == list(BODIES)
    assert [sorted(row["weights"]) for row in rows] == [sorted(set(text.split())) for text in BODIES.values()]


def test_a_model_is_exported(tmp_path: Path, tiny_encoder: Path) -> None:
    from transformers import AutoModelForSequenceClassification

    groups = Collection(BODIES.items(), encoder=tiny_encoder).groups("rop", minimum_count=1)
    pretrain(groups, tmp_path / "prop", steps=1, batch_groups=2, max_length=32, query_length=8)
    beside = ["prop", "prop.meta.json", "prop.metrics.jsonl", "prop.probe.csv"]
    assert sorted(path.name for path in tmp_path.glob("prop*")) == beside
    assert run("export", tmp_path / "prop", tmp_path / "exported", "--label", "Fruit PROP") == 0
    card = (tmp_path / "exported/README.md").read_text()
    assert "# Fruit PROP\n" in card
    assert "minimum_count: 1" in card
    assert AutoModelForSequenceClassification.from_pretrained(tmp_path / "exported").config.num_labels == 1


VECTORS = ("--set", "word_vectors.minimum_count=1", "--set", "word_vectors.dimensions=4")


def test_axioms_are_written_as_csv(documents: Path, tmp_path: Path) -> None:
    pairs = [{"query": "word02 word03", "document_id": "d0"}, {"query": "word02", "document_id": "d1"}]
    output = tmp_path / "axioms.csv"
    assert run("axioms", documents, write_lines(tmp_path / "pairs.jsonl", pairs), output, *VECTORS) == 0
    with open(output, newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [(row["query"], row["document_id"], row["rank"]) for row in rows] == [
        ("word02 word03", "d0", "1"),
        ("word02", "d1", "0"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("groups plum DOCUMENTS OUT", "ERROR: plum.type: 'plum' is unknown; allowed are"),
        ("groups rop missing.jsonl OUT", "ERROR: missing.jsonl: there is no such file or folder"),
        ("groups srr DOCUMENTS OUT", "ERROR: objective srr: cuts documents by the word pieces of an encoder"),
        ("groups rop DOCUMENTS OUT --set plum=1", "plum: unknown key"),
        ("groups rop DOCUMENTS OUT --set plum", "ERROR: --set plum: write KEY=VALUE"),
        ("groups rop DOCUMENTS OUT", "ERROR: "),  # no word occurs 50 times
        ("groups rop DOCUMENTS /proc/nowhere/out --set minimum_count=1", "ERROR: "),
        ("groups rop BROKEN OUT", "BROKEN:1"),
        ("axioms DOCUMENTS PAIRS OUT", "ERROR: pair 0: the collection has no document 'd9'"),
        ("axioms DOCUMENTS BROKEN OUT", "BROKEN:1"),
        ("score missing PAIRS OUT", "PAIRS:1: document is missing or no text\n  Give query and document."),
        ("weigh missing DOCUMENTS OUT", "ERROR: missing: "),
        ("parse-dump BROKEN OUT", "ERROR: BROKEN"),
        ("export DOCUMENTS OUT", "ERROR: DOCUMENTS: is no model with a record of its training beside it"),
    ],
)
def test_bad_input_is_one_message(
    arguments: str,
    message: str,
    documents: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    documents.rename("DOCUMENTS")
    Path("BROKEN").write_text("{\n")
    write_lines(Path("PAIRS"), [{"query": "a", "document_id": "d9"}])
    before = set(tmp_path.iterdir())
    assert run(*arguments.split()) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("ERROR: ") == 1
    assert "Traceback" not in shown
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["parse-dump", "groups", "score", "weigh", "axioms"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as raised:
        parser().parse_args([command, "--help"])
    assert raised.value.code == 0
    assert "--set KEY=VALUE" in capsys.readouterr().out


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from irpretrain.command import main
assert main(["groups", "rop", "documents.jsonl", "groups.jsonl", "--set", "minimum_count=1"]) == 0
sys.exit(main(["score", "model", "pairs.jsonl", "scores.jsonl"]))
"""


def test_models_alone_need_their_extra(documents: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "pairs.jsonl", [{"query": "a", "document": "b"}])
    command = [sys.executable, "-c", WITHOUT_TORCH]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (tmp_path / "groups.jsonl").exists()
    assert done.returncode == 2
    message = (
        "ERROR: This needs the package torch, which is not installed.\n  pip install 'irpretrain[train]'\n"
    )
    assert done.stderr.endswith(message)
