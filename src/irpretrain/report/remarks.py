"""What a report says in words: the small print under each table (measures, queries, depth, tests, intervals, and the
configuration's notes), and its first lines."""

from collections.abc import Iterable, Sequence

from irpretrain.config import Config
from irpretrain.config.base import Section
from irpretrain.config.labels import BM25_MARK, CONTROL_MARK, listed, marks_text, regime_label
from irpretrain.config.objectives import AnchorOptions, needs
from irpretrain.config.papers import Published, PublishedTable
from irpretrain.evaluation.measures import definition
from irpretrain.evaluation.significance import CONFIDENCE, RESAMPLES
from irpretrain.foundation.errors import count_of
from irpretrain.report.scores import FIRST_STAGE, Pair, Scores, TableTest, ordered_measures

TESTS = {
    "t-test": "two-tailed paired t-test over queries",
    "randomisation": "Fisher's randomisation test over queries",
    "claims": "two-tailed paired t-test, as of claims: over queries (over articles, if known) and seeds",
}

INTERVALS = (
    f"Intervals: bootstrap over queries ({RESAMPLES:,} resamples) where one seed was run; Student's t over the means "
    "of the seeds where several were."
)
DIVISOR = "Means divide by all judged queries, those without a relevant candidate included"


def table_notes(
    table: PublishedTable,
    config: Config,
    scores: Scores,
    pairs: Iterable[Pair],
    measures: Iterable[str],
) -> list[str]:
    pairs, measures = list(pairs), list(measures)
    table_models = {model for row in table.rows for model in row.all_models}
    interval = f"mean [{CONFIDENCE:.0%} interval]"
    return [
        f"Published: {table.protocol.rstrip('.')}. {_marks_text(table)}.",
        f"Ours: {interval}. Same marks, {test_text(TableTest.of(table))}."
        if table.marks
        else f"Ours: {interval}.",
        INTERVALS,
        *_measure_notes(measures),
        *_dataset_notes(config, scores, pairs),
        *_stand_in_notes(config, scores, pairs, table_models),
    ]


def headline_notes(config: Config, scores: Scores, pairs: Sequence[Pair]) -> list[str]:
    measures = [measure for dataset, _ in pairs for measure in ordered_measures(config, scores, dataset)]
    control = config.control_model(dict.fromkeys(run.model for run in scores.runs()))
    marks = (BM25_MARK, CONTROL_MARK) if control else (BM25_MARK,)
    return [
        f"Mean [{CONFIDENCE:.0%} interval]. {marks_text(marks)}; {test_text(TableTest('claims'))}. "
        "The last columns of a group give the difference and p.",
        *_tuning_notes(config, scores, pairs),
        INTERVALS,
        *_measure_notes(measures),
        *_dataset_notes(config, scores, pairs),
        *_stand_in_notes(config, scores, pairs),
        *config.report.notes,
    ]


def _tuning_notes(config: Config, scores: Scores, pairs: Iterable[Pair]) -> list[str]:
    """What rows with tuned parameters are compared with, where there are such rows."""
    displayed_rows = {(run.dataset, run.model) for run in scores.runs()}
    bm25_baselines = {
        config.bm25_baseline(stage)
        for dataset, _ in pairs
        for stage, stage_options in config.first_stages.items()
        if stage_options.tuned_on is not None and (dataset, stage) in displayed_rows
    }
    if not bm25_baselines:
        return []
    labels = sorted(config.stage_labels[stage] for stage in bm25_baselines if stage is not None)
    baseline_text = "with no BM25, as none is tuned alike"
    if labels:
        baseline_text = f"with {listed(labels)}, tuned on the same queries"
    return [f"Rows whose parameters are tuned are compared {baseline_text}."]


def _marks_text(table: PublishedTable) -> str:
    if not table.marks:
        return f"Marks: none ({table.test})"
    texts = []
    for mark, direction in dict.fromkeys((m.mark, m.direction) for m in table.marks):
        marks_alike = [m for m in table.marks if (m.mark, m.direction) == (mark, direction)]
        baseline_labels = [table.row(m.over).label for m in marks_alike if table.row(m.over).label]
        rows = [row for m in marks_alike for row in m.rows]
        if len(marks_alike) > 1 and all(m.rows for m in marks_alike) and len(set(rows)) == len(rows):
            # No row is compared with more than one of them.
            names = f"{' or '.join(baseline_labels)}, each in the rows that belong to it"
        else:
            names = baseline_labels[0] if len(baseline_labels) == 1 else f"each of {listed(baseline_labels)}"
        texts.append(f"{mark} {direction} than {names}")
    superscript_texts = [f"{mark} {meaning}" for mark, meaning in table.superscripts.items()]
    return "; ".join([f"Marks: {'; '.join(texts)}, {table.test}", *superscript_texts])


def test_text(table_test: TableTest) -> str:
    return f"p ≤ {table_test.level:g}, {TESTS[table_test.kind]}, not corrected for multiple comparisons"


def _measure_notes(measures: Iterable[str]) -> list[str]:
    text = measures_text(measures)
    return [f"Measures: {text}"] if text else []


def measures_text(measures: Iterable[str]) -> str:
    """Return what each measure means and what its mean divides by; nothing where there is none."""
    distinct_measures = list(dict.fromkeys(measures))
    if not distinct_measures:
        return ""
    rr_note = " The mean of RR is MRR." if any(name.startswith("RR") for name in distinct_measures) else ""
    return f"{'. '.join(map(definition, distinct_measures))}. {DIVISOR}.{rr_note}"


