"""Commands on test collections: measures of runs, and an overlay for files of one's own."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from irpretrain.command.collections import DOCUMENT_OPTIONS, TOPIC_OPTIONS
from irpretrain.command.files import (
    STANDARD,
    Command,
    Input,
    Named,
    Output,
    Session,
    open_output,
    read_arguments,
    read_settings,
)
from irpretrain.foundation.errors import InputError, count_of, visible
from irpretrain.foundation.progress import notice

MEASURES = ("nDCG@10", "RR@10", "AP", "R@100")
EVALUATE_EPILOG = """The first run is the baseline: the others' differences from it have a bootstrap interval (95%), the
paired t-test and the randomisation test over queries, and the t-test's p adjusted for all runs of a measure (Holm). A
judged query without documents counts 0; queries without judgements are left out."""


class MeasureRow(NamedTuple):
    """A line of the table of scores: of one run by one measure."""

    measure: str
    run: str
    queries: int
    mean: float
    low: float
    high: float
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    t_test_p: float | None = None
    randomisation_p: float | None = None
    holm_p: float | None = None


@click.command("evaluate", Command, epilog=EVALUATE_EPILOG)
@click.argument("qrels", type=Input(), help="Judgements, in any format of judgements (docs/corpora.md).")
@click.argument("runs", type=Input(), nargs=-1, required=True, help="Runs, in any format of runs.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=MEASURES,
    help="In ir_measures' or trec_eval's notation; repeat it.",
)
@click.option("--csv", is_flag=True, help="Write CSV with all digits in place of a table for readers.")
@click.option("--output", "-o", type=Output(), default="-", metavar="FILE", help="Where the table goes.")
@click.pass_obj
def evaluate(
    session: Session, qrels: str, runs: Sequence[str], measures: Sequence[str], csv: bool, output: str
) -> str:
    """Score runs by judgements, with intervals and tests."""
    from csv import writer

    from irpretrain.library.formats import read_relevance

    judgements = read_relevance(qrels)
    if not judgements:
        raise InputError(qrels, "there are no judgements")
    if len(set(map(session.name, runs))) < len(runs):
        raise click.UsageError("A run is named twice.")
    rankings = {session.name(path): _read_run(path, judgements, session.name(path)) for path in runs}
    _note_zeros(rankings, judgements)
    _note_short_lists(rankings, measures)
    rows = list(_rows(rankings, judgements, measures))
    with open_output(output) as handle:
        if csv:
            writer(handle, lineterminator="\n").writerows([MeasureRow._fields, *rows])
        else:
            handle.writelines(f"{line}\n" for line in _table(rows))
    return f"{count_of(len(rankings), 'run')}, {count_of(len(judgements), 'judged query')}"


def _read_run(path: str, judgements: Mapping[str, Any], run_name: str) -> Any:
    """Return a run in any format, in its own order, its queries without judgements left out."""
    import pyarrow as pa

    from irpretrain.corpora.topics_and_judgements import near_hint
    from irpretrain.library.formats import read_ranked

    run = read_ranked(path, judgements, run_name, "evaluate", "judgements")
    if not any(name in judgements[query] for query, ranking in run.items() for name, _ in ranking):
        retrieved = {name for ranking in run.values() for name, _ in ranking}
        hint = near_hint(
            retrieved, [pa.array(sorted(set().union(*judgements.values())))], "the file of judgements"
        )
        notice("evaluate", f"{run_name}: none of its documents is judged for its query. {hint}".rstrip())
    return run


def _note_zeros(rankings: Mapping[str, Any], judgements: Mapping[str, Any]) -> None:
    from irpretrain.evaluation.runs import lacking, relevant

    queries_without_relevant = (query for query, grades in judgements.items() if not relevant(grades))
    if text := lacking("relevant document", queries_without_relevant, judgements):
        notice("evaluate", f"{text}: 0 counts, as in trec_eval; the workflow leaves them out.")
    for name, run in rankings.items():
        if text := lacking("document", judgements.keys() - run.keys(), judgements):
            notice("evaluate", f"{name}: {text}: 0 counts.")


def _note_short_lists(rankings: Mapping[str, Any], measures: Sequence[str]) -> None:
    from irpretrain.evaluation.evaluate import short_lists

    longest = max(len(ranking) for run in rankings.values() for ranking in run.values())
    for name, run in rankings.items():
        if short_text := short_lists(run, measures, longest if len(rankings) > 1 else 0):
            notice("evaluate", f"{name}: {short_text}.")


def _rows(rankings: Mapping[str, Any], judgements: Any, measures: Sequence[str]) -> Iterator[MeasureRow]:
    from irpretrain.evaluation.measures import per_query
    from irpretrain.evaluation.significance import (
        bootstrap_interval,
        holm_where_known,
        paired_t_test,
        randomisation_test,
    )

    values = {run: per_query(ranking, judgements, measures) for run, ranking in rankings.items()}
    baseline = next(iter(values))
    for measure in values[baseline]:
        scores_by_run = {run: list(scores[measure].values()) for run, scores in values.items()}
        tests = {
            run: paired_t_test(scores, scores_by_run[baseline])
            for run, scores in scores_by_run.items()
            if run != baseline
        }
        adjusted = holm_where_known(test.p_value for test in tests.values())
        holm_p_values = dict(zip(tests, adjusted, strict=True))
        for run, scores in scores_by_run.items():
            row = MeasureRow(measure, run, len(scores), *bootstrap_interval(scores, name=run))
            if run == baseline:
                yield row
                continue
            score_pairs = zip(scores, scores_by_run[baseline], strict=True)
            differences = [score - baseline_score for score, baseline_score in score_pairs]
            difference, low, high = bootstrap_interval(differences, name=run)
            randomisation = randomisation_test(scores, scores_by_run[baseline], name=run)
            p_values = (tests[run].p_value, randomisation.p_value, holm_p_values[run])
            yield MeasureRow(*row[:6], difference, low, high, *p_values)


def _interval(low: float | None, high: float | None, sign: str = "") -> str:
    from irpretrain.evaluation.significance import bounds_text

    return "–" if low is None or high is None else bounds_text(low, high, sign) or "–"


def _table(rows: Sequence[MeasureRow]) -> Iterator[str]:
    cells: list[tuple[str, ...]] = [
        (
            "measure",
            "run",
            "mean",
            "95% interval",
            "change",
            "95% interval",
            "t-test",
            "random",
            "Holm",
        )
    ]
    measure = ""
    for row in rows:
        comparison_cells = [""] * 5
        if row.difference is not None:
            comparison_cells = [
                f"{row.difference:+z.3f}",
                _interval(row.difference_low, row.difference_high, "+"),
                *(
                    "–" if p is None or math.isnan(p) else f"{p:.3f}"
                    for p in (row.t_test_p, row.randomisation_p, row.holm_p)
                ),
            ]
        measure_cell = "" if row.measure == measure else row.measure
        interval = _interval(row.low, row.high)
        cells.append((measure_cell, visible(row.run), f"{row.mean:z.3f}", interval, *comparison_cells))
        measure = row.measure
    if all(row.difference is None for row in rows):
        cells = [cell_row[:4] for cell_row in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for cell_row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(cell_row, widths, strict=True)).rstrip()


def in_make(arguments: str) -> str:
    """Return arguments as the value of a variable of make, quoted for the shell."""
    return shlex.quote(arguments.replace("$", "$$")) if set(arguments) & set('"$`\\') else f'"{arguments}"'


@click.command("init", Command)
@click.argument("folder", type=Named(), help="Folder with documents, topics and judgements.")
@click.option(
    "--documents", metavar="PATH", help="Documents in the folder; by default found by name and beginning."
)
@click.option("--topics", metavar="PATH", help="Topics, likewise.")
@click.option("--qrels", metavar="PATH", help="Judgements, likewise.")
@DOCUMENT_OPTIONS
@TOPIC_OPTIONS
@click.option(
    "--output", "-o", type=Output(), metavar="FILE", help="By default my-collection.yaml in the folder."
)
@click.pass_obj
def init(
    session: Session,
    folder: str,
    output: str | None,
    format: str | None,
    format_options: tuple[str, ...],
    topics_format: str | None,
    topics_option: tuple[str, ...],
    **paths: str | None,
) -> str:
    """Write the overlay that compares rankers on your own files, after reading all of them."""
    from irpretrain.library.own_folder import describe_folder

    formats = {"documents": format, "topics": topics_format}
    options = {
        "documents": read_arguments("--option", format_options),
        "topics": read_settings("--topics-option", topics_option),
    }
    overlay, message = describe_folder(Path(folder), paths, formats, options)
    if output is None:
        output = str(Path(folder, "my-collection.yaml"))
        session.outputs.append(output)
    if output != STANDARD and Path(output).exists():
        raise InputError(
            output, "there is such a file already", remedy="Delete it, or name another by --output."
        )
    with open_output(output) as handle:
        handle.write(overlay)
    if output == STANDARD:
        return message
    run_options = shlex.join(
        ["--configfile", str(Path(output).absolute()), "--directory", str(Path(folder).absolute())]
    )
    return (
        f"{message}\nNow run, in the project's folder: make run ARGS={in_make(run_options)}\n"
        "With `make plan` in place of `make run` it estimates how long that takes."
    )


RUN_COMMANDS = (evaluate, init)
