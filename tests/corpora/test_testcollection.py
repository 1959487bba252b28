"""Queries and judgements: what is kept, dropped, refused, and in which order."""

from pathlib import Path

import pyarrow as pa
import pytest

from irpretrain.config.corpora import DatasetConfig, MalformedConfig
from irpretrain.corpora.formats import json_files
from irpretrain.corpora.formats.trectext import BARE_TEXT
from irpretrain.corpora.policy import RecordTally, bare_texts, empty_documents
from irpretrain.corpora.shared_queries import sample
from irpretrain.corpora.testcollection import prepare
from irpretrain.corpora.topics_and_judgements import check_queries_are_judged, near_hint
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError, InputError, count_of
from small_documents import write_documents


@pytest.fixture
def run(tmp_path):
    """Return a function that prepares a collection of documents d0 ... d9 and returns queries, qrels, counts."""
    even, odd = ({f"d{n}": "x" for n in range(first, 10, 2)} for first in (0, 1))
    shards = [
        write_documents(tmp_path / "even.parquet", even),
        write_documents(tmp_path / "odd.parquet", odd),
    ]

    def prepared(topics, judged, seed=1, documents=shards, topics_config=None, qrels_config=None, **changes):
        (tmp_path / "topics.tsv").write_text(topics)
        (tmp_path / "judged.txt").write_text(judged)
        dataset = {
            "label": "Test",
            "corpus": "c",
            "folds": 3,
            "queries": {"format": "tsv", "path": "x", **(topics_config or {})},
            "qrels": {"format": "trec", "path": "x", **(qrels_config or {})},
            **changes,
        }
        outputs = tmp_path / "queries.parquet", tmp_path / "qrels.txt"
        sources = tmp_path / "topics.tsv", tmp_path / "judged.txt"
        counts = prepare(DatasetConfig(**dataset), *sources, documents, seed, *outputs)
        return QUERIES.read(outputs[0]).to_pylist(), outputs[1].read_text(), counts

    return prepared


TOPICS = "q9\tnine words\nq1\tone\nq5\tfive\nq3\tthree\n"
JUDGED = "q5 0 d5 1\nq9 0 d9 2\nq9 0 d1 0\nq1 0 d1 1\nq3 0 d3 1\n"


def many(count):
    topics = "".join(f"q{n}\tquery {n}\n" for n in range(count))
    return topics, "".join(f"q{n} 0 d{n % 10} 1\n" for n in range(count))


def names(queries):
    return [q["query_id"] for q in queries]


def test_order_of_queries_and_of_judgements(run):
    queries, qrels, counts = run(TOPICS, JUDGED)
    assert [q["query_id"] for q in queries] == ["q9", "q1", "q5", "q3"]
    assert queries[0]["text"] == "nine words"
    assert qrels == "q1 0 d1 1\nq3 0 d3 1\nq5 0 d5 1\nq9 0 d1 0\nq9 0 d9 2\n"
    assert (counts["queries_written"], counts["judgements_written"]) == (4, 5)


LOSSES = (
    *("queries_left_out", "queries_not_sampled", "queries_whose_relevant_documents_are_unknown"),
    *("judged_queries_unknown", "judgements_of_unknown_queries", "judgements_of_unknown_documents"),
)


@pytest.mark.parametrize(
    ("judged", "lost"),
    [
        (JUDGED.replace("q5 0 d5 1", "q5 0 d5 0"), {"queries_left_out": 1}),
        (JUDGED + "q1 0 gone 1\nq1 0 lost 0\n", {"judgements_of_unknown_documents": 2}),
        (
            JUDGED.replace("d3", "gone"),
            {"judgements_of_unknown_documents": 1, "queries_whose_relevant_documents_are_unknown": 1},
        ),
        (
            JUDGED + "q7 0 d1 1\nq7 0 gone 1\nq8 0 d1 1\n",
            {"judged_queries_unknown": 2, "judgements_of_unknown_queries": 3},
        ),
    ],
    ids=["nothing relevant", "unknown documents", "unknown relevant documents", "unknown queries"],
)
def test_what_is_kept_and_counted(run, judged, lost):
    queries, qrels, counts = run(TOPICS, judged)
    assert names(queries) == [q for q in ("q9", "q1", "q5", "q3") if q != "q5" or "q5 0 d5 1" in judged]
    assert {line.split()[0] for line in qrels.splitlines()} == set(names(queries))
    assert ("q1 0 gone 1\n" in qrels) == ("q1 0 gone 1\n" in judged), "unknown documents stay"
    assert {name: counts[name] for name in LOSSES if counts[name]} == lost


