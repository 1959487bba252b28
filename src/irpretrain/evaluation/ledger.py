"""The ledger of comparisons: what each compared run is scored on, and what its model has read.

A table compares runs that should differ in the experiment alone. The ledger holds the facts of each run. Most facts
follow from the configuration, so a plan can be checked before anything runs; the rest is counted by the jobs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, combinations, starmap
from typing import Any

from irpretrain.config.corpora import CorpusText
from irpretrain.config.labels import quoted
from irpretrain.config.papers import FIRST_STAGE
from irpretrain.config.retrieval import ParametersConfig
from irpretrain.config.root import Config

# Between the values of an option in several stages or tasks.
BETWEEN_VALUES = " / "


@dataclass(frozen=True)
class RunFacts:
    """What one run is scored on and made of; empty where it does not apply or is not counted yet."""

    dataset: str  # dataset, candidates, model, regime: name of the run
    candidates: str
    model: str
    regime: str
    seeds: tuple[int, ...] = ()  # of training
    queries: str = ""  # their number and a hash of their identifiers
    lists: str = ""  # hash of the file with the candidate lists
    # Largest number of documents of a query that are scored: found in the run once it is there, else planned.
    depth: int | None = None
    seen: int | None = None  # number of them that the deepest measure looks at
    answered: int | None = None  # number of judged queries with a list
    scored: int | None = None  # number of documents that are scored, of all queries
    ranker: str = ""  # ranking model of a first stage, and the first stage whose candidates it ranks
    words: str = ""  # how a first stage cuts texts into words and these into terms
    tuning: str = ""  # of a first stage's parameters: the queries and the measure that chose them
    # k1, b, mu, smoothing: a first stage's parameters; tuned ones once they are chosen.
    k1: float | None = None
    b: float | None = None
    mu: float | None = None
    smoothing: float | None = None
    encoder: str = ""  # path and layers of the encoder
    head: str = ""  # score head of a cross-encoder, before it is trained
    # What is read at most of a document, or of each of its passages, and of the query, as `config.run.Run` says it.
    pretraining_reads: str = ""
    finetuning_reads: str = ""
    test_reads: str = ""
    weighting: tuple[str, ...] = ()  # other options of term weights, or of an index: "training.batch_size 16"
    texts: tuple[CorpusText, ...] = ()  # what pre-training reads, or what word vectors are learned from
    # Those of them that the tested corpus is read from too, with articles in common.
    tested_texts: tuple[CorpusText, ...] = ()
    # documents, text_pieces: size of these texts, in documents (or passages) and in word pieces.
    documents: int | None = None
    text_pieces: int | None = None
    groups: tuple[tuple[str, int], ...] = ()  # ranking groups read per task
    distinct_groups: int | None = None  # in all tasks; the others are read again
    word_pieces: int | None = None  # word pieces read in pre-training, special tokens included
    steps: int | None = None  # of pre-training
    stages: str = ""  # of pre-training: "one", or the steps of each
    chosen: str = ""  # what chose the snapshot of each stage; "last step" where nothing did
    # Options of pre-training, "batch_groups 16", and of its objectives, "rop.minimum_words 10"; values of several
    # stages or tasks that are not all equal are joined by " / ", in their order.
    training: tuple[str, ...] = ()
    # Data set and candidates that fine-tune the model; data set that teaches term weights.
    training_queries: str = ""
    finetuning_queries: str = ""  # how many of these train, and how many choose
    predictor_queries: str = (
        ""  # data sets whose judged queries teach the predictor that labels pre-training's pairs
    )
    # Options of fine-tuning, and of a ranker over words, "knrm.query_words 20", in the same form.
    recipe: tuple[str, ...] = ()
    reranking: tuple[str, ...] = ()  # other options of re-ranking, in the same form

    def cells(self) -> list[str]:
        """Return the facts as cells of a CSV file with `COLUMNS`; lists are separated by semicolons."""
        return [cell_text(getattr(self, column)) for column in COLUMNS]


COLUMNS = tuple(field.name for field in fields(RunFacts))


def counted_facts(counts: Iterable[Mapping[str, Any]], collections: Iterable[str]) -> dict[str, Any]:
    """Return what the pre-trainings of a model have counted, the first one first.

    Args:
        counts: those of their sidecars.
        collections: what each of them reads. Documents of a collection count once.
    """
    pairs = [pair for pair in zip(counts, collections, strict=True) if pair[0].get("steps")]
    if not pairs:
        return {}
    training_counts = [count for count, _ in pairs]
    count_of_collection = {collection: count for count, collection in pairs}
    collection_counts = list(count_of_collection.values())
    have_groups = all("groups" in count for count in training_counts)
    groups = (item for count in training_counts if have_groups for item in (count["groups"] or {}).items())
    return {
        "steps": sum(count["steps"] for count in training_counts),
        "stages": stages_text([count["steps"] for count in training_counts]),
        "groups": totals_by_objective(groups),
        "distinct_groups": _count_distinct_groups(pairs),
        "word_pieces": _count_sum(training_counts, "tokens"),
        "documents": _count_sum(collection_counts, "documents"),
        "text_pieces": _count_sum(collection_counts, "text_pieces"),
    }


def _count_distinct_groups(pairs: Iterable[tuple[Mapping[str, Any], str]]) -> int | None:
    """Count the groups that the trainings read, those of an objective and a collection once.

    Where several trainings or tasks share groups and pass none of them entirely, they may have drawn the same ones: the
    count is the largest possible one.
    """
    read_counts: Counter[tuple[str, str]] = Counter()
    available_counts: dict[tuple[str, str], int] = {}
    for counts, collection in pairs:
        if not counts.get("groups") or "groups_available" not in counts:
            return None
        for task, group_count in counts["groups"].items():
            source = collection, task.partition("#")[0]  # "ltm#3" is the fourth task's name
            read_counts[source] += group_count
            available_counts[source] = max(available_counts.get(source, 0), counts["groups_available"][task])
    return sum(min(count, available_counts[source]) for source, count in read_counts.items())


def differences(rows: Iterable[RunFacts], columns: Iterable[str]) -> dict[str, dict[str, list[RunFacts]]]:
    """Return the columns in which rows differ: column → value as text → its rows. Empty facts differ from nothing."""
    rows = list(rows)
    differing_columns = {}
    for column in columns:
        texts: dict[Any, str] = {}
        rows_by_value: dict[str, list[RunFacts]] = {}
        for row in rows:
            value = getattr(row, column)
            # Equal texts of pre-training may be spelled in several ways: the first one counts.
            if text := texts.setdefault(value, _fact_text(value)):
                rows_by_value.setdefault(text, []).append(row)
        if len(rows_by_value) > 1:
            differing_columns[column] = rows_by_value
    return differing_columns


def differing_options(rows: Iterable[RunFacts], column: str) -> list[str]:
    """Return the keys of options in which rows differ. A key that a row lacks does not apply to it."""
    value_lists: dict[str, dict[tuple[str, ...], None]] = {}
    for option in (option for row in rows for option in getattr(row, column)):
        key, _, value = option.partition(" ")
        value_lists.setdefault(key, {})[tuple(value.split(BETWEEN_VALUES))] = None
    return [key for key, lists in value_lists.items() if not all(starmap(_agree, combinations(lists, 2)))]


def _agree(values: Sequence[str], other_values: Sequence[str]) -> bool:
    """Whether values of several stages or tasks are the same, in the same order; an ablation may lack some."""
    shorter, longer = sorted((values, other_values), key=len)
    remaining_values = iter(longer)
    return set(shorter) == set(longer) and all(value in remaining_values for value in shorter)


def by_tested_texts(rows: Iterable[RunFacts]) -> dict[str, list[RunFacts]]:
    """Return pre-trained rows by the texts that they share with the tested corpus; empty where all share the same."""
    by_texts: dict[tuple[CorpusText, ...], list[RunFacts]] = {}
    for row in rows:
        if row.texts:
            by_texts.setdefault(row.tested_texts, []).append(row)
    if len(by_texts) < 2:
        return {}
    return {_fact_text(texts) or "none": equal_rows for texts, equal_rows in by_texts.items()}


def stages_text(steps: Sequence[int]) -> str:
    """Return "one", or "100 + 100 steps": each stage has a warm-up and a decay of its own."""
    if len(steps) < 2:
        return "one" if steps else ""
    return f"{' + '.join(f'{step_count:,}' for step_count in steps)} steps"


def totals_by_objective(groups: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return groups by objective, those of several trainings added."""
    totals: Counter[str] = Counter()
    for objective, group_count in groups:
        totals[objective] += group_count
    return tuple(totals.items())


