"""Values of cells, with intervals and comparisons with p-values; and the ledger of a table's runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from irpretrain.config import Config
from irpretrain.config.labels import configured_label, dataset_label
from irpretrain.config.usage import with_starts
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.ledger import (
    COLUMNS,
    Facts,
    PretrainingText,
    by_tested_texts,
    counted_facts,
    differences,
    differing_options,
)
from irpretrain.foundation.atomic import write_csv
from irpretrain.report.cells import (
    Cell,
    Ours,
    Table,
    TextCell,
    difference_text,
    outcomes_text,
    p_text,
)
from irpretrain.report.planned_facts import planned_facts
from irpretrain.report.scores import (
    Comparison,
    Results,
    RunName,
    Scores,
    TableTest,
    compare,
    identifier,
    interval,
)
from irpretrain.workflow.plan.paths import FIRST_STAGE_RUN

# The ledger of a table: the facts of its runs, the line under the table, and the file beside it.


# Fact → what the line under a table calls it.
FACT_LABELS = {
    "queries": "queries",
    "candidates": "candidates",
    "lists": "lists of candidates",
    "depth": "documents scored per query, at most",
    "answered": "queries with a list",
    "scored": "documents scored in all",
    "ranker": "ranking model",
    "words": "words of texts and queries",
    "tuning": "parameters",
    "k1": "k1",
    "b": "b",
    "mu": "μ",
    "smoothing": "λ",
    "seeds": "seeds",
    "encoder": "encoder",
    "length": "word pieces read of each text to weigh its words",
    "texts": "texts of pre-training",
    "documents": "documents of pre-training",
    "text_pieces": "word pieces of these",
    "groups": "groups read per task",
    "word_pieces": "word pieces read",
    "steps": "steps of pre-training",
    "stages": "stages of pre-training",
    "chosen": "snapshot",
    "passages": "passages of documents",
    "training_queries": "taught by",
}
# Facts that hold many options → what the line calls them.
OPTION_LABELS = {
    "training": "options of pre-training",
    "recipe": "options of fine-tuning",
    "reranking": "options of re-ranking",
    "weighting": "options of term weights and indexes",
}
# Facts that the line leaves out where another one differs, from which they follow.
FOLLOWING = {"lists": "candidates", "documents": "texts", "text_pieces": "documents", "steps": "groups"}
NO_OTHERS = PretrainingText((), path="no others")
# Most rows that the line names for one value.
NAMED = 4
# Characters of the line under a table from which on the longest differences lose their rows.
LONGEST_LINE = 300


def compared_runs(table: Table) -> list[list[RunName]]:
    """Return the runs of each column of a table, with those that its marks compare them with."""
    columns: dict[tuple[str, ...], dict[RunName, None]] = {}
    for cell in table.cells():
        if cell.run is not None:
            runs = columns.setdefault((cell.dataset, cell.candidates, cell.regime), {})
            runs |= dict.fromkeys([cell.run, *(baseline.run for baseline in cell.baselines)])
    return [list(runs) for runs in columns.values()]


def facts_of(config: Config, scores: Scores, run: RunName) -> Facts:
    """Return the facts of a run: those of the configuration, and those that its jobs counted."""
    facts = planned_facts(config, run.dataset, run.candidates, run.model, run.regime)
    counted, lists = scores.counted, run.candidates.partition("@")[0]
    file = FIRST_STAGE_RUN.format(dataset=run.dataset, candidates=lists)
    facts = replace(facts, lists=counted.inputs.get(file, ""))
    results = scores.any_measure(run)
    if results is None:
        return facts
    names = hashlib.sha256("\0".join(results.queries).encode()).hexdigest()[:8]
    facts = replace(facts, queries=f"{len(results.queries)} ({names})")
    if sizes := counted.sizes.get(run):
        # What the lists hold counts, not what is planned; the least of several seeds.
        answered, deepest, scored = (min(numbers) for numbers in zip(*sizes, strict=True))
        seen = None if facts.seen is None else min(facts.seen, deepest)
        facts = replace(facts, depth=deepest, seen=seen, answered=answered, scored=scored)
    if run.regime == FIRST_STAGE:
        return facts
    name, _, step = run.model.partition("@")
    chain = reversed(with_starts(config, [name]))
    read = counted_facts(counted.trainings.get((model, results.seeds[0]), {}) for model in chain)
    if step:  # a snapshot has read only a part
        read = {key: read[key] for key in ("documents", "text_pieces") if key in read}
    return replace(facts, seeds=results.seeds, **read)


def with_ledger(table: Table, config: Config, scores: Scores) -> Table:
    """Return a table with the facts of its runs, and, as its first note, what differs beyond the experiment."""
    known = set(scores.names())
    columns = [
        [facts_of(config, scores, run) for run in runs if run in known] for runs in compared_runs(table)
    ]
    # Rows are called by their ranking models.
    named = [[replace(row, ranker="") for row in rows] for rows in columns]
    line = _shortened(_differences(config, named), f"; {table.name}.ledger.csv has the rest")
    notes = [f"Rows differ in {line}."] if line else []
    ledger = tuple(dict.fromkeys(row for rows in columns for row in rows))
    return replace(table, notes=(*notes, *table.notes), ledger=ledger)


def differences_text(config: Config, columns: Sequence[Sequence[Facts]]) -> str:
    """Return "groups read per task: 800 (Wikiformer), 3,200 (PROP); seeds: ..."; empty where nothing differs.

    Args:
        columns: rows that are compared with each other; columns are not.
    """
    return "; ".join(text for text, _ in _differences(config, columns))


def _shortened(differences: Sequence[tuple[str, str]], more: str) -> str:
    """Return a line of differences, the longest ones in short where it would be too long; then `more` ends it."""
    texts = [text for text, _ in differences]
    if len("; ".join(texts)) <= LONGEST_LINE:
        return "; ".join(texts)
    room = LONGEST_LINE - len(more)
    for position in sorted(range(len(texts)), key=lambda position: -len(texts[position])):
        if len("; ".join(texts)) > room:
            texts[position] = differences[position][1]
    while len("; ".join(texts)) > room:
        texts.pop()
    return "; ".join(texts) + more


def _differences(config: Config, columns: Sequence[Sequence[Facts]]) -> list[tuple[str, str]]:
    """Return each difference with its rows, and in short: "groups read per task: 800 to 3,200"."""
    differing: dict[str, dict[str, list[Facts]]] = {}
    for rows in map(_without_common_texts, columns):
        differing_here = differences(map(_without_intended, rows), FACT_LABELS)
        for key, by_value in differing_here.items():
            for value, same in by_value.items() if FOLLOWING.get(key) not in differing_here else ():
                differing.setdefault(key, {}).setdefault(value, []).extend(same)
    parts = [
        (f"{label}: {_values(config, key, differing[key])}", label + _range(differing[key]))
        for key, label in FACT_LABELS.items()
        if key in differing
    ]
    reading = dict.fromkeys(
        configured_label(config, row.model)
        for rows in columns
        for same in by_tested_texts(rows).values()
        for row in same
        if row.tested_texts
    )
    on_tested = "pre-training on the tested corpus"
    parts += [(f"{on_tested}: {_names(reading)}", on_tested)] if reading else []
    return parts + [
        (f"{label}: {keys}", label)
        for name, label in OPTION_LABELS.items()
        if (
            keys := ", ".join(dict.fromkeys(key for rows in columns for key in differing_options(rows, name)))
        )
    ]


def write_ledger(facts: Iterable[Facts], path: str | Path) -> None:
    write_csv(path, COLUMNS, [row.cells() for row in facts])


def _without_intended(row: Facts) -> Facts:
    """Leave out the candidates of a first stage and their number: they are its ranking, which the table compares."""
    return replace(row, candidates="", lists="", scored=None) if row.regime == FIRST_STAGE else row


def _without_common_texts(rows: Sequence[Facts]) -> list[Facts]:
    """Leave out texts that all pre-trained rows read; a row without others says so."""
    read = [set(row.texts) for row in rows if row.texts]
    common = set.intersection(*read) if read else set()
    return [
        replace(row, texts=tuple(text for text in row.texts if text not in common) or (NO_OTHERS,))
        if row.texts
        else row
        for row in rows
    ]


def _values(config: Config, key: str, by_value: dict[str, list[Facts]]) -> str:
    models = [
        dict.fromkeys(configured_label(config, row.model) for row in rows) for rows in by_value.values()
    ]
    number = Counter(name for names in models for name in names)
    # A model that differs from data set to data set is named with each, others once.
    names = [
        dict.fromkeys(
            f"{name} on {dataset_label(config, row.dataset)}" if number[name] > 1 else name
            for row in rows
            for name in [configured_label(config, row.model)]
        )
        for rows in by_value.values()
    ]
    if key == "lists":
        return " against ".join(map(_names, names))
    largest = max(names, key=len)
    return ", ".join(
        f"{value} ({'the others' if same is largest and len(same) > NAMED + 1 else _names(same)})"
        for value, same in zip(by_value, names, strict=True)
    )


def _range(values: Iterable[str]) -> str:
    """Return ": 800 to 3,200" for texts of numbers, else nothing."""
    numbers = {text.replace(",", ""): text for text in values}
    if not all(map(str.isdecimal, numbers)):
        return ""
    return f": {numbers[min(numbers, key=int)]} to {numbers[max(numbers, key=int)]}"


def _names(names: Iterable[str]) -> str:
    names = list(names)
    others = len(names) - NAMED
    return ", ".join(names) if others <= 1 else f"{', '.join(names[:NAMED])} and {others} others"


# Values with their intervals, and comparisons with p-values.


# Decimals that are kept of means and bounds.
DIGITS = 12


def compared(cell: Cell, mark: str) -> TextCell:
    """Return how a cell compares with the baseline of a mark: difference and p."""
    if (comparison := _comparison(cell, mark)) is None:
        return TextCell(order="")
    difference = comparison.difference
    return TextCell(difference_text(difference), p_text(comparison.p), order=f"{difference:z.6f}")


def compared_outcomes(cell: Cell, mark: str) -> TextCell:
    """Return wins, ties and losses of a cell against the baseline of a mark, beside the printed ones."""
    comparison = _comparison(cell, mark)
    outcomes = comparison.outcomes if comparison else None
    order = "" if outcomes is None else str(outcomes.wins - outcomes.losses)
    return TextCell(outcomes_text(outcomes), printed=cell.printed_outcomes, order=order)


def _comparison(cell: Cell, mark: str) -> Comparison | None:
    return next((c for c in (cell.ours.comparisons if cell.ours else ()) if c.mark == mark), None)


class CellValues:
    """Puts values of runs into the cells of a table, whose test is `testing`."""

    def __init__(self, config: Config, scores: Scores, testing: TableTest) -> None:
        self.config, self.scores, self.testing = config, scores, testing
        self._known: dict[Cell, Cell] = {}

    def fill(self, cell: Cell) -> Cell:
        """Return a cell with the value of its run, where there is one."""
        if cell not in self._known:
            self._known[cell] = replace(cell, ours=self._of_run(cell))
        return self._known[cell]

    def _of_run(self, cell: Cell) -> Ours | None:
        results = self.scores.get(cell.run, cell.measure) if cell.run else None
        if cell.run is None or results is None:
            return None
        name = identifier(cell.run, cell.measure)
        low, high = interval(results, self.config.seed, name)
        # What differs in the last bits only must not print differently.
        mean, low, high = (round(value, DIGITS) for value in (results.mean, low, high))
        return Ours(
            cell.run,
            cell.measure,
            mean,
            low,
            high,
            results.seeds,
            len(results.queries),
            tuple(self._comparisons(cell, results, name)),
            cell.counted,
            cell.source.format(seed=results.seeds[0]),
        )

    def _comparisons(self, cell: Cell, ours: Results, name: str) -> Iterator[Comparison]:
        for baseline in cell.baselines:
            other = self.scores.get(baseline.run, cell.measure)
            if other is not None and baseline.run != cell.run:
                names = f"{name} against {identifier(baseline.run, cell.measure)}"
                yield compare(ours, other, baseline, names, self.testing, self.config.seed)
