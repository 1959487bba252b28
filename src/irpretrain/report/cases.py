"""Which queries and documents coloured texts show: those that the configuration names, or those on which runs disagree
most."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from irpretrain.config.experiments import WeightCaseConfig
from irpretrain.errors import ConfigError
from irpretrain.evaluation.runs import Qrels, Run, relevant


class Case(NamedTuple):
    """A query (its id is None for one of the user's own) and some documents."""

    query: str | None
    text: str
    documents: tuple[str, ...]


def choose_cases(
    where: str,
    named: Sequence[WeightCaseConfig],
    texts: Mapping[str, str],
    qrels: Qrels,
    runs: Sequence[Run],
    most: int = 1,
    is_contrasted: bool = False,
) -> list[Case]:
    """Return the named cases, or `most` queries on which runs disagree most.

    Documents that are not named are the relevant one whose best and worst ranks lie furthest apart (of equal ones the
    first by query id, then by document id) and, if `is_contrasted`, the first run's highest without relevance.

    Args:
        where: key of the configuration, for messages.
        texts: query → text.

    Raises:
        ConfigError: a query is not in the data set, or no run holds a relevant document to show.
    """

    def chosen(queries: Iterable[str], most: int) -> list[Case]:
        queries = list(queries)
        cases = []
        for query, document in _disagreements(queries, qrels, runs)[:most]:
            judged = relevant(qrels.get(query, {}))
            others = [other for other, _ in runs[0].get(query, ()) if other not in judged]
            documents = (document, *others[:1]) if is_contrasted else (document,)
            cases.append(Case(query, texts[query], documents))
        if not cases:
            which = f"query {queries[0]!r}" if len(queries) == 1 else "any query"
            raise ConfigError(
                f"{where}: no relevant document of {which} is in all runs; name query and document"
            )
        return cases

    cases = []
    for case in named:
        if case.query is not None and case.query not in texts:
            raise ConfigError(f"{where}: {case.query!r} is not among the queries of the data set")
        if case.documents:
            text = texts[case.query] if case.query is not None else str(case.text)
            cases.append(Case(case.query, text, tuple(case.documents)))
        else:
            cases += chosen([str(case.query)], 1)
    return cases if named else chosen(texts, most)


def _disagreements(queries: Iterable[str], qrels: Qrels, runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Each query with the relevant document on whose rank runs disagree most, the furthest apart first."""
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
