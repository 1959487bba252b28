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


CONTENT = {
    "data": [
        {
            "title": "Super Bowl_50",
            "paragraphs": [
                {"context": "Denver won.", "qas": [question("q1", " Who\n won? "), question("q2", "Who?")]},
                {"context": " ", "qas": []},
                {"context": "It was\r\ncold.", "qas": [question("q3", "Was it cold?")]},
            ],
        },
        {"title": "Kievan_Rus%27", "paragraphs": [{"context": "A state.", "qas": [question("q4", "What?")]}]},
    ]
}


def write(path, content):
    path.write_text(json.dumps(content))
    return path


def test_paragraphs(tmp_path):
    found = list(squad.DOCUMENTS.read(write(tmp_path / "s", CONTENT), squad.DOCUMENTS.options()))
    assert found == [
        Document(0, "Super_Bowl_50/0", "Super Bowl 50", "", "Denver won."),
        Skipped(1, "empty document", location="document Super_Bowl_50/1"),
        Document(2, "Super_Bowl_50/2", "Super Bowl 50", "", "It was\ncold."),
        Document(3, "Kievan_Rus%27/0", "Kievan Rus'", "", "A state."),
    ]
    assert (
        list(squad.DOCUMENTS.read(tmp_path / "s", squad.DOCUMENTS.options(), lambda position: position == 3))
        == found[3:]
    )


def test_articles(tmp_path):
    found = list(
        squad.DOCUMENTS.read(write(tmp_path / "s", CONTENT), squad.DOCUMENTS.options(unit="article"))
    )
    assert found == [
        Document(0, "Super_Bowl_50", "Super Bowl 50", "", "Denver won.\nIt was\ncold."),
        Document(1, "Kievan_Rus%27", "Kievan Rus'", "", "A state."),
    ]


def test_questions_and_their_paragraphs(tmp_path):
    path = write(tmp_path / "s", CONTENT)
    queries = list(squad.TOPICS.read(path, squad.TOPICS.options()))
    assert queries[0] == Query(0, "q1", "Who won?")
    assert [q.query_id for q in queries] == ["q1", "q2", "q3", "q4"]
    judged = list(squad.JUDGEMENTS.read(path, squad.JUDGEMENTS.options()))
    assert judged[2] == Judgement(2, "q3", "Super_Bowl_50/2", 1)
    by_article = list(squad.JUDGEMENTS.read(path, squad.JUDGEMENTS.options(unit="article")))
    assert [j.document_id for j in by_article] == ["Super_Bowl_50"] * 3 + ["Kievan_Rus%27"]


def test_a_choice_of_articles_is_that_of_their_questions_too(tmp_path):
    path = write(tmp_path / "s", CONTENT)
    second = {"articles": (1, 9)}
    assert [d.document_id for d in squad.DOCUMENTS.read(path, squad.DOCUMENTS.options(**second))] == [
        "Kievan_Rus%27/0"
    ]
    assert (
        list(squad.DOCUMENTS.read(path, squad.DOCUMENTS.options(**second)))
        == list(squad.DOCUMENTS.read(path, squad.DOCUMENTS.options()))[3:]
    )
    assert [q.query_id for q in squad.TOPICS.read(path, squad.TOPICS.options(**second))] == ["q4"]
    judged = list(squad.JUDGEMENTS.read(path, squad.JUDGEMENTS.options(**second)))
    assert [j.document_id for j in judged] == ["Kievan_Rus%27/0"]


def test_a_damaged_file_is_reported_whatever_articles_are_chosen(tmp_path):
    path = tmp_path / "s"
    path.write_text("{")
    assert [
        type(found) for found in squad.DOCUMENTS.read(path, squad.DOCUMENTS.options(articles=(3, 4)))
    ] == [Malformed]


@pytest.mark.parametrize("articles", [(2, 2), (-1, 3), (3, 1)])
def test_a_choice_without_an_article_is_refused(articles):
    with pytest.raises(ValidationError, match="contains no article"):
        squad.DOCUMENTS.options(articles=articles)


def test_impossible_questions_are_skipped(tmp_path):
    entry = {"title": "A", "paragraphs": [{"context": "b", "qas": [question("q", "?", is_impossible=True)]}]}
    path = write(tmp_path / "s", {"data": [entry]})
    assert list(squad.TOPICS.read(path, squad.TOPICS.options())) == [Skipped(0, "unanswerable question")]
    assert list(squad.JUDGEMENTS.read(path, squad.JUDGEMENTS.options())) == [
        Skipped(0, "unanswerable question")
    ]


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
def test_what_is_not_squad_is_malformed(tmp_path, content):
    path = write(tmp_path / "s", content)
    for found in (
        list(squad.DOCUMENTS.read(path, squad.DOCUMENTS.options())),
        list(squad.DOCUMENTS.read(path, squad.DOCUMENTS.options(unit="article"))),
        list(squad.TOPICS.read(path, squad.TOPICS.options())),
        list(squad.JUDGEMENTS.read(path, squad.JUDGEMENTS.options())),
    ):
        assert [type(record) for record in found] == [Malformed]


@pytest.mark.parametrize("qa", [3, {"id": 3, "question": "a"}, {"id": "a"}, {"id": "a b", "question": "c"}])
def test_malformed_questions(tmp_path, qa):
    path = write(tmp_path / "s", {"data": [{"title": "a", "paragraphs": [{"context": "a", "qas": [qa]}]}]})
    assert [type(found) for found in squad.TOPICS.read(path, squad.TOPICS.options())] == [Malformed]


def test_broken_json_names_the_line(tmp_path):
    (tmp_path / "s").write_text('{\n"data": [\n}')
    (found,) = squad.DOCUMENTS.read(tmp_path / "s", squad.DOCUMENTS.options())
    assert (found.reason, found.line) == ("not valid JSON", 3)


@pytest.mark.parametrize(
    ("asset", "articles", "paragraphs", "questions"),
    [("squad-train", 442, 18_896, 87_599), ("squad-dev", 48, 2_067, 10_570)],
)
def test_the_embedded_parts_are_complete(tmp_path, asset, articles, paragraphs, questions):
    materialise(asset, MANIFEST, tmp_path / "s")
    found = list(squad.DOCUMENTS.read(tmp_path / "s", squad.DOCUMENTS.options()))
    assert {type(record) for record in found} == {Document}
    assert len(found) == len({record.document_id for record in found}) == paragraphs
    assert len({record.document_id.rsplit("/", 1)[0] for record in found}) == articles
    queries = list(squad.TOPICS.read(tmp_path / "s", squad.TOPICS.options()))
    assert {type(record) for record in queries} == {Query}
    assert len({record.query_id for record in queries}) == questions
