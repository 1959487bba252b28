"""What no comparison of any configuration may differ in."""

from collections.abc import Iterable

from irpretrain.config.papers import FIRST_STAGE
from irpretrain.evaluation.ledger import RunFacts, by_tested_texts, differences


def unlike(rows: Iterable[RunFacts]) -> dict[str, dict[str, list[RunFacts]]]:
    """Return what no comparison may differ in: queries, depth, candidate lists of re-ranked runs, and what pre-training
    reads of a file or shares with the tested corpus."""
    rows = list(rows)
    reranked = [row for row in rows if row.regime != FIRST_STAGE]
    differing = differences(rows, ["dataset", "queries", "seen"]) | differences(reranked, ["candidates"])
    by_file: dict[str, dict[str, list[RunFacts]]] = {}
    for row in rows:
        for text in row.texts:
            for file in text.files:
                by_file.setdefault(file, {}).setdefault(text.part, []).append(row)
    differing |= {file: by_text for file, by_text in by_file.items() if len(by_text) > 1}
    tested = by_tested_texts(rows)
    return differing | ({"tested_texts": tested} if tested else {})
