"""The examples of a task by role: to train, to choose epoch and learning rate, or to test; and the measures of
answers.

MRQA publishes no test labels, so models are compared on the development sets. PHP divides them in half, for
development and test (section 4.5.2): what is tested never chooses.
"""

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from irpretrain.config.corpora import FileConfig
from irpretrain.config.experiments import DownstreamTaskConfig
from irpretrain.contracts import PER_QUERY, SPAN_QUESTIONS
from irpretrain.corpora.characters import whole_characters
from irpretrain.corpora.file_lists import given_files
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.records import SpanQuestion
from irpretrain.corpora.registry import format_of
from irpretrain.corpora.topics_and_judgements import check_number
from irpretrain.errors import MAKE_AGAIN, ConfigError, InputError, refusing_damage
from irpretrain.foundation.atomic import write_csv, write_text
from irpretrain.foundation.randomness import stream_key

# Roles of examples.
TRAIN, CHOOSE, TEST = "train", "choose", "test"
Row = dict[str, Any]
KEY = "question_id"


def prepare_task(
    name: str,
    task: DownstreamTaskConfig,
    sources: Mapping[str, Sequence[Path]],  # train, development → files
    seed: int,
    output: str | Path,
) -> dict[str, Any]:
    """Read a task's files, draw samples, deal out the roles, and write SPAN_QUESTIONS.

    Rows keep the order of the files, training set first; of development examples with one identifier the first counts,
    as predictions refer to it. Samples and halves depend on the seed and on the examples' identifiers alone.

    Returns:
        Counts: records read and left out of each file, and the examples of each role.

    Raises:
        InputError: a refused malformed record, unexpected numbers, or an empty part.
        ConfigError: a sample is larger than its set.
    """
    counts: dict[str, Any] = {}
    rows: dict[str, list[Row]] = {}
    for part, files in task.files.items():
        tally = RecordTally(files.malformed, "malformed")
        entries = list(_rows(files, sources[part], tally))
        tally.settle()
        check_number(files, list(sources[part]), len(entries), "examples")
        once = entries if part == TRAIN else _first_of_each(entries)
        size = task.sample_training if part == TRAIN else task.sample_development
        rows[part] = _sample(once, size, seed, part, f"downstream_tasks.{name}")
        counts[part] = {**tally.counts(), "repeated": len(entries) - len(once), "used": len(rows[part])}
    dealt = list(_with_roles(rows, seed))
    roles = {role: sum(row["role"] == role for row in dealt) for role in (TRAIN, CHOOSE, TEST)}
    for role in (TRAIN, CHOOSE, TEST):
        if not roles[role]:
            raise InputError(
                sources["train" if role == TRAIN else "development"][0],
                f"the task {name} has no example to {role}",
                remedy="Give it more examples, or raise its samples.",
            )
    SPAN_QUESTIONS.write(output, dealt)
    return {**counts, "roles": roles}


def _rows(files: FileConfig, paths: Sequence[Path], tally: RecordTally) -> Iterator[Row]:
    reader = format_of(files.kind, files.format)
    options = reader.options(**files.options)
    for path in given_files(list(paths), reader.suffixes):
        for record in cast(Any, tally.sound(path, reader.read(path, options))):
            yield _question(record)


def _question(record: SpanQuestion) -> Row:
    return {
        "question_id": record.question_id,
        "question": whole_characters(record.question),
        "context": whole_characters(record.context),
        "answers": [whole_characters(answer) for answer in record.answers],
        "starts": [start for start, _ in record.spans],
        "ends": [end for _, end in record.spans],
    }


def _first_of_each(rows: list[Row]) -> list[Row]:
    first: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row[KEY], row)
    return list(first.values())


def _order(rows: Sequence[Row], seed: int, stage: str) -> list[int]:
    return sorted(
        range(len(rows)), key=lambda position: (stream_key(seed, stage, rows[position][KEY]), position)
    )


def _sample(rows: list[Row], size: int | None, seed: int, part: str, where: str) -> list[Row]:
    if size is None:
        return rows
    if size > len(rows):
        option = "sample_training" if part == TRAIN else "sample_development"
        raise ConfigError(
            f"{where}.{option}: {size:,} examples are asked for, but {part} has {len(rows):,}; lower it, or give null "
            "for all"
        )
    return [rows[position] for position in sorted(_order(rows, seed, f"downstream sample {part}")[:size])]


def _with_roles(rows: Mapping[str, list[Row]], seed: int) -> Iterator[Row]:
    development = rows["development"]
    choosing = set(_order(development, seed, "downstream halves")[::2])
    for row in rows["train"]:
        yield {"role": TRAIN, **row}
    for number, row in enumerate(development):
        yield {"role": CHOOSE if number in choosing else TEST, **row}


# The measures of tested predictions: of every example, and their means.


# Official measures: F1 and exact match of SQuAD 1.1 and MRQA 2019.


