"""The command `irpretrain`: files to files; bad input is one message, exit code 2, and no output."""

import bz2
import gzip
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import irpretrain
from irpretrain import Collection, CrossEncoder, Options
from irpretrain.command import main
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Link, Section
from irpretrain.library.formats import guess_reading, read_relevance
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


def test_a_dump_becomes_articles(tmp_path: Path, call) -> None:
    (tmp_path / "dump.xml").write_text(DUMP)
    output = tmp_path / "articles.jsonl"
    made = call("parse-dump", tmp_path / "dump.xml", output, "--set", "wiki=enwiki")
    pear, fruit = read_lines(output)
    assert (pear["document_id"], pear["title"]) == ("enwiki/1", "Pear")
    assert pear["body"] == "A fruit.\nUse\nIn pies."
    assert [section["heading"] for section in pear["sections"]] == ["", "Use"]
    assert [link["target"] for link in pear["links"]] == ["fruit"]
    assert fruit["title"] == "Fruit"
    assert made.err.endswith(f"left out: 1 redirect\n2 articles in {output}\n")
    assert run("parse-dump", tmp_path / "dump.xml", output, "--limit", 1) == 0
    assert len(read_lines(output)) == 1


def test_parse_dump_writes_links_in_few_calls(tmp_path: Path, call: Any) -> None:
    """`dataclasses.asdict` makes 25 calls of Python for each link, and took a fifth of the command's time."""
    counts = []
    for links in (200, 1200):
        text = " ".join(f"[[Pear {number}]]" for number in range(links))
        (tmp_path / "dump.xml").write_text(DUMP.replace("[[fruit]]", text))
        calls = Counter[str]()
        sys.setprofile(lambda frame, event, _, calls=calls: calls.update([event]))
        try:
            done = call("parse-dump", tmp_path / "dump.xml", tmp_path / "out", "--set", "wiki=enwiki")
        finally:
            sys.setprofile(None)
        assert done.status == 0
        assert len(read_lines(tmp_path / "out")[0]["links"]) == links
        counts.append(calls["call"])
    assert counts[1] - counts[0] < 5 * 1000


def test_json_of_an_article_is_that_of_its_row() -> None:
    text = 'a "b"\\ \n\t\x1f\x7f é 😀 \ud800'
    section, link = Section(2, text, 0, 9, "see-also"), Link(text, "", 3, 4, 0)
    for article in (
        Document(7, text, text, text, text, (section, section), (link, link), disambiguation=True),
        Document(0, "", "", "", ""),
    ):
        row = article.row()
        del row["position"]
        assert article.to_json() == json.dumps(row, ensure_ascii=False)


def test_a_page_that_a_dump_repeats_is_refused_and_redirects_are_no_pages(tmp_path: Path, call) -> None:
    for number, status, message in ((1, 2, "document id 'enwiki/1' occurs twice"), (2, 0, "2 articles")):
        (tmp_path / "dump.xml").write_text(DUMP.replace("<id>3<", f"<id>{number}<"))
        done = call("parse-dump", tmp_path / "dump.xml", tmp_path / "out", "--set", "wiki=enwiki")
        assert (done.status, message in done.err) == (status, True)
        assert (tmp_path / "out").exists() == (status == 0)