@pytest.mark.parametrize("malformed", ["refuse", {"skip": 0.1}])
def test_repeated_queries(run, malformed):
    queries, _, counts = run(TOPICS + "q1\tone\n", JUDGED)
    assert len(queries) == 4
    assert counts["queries"]["skipped"] == {"repeated query": 1}
    changed = TOPICS + "q1\tanother\n"
    with pytest.raises(InputError, match=r"topics\.tsv:5: query id occurs twice: q1 was 'one' before"):
        run(changed, JUDGED, topics_config={"malformed": malformed})
    queries, _, counts = run(changed, JUDGED, topics_config={"malformed": "skip"})
    assert queries[1]["text"] == "one"
    assert counts["queries"]["malformed"] == {"query id occurs twice": 1}


def test_a_query_that_is_a_document_is_not_judged_by_itself(run):
    judged = "d1 0 d1 1\nd1 0 d2 1\nd3 0 d3 1\nd4 0 d5 1\nd6 0 d7 1\n"
    topics = "".join(f"d{n}\tone\n" for n in (1, 3, 4, 6))
    for changes, own_count in (({}, 0), ({"queries_are_documents": True}, 2)):
        queries, qrels, counts = run(topics, judged, **changes)
        assert counts["judgements_of_own_documents"] == own_count
        assert ("d1 0 d1 1" in qrels, "d3" in names(queries)) == (not own_count, not own_count)


def test_columns_of_topics_that_are_not_read_are_named(run, capsys):
    run("id\ttext\tnote\nq1\tone\tx\nq2\ttwo\tx\nq3\tsix\tx\n", "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n")
    assert "[Test] NOTE: fields that are not read: note; " in capsys.readouterr().err


@pytest.mark.parametrize("malformed", ["refuse", {"skip": 0.1}])
def test_repeated_judgements(run, malformed):
    _, qrels, counts = run(TOPICS, JUDGED + "q1 0 d1 1\n")
    assert qrels.count("q1 0 d1") == 1
    assert counts["judgements"]["skipped"] == {"repeated judgement": 1}
    with pytest.raises(InputError, match="judged twice: q1 0 was 1 before and is 2 here"):
        run(TOPICS, "q1 0 0 1\nq1 0 0 2\nq5 0 d5 1\n")
    with pytest.raises(InputError, match=r"judged\.txt:6: judged twice: q1 d1 was 1 before and is 2 here"):
        run(TOPICS, JUDGED + "q1 0 d1 2\n", qrels_config={"malformed": malformed})
    _, qrels, _ = run(TOPICS, JUDGED + "q1 0 d1 2\n", qrels_config={"malformed": "skip"})
    assert "q1 0 d1 1\n" in qrels


def test_malformed_lines_and_empty_queries(run):
    with pytest.raises(InputError, match=r"topics\.tsv:5: empty query.*\n.*queries\.malformed: skip"):
        run(TOPICS + "q7\t \n", JUDGED)
    with pytest.raises(InputError, match=r"judged\.txt:6: wrong number of columns.*\n.*qrels\.malformed"):
        run(TOPICS, JUDGED + "q7\n")
    skip = {"malformed": "skip"}
    queries, _, counts = run(TOPICS + "q7\t \n", JUDGED + "q7\n", topics_config=skip, qrels_config=skip)
    assert len(queries) == 4
    assert counts["queries"]["malformed"] == {"empty query": 1}
    assert counts["judgements"]["malformed"] == {"wrong number of columns": 1}


def test_the_searched_corpus_must_be_sound(run, tmp_path):
    once = write_documents(tmp_path / "once.parquet", {"d1": "x"})
    with pytest.raises(InputError, match="'d1' occurs 2 times"):
        run(TOPICS, JUDGED, documents=[once, once])
    with pytest.raises(InputError, match="the corpus has no documents"):
        run(TOPICS, JUDGED, documents=[write_documents(tmp_path / "empty.parquet", [])])
    assert not (tmp_path / "queries.parquet").exists()


def test_nothing_left(run):
    with pytest.raises(InputError, match=r"judged\.txt: none of its 4 judgements marks .* as relevant"):
        run("q9\tnine\nq1\tone\n", "q9 0 d9 0\nq9 0 d1 0\nq1 0 d1 0\nq1 0 d2 -1\n")
    with pytest.raises(InputError, match=r"topics\.tsv: there is no query in it"):
        run("", JUDGED)
    with pytest.raises(InputError, match=r"judged\.txt: there is no judgement in it"):
        run(TOPICS, "")
    with pytest.raises(
        InputError, match=r"judged: there is no judgement in it\n  Give the file of judgements,"
    ):
        check_queries_are_judged({"q1": "one"}, {}, Path("topics"), Path("judged"))


