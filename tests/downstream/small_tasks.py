"""Small tasks beside retrieval that can be checked in one's head."""

import json
from pathlib import Path
from typing import Any

from irpretrain.config.experiments import DownstreamTaskConfig, QuestionAnsweringConfig
from irpretrain.corpora.downstream_questions import prepare_task

QUESTIONS = DownstreamTaskConfig(
    label="made",
    questions={
        "train": {"format": "squad", "path": "train.json"},
        "development": {"format": "squad", "path": "dev.json"},
    },
)
"""Its files are given by the tests."""


def squad(contexts: list[tuple[str, list[tuple[str, str, list[str]]]]]) -> str:
    """SQuAD's JSON of one article: (context, [(id, question, answers)]); an answer is at its first occurrence."""
    paragraphs = [
        {
            "context": context,
            "qas": [
                {
                    "id": name,
                    "question": question,
                    "answers": [{"text": text, "answer_start": context.index(text)} for text in answers],
                }
                for name, question, answers in requested
            ],
        }
        for context, requested in contexts
    ]
    return json.dumps({"version": "1.1", "data": [{"title": "Made", "paragraphs": paragraphs}]})


def marked_questions(count: int, first: int = 0) -> str:
    """Questions whose answer is the word after "abc"; its number ends in 0. The question says nothing."""
    contexts = []
    for number in range(first, first + count):
        words = [f"word{(7 * number + 3 * position) % 80:02d}" for position in range(12)]
        answer = words[number % 10]
        words.insert(number % 10, "abc")
        contexts.append((" ".join(words), [(f"q{number}", "word00", [answer])]))
    return squad(contexts)


def write_questions(folder: Path, train: str, development: str, seed: int = 1, **changes: Any) -> Path:
    """Prepare a task of these files; return the table of its examples."""
    (folder / "train.json").write_text(train)
    (folder / "dev.json").write_text(development)
    sources = {"train": [folder / "train.json"], "development": [folder / "dev.json"]}
    task = QUESTIONS.model_copy(update=changes)
    prepare_task("made", task, sources, seed, folder / "examples.parquet")
    return folder / "examples.parquet"


def answering(**changes: Any) -> QuestionAnsweringConfig:
    """Short windows, few steps."""
    values: dict[str, Any] = {
        "max_length": 24,
        "stride": 4,
        "batch_size": 8,
        "learning_rate": 5e-3,
        "epochs": 2,
        "dropout": 0.0,
    }
    return QuestionAnsweringConfig(**{**values, **changes})