def _count_sum(counts: list[Mapping[str, Any]], key: str) -> int | None:
    return sum(count[key] for count in counts) if all(key in count for count in counts) else None


def cell_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value)
    return "" if value is None else str(value)


def _fact_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        numbers = {number for _, number in value}
        if len(numbers) > 1:
            return ", ".join(f"{task} {n:,}" for task, n in value)
        return f"{numbers.pop():,}" + (f" in each of {len(value)} tasks" if len(value) > 1 else "")
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)


# The line under a table.


# What is read → what notes call it.
READING_LABELS = {
    "test_reads": "read in test",
    "finetuning_reads": "read in fine-tuning",
    "pretraining_reads": "read in pre-training",
}
# Values of a first stage's parameters.
STAGE_PARAMETERS = tuple(ParametersConfig.model_fields)
# Fact → what the line under a table calls it.
FACT_LABELS = {
    **READING_LABELS,
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
    "head": "score head",
    "texts": "texts of pre-training",
    "documents": "documents of pre-training",
    "text_pieces": "word pieces of these",
    "groups": "groups read",
    "distinct_groups": "distinct groups",
    "word_pieces": "word pieces read",
    "steps": "steps of pre-training",
    "stages": "stages of pre-training",
    "chosen": "snapshot",
    "training_queries": "taught by",
    "finetuning_queries": "queries of fine-tuning",
    "predictor_queries": "labels of pre-training taught by",
}
# Facts that hold many options → what the line calls them.
OPTION_LABELS = {
    "training": "options of pre-training",
    "recipe": "options of fine-tuning",
    "reranking": "options of re-ranking",
    "weighting": "options of term weights and indexes",
}
# Facts that the line leaves out where another one differs, from which they follow.
IMPLIED_BY = {
    "finetuning_reads": "test_reads",
    "lists": "candidates",
    "documents": "texts",
    "text_pieces": "documents",
}
NO_OTHERS = CorpusText((), path="no others")
# Most rows that the line names for one value.
MOST_NAMES = 4
# Characters of the line under a table from which on the longest differences lose their rows.
LONGEST_LINE = 400


