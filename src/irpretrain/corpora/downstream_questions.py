"""The questions of a task by role: to train, to choose epoch and learning rate, or to test.

MRQA publishes no test labels, so models are compared on the development sets. PHP divides them in half, for
development and test (section 4.5.2): what is tested never chooses.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.corpora import FileConfig
from irpretrain.config.experiments import DownstreamTaskConfig
from irpretrain.corpora.policy import RecordTally
from irpretrain.corpora.topics_and_judgements import check_number, sound_records, source_files
from irpretrain.evaluation.answers import CHOOSE, TEST, TRAIN
from irpretrain.foundation.characters import whole_characters
from irpretrain.foundation.contracts import SPAN_QUESTIONS
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.foundation.randomness import stream_key

Row = dict[str, Any]
ID_COLUMN = "question_id"


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
    rows_by_role: dict[str, list[Row]] = {}
    for file_role, files in task.files.items():
        tally = RecordTally(files.malformed, "malformed")
        file_rows = list(_read_rows(files, sources[file_role], tally))
        check_number(files, list(sources[file_role]), len(file_rows), "examples")
        distinct_rows = file_rows if file_role == TRAIN else _first_of_each_question(file_rows)
        size = task.sample_training if file_role == TRAIN else task.sample_development
        rows_by_role[file_role] = _sample(distinct_rows, size, seed, file_role, f"downstream_tasks.{name}")
        counts[file_role] = {
            **tally.counts(),
            "repeated": len(file_rows) - len(distinct_rows),
            "used": len(rows_by_role[file_role]),
        }
    rows_with_roles = list(_with_roles(rows_by_role, seed))
    roles = [row["role"] for row in rows_with_roles]
    role_counts = {role: roles.count(role) for role in (TRAIN, CHOOSE, TEST)}
    for role in (TRAIN, CHOOSE, TEST):
        if not role_counts[role]:
            raise InputError(
                sources["train" if role == TRAIN else "development"][0],
                f"the task {name} has no example to {role}",
                remedy="Give it more examples, or raise its samples.",
            )
    SPAN_QUESTIONS.write(output, rows_with_roles)
    return {**counts, "roles": role_counts}


def _read_rows(files: FileConfig, paths: Sequence[Path], tally: RecordTally) -> Iterator[Row]:
    for _, record in sound_records(files, source_files(files, paths), tally):
        yield {
            ID_COLUMN: record.question_id,
            "question": whole_characters(record.question),
            "context": whole_characters(record.context),
            "answers": [whole_characters(answer) for answer in record.answers],
            "starts": [start for start, _ in record.spans],
            "ends": [end for _, end in record.spans],
        }


def _first_of_each_question(rows: list[Row]) -> list[Row]:
    row_of_question: dict[str, Row] = {}
    for row in rows:
        row_of_question.setdefault(row[ID_COLUMN], row)
    return list(row_of_question.values())


def _drawn_order(rows: Sequence[Row], seed: int, stage: str) -> list[int]:
    return sorted(
        range(len(rows)), key=lambda position: (stream_key(seed, stage, rows[position][ID_COLUMN]), position)
    )


def _sample(rows: list[Row], sample_size: int | None, seed: int, file_role: str, task_key: str) -> list[Row]:
    if sample_size is None:
        return rows
    if sample_size > len(rows):
        option = "sample_training" if file_role == TRAIN else "sample_development"
        raise ConfigError(
            f"{task_key}.{option}: {sample_size:,} examples are asked for, but {file_role} has {len(rows):,}; "
            "lower it, or give null for all"
        )
    drawn_order = _drawn_order(rows, seed, f"downstream sample {file_role}")
    return [rows[position] for position in sorted(drawn_order[:sample_size])]


def _with_roles(rows_by_role: Mapping[str, list[Row]], seed: int) -> Iterator[Row]:
    development = rows_by_role["development"]
    choosing_positions = set(_drawn_order(development, seed, "downstream halves")[::2])
    for row in rows_by_role["train"]:
        yield {"role": TRAIN, **row}
    for position, row in enumerate(development):
        yield {"role": CHOOSE if position in choosing_positions else TEST, **row}
