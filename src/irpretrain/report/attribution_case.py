"""Which query and document a page of attributions shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from irpretrain.config.attributions import AttributionConfig
from irpretrain.errors import ConfigError
from irpretrain.evaluation.qrels import Qrels, relevant
from irpretrain.evaluation.runs import Run


class Case(NamedTuple):
    """A query (its id is None for one of the user's own) and a document."""

    query: str | None
    text: str
    document: str


def choose_case(
    name: str, options: AttributionConfig, texts: Mapping[str, str], qrels: Qrels, runs: Sequence[Run]
) -> Case:
    """Return the case that the configuration names; what it leaves out is chosen by the models' disagreement.

    Of the relevant documents that every run holds, the one is taken whose best and worst ranks lie furthest apart: of
    all queries or of the one that is named; of equal ones the first by query id, then by document id.

    Args:
        name: of the page, for messages.
        options: its section.
        texts: query → text.
        qrels: judgements.
        runs: the run of each model.

    Raises:
        ConfigError: the query is not in the data set, or no relevant document is among the candidates.
    """
    where = f"attributions.{name}"
    if options.text is not None:
        return Case(None, options.text, str(options.document))
    if options.query is not None and options.query not in texts:
        raise ConfigError(f"{where}.query: {options.query!r} is not among the queries of {options.dataset}")
    if options.query is not None and options.document is not None:
        return Case(options.query, texts[options.query], options.document)
    queries = sorted(texts) if options.query is None else [options.query]
    found = [
        (-spread, query, document) for query in queries for document, spread in spreads(query, qrels, runs)
    ]
    if not found:
        raise ConfigError(
            f"{where}: no relevant document of {options.query or 'any query'} is a candidate of every model; "
            "name a query and a document"
        )
    _, query, document = min(found)
    return Case(query, texts[query], document)


def spreads(query: str, qrels: Qrels, runs: Sequence[Run]) -> list[tuple[str, int]]:
    """Return each relevant document that every run holds, and its worst rank minus its best."""
    ranks = [{document: place for place, (document, _) in enumerate(run.get(query, ()))} for run in runs]
    found = []
    for document in relevant(qrels.get(query, {})):
        places = [of_run.get(document) for of_run in ranks]
        known = [place for place in places if place is not None]
        if known and len(known) == len(places):
            found.append((document, max(known) - min(known)))
    return found