def ledger_notes(config: Config, columns: Sequence[Sequence[RunFacts]], ending: str) -> list[str]:
    """Return the notes under a table: what its rows read, their parameters and teachers, and what else differs.

    Args:
        columns: rows that are compared with each other; columns are not.
        ending: where a line that is too long refers to.
    """
    # Rows are called by their ranking models. What they read, their parameters and who teaches them have notes that are
    # not shortened.
    with_own_notes = (
        *READING_LABELS,
        "tuning",
        "training_queries",
        "finetuning_queries",
        "predictor_queries",
    )
    left_out: dict[str, Any] = dict.fromkeys(("ranker", *with_own_notes), "")
    left_out |= dict.fromkeys(STAGE_PARAMETERS)
    compared_rows = [[replace(row, **left_out) for row in rows] for rows in columns]
    differences_note = shorten(describe_differences(config, compared_rows), ending)
    rows = dict.fromkeys(chain.from_iterable(columns))
    notes = [
        *reading_notes(config, rows),
        parameters_text(config, rows),
        teaching_text(config, rows),
        f"Not equal between rows: {differences_note}." if differences_note else "",
    ]
    return list(filter(None, notes))


def differences_text(config: Config, columns: Sequence[Sequence[RunFacts]]) -> str:
    """Return "groups read: 800 in each of 4 tasks (Wikiformer), 3,200 (PROP); seeds: ..."; empty where nothing differs.

    Args:
        columns: rows that are compared with each other; columns are not.
    """
    return "; ".join(text for text, _ in describe_differences(config, columns))


