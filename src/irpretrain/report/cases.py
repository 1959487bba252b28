"""Which queries and documents coloured texts show: those that the configuration names, or those on which runs disagree
most."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from irpretrain.config.experiments import AttributionConfig, TermWeightPageConfig, WeightCaseConfig
from irpretrain.errors import ConfigError
from irpretrain.evaluation.runs import Qrels, Run, relevant

# Cases that a page of term weights chooses: as many queries as DeepCT's Table 5 shows.
CASES = 3


class Case(NamedTuple):
    """A query (its id is None for one of the user's own) and some documents."""

    query: str | None
    text: str
    documents: tuple[str, ...]


def choose_case(
    name: str, options: AttributionConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> Case:
    """Return the case that the configuration names; what it leaves out is chosen by the models' disagreement.

    Args:
        texts: query → text.
        runs: the run of each model.

    Raises:
        ConfigError: the query is not in the data set, or no relevant document is among the candidates.
    """
    where = f"attributions.{name}"
    if options.text is not None:
        return Case(None, options.text, (str(options.document),))
    if options.query is not None:
        _check_query(f"{where}.query", options.query, options.dataset, texts)
        if options.document is not None:
            return Case(options.query, texts[options.query], (options.document,))
    disagreed = disagreements(texts if options.query is None else [options.query], qrels, runs)
    if not disagreed:
        raise ConfigError(
            f"{where}: no relevant document of {options.query or 'any query'} is a candidate of every model; "
            "name a query and a document"
        )
    query, document = disagreed[0]
    return Case(query, texts[query], (document,))


def choose_cases(
    name: str, options: TermWeightPageConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> list[Case]:
    """Return the cases that the configuration names, or those on which the first stages disagree most, each with the
    first run's highest document that is not judged relevant.

    Args:
        texts: query → text.
        runs: of the page's first stages.

    Raises:
        ConfigError: a query is not in the data set, or there are no documents to show.
    """
    where = f"term_weight_pages.{name}"
    if options.cases:
        return [_named(where, options.dataset, case, texts, qrels, runs[0]) for case in options.cases]
    queries = [query for query in texts if _irrelevant(query, qrels, runs[0])]
    disagreed = disagreements(queries, qrels, runs)
    if not disagreed:
        raise ConfigError(
            f"{where}: no query has a relevant document in the runs of all first_stages beside one that is not "
            "relevant; name cases"
        )
    return [
        Case(query, texts[query], (document, *_irrelevant(query, qrels, runs[0])))
        for query, document in disagreed[:CASES]
    ]


def disagreements(queries: Iterable[str], qrels: Qrels, runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return each query with the relevant document that every run holds and whose best and worst ranks lie furthest
    apart, those with the furthest first; of equal ones the first by query id, then by document id."""
    furthest = []
    for query in queries:
        ranks = [{document: rank for rank, (document, _) in enumerate(run.get(query, ()))} for run in runs]
        in_all = set(relevant(qrels.get(query, {}))).intersection(*ranks) if ranks else set()
        spreads = [
            (max(r[document] for r in ranks) - min(r[document] for r in ranks), document)
            for document in in_all
        ]
        furthest += [min((-spread, query, document) for spread, document in spreads)] if spreads else []
    return [(query, document) for _, query, document in sorted(furthest)]


def _named(
    where: str, dataset: str, case: WeightCaseConfig, texts: Mapping[str, str], qrels: Qrels, run: Run
) -> Case:
    """The case that the configuration names, with documents of the run where it names none."""
    if case.query is None:
        return Case(None, str(case.text), tuple(case.documents))
    _check_query(f"{where}.cases", case.query, dataset, texts)
    documents = case.documents or [*_relevant(case.query, qrels, run), *_irrelevant(case.query, qrels, run)]
    if not documents:
        raise ConfigError(
            f"{where}.cases: query {case.query!r} has neither a relevant document nor any that the first of "
            "first_stages finds; name documents"
        )
    return Case(case.query, texts[case.query], tuple(documents))


def _check_query(where: str, query: str, dataset: str, texts: Mapping[str, str]) -> None:
    if query not in texts:
        raise ConfigError(f"{where}: {query!r} is not among the queries of {dataset}")


def _relevant(query: str, qrels: Qrels, run: Run) -> list[str]:
    """The relevant document that the run ranks highest, or the first by id where it ranks none."""
    relevant_documents = relevant(qrels.get(query, {}))
    ranked = [document for document, _ in run.get(query, ()) if document in relevant_documents]
    return (ranked or sorted(relevant_documents))[:1]


def _irrelevant(query: str, qrels: Qrels, run: Run) -> list[str]:
    """The highest document of the run that is not judged relevant."""
    relevant_documents = relevant(qrels.get(query, {}))
    return [document for document, _ in run.get(query, ()) if document not in relevant_documents][:1]