@pytest.mark.parametrize(
    ("judged", "remedy"),
    [
        ("d1 0 q1 1\nd5 0 q5 1\n", "Queries stand where documents should"),
        ("301 0 d1 1\n", "Check that topics, judgements and corpus belong together"),
        ("q01 0 d1 1\nq03 0 d3 1\n", "topics.tsv has q1 in place of q01: identifiers differ by zeros"),
    ],
    ids=["document first", "others", "zeros in front"],
)
def test_judgements_of_no_query_blame_their_own_file_and_say_why(run, judged, remedy):
    first, number = min(line.split()[0] for line in judged.splitlines()), len(judged.splitlines())
    with pytest.raises(InputError) as refused:
        run(TOPICS, judged)
    message = str(refused.value)
    assert f"judged.txt: none of the {count_of(number, 'query')} in it is in " in message
    assert f"it has {first}, the topics have q1" in message
    assert remedy in message


@pytest.mark.parametrize(
    ("unknown", "is_near"),
    [
        *((name, True) for name in ("X_0000", "X-0", "x-0000", "X 00", "x.0")),
        *((name, False) for name in ("X-10", "Y-0000", "X0-000")),
    ],
)
def test_an_identifier_that_is_only_written_otherwise_is_named(unknown, is_near):
    hint = near_hint([unknown], [pa.array(["X-0001", "X-0000"])], "the corpus")
    assert hint.startswith(f"The corpus has X-0000 in place of {unknown}: " if is_near else "")
    assert bool(hint) == is_near
    assert "has 7 in place of 7.0" in near_hint(["7.0"], [pa.array(["7"])], "the corpus")


@pytest.mark.parametrize(
    ("judged", "hint"),
    [
        (JUDGED.replace(" d", " D00"), "The corpus has d1 in place of D001: identifiers differ by zeros"),
        ("q1 d1 0 1\nq5 d5 0 1\n", "query, document, 0, relevance; TREC's"),
        ("q1 d1 0 1\nq1 d2 0 2\nq5 d5 0 1\n", "awk '{print $1, 0, $2, $4}' makes these"),
        (JUDGED.replace(" d", " SQuAD/d"), "Check that corpus and judgements belong together"),
    ],
    ids=["padding and case", "documents second", "documents second, graded", "prefix"],
)
def test_why_no_judged_document_is_in_the_corpus_skipped_or_not(run, judged, hint):
    with pytest.raises(
        InputError,
        match=r"judged\.txt: .*(judged documents? .*not in the corpus|the document, is 0 on every line)",
    ) as refused:
        run(TOPICS, judged, qrels_config={"malformed": "skip"})
    assert hint in str(refused.value)


def test_a_searched_corpus_that_is_cut_into_passages_is_named_as_the_cause(run, tmp_path):
    passages = write_documents(tmp_path / "passages.parquet", {f"d{n}#0": "x" for n in range(10)})
    with pytest.raises(InputError, match=r"cut into passages, .* names of their own: leave passage_words"):
        run(TOPICS, JUDGED, documents=[passages])


def test_text_that_is_left_out_of_documents_is_reported():
    counts = {"read": 100, "skipped": {}, "parts": {BARE_TEXT: 2, "tables left out": 9}}
    loss = bare_texts([counts, {"read": 20, "skipped": {}}])
    assert str(loss) == "2 of 120 documents have text outside body_tags, which is left out"
    assert loss.is_worth_a_warning


def test_losses_are_one_line_on_the_screen_and_warnings_from_a_hundredth_on(run, capsys):
    _, _, counts = run(TOPICS, JUDGED)
    assert counts["summary"] == "10 documents, 4 queries, 5 judgements; nothing left out"
    assert counts["warnings"] == []
    assert capsys.readouterr().err == f"[Test] NOTE: {counts['summary']}\n"
    judged = JUDGED + "q1 0 D02 0\nQ3 0 d3 1\n"
    _, _, counts = run(TOPICS + "q4\tfour\n", judged)
    assert counts["summary"] == (
        "10 documents, 4 queries, 6 judgements; 1 of 5 queries have no relevant document and are left out; 1 of 7 "
        "judgements are of queries that the topics lack and are left out; 1 of 6 judgements are of documents that the "
        "corpus lacks"
    )
    assert counts["warnings"][2] == (
        "1 of 6 (16.7 %) judgements are of documents that the corpus lacks, such as D02 (query q1). The corpus has d2 "
        "in place of D02: identifiers differ by zeros in front of numbers, .0 behind them, case or "
        "separators alone; mend one of the files."
    )
    assert "such as query Q3. The file of topics has q3 in place of Q3" in counts["warnings"][1]
    displayed = capsys.readouterr().err.splitlines()
    assert displayed == [
        f"[Test] NOTE: {counts['summary']}",
        *(f"[Test] NOTE: WARNING: {line}" for line in counts["warnings"]),
    ]


