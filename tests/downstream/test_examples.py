"""Examples of tasks beside retrieval: who trains, chooses and tests, and what is refused."""

import json

import pytest
from small_tasks import QUESTIONS, marked_questions, squad, write_questions

from irpretrain.corpora.downstream_questions import prepare_task
from irpretrain.foundation.contracts import SPAN_QUESTIONS
from irpretrain.foundation.errors import ConfigError, InputError


def roles(path):
    found = {}
    for row in SPAN_QUESTIONS.read(path).to_pylist():
        found.setdefault(row["role"], []).append(row["question_id"])
    return found


def test_half_of_the_development_set_chooses_and_the_other_is_tested(tmp_path):
    found = roles(write_questions(tmp_path, marked_questions(6), marked_questions(9, first=50)))
    assert found["train"] == [f"q{number}" for number in range(6)]
    assert (len(found["choose"]), len(found["test"])) == (5, 4)
    assert sorted(found["choose"] + found["test"]) == [f"q{number}" for number in range(50, 59)]


def test_halves_do_not_depend_on_the_order_of_the_file(tmp_path):
    content = json.loads(marked_questions(9, first=50))
    one = roles(write_questions(tmp_path, marked_questions(6), json.dumps(content)))
    content["data"][0]["paragraphs"].reverse()
    other = roles(write_questions(tmp_path, marked_questions(6), json.dumps(content)))
    assert set(one["choose"]) == set(other["choose"])


def test_a_question_that_the_development_set_repeats_counts_once(tmp_path):
    again = ("a", "Which fruit?", ["pear"])
    (tmp_path / "train.json").write_text(squad([("One pear.", [again, again])]))
    (tmp_path / "dev.json").write_text(squad([("One pear.", [again, again, ("b", "How many?", ["One"])])]))
    sources = {"train": [tmp_path / "train.json"], "development": [tmp_path / "dev.json"]}
    counts = prepare_task("made", QUESTIONS, sources, 1, tmp_path / "examples.parquet")
    assert [(counts[role]["repeated"], counts[role]["used"]) for role in sources] == [(0, 2), (1, 2)]


def test_samples_are_drawn_by_the_seed_and_contain_each_other(tmp_path):
    def drawn(seed=1, **sizes):
        files = marked_questions(6), marked_questions(9, first=50)
        return roles(write_questions(tmp_path, *files, seed, **sizes))

    assert [len(names) for names in drawn(sample_training=6, sample_development=4).values()] == [6, 2, 2]
    samples = [drawn(sample_training=size)["train"] for size in (2, 4)]
    assert set(samples[0]) < set(samples[1])
    assert samples[1] == sorted(samples[1])
    seeds = [drawn(seed, sample_training=3) for seed in range(4)]
    assert (
        len({tuple(found["train"]) for found in seeds}) > 1 < len({tuple(found["test"]) for found in seeds})
    )
    with pytest.raises(ConfigError, match=r"sample_training: 7 examples are asked for, but train has 6"):
        drawn(sample_training=7)


def test_half_a_character_is_written_as_a_sign_of_its_own(tmp_path):
    texts = squad([("\ud800 apple \udfff", [("q", "why \ud800", ["apple \udfff"])])])
    path = write_questions(tmp_path, texts, marked_questions(4, first=50))
    row = SPAN_QUESTIONS.read(path).to_pylist()[0]
    assert (row["question_id"], row["question"], row["context"]) == ("q", "why \ufffd", "\ufffd apple \ufffd")
    assert (row["answers"], row["starts"], row["ends"]) == (["apple \ufffd"], [2], [9])


def test_questions_as_they_are_written(tmp_path):
    [row] = SPAN_QUESTIONS.read(
        write_questions(
            tmp_path,
            squad([("In 1066, Hastings.", [("a", "When?", ["1066", "In 1066"])])]),
            marked_questions(2, first=50),
        )
    ).to_pylist()[:1]
    assert row == {
        "role": "train",
        "question_id": "a",
        "question": "When?",
        "context": "In 1066, Hastings.",
        "answers": ["1066", "In 1066"],
        "starts": [3, 0],
        "ends": [7, 7],
    }


def test_of_a_development_question_twice_the_first_is_retained(tmp_path):
    twice = marked_questions(4, first=50).replace("q52", "q50")
    path = write_questions(tmp_path, marked_questions(2), twice)
    rows = {
        row["question_id"]: row for row in SPAN_QUESTIONS.read(path).to_pylist() if row["role"] != "train"
    }
    assert list(rows) == ["q50", "q51", "q53"]
    assert rows["q50"]["context"] == json.loads(twice)["data"][0]["paragraphs"][0]["context"]


def test_too_few_examples_to_choose_and_test(tmp_path):
    with pytest.raises(InputError, match="the task made has no example to test"):
        write_questions(tmp_path, marked_questions(2), marked_questions(1, first=5))


def test_another_number_than_expected_is_refused(tmp_path):
    files = QUESTIONS.questions.model_copy(
        update={"train": QUESTIONS.questions.train.model_copy(update={"expected": 3})}
    )
    with pytest.raises(InputError, match="there are 2 examples here, expected 3"):
        write_questions(tmp_path, marked_questions(2), marked_questions(4, 50), questions=files)
