"""SQuAD as documents, queries and judgements."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from irpretrain.corpora.embedded import materialise
from irpretrain.corpora.formats import squad
from irpretrain.foundation.records import Document, Judgement, Malformed, Query, Skipped

MANIFEST = Path(__file__).parents[2] / "resources/embedded.yaml"


def question(identifier, text, **more):
    return {"id": identifier, "question": text, "answers": [], **more}


CONTENT = json.dumps(
    {
        "data": [
            {
                "title": "Super Bowl_50",
                "paragraphs": [
                    {
                        "context": "Denver won.",
                        "qas": [question("q1", " Who\n won? "), question("q2", "Who?")],
                    },
                    {"context": " ", "qas": []},
                    {"context": "It was\r\ncold.", "qas": [question("q3", "Was it cold?")]},
                ],
            },
            {
                "title": "Kievan_Rus%27",
                "paragraphs": [{"context": "A state.", "qas": [question("q4", "What?")]}],
            },
        ]
    }
)


def of_article(*questions, context="a"):
    """A file of one paragraph with these questions."""
    return json.dumps({"data": [{"title": "a", "paragraphs": [{"context": context, "qas": questions}]}]})


def test_paragraphs(read):
    paragraphs = [
        Document(0, "Super_Bowl_50/0", "Super Bowl 50", "", "Denver won."),
        Skipped(1, "empty document", location="document Super_Bowl_50/1", document_id="Super_Bowl_50/1"),
        Document(2, "Super_Bowl_50/2", "Super Bowl 50", "", "It was\ncold."),
        Document(3, "Kievan_Rus%27/0", "Kievan Rus'", "", "A state."),
    ]
    assert read("documents", "squad", CONTENT) == paragraphs
    assert read("documents", "squad", CONTENT, lambda position: position == 3) == paragraphs[3:]
    assert read("documents", "squad", CONTENT, articles=(1, 9)) == paragraphs[3:]


def test_articles(read):
    assert read("documents", "squad", CONTENT, unit="article") == [
        Document(0, "Super_Bowl_50", "Super Bowl 50", "", "Denver won.\nIt was\ncold."),
        Document(1, "Kievan_Rus%27", "Kievan Rus'", "", "A state."),
    ]


def test_questions_and_their_paragraphs(read):
    queries = read("topics", "squad", CONTENT)
    assert queries[0] == Query(0, "q1", "Who won?")
    assert [q.query_id for q in queries] == ["q1", "q2", "q3", "q4"]
    judged = read("judgements", "squad", CONTENT)
    assert judged[2] == Judgement(2, "q3", "Super_Bowl_50/2", 1)
    by_article = read("judgements", "squad", CONTENT, unit="article")
    assert [j.document_id for j in by_article] == ["Super_Bowl_50"] * 3 + ["Kievan_Rus%27"]
    assert [q.query_id for q in read("topics", "squad", CONTENT, articles=(1, 9))] == ["q4"]
    [judged] = read("judgements", "squad", CONTENT, articles=(1, 9))
    assert judged.document_id == "Kievan_Rus%27/0"


@pytest.mark.parametrize("articles", [(2, 2), (-1, 3), (3, 1)])
def test_a_choice_without_an_article_is_refused(articles):
    with pytest.raises(ValidationError, match="contains no article"):
        squad.DOCUMENTS.options(articles=articles)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"data": 3},
        {"data": [3]},
        {"data": [{"title": 3, "paragraphs": []}]},
        {"data": [{"title": "a", "paragraphs": 3}]},
        {"data": [{"title": "\x00", "paragraphs": []}]},
        {"data": [{"title": "a", "paragraphs": [3]}]},
        {"data": [{"title": "a", "paragraphs": [{"context": "a", "qas": 3}]}]},
    ],
)
def test_what_is_not_squad_is_malformed(read, content):
    for kind, options in (
        ("documents", {}),
        ("documents", {"unit": "article"}),
        ("topics", {}),
        ("judgements", {}),
    ):
        [fault] = read(kind, "squad", json.dumps(content), **options)
        assert (type(fault), fault.position) == (Malformed, 0)


def test_a_paragraph_without_a_list_of_questions_is_a_document_alone(read):
    content = '{"data": [{"title": "a", "paragraphs": [{"context": "b"}, {"context": "c", "qas": []}]}]}'
    [fault] = read("topics", "squad", content)
    assert str(fault) == "not in SQuAD's format: paragraph 0 of a lacks its list qas"
    assert [document.body for document in read("documents", "squad", content)] == ["b", "c"]


@pytest.mark.parametrize("qa", [3, {"id": 3, "question": "a"}, {"id": "a"}, {"id": "a b", "question": "c"}])
def test_malformed_questions(read, qa):
    query, fault = read("topics", "squad", of_article(question("b", "Why?"), qa))
    assert (query.position, type(fault), fault.position) == (0, Malformed, 1)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"is_impossible": True, "answers": []}, Skipped(0, "unanswerable question")),
        ({"answers": []}, Skipped(0, "no answer")),
        ({"answers": [{"text": "two", "answer_start": 3}]}, "answer not in the context"),
        ({"answers": [{"text": "two", "answer_start": -4}]}, "answer not in the context"),
        ({"answers": [{"text": "", "answer_start": 0}]}, "answer not in the context"),
        ({"answers": ["two"]}, "answer not in the context"),
        ({"answers": None}, "not in SQuAD's format"),
        ({"id": "a b"}, "bad identifier"),
    ],
)
def test_what_a_question_may_hold(read, changes, found):
    sound = question("a", "Which?", answers=[{"text": "two", "answer_start": 4}])
    [record] = read("questions", "squad", of_article(sound | changes, context="One two."))
    if isinstance(found, str):
        assert isinstance(record, Malformed)
        assert record.reason == found
    else:
        assert record == found


@pytest.mark.parametrize("articles", [None, (3, 4)])
@pytest.mark.parametrize(
    ("content", "line"), [('{\n"data": [\n}', 3), ("[" * 9999, None), ('{"data": [], "data": []}', None)]
)
def test_broken_json_is_one_fault_whatever_articles_are_chosen(read, articles, content, line):
    [fault] = read("documents", "squad", content, articles=articles)
    assert (fault.reason, fault.position, fault.line) == ("not valid JSON", 0, line)


@pytest.mark.parametrize(
    ("asset", "articles", "paragraphs", "questions"),
    [("squad-train", 442, 18_896, 87_599), ("squad-dev", 48, 2_067, 10_570)],
)
def test_the_embedded_parts_are_complete(read, tmp_path, asset, articles, paragraphs, questions):
    materialise(asset, MANIFEST, tmp_path / "s")
    content = (tmp_path / "s").read_bytes()
    documents = read("documents", "squad", content)
    assert {type(record) for record in documents} == {Document}
    assert len(documents) == len({record.document_id for record in documents}) == paragraphs
    assert len({record.document_id.rsplit("/", 1)[0] for record in documents}) == articles
    queries = read("topics", "squad", content)
    assert {type(record) for record in queries} == {Query}
    assert len({record.query_id for record in queries}) == questions
