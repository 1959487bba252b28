"""Small formats of single data sets: LeCaRD and CAIL, EntityQuestions, Million Query, LETOR's labels, MRQA."""

import gzip
import json

import pytest

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.collection import check_collection
from irpretrain.corpora.file_lists import files_of_sources
from irpretrain.corpora.formats import lecard, letor
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.records import (
    Document,
    Judgement,
    Malformed,
    Query,
    Retrieved,
    SpanQuestion,
)

# LeCaRD and CAIL-LCR

CASE = {
    "ajId": "x",
    "ajName": "程某某走私、贩卖毒品一案",
    "ajjbqk": " 公诉机关指控，",
    "pjjg": "一、被告人",
    "qw": "湖北省武汉市 刑事判决书",
}


def test_a_case(read):
    content, file = json.dumps(CASE, ensure_ascii=False), "1325/38633.json"
    assert read("documents", "lecard", content, file=file) == [
        Document(0, "38633", "程某某走私、贩卖毒品一案", "", "湖北省武汉市 刑事判决书")
    ]
    [parts] = read("documents", "lecard", content, file=file, body_fields=["ajjbqk", "pjjg"])
    assert parts.body == "公诉机关指控，\n一、被告人"


def test_a_case_of_several_queries_counts_once_for_any_shards(tmp_path):
    cases = tmp_path / "candidates"
    for query, names in (("1325", "12"), ("-991", "23"), ("206", "21")):
        (cases / query).mkdir(parents=True)
        for case in names:
            (cases / query / f"{case}.json").write_text(json.dumps({**CASE, "ajName": f"{query}/{case}"}))
    for shards in (1, 2, 5):
        config = CorpusConfig(format="lecard", path="x", shards=shards)
        documents = [tmp_path / f"documents-{shard}.parquet" for shard in range(shards)]
        for shard, path in enumerate(documents):
            write_shard(config, cases, shard, path, tmp_path / "redirects.parquet")
        rows = [row for path in documents for row in DOCUMENTS.read(path).to_pylist()]
        found = {row["document_id"]: row["title"] for row in rows}
        assert found == {"1": "1325/1", "2": "-991/2", "3": "-991/3"}, "folders by name: -991, 1325, 206"
        check_collection(documents)
    files = files_of_sources(cases, lecard.RUNS.suffixes)
    lines = [line for path in files for line in lecard.RUNS.read(path, lecard.RUNS.options())]
    assert len(lines) == 6
    assert lines[0] == Retrieved(0, "-991", "2", None, 0.0)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "not valid JSON"),
        ("[]", "no text: case 1 must have the texts ajName, qw"),
        (json.dumps({**CASE, "qw": 5}), "no text"),
        ("\xff".encode("latin-1"), "not valid JSON"),
        ("[" * 100_000, "not valid JSON: nested too deeply"),
        (gzip.compress(b"{}")[:-9], "damaged archive"),
    ],
)
def test_broken_cases(read, content, fault):
    [found] = read("documents", "lecard", content, file="q/1.json")
    assert isinstance(found, Malformed)
    assert str(found).startswith(fault)
    assert not found.loses_more


def test_labels(read):
    assert read("judgements", "json", '{"5156": {"38633": 2, "501": 0}, "-991": {"7": 3}}') == [
        Judgement(0, "5156", "38633", 2),
        Judgement(1, "5156", "501", 0),
        Judgement(2, "-991", "7", 3),
    ]
    for content, fault in (
        ("[]", "not a JSON object: queries are wanted"),
        ('{"q": [1]}', "not a JSON object: documents of query 'q' are wanted"),
        ('{"q": {"d": 1.5}}', "relevance is not a whole number"),
        ('{"q": {"d": true}}', "relevance is not a whole number"),
        ('{"a b": {"d": 1}}', "bad identifier"),
        ('{"q": {"d": 1}, "q": {"e": 1}}', "not valid JSON: an object has the key 'q' twice"),
        ("", "not valid JSON"),
    ):
        [found] = read("judgements", "json", content)
        assert str(found).startswith(fault)
    faults = read("judgements", "json", '{"q": [1], "r": [2], "s": {"d": 1.5}}')
    assert [fault.position for fault in faults] == [0, 1, 2]


# Topics of the Million Query track


def test_topics_with_a_colon(read):
    packed = gzip.compress("1:after school: caf\xe9\n10001:x\n".encode("latin-1"))
    assert read("topics", "colon", packed, encoding="latin-1") == [
        Query(0, "1", "after school: café", 1),
        Query(1, "10001", "x", 2),
    ]
    assert str(read("topics", "colon", packed)[0]) == "not valid UTF-8: byte 20 of the line"
    assert str(read("topics", "colon", "no colon\n")[0]) == "no colon: 'no colon'"
    assert str(read("topics", "colon", "1:\n")[0]) == "empty query: query 1 has no text"