def reading_notes(config: Config, rows: Iterable[RunFacts]) -> list[str]:
    """Return "Read in test: whole texts (BM25), documents cut at 96 word pieces with the query (PROP)." and the like.

    A fine-tuned row reads in its test what it reads in fine-tuning (`config.run.Run`), so both are said once.
    """
    rows = list(rows)
    zero_shot_reads = {(row.dataset, row.model): row.test_reads for row in rows if not row.finetuning_reads}
    tested, finetuned, pretrained = "test", "fine-tuning and the test after it", "pre-training"
    stages: dict[str, dict[str, list[RunFacts]]] = {tested: {}, finetuned: {}, pretrained: {}}
    for row in rows:
        stage, text = tested, row.test_reads
        if row.finetuning_reads:
            stage = finetuned
            text = "as zero-shot" if zero_shot_reads.get((row.dataset, row.model)) == text else text
        stages[stage].setdefault(text, []).append(row)
        stages[pretrained].setdefault(row.pretraining_reads, []).append(row)
    for by_text in stages.values():
        by_text.pop("", None)
    return [
        f"Read in {stage}: {_values_text(config, stage, by_text)}."
        for stage, by_text in stages.items()
        if by_text
    ]


def parameters_text(config: Config, rows: Iterable[RunFacts]) -> str:
    """Return "Parameters: k1 0.9, b 0.4, not tuned (BM25)."; empty where no row is a first stage."""
    rows_by_text: dict[str, list[RunFacts]] = {}
    for row in rows:
        if row.tuning:
            values = {FACT_LABELS[name]: getattr(row, name) for name in STAGE_PARAMETERS}
            texts = [f"{label} {value:g}" for label, value in values.items() if value is not None]
            rows_by_text.setdefault(", ".join([*texts, row.tuning]), []).append(row)
    return f"Parameters: {_values_text(config, 'tuning', rows_by_text)}." if rows_by_text else ""


def teaching_text(config: Config, rows: Iterable[RunFacts]) -> str:
    """Return "Taught by judged queries: PROP fine-tuned (SQuAD: 512, and 128 choose); others by none." or nothing."""
    labels_of_pupils: dict[tuple[str, str, str], dict[str, None]] = {}
    some_untaught = False
    for row in rows:
        fine_tuned = "" if row.regime in (FIRST_STAGE, "") else " when fine-tuned"
        teachers = [
            (row.training_queries.partition(",")[0], row.finetuning_queries, fine_tuned),
            (row.predictor_queries, "", "'s predictor, which labels its pre-training pairs"),
        ]
        for dataset, numbers, pupil in teachers:
            if dataset:
                label = config.configured_label(row.model)
                labels_of_pupils.setdefault((dataset, numbers, pupil), {})[label] = None
        some_untaught |= not any(dataset for dataset, *_ in teachers)
    if not labels_of_pupils:
        return ""
    texts = [
        f"{_names_text(labels)}{pupil} ({': '.join(filter(None, (config.dataset_label(dataset), numbers)))})"
        for (dataset, numbers, pupil), labels in labels_of_pupils.items()
    ]
    return f"Taught by judged queries: {'; '.join(texts)}{'; others by none' if some_untaught else ''}."


def shorten(differences: Sequence[tuple[str, str]], ending: str) -> str:
    """Return a line of differences, the longest ones in short where it would be too long; then `ending` ends it."""
    texts = [text for text, _ in differences]
    if len("; ".join(texts)) <= LONGEST_LINE:
        return "; ".join(texts)
    max_characters = LONGEST_LINE - len(ending)
    for position in sorted(range(len(texts)), key=lambda position: -len(texts[position])):
        if len("; ".join(texts)) > max_characters:
            texts[position] = differences[position][1]
    while len("; ".join(texts)) > max_characters:
        texts.pop()
    return "; ".join(texts) + ending