F1, EM = "F1", "EM"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Return an answer as it is compared: lower case, no ASCII punctuation, no articles (a, an, the), single spaces."""
    bare = answer.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def token_f1(answer: str, accepted: str) -> float:
    """Return the F1 of an answer's words, with repetition, against one accepted answer; 0 if they share none."""
    answer_words, accepted_words = normalised(answer).split(), normalised(accepted).split()
    common = sum((Counter(answer_words) & Counter(accepted_words)).values())
    if common == 0:
        return 0.0
    return 2 * common / (len(answer_words) + len(accepted_words))


def exact_match(answer: str, accepted: str) -> float:
    """Return 1 if both are the same once normalised, else 0."""
    return float(normalised(answer) == normalised(accepted))


def score_answers(
    predictions: Mapping[str, str], accepted: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return measure → question → its value, from 0 to 1: the best of its accepted answers, 0 without prediction."""
    scored: dict[str, dict[str, float]] = {F1: {}, EM: {}}
    for name, answers in accepted.items():
        predicted = predictions.get(name)
        for measure, function in ((F1, token_f1), (EM, exact_match)):
            values = [] if predicted is None else [function(predicted, answer) for answer in answers]
            scored[measure][name] = max(values, default=0.0)
    return scored


def means_of(scored: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return measure → mean over the questions that `score_answers` scored."""
    return {measure: sum(values.values()) / len(values) for measure, values in scored.items()}


COLUMNS = ("task", "model", "seed", "set", "measure", "value", "examples")

# Of every run: all training examples are used.
REGIME = "full"

# Nothing is re-ranked.
NO_CANDIDATES = ""


def evaluate_downstream(
    # Each a mapping with task, model, seed and path (JSON: example → prediction).
    runs: Sequence[Mapping[str, Any]],
    # Name → task (its section) and examples (SPAN_QUESTIONS table).
    tasks: Mapping[str, Mapping[str, Any]],
    labels: Mapping[str, str],  # model → its name in the table
    per_query: str | Path,  # PER_QUERY table; data sets are tasks, queries are examples
    scores: str | Path,  # CSV with `COLUMNS`; measures from 0 to 1
    table: str | Path,  # Markdown: one row per model and seed, one column per task and measure, in percent
) -> dict[str, Any]:
    """Evaluate predictions and write the measures of each example and their means.

    Raises:
        InputError: predictions lack a tested example, or have another.
    """
    means: list[tuple[Any, ...]] = []
    accepted = {name: _accepted(description["examples"]) for name, description in tasks.items()}

    def rows() -> Iterator[dict[str, Any]]:
        for run in sorted(runs, key=lambda run: (run["task"], run["model"], run["seed"])):
            task = run["task"]
            answers = accepted[task]
            predictions = _predictions(run["path"], answers, tasks[task]["examples"])
            names = (task, run["model"], run["seed"])
            scored = score_answers(predictions, answers)
            for measure, value in means_of(scored).items():
                means.append((*names, TEST, measure, value, len(answers)))
            key = dict(zip(("dataset", "model", "seed"), names, strict=True))
            key |= {"candidates": NO_CANDIDATES, "regime": REGIME, "fold": 0}
            for measure, values in scored.items():
                for example, value in values.items():
                    yield {**key, "query_id": example, "measure": measure, "value": value}

    written = PER_QUERY.write(per_query, rows())
    write_csv(scores, COLUMNS, means)
    write_text(
        table,
        _markdown(means, {name: description["task"]["label"] for name, description in tasks.items()}, labels),
    )
    return {"runs": len(runs), "rows": written}


def _accepted(path: str | Path) -> dict[str, list[str]]:
    batches = SPAN_QUESTIONS.stream(path, ["role", "question_id", "answers"])
    rows = (row for batch in batches for row in batch.to_pylist())
    return {row["question_id"]: row["answers"] for row in rows if row["role"] == TEST}


def _predictions(path: str | Path, accepted: Mapping[str, Any], examples: str | Path) -> dict[str, str]:
    with refusing_damage(path, "these are not predictions", MAKE_AGAIN):
        predictions: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
        strange = sorted(predictions.keys() ^ accepted.keys())
    if strange:
        raise InputError(
            path,
            f"{len(strange)} examples are predicted and not tested, or tested and not predicted, such as {strange[0]}",
            remedy=f"Delete it and run the workflow again; it does not belong to {examples}.",
        )
    return predictions


def _markdown(means: Sequence[tuple[Any, ...]], tasks: Mapping[str, str], models: Mapping[str, str]) -> str:
    columns = list(dict.fromkeys((row[0], *row[3:5]) for row in means))
    named = {row[:5]: row[5] for row in means}
    heads = [f"{tasks[task]}, {measure}" for task, _, measure in columns]
    lines = [["Model", "Seed", *heads], ["---", "---:", *["---:"] * len(heads)]]
    for model, seed in dict.fromkeys((row[1], row[2]) for row in means):
        keys = [(task, model, seed, part, measure) for task, part, measure in columns]
        values = [f"{100 * named[key]:z.2f}" if key in named else "not run" for key in keys]
        lines.append([models.get(model, model), str(seed), *values])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
