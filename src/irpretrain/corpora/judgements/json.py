"""Format `json` of judgements: `{"<query>": {"<document>": <relevance>, ...}, ...}` (LeCaRD, ir_measures)."""

from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, judgement, read_json
from irpretrain.corpora.records import Judgement, Malformed, Skipped

OPTIONS = NoOptions


def read(path: Path, options: NoOptions) -> Iterator[Judgement | Skipped | Malformed]:
    """Yield the judgements in the order of the file; a position is the number of the judgement in it."""
    content = read_json(path)
    if not isinstance(content, dict):
        yield (
            content
            if isinstance(content, Malformed)
            else Malformed(0, "not a JSON object", "queries are wanted")
        )
        return
    position = 0
    for query, documents in content.items():
        if not isinstance(documents, dict):
            yield Malformed(position, "not a JSON object", f"documents of query {query!r} are wanted")
            position += 1
            continue
        for document, relevance in documents.items():
            whole = isinstance(relevance, int) and not isinstance(relevance, bool)
            yield judgement(query, document, str(relevance) if whole else repr(relevance), position)
            position += 1
