"""Which queries and documents the pages of attributions and of term weights show."""

from collections.abc import Mapping, Sequence
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

    @property
    def document(self) -> str:
        """The first document."""
        return self.documents[0]


def choose_case(
    name: str, options: AttributionConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> Case:
    """Return the case that the configuration names; what it leaves out is chosen by the models' disagreement.

    Of the relevant documents that every run holds, the one is taken whose best and worst ranks lie furthest apart: of
    all queries or of the one that is named; of equal ones the first by query id, then by document id.

    Args:
        texts: query → text.
        runs: the run of each model.

    Raises:
        ConfigError: the query is not in the data set, or no relevant document is among the candidates.
    """
    where = f"attributions.{name}"
    if options.text is not None:
        return Case(None, options.text, (str(options.document),))
    if options.query is not None and options.query not in texts:
        raise ConfigError(f"{where}.query: {options.query!r} is not among the queries of {options.dataset}")
    if options.query is not None and options.document is not None:
        return Case(options.query, texts[options.query], (options.document,))
    queries = sorted(texts) if options.query is None else [options.query]
    candidates = [
        (-spread, query, document) for query in queries for document, spread in spreads(query, qrels, runs)
    ]
    if not candidates:
        raise ConfigError(
            f"{where}: no relevant document of {options.query or 'any query'} is a candidate of every model; "
            "name a query and a document"
        )
    _, query, document = min(candidates)
    return Case(query, texts[query], (document,))


def choose_cases(
    name: str, options: TermWeightPageConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> list[Case]:
    """Return the cases that the configuration names, or those on which the first stages disagree most.

    Where no case is named: of each query the relevant document that every run holds and whose best and worst ranks lie
    furthest apart, with the first run's highest document that is not judged relevant; of all queries those with the
    furthest; of equal ones the first by query id, then by document id.

    Args:
        texts: query → text.
        runs: of the page's first stages.

    Raises:
        ConfigError: a query is not in the data set, or there are no documents to show.
    """
    where = f"term_weight_pages.{name}"
    if options.cases:
        return [_given(where, options.dataset, case, texts, qrels, runs[0]) for case in options.cases]
    candidates = sorted(
        min((-spread, query, document) for document, spread in differing)
        for query in texts
        if (differing := spreads(query, qrels, runs)) and _irrelevant(query, qrels, runs[0])
    )
    if not candidates:
        raise ConfigError(
            f"{where}: no query has a relevant document in the runs of all first_stages beside one that is not "
            "relevant; name cases"
        )
    return [
        Case(query, texts[query], (document, *_irrelevant(query, qrels, runs[0])))
        for _, query, document in candidates[:CASES]
    ]


def _given(
    where: str, dataset: str, case: WeightCaseConfig, texts: Mapping[str, str], qrels: Qrels, run: Run
) -> Case:
    """The case that the configuration names, with documents of the run where it names none."""
    if case.query is None:
        return Case(None, str(case.text), tuple(case.documents))
    if case.query not in texts:
        raise ConfigError(f"{where}.cases: {case.query!r} is not among the queries of {dataset}")
    documents = case.documents or [*_relevant(case.query, qrels, run), *_irrelevant(case.query, qrels, run)]
    if not documents:
        raise ConfigError(
            f"{where}.cases: query {case.query!r} has neither a relevant document nor any that the first of "
            "first_stages finds; name documents"
        )
    return Case(case.query, texts[case.query], tuple(documents))


def _relevant(query: str, qrels: Qrels, run: Run) -> list[str]:
    """The relevant document that the run ranks highest, or the first by id where it ranks none."""
    relevant_documents = relevant(qrels.get(query, {}))
    ranked = [document for document, _ in run.get(query, ()) if document in relevant_documents]
    return (ranked or sorted(relevant_documents))[:1]


def _irrelevant(query: str, qrels: Qrels, run: Run) -> list[str]:
    """The highest document of the run that is not judged relevant."""
    relevant_documents = relevant(qrels.get(query, {}))
    return [document for document, _ in run.get(query, ()) if document not in relevant_documents][:1]


def spreads(query: str, qrels: Qrels, runs: Sequence[Run]) -> list[tuple[str, int]]:
    """Return each relevant document that every run holds, and its worst rank minus its best."""
    ranks = [{document: rank for rank, (document, _) in enumerate(run.get(query, ()))} for run in runs]
    spread_by_document = []
    for document in relevant(qrels.get(query, {})):
        ranked_at = [of_run.get(document) for of_run in ranks]
        ranked = [rank for rank in ranked_at if rank is not None]
        if ranked and len(ranked) == len(ranked_at):
            spread_by_document.append((document, max(ranked) - min(ranked)))
    return spread_by_document
