"""Documents with text added to them: Doc2Query-style expansion (Nogueira et al., 2019), from a file or by queries that
a model wrote.

The weight of a word is how often it occurs in the document and the added text together, so an index of these vectors
scores as an index of the longer texts would.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, EXPANSIONS, TERM_VECTORS
from irpretrain.errors import InputError
from irpretrain.evaluation.runs import numbered_lines
from irpretrain.given_json import NESTED
from irpretrain.progress import progress
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.keyed_texts import document_texts

DOCUMENTS_AT_ONCE = 1024
"""Documents in memory at a time."""


def expand_documents(
    documents: str | Path, expansion: str | Path, times: int, text: TextConfig, output: str | Path
) -> dict[str, int]:
    """Count the words of documents and of what is added to them.

    Args:
        documents: DOCUMENTS table, one shard.
        expansion: text to add, as `indexes.<name>.path` describes it, or an EXPANSIONS table.
        times: how often added text counts.
        output: TERM_VECTORS table.

    Returns:
        Counts: documents, those without added text, lines (or rows) of documents that this shard lacks.

    Raises:
        InputError: a line cannot be read.
    """
    document_ids = set(DOCUMENTS.read(documents, ["document_id"])["document_id"].to_pylist())
    added: dict[str, list[str]] = {}
    elsewhere = 0
    for document, texts in _read_expansion(expansion):
        if document in document_ids:
            added.setdefault(document, []).extend(texts)
        else:
            elsewhere += 1
    analyser = Analyser.words_only(text.word_kind)
    counts = {"documents": 0, "documents_without_addition": 0, "lines_of_other_documents": elsewhere}

    def rows() -> Iterator[dict[str, Any]]:
        for texts in document_texts(documents, text, DOCUMENTS_AT_ONCE):
            document_words = analyser.terms([keyed.text for keyed in texts])
            more = analyser.terms(["\n".join(added.get(keyed.document_id, ())) for keyed in texts])
            for keyed, words, further in zip(texts, document_words, more, strict=True):
                word_counts = Counter(words)
                for word in further:
                    word_counts[word] += times
                counts["documents"] += 1
                counts["documents_without_addition"] += keyed.document_id not in added
                yield keyed.key | {
                    "terms": [{"term": word, "weight": word_counts[word]} for word in sorted(word_counts)]
                }

    TERM_VECTORS.write(output, progress(rows(), "expand documents", "documents"))
    return counts


def _read_expansion(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (document, texts) of each row, or line: a JSON object, or a document, a tab and a text."""
    if Path(path).suffix == ".parquet":
        for batch in EXPANSIONS.stream(path, ["document_id", "queries"], DOCUMENTS_AT_ONCE):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return
    for number, line in numbered_lines(path):
        if line.lstrip().startswith("{"):
            yield _read_json(path, number, line)
        else:
            document, tab, text = line.rstrip("\r\n").partition("\t")
            if not tab or not document:
                raise InputError(path, "a line has a document, a tab and a text, or is a JSON object", number)
            yield document, [text]


def _read_json(path: str | Path, number: int, line: str) -> tuple[str, list[str]]:
    try:
        record = json.loads(line)
    except RecursionError:
        raise InputError(path, f"this is not JSON: {NESTED}", number) from None
    except ValueError as error:
        raise InputError(path, f"this is not JSON ({error})", number) from None
    document = record.get("document_id", record.get("id"))
    texts = record.get("queries", record.get("text"))
    texts = [texts] if isinstance(texts, str) else texts
    if (
        not isinstance(document, str)
        or not isinstance(texts, list)
        or not all(isinstance(t, str) for t in texts)
    ):
        layout = "document_id (or id), a text, and queries, a list of texts, or text"
        raise InputError(path, f"a JSON line has {layout}", number)
    return document, texts