def test_documents_that_are_left_out_are_counted_by_reason_and_named(tmp_path):
    rows = ['{"id": "X-1", "text": "one"}', '{"id": "X-2", "text": null}', '{"id": "X-3", "text": ""}', "{"]
    path, reader = tmp_path / "docs.jsonl", json_files.DOCUMENTS
    path.write_text("\n".join(rows) + "\n")
    tally = RecordTally(MalformedConfig(skip=1.0), "malformed")
    assert len(list(tally.sound(path, reader.read(path, reader.options())))) == 1
    loss = empty_documents([tally.counts()])
    assert str(loss) == "3 of 4 documents are left out (2 × empty document, 1 × not valid JSON)"
    assert loss.warning() == (
        "3 of 4 (75.0 %) documents are left out (2 × empty document, 1 × not valid JSON), such as "
        f"{path} (document X-2, line 2)."
    )


def test_the_example_of_documents_that_are_left_out_has_the_first_reason():
    counts = {
        "read": 4,
        "skipped": {"empty document": 1},
        "malformed": {"bad identifier": 1},
        "first_left_out": {"empty document": "a (line 1)", "bad identifier": "a (line 2)"},
    }
    assert (
        "(1 × bad identifier, 1 × empty document), such as a (line 2)." in empty_documents([counts]).warning()
    )


def test_a_loss_of_a_hundredth_is_no_warning(run):
    topics = "".join(f"q{n}\tquery {n}\n" for n in range(11))
    judged = "".join(f"q{n} 0 d{m} 1\n" for n in range(11) for m in range(9))
    _, _, counts = run(topics, judged + "q1 0 gone 1\n")
    assert "1 of 100 judgements are of documents that the corpus lacks" in counts["summary"]
    assert counts["warnings"] == []


def test_every_query_is_drawn_about_equally_often():
    texts = {f"q{n}": "" for n in range(20)}
    dataset = DatasetConfig(
        label="Test", corpus="c", queries={"path": "x"}, qrels={"path": "x"}, folds=3, sample_queries=5
    )
    drawn = [name for seed in range(60) for name in sample(texts, texts, dataset, seed, "topics.tsv", "")]
    expected = 60 * 5 / 20
    statistic = sum((drawn.count(f"q{n}") - expected) ** 2 / expected for n in range(20))
    assert statistic < 43.8  # chi-squared, 19 degrees of freedom, p = 0.001


def test_a_sample_holds_at_most_all_queries(run):
    assert len(names(run(TOPICS, JUDGED, sample_queries=4)[0])) == 4
    with pytest.raises(ConfigError, match=r"sample_queries: 5 queries are asked for, but .* has 4"):
        run(TOPICS, JUDGED, sample_queries=5)


def test_samples_keep_the_order_depend_on_the_seed_and_contain_each_other(run):
    topics, judged = many(200)
    small, _, counts = run(topics, judged, sample_queries=20)
    assert counts["queries_not_sampled"] == 180
    assert names(small) == sorted(names(small), key=lambda name: int(name[1:]))
    assert names(run(topics, judged, sample_queries=20)[0]) == names(small)
    assert names(run(topics, judged, sample_queries=20, seed=2)[0]) != names(small)
    assert set(names(small)) < set(names(run(topics, judged, sample_queries=50)[0]))
    backwards = "".join(reversed(topics.splitlines(keepends=True)))
    assert names(run(backwards, judged, sample_queries=20)[0]) == names(small)[::-1]


def test_several_files_are_read_one_after_the_other(tmp_path):
    contents = {"a.tsv": "q1\tone\n", "b.tsv": "q2\ttwo\nq1\tone\n"}
    contents |= {"a.txt": "q1 0 d1 1\n", "b.txt": "q2 0 d1 1\nq1 0 d1 1\n"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    documents = write_documents(tmp_path / "documents.parquet", {"d1": "x"})
    sources = [[tmp_path / "a.tsv", tmp_path / "b.tsv"], [tmp_path / "a.txt", tmp_path / "b.txt"]]

    def prepared(queries, judgements):
        sections = {
            "queries": {"format": "tsv", "path": ["a.tsv", "b.tsv"], "expected": queries},
            "qrels": {"format": "trec", "path": ["a.txt", "b.txt"], "expected": judgements},
        }
        dataset = DatasetConfig(label="Test", corpus="c", train_on="x", **sections)
        outputs = tmp_path / "queries.parquet", tmp_path / "qrels.txt"
        return prepare(dataset, *sources, [documents], 1, *outputs)

    counts = prepared(3, 3)
    assert counts["queries_written"] == 2
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 d1 1\nq2 0 d1 1\n"
    with pytest.raises(InputError, match=r"a\.tsv: there are 3 queries here .* 1 more files.*, expected 2"):
        prepared(2, 3)
    with pytest.raises(InputError, match=r"a\.txt: there are 3 judgements here"):
        prepared(3, 4)