def describe_differences(config: Config, columns: Sequence[Sequence[RunFacts]]) -> list[tuple[str, str]]:
    """Return each difference with its rows, and in short: "word pieces read: 800 to 3,200"."""
    differing_columns: dict[str, dict[str, list[RunFacts]]] = {}
    for rows in map(_without_redundant_counts, map(_without_common_texts, columns)):
        differing_in_column = differences(map(_without_intended, rows), FACT_LABELS)
        for key, by_value in differing_in_column.items():
            if IMPLIED_BY.get(key) in differing_in_column:
                continue
            for value, equal_rows in by_value.items():
                differing_columns.setdefault(key, {}).setdefault(value, []).extend(equal_rows)
    descriptions = [
        (
            f"{label}: {_values_text(config, key, differing_columns[key])}",
            label + _range_text(differing_columns[key]),
        )
        for key, label in FACT_LABELS.items()
        if key in differing_columns
    ]
    readers_of_tested = dict.fromkeys(
        config.configured_label(row.model)
        for rows in columns
        for equal_rows in by_tested_texts(rows).values()
        for row in equal_rows
        if row.tested_texts
    )
    if readers_of_tested:
        label = "pre-training on the tested corpus"
        descriptions.append((f"{label}: {_names_text(readers_of_tested)}", label))
    for column, label in OPTION_LABELS.items():
        keys = dict.fromkeys(key for rows in columns for key in differing_options(rows, column))
        if keys:
            descriptions.append((f"{label}: {', '.join(keys)}", label))
    return descriptions


def _without_intended(row: RunFacts) -> RunFacts:
    """Leave out the candidates of a first stage and their number: they are its ranking, which the table compares."""
    return replace(row, candidates="", lists="", scored=None) if row.regime == FIRST_STAGE else row


def _without_common_texts(rows: Sequence[RunFacts]) -> list[RunFacts]:
    """Leave out texts that all pre-trained rows read; a row without others says so."""
    text_sets = [set(row.texts) for row in rows if row.texts]
    common = set.intersection(*text_sets) if text_sets else set()
    own_texts = (tuple(text for text in row.texts if text not in common) or (NO_OTHERS,) for row in rows)
    return [
        replace(row, texts=texts) if row.texts else row for row, texts in zip(rows, own_texts, strict=True)
    ]


def _without_redundant_counts(rows: Sequence[RunFacts]) -> list[RunFacts]:
    """Leave out the number of distinct groups where no row reads a group again: it is that of the groups read."""
    if any(row.distinct_groups not in (None, sum(count for _, count in row.groups)) for row in rows):
        return list(rows)
    return [replace(row, distinct_groups=None) for row in rows]


def _values_text(config: Config, key: str, by_value: dict[str, list[RunFacts]]) -> str:
    row_labels = [
        [(config.configured_label(row.model), config.dataset_label(row.dataset)) for row in rows]
        for rows in by_value.values()
    ]
    occurrences = Counter(model for pairs in row_labels for model in dict(pairs))
    # A model that differs from data set to data set is named with each, others once.
    names = [
        dict.fromkeys(
            f"{model} on {dataset}" if occurrences[model] > 1 else model for model, dataset in pairs
        )
        for pairs in row_labels
    ]
    if key == "lists":
        return " against ".join(map(_names_text, names))
    largest = max(names, key=len)
    return ", ".join(
        f"{value} ({'the others' if rows is largest and len(rows) > MOST_NAMES + 1 else _names_text(rows)})"
        for value, rows in zip(by_value, names, strict=True)
    )


def _range_text(values: Iterable[str]) -> str:
    """Return ": 800 to 3,200" for texts of numbers, else nothing."""
    numbers = {text.replace(",", ""): text for text in values}
    if not all(map(str.isdecimal, numbers)):
        return ""
    return f": {numbers[min(numbers, key=int)]} to {numbers[max(numbers, key=int)]}"


def _names_text(names: Iterable[str]) -> str:
    names = [quoted(name) for name in names]
    unnamed_count = len(names) - MOST_NAMES
    if unnamed_count <= 1:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {unnamed_count} others"
