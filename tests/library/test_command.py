"""The command `irpretrain`: files to files; bad input is one message, exit code 2, and no output."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irpretrain
from irpretrain import Collection, CrossEncoder, Options, pretrain
from irpretrain.command import main, parser
from irpretrain.evaluation.runs import read_run
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


def test_options_of_a_format(documents: Path, tmp_path: Path) -> None:
    write_lines(documents, [{"key": "a", "abstract": "apple pie"}, {"key": "b", "abstract": "pear pie"}])
    fields = ("--option", "id_field=key", "--option", "body_fields=[abstract]")
    output = tmp_path / "groups.jsonl"
    assert run("groups", "rop", documents, output, *fields, "--set", "minimum_count=1") == 0
    assert {group["documents"][0] for group in read_lines(output)} == {"apple pie", "pear pie"}


def test_sections_are_set_for_groups(documents: Path, tmp_path: Path) -> None:
    output = tmp_path / "groups.jsonl"
    counts = ("--set", "pseudo_queries.minimum_count=1", "--set", "pseudo_queries.temperature=1")
    axioms = ("--set", "agreement=strict", "--set", "axioms=[RANK]")
    assert run("groups", "ares", documents, output, *counts, *axioms, *VECTORS) == 0
    assert read_lines(output)


def test_an_output_is_gzip_where_its_name_says_so(documents: Path, tmp_path: Path) -> None:
    output = tmp_path / "groups.jsonl.gz"
    assert run("groups", "rop", documents, output, "--set", "minimum_count=1") == 0
    with gzip.open(output, "rt") as handle:
        assert [*map(json.loads, handle)]
    assert output.read_bytes()[4:8] == bytes(4), "no time, or the bytes of two runs would differ"


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


def test_half_a_character_is_written_as_it_was_given(tmp_path: Path, documents: Path) -> None:
    model = write_bert(tmp_path / "model", labels=1)
    pair = {"query": "\ud800 word02", "document": "word01", "document_id": "d0"}
    pairs, output = write_lines(tmp_path / "pairs.jsonl", [pair]), tmp_path / "out"
    assert run("score", model, pairs, output, "--set", "max_length=32", "--set", "query_length=8") == 0
    [scored] = read_lines(output)
    assert scored.items() >= pair.items()
    assert run("axioms", documents, pairs, output, *VECTORS) == 0


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


def test_a_search_is_a_run_that_the_workflow_takes(documents: Path, tmp_path: Path) -> None:
    queries = [{"query_id": "q2", "query": "word01"}, {"query_id": "q1", "query": "word07 word02"}]
    output = tmp_path / "run.gz"
    bm25 = ("--set", "axioms.bm25={k1: 0.9, b: 0.4}", "--depth", 2)
    assert run("search", documents, write_lines(tmp_path / "queries.jsonl", queries), output, *bm25) == 0
    read = read_run(output)
    assert {query: [name for name, _ in ranking] for query, ranking in read.items()} == {
        "q1": ["d2", "d0"],
        "q2": ["d1", "d2"],
    }
    collection = Collection.read(documents, options=Options(axioms={"bm25": {"k1": 0.9, "b": 0.4}}))
    found = collection.search({query["query_id"]: query["query"] for query in queries}, 2)
    for row in found.itertuples():
        assert np.float32(dict(read[row.query_id])[row.document_id]) == np.float32(row.score)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "search DOCUMENTS PAIRS OUT",
            "ERROR: PAIRS:1: query_id is missing or no text\n  Give query_id and query.",
        ),
        (
            "search DOCUMENTS TWICE OUT",
            "ERROR: TWICE:2: query 'q' was there before\n  Give each query an ident",
        ),
        ("search DOCUMENTS SPACED OUT", "ERROR: SPACED:1: the identifier 'a b' holds white space"),
        ("groups plum DOCUMENTS OUT", "ERROR: plum.type: 'plum' is unknown; allowed are"),
        ("groups rop missing.jsonl OUT", "ERROR: missing.jsonl: there is no such file or folder"),
        (
            "groups srr DOCUMENTS OUT",
            "cuts documents by the word pieces of an encoder; name one: --encoder DIR",
        ),
        (
            "groups rop DOCUMENTS OUT --preset released",
            "name one: --encoder DIR, or switch it off: --set short_document_pieces=0",
        ),
        (
            "groups rop TABLE OUT --format tsv",
            "Name the columns: --option id_field=NAME --option 'body_fields=",
        ),
        (
            "groups rop DOCUMENTS OUT --option plum=1",
            "1 fault in the options\n  - options: format jsonl: plum:",
        ),
        ("axioms DOCUMENTS PAIRS OUT --set seeed=1", "1 fault in the options\n  - seeed: unknown key"),
        ("groups rop DOCUMENTS OUT --set plum=1", "plum: unknown key"),
        ("groups rop DOCUMENTS OUT --set plum", "ERROR: --set plum: write KEY=VALUE"),
        (
            "parse-dump DOCUMENTS OUT --set wiki=2024-13-45",
            "ERROR: --set wiki=2024-13-45: '2024-13-45' cannot be read as a value",
        ),
        (f"groups rop DOCUMENTS OUT --set plum={'[' * 5000}", "[[' cannot be read as a value"),
        ("groups rop DOCUMENTS OUT", "Lower it (--set minimum_count=NUMBER)"),  # no word occurs 50 times
        (
            "groups rop DOCUMENTS /proc/nowhere/out",
            "ERROR: /proc/nowhere/out: nothing can be created in /proc: ",
        ),
        ("groups rop DOCUMENTS /proc/x.jsonl", "ERROR: /proc/x.jsonl: nothing can be created in /proc: "),
        ("groups rop BROKEN OUT", "BROKEN:1"),
        ("axioms DOCUMENTS PAIRS OUT", "ERROR: PAIRS:1: there is no document 'd9'\n"),
        (
            "axioms DOCUMENTS NONE OUT",
            "lower it (--set word_vectors.minimum_count=NUMBER); axioms also takes a file of vectors, --vectors FILE",
        ),
        ("axioms DOCUMENTS NONE OUT --set word_vectors.files=v.txt", "collections; give --vectors FILE\n"),
        (
            "groups ares DOCUMENTS OUT --set agreement=strict",
            "Lower it (--set pseudo_queries.minimum_count=NUMBER), or give more text.",
        ),
        (
            "groups rop PIPE OUT",
            "ERROR: PIPE: this is a pipe or a device, which cannot be read twice\n  Write ",
        ),
        ("score missing PIPE OUT", "ERROR: PIPE: this is a pipe or a device, which cannot be read twice\n"),
        ("groups rop DOCUMENTS -", "ERROR: -: commands read and write files alone\n  Name a file."),
        ("axioms DOCUMENTS BROKEN OUT", "BROKEN:1"),
        ("score missing PAIRS OUT", "PAIRS:1: document is missing or no text\n  Give query and document."),
        ("weigh missing DOCUMENTS OUT", "ERROR: missing: "),
        ("parse-dump BROKEN OUT", "ERROR: BROKEN"),
        ("export DOCUMENTS OUT", "ERROR: DOCUMENTS: this is a file, not a folder"),
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
    Path("TABLE").write_text("a\tapple pie\nb\tpear pie\n")
    Path("NONE").write_text("")
    os.mkfifo("PIPE")
    write_lines(Path("PAIRS"), [{"query": "a", "document_id": "d9"}])
    write_lines(Path("TWICE"), [{"query_id": "q", "query": "a"}] * 2)
    write_lines(Path("SPACED"), [{"query_id": "a b", "query": "a"}])
    before = set(tmp_path.iterdir())
    assert run(*arguments.split()) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("ERROR: ") == 1
    assert "Traceback" not in shown
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["parse-dump", "groups", "score", "weigh", "axioms", "search"])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as raised:
        parser().parse_args([command, "--help"])
    assert raised.value.code == 0
    assert "--set KEY=VALUE" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as raised:
        run("--version")
    assert raised.value.code == 0
    assert capsys.readouterr().out == f"irpretrain {irpretrain.__version__}\n"


WAITING = """
import sys, time
from irpretrain import Collection, command

def wait(options):
    documents = Collection(["pie"])
    print("ready", flush=True)
    time.sleep(600)

command.make_groups = wait
sys.exit(command.main(["groups", "rop", "documents.jsonl", "groups.jsonl"]))
"""


def test_a_terminated_command_leaves_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", WAITING]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert list(tmp_path.glob("irpretrain-*"))
        process.terminate()
        _, shown = process.communicate()
    assert (process.returncode, shown) == (143, "")
    assert not list(tmp_path.iterdir())


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
    message = "ERROR: This needs the package torch, which is not installed.\n  In the clone: pip install '.[train]'\n"
    assert done.stderr.endswith(message)