@pytest.mark.parametrize(
    "command", ["parse-dump dump.xml {}", "evaluate q q -o {}", "score x p {}", "init . -o {}"]
)
@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_is_too_long_is_refused_before_the_work(
    command: str, length: int, tmp_path: Path, monkeypatch, call
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = call(*command.format("a" * length).split())
    assert refused.err.endswith("File name too long\n  Give it a shorter name.\n")


def test_groups_are_those_of_the_library(documents: Path, tmp_path: Path, tiny_encoder: Path) -> None:
    output = tmp_path / "groups.jsonl"
    assert run("groups", "rop", documents, output, "--seed", 3, "--set", "minimum_count=1") == 0
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
    expected = CrossEncoder(model, max_length=32, query_length=8).predict(
        [("word01", t) for t in BODIES.values()]
    )
    assert [pair["score"] for pair in scored] == pytest.approx(expected.tolist(), abs=1e-6)


def test_half_a_character_is_written_as_it_was_given(tmp_path: Path) -> None:
    model = write_bert(tmp_path / "model", labels=1)
    pair = {"query": "\ud800 word02", "document": "word01", "document_id": "d0"}
    pairs, output = write_lines(tmp_path / "pairs.jsonl", [pair]), tmp_path / "out"
    assert run("score", model, pairs, output, "--set", "max_length=32", "--set", "query_length=8") == 0
    [scored] = read_lines(output)
    assert scored.items() >= pair.items()


VECTORS = ("--set", "word_vectors.minimum_count=1", "--set", "word_vectors.dimensions=4")


@pytest.mark.parametrize("name", ["groups.bz2", "groups.jsonl.xz", "groups.ZST", "groups.zip"])
def test_an_output_of_another_packing_is_refused(name: str, documents: Path, tmp_path: Path, call) -> None:
    refused = call("groups", "rop", documents, tmp_path / name)
    assert "packed by gzip alone\n  Give a name that ends in .gz." in refused.err
    assert not (tmp_path / name).exists()


# Command → what follows its input.
READERS = {
    "groups rop": "",
    "search": " NUMBERED",
    "search DOCUMENTS": "",
    "evaluate": " RUN",
    "evaluate QRELS": "",
    "pretrain": " OUT --encoder x",
    "finetune x": " OUT",
    "score x": "",
    "parse-dump": "",
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("search DOCUMENTS PAIRS OUT", "PAIRS:1: field missing: none of the fields id, _id, qid"),
        ("groups plum DOCUMENTS OUT", "ERROR: plum.type: 'plum' is unknown; allowed are"),
        ("groups rop missing.jsonl OUT", "ERROR: missing.jsonl: there is no such file or folder"),
        ("groups srr DOCUMENTS OUT", "cuts documents by the word pieces of an encoder; name one"),
        ("groups rop DOCUMENTS OUT --preset released", "or switch it off: --set short_document_pieces=0"),
        (
            "groups rop TABLE OUT --format tsv",
            "If its first line is no header: --option 'columns=[id, text]'. Else: "
            "Name the columns: --option id_field=NAME --option 'body_fields=",
        ),
        ("groups rop DOCUMENTS OUT --option plum=1", "options\n  - options: format jsonl: plum:"),
        ("groups rop DOCUMENTS OUT --set plum=1", "plum: unknown key"),
        ("groups rop DOCUMENTS OUT --set plum", "ERROR: --set plum: write KEY=VALUE"),
        ("groups rop DOCUMENTS OUT --set a=1 --set a.b=2", "ERROR: --set a.b=2: a has a value already"),
        ("groups rop DOCUMENTS OUT --option format=tsv", "ERROR: --option format: give --format instead"),
        ("groups rop DOCUMENTS OUT --option options=x", "ERROR: --option options: there is no such key"),
        ("parse-dump DOCUMENTS OUT --set format=x", "ERROR: --set format: there is no such key"),
        ("finetune DOCUMENTS DOCUMENTS OUT --set output=x", "give the argument OUTPUT instead"),
        ("pretrain DOCUMENTS OUT --encoder DOCUMENTS --set groups=x", "give the argument GROUPS instead"),
        ("search DOCUMENTS DOCUMENTS OUT --set preset=released", "--set preset: give --preset instead"),
        ("search DOCUMENTS DOCUMENTS OUT --topics-option format=tsv", "format: unknown key; known are"),
        (f"groups rop DOCUMENTS OUT --set plum={'9' * 5000}", "99' cannot be read as a value"),
        ('groups rop DOCUMENTS OUT --set bm25={"k1":1,"k1":2}', "cannot be read as a value"),
        (f"groups rop DOCUMENTS OUT --set plum={'[' * 5000}", "[[' cannot be read as a value"),
        ("groups rop DOCUMENTS OUT", "Lower it (--set minimum_count=NUMBER)"),  # no word occurs 50 times
        ("groups rop DOCUMENTS /proc/x.jsonl", "ERROR: /proc/x.jsonl: nothing can be created in /proc: "),
        ("groups rop DOCUMENTS OUT --set graph.mentions=titles", "nothing in groups of rop. It reads text."),
        (
            "groups ares DOCUMENTS OUT --set agreement=strict --set retrieval.depth=2",
            "It reads text, axioms,",
        ),
        ("groups rop BROKEN OUT", "BROKEN:1"),
        ("groups ares DOCUMENTS OUT --set word_vectors.files=v.txt", "workflow's collections; leave"),
        ("groups ares DOCUMENTS OUT --set agreement=strict", "(--set pseudo_queries.minimum_count=NUMBER)"),
        ("groups rop DOCUMENTS PIPE", "ERROR: PIPE: this is "),
        ("search DOCUMENTS NONE OUT", "ERROR: NONE: the file is empty\n  Name the"),
        ("serch DOCUMENTS PAIRS", "ERROR: No such command 'serch'. Did you mean 'search'?"),
        ("search DOCUMENTS PAIRS --dept 3", "ERROR: No such option '--dept'. (Did you mean"),
        ("search DOCUMENTS PAIRS --depth 0", "Invalid value for '--depth': 0 is not in the range x>=1."),
        ("search DOCUMENTS", "ERROR: Missing argument 'TOPICS'."),
        ("search INDEX PAIRS --format tsv", "ERROR: --format and --option are of documents, and this is an"),
        ("search DOCUMENTS PAIRS --model ql", "ERROR: --model ql is of an index, and these are documents."),
        ("pretrain PAIRS OUT", "ERROR: Missing option '--encoder'."),
        ("pretrain GROUPS OUT --encoder x", "GROUPS:2: 2 queries and 2 documents; one of the two must be"),
        ("finetune x BROKEN OUT", "ERROR: BROKEN:1: not valid JSON"),
        ("evaluate EMPTY RUN", "ERROR: EMPTY: there are no judgements"),
        ("evaluate RUN RUN", "This looks like a run: give the judgements."),
        ("evaluate LINES RUN", "Give a file of judgements."),
        ("evaluate QRELS SCORED --measure plum", "ERROR: measures: 'plum' "),
        ("init .", ".: nothing here is named like topics: the folder has "),
        ("init . --topics SPACED", "ERROR: SPACED:1: bad identifier"),
        ("init . --topics NUMBERED", "the 1 query in it is in NUMBERED: it has 7, the topics have 8"),
        ("pretrain GROUPS - --encoder MODEL", "ERROR: -: this command writes a folder\n  Name a folder."),
        ("score missing PAIRS OUT --set depth=1", "ERROR: --set depth changes nothing here: all pairs are"),
        ("search DOCUMENTS PAIRS --seed 3", "ERROR: No such option '--seed'."),
        ("score missing PAIRS OUT", "PAIRS:1: document is missing or no text\n  Give query and document."),
        ("score missing NONE OUT", "ERROR: NONE: there is no pair in it"),
        ("score missing . -", "ERROR: .: this is a folder; a file is needed here"),
        ("score missing RESCORED OUT", "RESCORED:1: there is a field score already"),
        *((f"{command} {'a' * 300}{rest}", "\n  Check the path.") for command, rest in READERS.items()),
        ("parse-dump BROKEN OUT", "ERROR: BROKEN"),
    ],
)
def test_bad_input_is_one_message(
    arguments: str, message: str, documents: Path, tmp_path: Path, monkeypatch, call
) -> None:
    monkeypatch.chdir(tmp_path)
    documents.rename("DOCUMENTS")
    Path("BROKEN").write_text("{\n")
    Path("TABLE").write_text("a\tapple pie\nb\tpear pie\n")
    Path("NONE").write_text("")
    Path("EMPTY").write_text("{}")
    os.mkfifo("PIPE")
    os.mkdir("INDEX")
    Path("INDEX/irpretrain.json").write_text("{}")
    write_lines(Path("PAIRS"), [{"query": "a", "document_id": "d9"}])
    write_lines(Path("RESCORED"), [{"query": "a", "document": "b", "score": 1}])
    write_lines(
        Path("GROUPS"),
        [{"query": "q", "documents": ["a", "b"]}, {"queries": ["q", "r"], "documents": ["a", "b"]}],
    )
    Path("QRELS").write_text("7 0 d0 1\n")
    Path("SCORED").write_text("7 Q0 d0 1 0.5 x\n")
    Path("LINES").write_text("q1 apple pie\n")
    Path("RUN").write_text("8 Q0 d0 1 0.5 x\n")
    write_lines(Path("NUMBERED"), [{"id": 8, "text": "a"}])
    write_lines(Path("SPACED"), [{"query_id": "a b", "query": "a"}])
    before = set(tmp_path.iterdir())
    refused = call(*arguments.split())
    assert (refused.status, refused.err.count("ERROR: "), "Traceback" in refused.err) == (2, 1, False)
    assert message in refused.err
    assert "evaluate" not in arguments or "give format" not in refused.err, "it takes no such option"
    assert set(tmp_path.iterdir()) == before


