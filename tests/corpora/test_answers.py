"""Judgements that follow from answers: words, files of questions, and what is written for what was retrieved."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.judge_by_answers import has_words, judge_by_answers, spaced
from irpretrain.corpora.testcollection import prepare
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.contracts import DOCUMENTS, QUERIES
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.records import Answers


def holds(passage: str, answer: str) -> bool:
    return spaced(answer) in spaced(passage)


@pytest.mark.parametrize(
    ("passage", "answer", "found"),
    [
        ("He was born in Rome.", "rome", True),
        ("He was born in Rome.", "Rom", False),
        ("The Roman Empire", "roman empire", True),
        ("The Roman, Empire", "roman empire", False),
        ("in São Paulo", unicodedata.normalize("NFD", "são paulo"), True),
        ("in Sao Paulo", "São Paulo", False),
        ("rock-and-roll music", "rock-and-roll", True),
        ("rock and roll music", "rock-and-roll", False),
        ("well\tknown\nas  X", "well known as x", True),
    ],
)
def test_a_passage_holds_an_answer_by_its_words(passage, answer, found):
    assert holds(passage, answer) is found


def words_by_category(text: str) -> list[str]:
    """The definition, character by character."""
    words, is_joined = [], False
    for character in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(character)[0]
        if kind in "LNM":
            if is_joined:
                words[-1] += character
            else:
                words.append(character)
        elif kind not in "ZC":
            words.append(character)
        is_joined = kind in "LNM"
    return [word.lower() for word in words]


def holds_side_by_side(passage: str, answer: str) -> bool:
    text, answer_words = words_by_category(passage), words_by_category(answer)
    return any(
        answer_words == text[i : i + len(answer_words)] for i in range(len(text) - len(answer_words) + 1)
    )


# Assigned characters below the newest blocks: versions of Unicode agree on them.
TEXTS = st.text(
    st.one_of(st.sampled_from("aA bB.,-é’\u0301ß\u00a0\u200b٣"), st.characters(max_codepoint=0x24F)),
    max_size=20,
)


@given(TEXTS, TEXTS)
def test_words_are_those_of_the_definition(passage, answer):
    assert spaced(passage).split() == words_by_category(passage)
    assert has_words(answer) == bool(words_by_category(answer))
    if has_words(answer):
        assert holds(passage, answer) == holds_side_by_side(passage, answer)
        assert holds(f"{passage} {answer} {passage}", answer)


def test_the_answers_of_a_file(read):
    entries = [
        {"question": "Where was A born?", "answers": ["Rome", "Roma", "\u200b", ""]},
        {"question": "Where was B born?", "answers": [" "]},
        {"question": "Where was C born?", "answers": [3]},
        {"question": "Where was D born?", "answers": ["Bern"]},
    ]
    content = json.dumps(entries)
    first, second, third, fourth = read("judgements", "entity-questions", content, file="P19.test.json")
    assert first == Answers(0, "P19-0", ("Rome", "Roma"))
    assert str(second) == "no answer: question P19-1 has no answer with a word"
    assert str(third) == "no question: question or answers are missing"
    assert fourth == Answers(3, "P19-3", ("Bern",))
    *_, fault = read("judgements", "entity-questions", content, file="P 19.test.json")
    assert (fault.reason, fault.position) == ("bad identifier", 3)


PASSAGES = {
    "1": ("Rome", "The city lies on seven hills"),  # the title counts for nothing
    "2": ("Italy", "its capital is Rome"),
    "3": ("A", "A was born in Rome"),
    "4": ("B", "B was born in Bern"),
    "5": ("C", "of C nothing is known"),
}
QUESTIONS = {
    "P19.test.json": [
        {"question": "Where was A born?", "answers": ["Rome", "Roma"]},
        {"question": "Where was B born?", "answers": ["Bern"]},
    ],
    "P50.test.json": [{"question": "Who wrote C?", "answers": ["X Y"]}],
}
CONFIG = {
    "label": "Questions",
    "corpus": "c",
    "folds": 3,
    "queries": {"format": "entity-questions", "path": "x"},
    "qrels": {"format": "entity-questions", "path": "x"},
}


def shards(folder: Path, number: int) -> list[Path]:
    """The passages in so many shards, dealt out in turn."""
    paths = []
    for shard in range(number):
        rows = [
            {"document_id": name, "part": 0, "position": location, "title": title, "url": "", "body": body}
            for location, (name, (title, body)) in enumerate(PASSAGES.items())
            if location % number == shard
        ]
        paths.append(folder / f"documents-{shard}-of-{number}.parquet")
        DOCUMENTS.write(paths[-1], rows)
    return paths


@pytest.fixture
def questions(tmp_path):
    folder = tmp_path / "test"
    folder.mkdir()
    for name, content in QUESTIONS.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def prepared(tmp_path: Path, questions: Path, **changes: object) -> tuple[list[dict], dict]:
    dataset = DatasetConfig(**(CONFIG | changes))
    assert dataset.by_answers
    counts = prepare(
        dataset, questions, questions, shards(tmp_path, 2), 1, tmp_path / "queries.parquet", None
    )
    return QUERIES.read(tmp_path / "queries.parquet").to_pylist(), counts


def test_questions_are_retained_whether_or_not_the_corpus_answers_them(tmp_path, questions):
    rows, counts = prepared(tmp_path, questions)
    assert [row["query_id"] for row in rows] == ["P19-0", "P19-1", "P50-0"]
    assert rows[2]["text"] == "Who wrote C?"
    assert (counts["queries_written"], counts["queries_left_out"], counts["documents"]) == (3, 0, 5)
    with pytest.raises(InputError, match=r"there are 3 questions with answers here .*, expected 4"):
        prepared(tmp_path, questions, qrels=CONFIG["qrels"] | {"expected": 4})


def test_a_question_without_an_answer(tmp_path, questions):
    (questions / "P50.test.json").write_text(json.dumps([{"question": "Who wrote C?", "answers": []}]))
    with pytest.raises(InputError, match=r"no answer: question P50-0 .*\n.*qrels\.malformed: skip"):
        prepared(tmp_path, questions)
    skipping = {"qrels": CONFIG["qrels"] | {"malformed": "skip"}, "folds": [["P19-0"], ["P19-1"], ["P50-0"]]}
    rows, counts = prepared(tmp_path, questions, **skipping)
    assert [row["query_id"] for row in rows] == ["P19-0", "P19-1"]
    assert (counts["queries_left_out"], counts["answers"]["malformed"]) == (1, {"no answer": 1})


def test_a_question_that_comes_again_counts_once(tmp_path, questions):
    copy = questions / "again" / "P50.test.json"
    copy.parent.mkdir()
    copy.write_text(json.dumps(QUESTIONS["P50.test.json"]))
    rows, counts = prepared(tmp_path, questions)
    assert (len(rows), counts["answers"]["skipped"]) == (3, {"repeated judgement": 1})
    copy.write_text(json.dumps([{"question": "Who wrote C?", "answers": ["Z"]}]))
    with pytest.raises(InputError, match="answered twice: P50-0 had other answers before"):
        prepared(tmp_path, questions)


def test_messages_on_too_few_questions_speak_of_answers(tmp_path, questions):
    with pytest.raises(ConfigError, match=r"4 queries are asked for, but \S+ has 3 with an answer; lower it"):
        prepared(tmp_path, questions, sample_queries=4)
    (questions / "P50.test.json").unlink()
    (questions / "P19.test.json").write_text(json.dumps([{"question": "Who?", "answers": []}]))
    with pytest.raises(InputError, match="there is no answer in it"):
        prepared(tmp_path, questions, qrels=CONFIG["qrels"] | {"malformed": "skip"})


def judged(tmp_path: Path, questions: Path, number: int = 2, second: dict | None = None) -> tuple[str, dict]:
    """Judge what two first stages retrieve, the second one this."""
    prepared(tmp_path, questions)
    runs = [tmp_path / name for name in ("bm25.run.gz", "ql.run.gz")]
    write_run(runs[0], {"P19-0": [("3", 2.0), ("1", 1.0)], "P19-1": [("3", 2.0), ("4", 1.0)]}, "bm25")
    write_run(runs[1], second or {"P19-0": [("3", 2.0), ("2", 1.0)]}, "ql")
    files = questions, tmp_path / "queries.parquet", runs, shards(tmp_path, number), tmp_path / "qrels.txt"
    counts = judge_by_answers(DatasetConfig(**CONFIG), *files)
    return (tmp_path / "qrels.txt").read_text(), counts


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_what_was_retrieved_is_judged_the_same_for_any_number_of_shards(tmp_path, questions, number):
    qrels, counts = judged(tmp_path, questions, number)
    assert qrels == "P19-0 0 1 0\nP19-0 0 2 1\nP19-0 0 3 1\nP19-1 0 3 0\nP19-1 0 4 1\nP50-0 0 1 0\n"
    assert counts == {
        "questions": 3,
        "questions_without_candidates": 1,
        "questions_without_relevant_candidate": 1,
        "judgements_written": 6,
        "relevant": 3,
    }


def test_runs_must_belong_to_questions_and_corpus(tmp_path, questions):
    with pytest.raises(InputError, match=r"ql\.run\.gz: 2 retrieved passages not .* such as '8'"):
        judged(tmp_path, questions, second={"P19-0": [("9", 2.0), ("8", 1.0)]})
    with pytest.raises(InputError, match="question 'q1' is not in the data set"):
        judged(tmp_path, questions, second={"q1": [("1", 1.0)]})