def candidates_text(config: Config, dataset: str, candidates: str) -> str:
    """Return "the top 100 of BM25 are re-ranked"."""
    label = config.stage_labels.get(candidates, candidates)
    return f"the top {config.reranking_depth(dataset).documents} of {label} are re-ranked"


def _dataset_notes(config: Config, scores: Scores, pairs: Iterable[Pair]) -> list[str]:
    """One note a data set: queries, re-ranking depth, and what fine-tuned its models."""
    notes = []
    for dataset, candidates in dict.fromkeys(pairs):
        query_count = number_of_queries(scores, dataset)
        if not query_count:
            continue
        label = config.dataset_label(dataset)
        if not any(run.regime != FIRST_STAGE and run.dataset == dataset for run in scores.runs()):
            notes.append(f"{label}: {count_of(query_count, 'query')}; {rankings_text(config, dataset)}.")
            continue
        notes.append(
            f"{label}: {count_of(query_count, 'query')}; {candidates_text(config, dataset, candidates)}; "
            f"{rankings_text(config, dataset)} are scored, those of first stages too, so a relevant document "
            "outside them counts as not found." + _training_queries_text(config, scores, dataset)
        )
        if random_order_text := _random_order_text(config, scores, (dataset, candidates)):
            notes.append(random_order_text)
    return notes


def _random_order_text(config: Config, scores: Scores, pair: Pair) -> str:
    """Return what a random order of the candidates is worth, and which models are worth less; empty if not counted."""
    dataset = pair[0]
    measure = ordered_measures(config, scores, dataset)[0]
    random_mean = scores.random_order_mean(pair, measure)
    if random_mean is None:
        return ""
    worse_models = dict.fromkeys(
        f"{config.configured_label(run.model)} {regime_label(run.regime)}"
        for run in scores.reranked(pair)
        if (results := scores.get(run, measure)) is not None and results.values.mean() < random_mean
    )
    label = config.dataset_label(dataset)
    text = f"{label}: a random order of the candidates has {measure} {random_mean:.3f}"
    return f"{text}, more than {listed(worse_models)}." if worse_models else f"{text}."


def rankings_text(config: Config, dataset: str) -> str:
    """Return how deep the scored rankings of a data set are: "rankings of up to 100 documents"."""
    return f"rankings of up to {config.scoring_depth(dataset).documents} documents"


def _stand_in_notes(
    config: Config, scores: Scores, pairs: Iterable[Pair], table_models: Iterable[str] | None = None
) -> list[str]:
    """What stands in for hyperlinks, and for attention in HARP, where a model of the table (of `table_models`, if
    given) was pre-trained on it."""
    pairs = set(pairs)
    displayed_models = {
        run.model.partition("@")[0] for run in scores.runs() if (run.dataset, run.candidates) in pairs
    }
    if table_models is not None:
        displayed_models &= set(table_models)
    models = [config.models[name] for name in config.with_starts(displayed_models)]
    objectives = [config.objectives[task.objective] for model in models for task in model.tasks]
    notes = weight_notes(objectives)
    if config.graph.mentions == "titles" and any("graph" in needs(options) for options in objectives):
        notes.append(
            "Links of the pre-training text are not only its hyperlinks: exact mentions of other documents' titles "
            "count as links too (graph.mentions: titles)."
        )
    if any(getattr(options, "links", None) == "symmetric" for options in objectives):
        notes.append("LTM takes articles that link each other in place of See Also links (links: symmetric).")
    return notes


def weight_notes(objectives: Iterable[Section]) -> list[str]:
    """Return what HARP's objectives weigh words by in place of attention; nothing where there are none of them."""
    if any(isinstance(options, AnchorOptions) for options in objectives):
        return ["HARP weighs words and anchors by idf here, not by BERT's attention."]
    return []


def _training_queries_text(config: Config, scores: Scores, dataset: str) -> str:
    regimes = {run.regime for run in scores.runs() if run.dataset == dataset}
    if dataset not in config.datasets or regimes <= {FIRST_STAGE, "zero-shot"}:
        return ""
    if config.datasets[dataset].is_cross_validated:
        return " Fine-tuned under cross-validation."
    return f" Fine-tuned on queries of {config.dataset_label(config.trained_on(dataset))}."


def number_of_queries(scores: Scores, dataset: str) -> int:
    """Return the number of queries of a data set in the results; 0 where it was not run."""
    results_of_runs = (scores.any_measure(run) for run in scores.runs() if run.dataset == dataset)
    return next((len(results.query_ids) for results in results_of_runs if results is not None), 0)


# What is compared, for a reader who is new to it.


def background(papers: Sequence[Published]) -> list[str]:
    """Return what is compared and why, and a paragraph a paper."""
    return [
        "One run of IR-Pretrain, which rebuilds papers on pre-training and term weighting for ad-hoc retrieval. A "
        "first stage finds candidates for each query, by words and their weights; a cross-encoder, which reads query "
        "and document together, puts them into a new order. The questions are whether learned weights find more, and "
        "whether pre-training makes the order better: zero-shot, before a model is fine-tuned, and fine-tuned on "
        "judged queries other than those it is tested on.",
        *(paper.summary for paper in papers),
    ]