def command_line(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "irpretrain", *map(str, arguments)]


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    pages = "".join(
        f"<page><title>P{i}</title><ns>0</ns><id>{i}</id><revision><text>{'word ' * 500}</text></revision></page>"
        for i in range(1, 200)
    )
    (tmp_path / "dump.xml").write_text(f'<mediawiki xml:lang="en">{pages}</mediawiki>')
    arguments = command_line("parse-dump", tmp_path / "dump.xml", "-", "--set", "wiki=enwiki")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        shown = process.stderr.read().decode()
    assert process.returncode == 141
    assert "Traceback" not in shown
    assert "BrokenPipe" not in shown


def test_the_version(call) -> None:
    assert call("--version") == (0, f"irpretrain {irpretrain.__version__}\n", "")


def piped(command: str, folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `irpretrain` is the command."""
    line = f'irpretrain() {{ "{sys.executable}" -m irpretrain "$@"; }}; set -o pipefail; {command}'
    return subprocess.run(["bash", "-c", line], cwd=folder, input=given, capture_output=True, text=True)


FRUIT = [
    {"id": 1, "text": "apple pie with juice"},
    {"id": 2, "text": "pear pie"},
    {"id": 3, "text": "apple juice"},
]
TOPICS = "<top><num> Number: 7<title> pear pie\n</top>\n<top><num>8<title>apple juice</top>\n"


def test_documents_topics_and_runs_go_through_pipes(tmp_path: Path) -> None:
    write_lines(tmp_path / "fruit.jsonl", FRUIT)
    (tmp_path / "topics.txt").write_text(TOPICS)
    (tmp_path / "qrels").write_text("7 0 2 1\n8 0 3 1\n")
    whole = piped("irpretrain search fruit.jsonl topics.txt", tmp_path)
    assert [line.split()[:4] for line in whole.stdout.splitlines()][:2] == [
        ["7", "Q0", "2", "1"],
        ["7", "Q0", "1", "2"],
    ]
    table = "<(printf '7\\tpear pie\\n8\\tapple juice\\n')"
    for command in (
        "gzip < fruit.jsonl | irpretrain search -q - topics.txt",
        "irpretrain search -q fruit.jsonl - < topics.txt",
        f"irpretrain search --quiet fruit.jsonl {table} -",
    ):
        done = piped(command, tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, whole.stdout, "")
    scored = piped(
        "irpretrain search fruit.jsonl topics.txt | irpretrain evaluate qrels - --csv --measure RR@10",
        tmp_path,
    )
    assert scored.stdout.splitlines()[1].startswith("RR@10,-,2,1.0,1.0,1.0,")
    twice = piped("irpretrain search - -", tmp_path)
    assert twice.stderr.startswith("ERROR: Only one file can be standard input.\n  irpretrain search --help")
    broken = piped("echo '{' | irpretrain search - topics.txt", tmp_path)
    assert (broken.returncode, broken.stdout) == (2, "")
    assert broken.stderr.startswith("ERROR: standard input:1: not valid JSON")


def test_groups_are_made_learned_from_and_scored_by_in_pipes(
    documents: Path, tmp_path: Path, tiny_encoder: Path
) -> None:
    lengths = "--set max_length=32 --set query_length=8"
    made = piped(
        f"irpretrain groups rop {documents} --set minimum_count=1 | irpretrain pretrain - own --encoder {tiny_encoder} "
        f"{lengths} --set steps=2 && irpretrain finetune own <(echo '"
        + json.dumps({"query": "word01", "documents": list(BODIES.values())})
        + f"') tuned {lengths} --set epochs=1 --seed 3",
        tmp_path,
    )
    assert made.returncode == 0, made.stderr
    assert "2 steps; the model is in own" in made.stderr
    assert "1 query, 1 epoch; the model is in tuned" in made.stderr
    pair = json.dumps({"query": "word01", "document": "word02"})
    scored = piped(f"irpretrain score -q tuned - {lengths}", tmp_path, pair)
    assert json.loads(scored.stdout).keys() == {"query", "document", "score"}


def test_an_index_of_the_workflow_is_searched(documents: Path, tmp_path: Path, call) -> None:
    from irpretrain.config.corpora import CorpusConfig
    from irpretrain.config.retrieval import RetrievalConfig
    from irpretrain.config.text import TextConfig
    from irpretrain.corpora.sources import write_shard
    from irpretrain.retrieval.lucene import index

    corpus = CorpusConfig(format="jsonl", path=str(documents))
    write_shard(corpus, documents, 0, tmp_path / "table", tmp_path / "redirects")
    options = RetrievalConfig(stemmer="none", stop_list="none")
    index([tmp_path / "table"], options, TextConfig(words="alphanumeric"), tmp_path / "index")
    (tmp_path / "topics").write_text("7\tword07 word02\n9\tplum\n")
    search = ("search", tmp_path / "index", tmp_path / "topics")
    for options in (("bm25", "--set", "retrieval.bm25.k1=0.5"), ("ql",)):
        done = call(*search, "--depth", 2, "--model", *options)
        rows = [line.split() for line in done.out.splitlines()]
        assert [(row[0], row[2], row[5]) for row in rows] == [("7", d, options[0]) for d in ("d2", "d0")]
        assert "1 query in standard output; no document for 1 of 2 queries" in done.err
    assert "bm25: unknown key" in call(*search, "--set", "bm25.k1=0.5").err
    assert "nothing in this search by bm25. It reads" in call(*search, "--set", "text.words=letters").err
    assert "--preset is of documents" in call(*search, "--preset", "released").err


ONE_RELEVANT = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 0\n"
TIED = "q1 Q0 d3 1 5 t\nq1 Q0 d2 2 5 t\nq1 Q0 d1 3 5 t\n"


@pytest.fixture
def evaluate(call, tmp_path, monkeypatch):
    """Return a function that compares runs, r0 and so on, by judgements, and returns what the command printed."""
    monkeypatch.chdir(tmp_path)

    def evaluated(qrels, *runs, options=("--measure", "RR")):
        Path("q").write_text(qrels)
        for number, run in enumerate(runs):
            Path(f"r{number}").write_bytes(run if isinstance(run, bytes) else run.encode())
        return call("evaluate", "q", *(f"r{number}" for number in range(len(runs))), *options)

    return evaluated


def test_a_folder_of_indexes_names_them(tmp_path, call) -> None:
    for name in ("news", "pies"):
        (tmp_path / "indexes" / name).mkdir(parents=True)
        (tmp_path / "indexes" / name / "irpretrain.json").write_text("{}")
    refused = call("search", tmp_path / "indexes", "topics.tsv")
    assert (refused.status, "the folder holds indexes\n  Give one: news, pies.\n" in refused.err) == (2, True)
    # A folder in an index, such as a copy of another one, is no reason to refuse the index itself.
    (tmp_path / "indexes" / "irpretrain.json").write_text("{}")
    assert "holds indexes" not in call("search", tmp_path / "indexes", tmp_path / "topics.tsv").err


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ("1,apple pie\n", "put a tab between them: sed -E 's/[ ,;|]+/\\t/' FILE > topics.tsv."),
        ("1 apple pie\n", "put a tab between them: sed -E 's/[ ,;|]+/\\t/' FILE > topics.tsv."),
        ("*FIND      1\n\n KENNEDY PRESSURE\n", "\n  Name the format: trec, tsv"),
    ],
)
def test_topics_without_tabs_are_refused_with_what_they_need(
    lines: str, hint: str, documents: Path, call
) -> None:
    topics = documents.with_name("topics")
    topics.write_text(lines)
    assert hint in call("search", documents, topics).err


def test_ties_of_a_run_are_in_the_order_of_its_ranks(evaluate):
    for text in (TIED, f"# a comment\n{TIED}", bz2.compress(TIED.encode())):
        done = evaluate(ONE_RELEVANT, text)
        header, row = (line.split() for line in done.out.splitlines())
        assert (header, row[:3]) == (["measure", "run", "mean", "95%", "interval"], ["RR", "r0", "0.333"])
        assert "r0: 2 documents have the score of the one above them; the ranks order them" in done.err


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        ("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 3 t\n", "scores contradict their ranks"),
        ("q1\td1\t1\nq1\td1\t3\n", "documents that a query has twice"),
        ("q1 Q0 d1 1 1_0 t\n", "1_0"),
        ("q1 Q0 d1 1 2\n", "5 instead of 6 (query Q0 document rank score tag)"),
        ("01 Q0 d1 1 2 t\n", "the first has 01, the judgements have q1\n  Check"),
        ("Q1 Q0 d1 1 2 t\n", "The file of judgements has q1 in place of Q1"),
    ],
)
def test_a_run_that_cannot_be_used_is_refused(evaluate, run, fault):
    done = evaluate(ONE_RELEVANT, run)
    assert (done.status, fault in done.err) == (2, True)
    assert "key of the run" not in done.err, "the command has no such key"


def test_one_query_has_no_p_value(evaluate):
    assert evaluate("q1 0 d1 1\n", TIED, TIED).out.split()[-5:] == ["+0.000", "–", "–", "1.000", "–"]


@pytest.mark.parametrize(
    ("more_judged", "run", "measure", "note"),
    [
        (
            "",
            "q1 Q0 d1 1 2 t\n",
            "AP",
            "r1: fewer than the 3 documents of AP for 1 of 1 queries. The longest",
        ),
        ("", "q1 Q0 D1 1 2 t\n", "RR", "r1: none of its documents is judged for its query. The file of"),
        ("q2 0 d1 1\n", "q1 Q0 d1 1 2 t\n", "RR", "r1: no document for 1 of 2 judged queries, such as q2: 0"),
        (
            "q2 0 d1 0\n",
            "q1 Q0 d1 1 2 t\n",
            "RR",
            "no relevant document for 1 of 2 judged queries, such as q2",
        ),
        (
            "2 0 d1 1\n",
            "q1 Q0 d1 1 2 t\n002 Q0 d1 1 2 t\n",
            "RR",
            "judgements has 2 in place of 002: identifiers",
        ),
    ],
    ids=["short lists", "none judged", "no document", "none relevant", "zeros"],
)
def test_what_makes_scores_low_is_noted(evaluate, more_judged, run, measure, note) -> None:
    sound = f"{TIED}q2 Q0 d1 1 1 t\n2 Q0 d1 1 1 t\n"
    notes = evaluate(ONE_RELEVANT + more_judged, sound, run, options=("--measure", measure)).err
    assert notes.count(note) == notes.count(note.removeprefix("r1: ")) == 1, "r0 has no such fault"


@pytest.mark.parametrize(
    "line",
    [
        "1\t0\td1\t 1",
        "1\t0\td1\t1.0",
        "1\t0\td1\t+1 ",
        "1 \t 0\td1\t1\r",
        "\n1\t0\td1\t1",
        " \f\n\v\n1 0 d1 1",
    ],
)
def test_four_fields_that_end_in_a_number_are_judgements_of_trec(tmp_path: Path, line: str) -> None:
    (tmp_path / "q").write_text(f"{line}\n2\t0\td1\t1\n", newline="")
    assert guess_reading("judgements", tmp_path / "q").format == "trec"
    assert read_relevance(str(tmp_path / "q")) == {"1": {"d1": 1}, "2": {"d1": 1}}


def test_a_header_of_four_columns_is_no_judgement(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("query-id\titeration\tcorpus-id\tscore\n1\t0\td1\t1\n")
    assert read_relevance(str(tmp_path / "q")) == {"1": {"d1": 1}}


def test_patterns_name_the_documents_of_a_folder(tmp_path: Path, documents: Path, call) -> None:
    (tmp_path / "collection").mkdir()
    documents.rename(tmp_path / "collection/corpus.jsonl")
    topics = write_lines(tmp_path / "collection/queries.jsonl", [{"_id": "q", "text": "word01"}])
    search = ("search", tmp_path / "collection", topics, tmp_path / "run")
    advice = re.search(r"--option '(files=\[)PATTERN, …\]'", call(*search).err)
    assert advice
    assert run(*search, "--option", f"{advice[1]}corpus.jsonl]") == 0
    assert {document for document, _ in read_run(tmp_path / "run")["q"]} <= BODIES.keys()


def test_a_closed_and_a_full_standard_output_are_named(tmp_path):
    (tmp_path / "q").write_text(ONE_RELEVANT)
    (tmp_path / "r").write_text(TIED)
    closed = piped("irpretrain evaluate q r >&-", tmp_path)
    assert (closed.returncode, "Traceback" in closed.stderr) == (2, False)
    assert "standard output: it is closed" in closed.stderr
    for unbuffered in ("", "1"):  # with a buffer, Python meets the fault once more at its end
        full = piped(f"PYTHONUNBUFFERED={unbuffered} irpretrain evaluate q r > /dev/full", tmp_path)
        assert (full.returncode, "ERROR: standard output: no space left" in full.stderr) == (2, True)


def test_advice_names_only_options_that_a_command_has(tmp_path, call, evaluate):
    """`evaluate` reads nothing but whole files; topics of `search` have an option of their own."""
    judged = evaluate("q1 0 d1 one\n", TIED)
    assert (judged.status, "--set" in judged.err) == (2, False)
    write_lines(tmp_path / "fruit.jsonl", FRUIT)
    for name, content, option in (
        ("topics", b"1\tpear\nbroken\n", "malformed=skip"),
        ("topics.csv", "id,text\n1,p\xeache\n".encode("windows-1252"), "encoding=windows-1252"),
    ):
        (tmp_path / name).write_bytes(content)
        advice = re.search(rf"add --topics-option '?({option})", call("search", "fruit.jsonl", name).err)
        assert advice
        assert call("search", "fruit.jsonl", name, "--topics-option", advice[1]).status == 0


def test_runs_are_compared_with_the_first(evaluate) -> None:
    bad, good = (
        "".join(f"{query} Q0 {first} 1 2 x\n{query} Q0 {second} 2 1 x\n" for query in range(8))
        for first, second in (("d2", "d1"), ("d1", "d2"))
    )
    ranks = "".join(f"{query}\td1\t1\n" for query in range(9))
    done = evaluate("".join(f"{query} 0 d1 1\n" for query in range(8)), bad, good, ranks)
    header, bad, good, ranks = done.out.splitlines()
    assert all(len(line) <= 100 for line in (header, bad, good, ranks))
    assert header.split("  ")[0] == "measure"
    assert {line[header.index("mean") :][:5] for line in (bad, good, ranks)} == {"0.500", "1.000"}
    assert bad.split() == ["RR", "r0", "0.500", "[0.500,", "0.500]"]
    assert good.split()[:6] == ["r1", "1.000", "[1.000,", "1.000]", "+0.500", "[+0.500,"]
    assert float(good.split()[-2]) < 0.05
    assert ranks.split()[:2] == ["r2", "1.000"]
    assert "r2: left out: 1 of 9 lines, of queries without judgements, such as 8" in done.err
    assert "no document for" not in done.err


def test_a_folder_becomes_an_overlay(tmp_path: Path, monkeypatch, call) -> None:
    from irpretrain.config import load_config

    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    write_lines(tmp_path / "docs/a.jsonl", FRUIT)
    topics = "".join(f"<top><num> {number}<title> pear pie {number}\n</top>\n" for number in range(4))
    (tmp_path / "my-topics").write_text(topics)
    (tmp_path / "my-topics-qrels.txt").write_text("".join(f"{number} 0 2 1\n" for number in range(4)))
    said = call("init", ".").err
    assert f'make run ARGS="--configfile {tmp_path}/my-collection.yaml --directory {tmp_path}"' in said
    config = load_config(Path(__file__).parents[2] / "config.yaml", tmp_path / "my-collection.yaml")
    mine = config.datasets["mine"]
    assert (mine.queries.format, str(mine.qrels.path)) == ("trec", "my-topics-qrels.txt")
    assert config.experiments["mine"].regimes == ["zero-shot"]
    note = (
        "Nothing is fine-tuned: 4 topics with a relevant document would give 2 groups to learn from (a group is a "
        "topic with one of its relevant documents; one of 3 folds is held out), and from fewer than 32 a model is not "
        "shown to learn."
    )
    assert config.report.notes == [note]
    assert note.rstrip(".") in " ".join(said.split())
    (tmp_path / "more-docs").mkdir()
    refused = call("init", ".", "-o", "other.yaml").err
    assert "ERROR: .: docs and more-docs could be the documents\n  Give the path" in refused
    overlay = call("init", ".", "-o", "-", "--documents", "docs").out
    assert overlay == (tmp_path / "my-collection.yaml").read_text()


@pytest.mark.parametrize(
    ("topics", "relevant_documents", "regimes"),
    [
        (12, 1, ["zero-shot"]),
        (39, 1, ["zero-shot"]),
        (40, 1, ["zero-shot", "full"]),
        (5, 20, ["zero-shot", "full"]),
        (4, 20, ["zero-shot", "full"]),
        (3, 16, ["zero-shot", "full"]),
        (2, 40, ["zero-shot"]),
    ],
)
def test_an_overlay_fine_tunes_where_that_teaches_and_reads_equally(
    tmp_path: Path, topics: int, relevant_documents: int, regimes: list[str]
) -> None:
    """Case few-topics-fine-tuned: 12 topics were one optimiser step on 8 groups, at another length."""
    from irpretrain.config import load_config
    from irpretrain.library.own_folder import describe_folder

    write_lines(tmp_path / "documents.jsonl", [{"id": str(n), "text": f"pie {n}"} for n in range(40)])
    write_lines(tmp_path / "topics.jsonl", [{"id": f"q{n}", "text": "pie"} for n in range(topics)])
    pairs = [f"q{n} 0 {d} 1\n" for n in range(topics) for d in range(relevant_documents)]
    (tmp_path / "qrels.txt").write_text("".join(pairs))
    overlay, message = describe_folder(tmp_path, {})
    (tmp_path / "mine.yaml").write_text(overlay)
    config = load_config(Path(__file__).parents[2] / "config.yaml", tmp_path / "mine.yaml")
    assert config.experiments["mine"].regimes == regimes
    assert config.datasets["mine"].folds == (3 if topics in (3, 4) else 5)
    assert ("Nothing is fine-tuned" in message) == (regimes == ["zero-shot"]) == bool(config.report.notes)
    readings = [config.reranking_of("prop", regime) for regime in ("zero-shot", "full")]
    lengths = {(reading.max_length, reading.query_length, str(reading.passages)) for reading in readings}
    assert len(lengths) == 1 or regimes == ["zero-shot"]
    root = Path(__file__).parents[2]
    shipped = load_config(root / "config.yaml", root / "configs/my-collection.yaml")
    assert readings[0] == shipped.reranking_of("prop")


def test_judgements_that_count_the_topics_are_joined_with_them(tmp_path: Path, call) -> None:
    """Cranfield's topics are called 001, 002, 004, …, and judged as 1, 2, 3."""
    write_lines(tmp_path / "documents.jsonl", FRUIT)
    (tmp_path / "topics.qry").write_text(".I 001\n.W\npear\n.I 002\n.W\npie\n.I 004\n.W\napple\n")
    (tmp_path / "qrels").write_text("1 0 2 1\n2 0 2 1\n3 0 2 1\n")
    said = call("init", tmp_path).err
    assert "3 topics in topics.qry (smart, counted in their order, as in the judgements), 3 with" in said
    assert "options:\n        identifiers: counted" in (tmp_path / "my-collection.yaml").read_text()
    (tmp_path / "qrels").write_text("001 0 2 1\n002 0 2 1\n004 0 2 1\n005 0 2 1\n")
    done = call("init", tmp_path, "-o", "-")
    assert "3 with a relevant document" in done.err
    assert "no topic for 1 of 4 judged queries, such as 005" in done.err
    assert "counted" not in done.out


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    ask = "_IRPRETRAIN_COMPLETE=bash_complete COMP_CWORD={} COMP_WORDS='irpretrain {}' irpretrain"
    assert piped(ask.format(1, "ev"), tmp_path).stdout == "plain,evaluate\n"
    assert "plain,--depth" in piped(ask.format(2, "search --d"), tmp_path).stdout
    assert "complete" in piped("_IRPRETRAIN_COMPLETE=bash_source irpretrain", tmp_path).stdout


def test_help_names_defaults(call):
    assert re.search(r"--depth.*\[default:\s1000", call("search", "-h").out)
    assert "[default: -" in call("evaluate", "--help").out


WAITING = """
import sys, time
from irpretrain import Collection, command

def wait(**options):
    documents = Collection(["pie"])
    print("ready", flush=True)
    time.sleep(600)

command.commands.commands["groups"].callback = wait
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


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("kind", ["documents", "topics", "judgements", "runs"])
def test_damage_and_utf_16_are_named_where_the_format_is_to_be_known(
    kind: Any, pack: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_bytes(pack(b'{"id": "a", "text": "red"}\n')[:-6])
    with pytest.raises(InputError, match=r"a\.jsonl: damaged archive: .*\n  Get the file again"):
        guess_reading(kind, tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_bytes(pack('{"id": "a"}\n'.encode("utf-16-le")))
    with pytest.raises(InputError, match="this is UTF-16, not UTF-8"):
        guess_reading(kind, tmp_path / "a.jsonl")


def test_one_row_with_a_line_end_in_a_cell_is_enough_to_see_quotes(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text('id\ttext\nq1\t"red\nfox"\n')
    assert guess_reading("topics", tmp_path / "t.tsv").format == "csv"
    (tmp_path / "t.tsv").write_text('id\ttext\nq1\t"red" fox\n')
    assert guess_reading("topics", tmp_path / "t.tsv").format == "tsv"


@pytest.mark.parametrize(
    "arguments",
    [["search", "", "t"], ["evaluate", "q", ""], ["init", ""], ["pretrain", "g", "", "--encoder", "e"]],
)
def test_an_empty_path_is_no_path(arguments: list[str], tmp_path: Path, monkeypatch, call) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the path is empty" in call(*arguments).err


@pytest.mark.parametrize("name", ["plain", "with blanks", "quo'te", "$HOME and `x`"])
def test_the_advice_of_init_runs_as_it_is_written(name: str, tmp_path: Path, call) -> None:
    folder = tmp_path / name
    folder.mkdir()
    write_lines(folder / "documents.jsonl", [{"id": "d", "text": "pear"}])
    (folder / "topics.tsv").write_text("q\tpear\n")
    (folder / "qrels.txt").write_text("q 0 d 1\n")
    (tmp_path / "Makefile").write_text("run:\n\t@printf '%s\\n' $(ARGS)\n")
    advice = call("init", folder).err.split("project's folder: ")[1].splitlines()[0]
    done = subprocess.run(advice, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    expected = ["--configfile", str(folder / "my-collection.yaml"), "--directory", str(folder)]
    assert done.stdout.splitlines() == expected
    assert "Now run" not in call("init", folder, "-o", "-").err


def test_init_takes_the_options_that_it_names(tmp_path: Path, call) -> None:
    (tmp_path / "collection.tsv").write_text("one\tpear\ntwo\tapple\n")
    (tmp_path / "topics.txt").write_text("<top><num>q<desc>pear</top>")
    (tmp_path / "qrels.txt").write_text("q 0 one 1\n")
    given: list[str] = []
    for option in (["--topics-option", "fields=[description]"], ["--option", "columns=[id, text]"]):
        assert shlex.join(option) in call("init", tmp_path, *given).err
        given += option
    assert call("init", tmp_path, *given).status == 0
    overlay = yaml.safe_load((tmp_path / "my-collection.yaml").read_text())
    assert overlay["corpora"]["mine"]["options"] == {"columns": ["id", "text"]}
    assert overlay["datasets"]["mine"]["queries"]["options"] == {"fields": ["description"]}


def test_runs_keep_their_names_apart(tmp_path: Path, call) -> None:
    names = ["one/long-output.trec.run", "two/long-output.trec.run", "red\x1b[31m.run"]
    (tmp_path / "q").write_text(ONE_RELEVANT)
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TIED)
    paths = [tmp_path / name for name in names]
    table = call("evaluate", tmp_path / "q", *paths, "--measure", "RR").out
    assert all(str(path) in table for path in paths[:2])
    assert "\x1b" not in table
    assert "A run is named twice." in call("evaluate", tmp_path / "q", paths[0], paths[0]).err


def test_a_full_disk_is_told_of_the_folder_that_a_command_writes(tmp_path: Path, tiny_encoder: Path) -> None:
    groups = write_lines(tmp_path / "g.jsonl", [{"queries": ["word01"], "documents": ["ab", "cd"]}])
    done = piped(f"ulimit -f 1; irpretrain pretrain {groups} out --encoder {tiny_encoder}", tmp_path)
    assert done.returncode == 2
    assert "`ulimit -f` allows (" in done.stderr
    assert f" in {tmp_path}); make room" in done.stderr