@pytest.mark.parametrize(
    ("text", "inner"), [("1:one2:two\n3:x\n", 2), ("1:won!3:two\n7:x\n", 3), ("8:x\n9:one10:two\n", 10)]
)
def test_a_lost_line_end_between_topics_with_a_colon_is_found(read, text, inner):
    faults = [record for record in read("topics", "colon", text) if isinstance(record, Malformed)]
    assert [str(fault) for fault in faults] == [
        f"several queries in one line: query {inner} begins within it"
    ]


def test_numbers_before_a_colon_are_text(read):
    topics = read("topics", "colon", "1:ratio 2:1\n2:at 12:30 or 3:1\n30:x\nq:4:5\n")
    assert [topic.text for topic in topics] == ["ratio 2:1", "at 12:30 or 3:1", "x", "4:5"]


def test_letor(read):
    lines = "2 qid:10 25:0.5 #docid = GX1 inc = 1\n0 qid:10 25:NULL #docid = GX2\n0 qid:10 1:1 #docid = GX3\n"
    assert read("judgements", "letor", lines) == [
        Judgement(0, "10", "GX1", 2, 1),
        Judgement(1, "10", "GX2", 0, 2),
        Judgement(2, "10", "GX3", 0, 3),
    ]
    first, second, third = read("runs", "letor", lines)
    assert first == Retrieved(0, "10", "GX1", None, 0.5, 1)
    assert str(second) == str(third) == "no such feature: 25 is missing or NULL"
    assert read("runs", "letor", lines, feature=1)[2].score == 1.0


def test_the_test_parts_of_letor_are_its_files(tmp_path):
    names = ["Fold1/test.txt", "Fold1/train.txt", "Fold2/test.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = [tmp_path / "Fold1/test.txt", tmp_path / "Fold2/test.txt"]
    assert files_of_sources(tmp_path, letor.JUDGEMENTS.suffixes) == files


# EntityQuestions


def test_entity_questions(read):
    entries = [
        {"question": "What kind of work does Çandarlı do?", "answers": ["qadi"]},
        {"question": "x", "answers": []},
    ]
    assert read("topics", "entity-questions", json.dumps(entries), file="P106.test.json") == [
        Query(0, "P106-0", "What kind of work does Çandarlı do?"),
        Query(1, "P106-1", "x"),
    ]
    for content, fault in (
        ('{"a": 1}', "no list of questions"),
        ('[{"question": 5, "answers": []}]', "no question"),
        ("[3]", "no question"),
        ('[{"question": " ", "answers": []}]', "empty query"),
    ):
        [found] = read("topics", "entity-questions", content)
        assert str(found).startswith(fault)


# MRQA

CONTEXT = "[TLE] Notre Dame [SEP] The answer is 42. 42 it is – ever."
HEADER = '{"header": {"dataset": "SQuAD", "split": "train"}}\n'


def mrqa_line(*questions: dict, context: object = CONTEXT) -> str:
    return json.dumps({"id": "", "context": context, "qas": list(questions)}) + "\n"


def question(name: str, *spans: list[int], answers: object = ("42",)) -> dict:
    detected = [{"text": "42", "char_spans": list(spans), "token_spans": [[1, 1]]}]
    return {"qid": name, "question": "What?", "answers": answers, "detected_answers": detected}


def test_mrqa(read):
    lines = HEADER + mrqa_line(question("a", [37, 38], [41, 42]), question("b", [0, 4])) + mrqa_line()
    first, second = read("questions", "mrqa", gzip.compress(lines.encode()))
    assert first == SpanQuestion(0, "a", "What?", CONTEXT, ("42",), ((37, 39), (41, 43)), 2)
    assert [CONTEXT[start:end] for start, end in first.spans] == ["42", "42"]
    assert (second.question_id, second.position, second.spans) == ("b", 1, ((0, 5),))


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (mrqa_line(question("a", [0, 1])), "no header"),
        (HEADER + mrqa_line(context=5), "no context"),
        (HEADER + mrqa_line(question("a", [0, len(CONTEXT)])), "span outside the context: [0, "),
        (HEADER + mrqa_line(question("a", [3, 2])), "span outside the context"),
        (HEADER + mrqa_line(question("a", [-1, 2])), "span outside the context"),
        (HEADER + mrqa_line(question("a", [True, 2])), "span outside the context"),
        (HEADER + mrqa_line({"qid": "a"}), "no question"),
        (HEADER + mrqa_line({"qid": "a", "question": "x", "answers": [5]}), "no question"),
        (HEADER + mrqa_line(question("a b", [0, 1])), "bad identifier"),
        (HEADER + mrqa_line({"qid": "a", "question": "x", "answers": []}), "span outside"),
        (HEADER + "{\n", "not valid JSON"),
    ],
)
def test_broken_mrqa(read, lines, fault):
    *_, found = read("questions", "mrqa", lines)
    assert isinstance(found, Malformed)
    assert str(found).startswith(fault)
    assert found.line == lines.count("\n")
