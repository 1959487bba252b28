"""Documents with text added to them from a file: Doc2Query-style expansion (Nogueira et al., 2019).

The weight of a word is its count in the document and the added text together, so an index of these vectors scores as an
index of the longer texts would.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.text import TextConfig
from irpretrain.corpora.checked import parse_object
from irpretrain.corpora.fields import IDENTIFIERS, as_identifier, pick_field, synonym_fault
from irpretrain.foundation.characters import clean_text, identifier_fault
from irpretrain.foundation.contracts import DOCUMENTS, TERM_VECTORS
from irpretrain.foundation.errors import InputError, count_of
from irpretrain.foundation.files import OTHER_LINE_END, Line, numbered_lines
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.provenance import read_sidecar
from irpretrain.foundation.records import Malformed
from irpretrain.retrieval.analysis import Analyser
from irpretrain.text.texts import document_texts

TEXT_FIELDS = ("queries", "text")
LINES_KEY, ELSEWHERE_KEY, WITHOUT_KEY = "lines", "lines_of_other_documents", "documents_without_addition"

# Largest share of lines of unknown documents, and of documents to which nothing is added, that is not worth a note.
NOTED_SHARE = 0.01


def expand_documents(
    documents: str | Path, expansion: str | Path, text: TextConfig, output: str | Path
) -> dict[str, Any]:
    """Count the words of one shard's documents (DOCUMENTS) and of the text added to them, as TERM_VECTORS.

    Args:
        expansion: text to add, as `indexes.<name>.path` describes it; InputError if unreadable.

    Returns:
        Counts: documents, those without added text, lines, and those of documents outside this shard.
    """
    document_ids = set(DOCUMENTS.read(documents, ["document_id"])["document_id"].to_pylist())
    additions: dict[str, list[str]] = {}
    line_count = elsewhere_count = 0
    for document_id, added_texts in _read_expansion(expansion):
        line_count += 1
        if document_id in document_ids:
            additions.setdefault(document_id, []).extend(filter(str.strip, added_texts))
        else:
            elsewhere_count += 1
    analyser = Analyser.words_only(text.word_kind)
    counts: dict[str, Any] = {"source": str(expansion), "documents": 0, WITHOUT_KEY: 0}
    counts |= {LINES_KEY: line_count, ELSEWHERE_KEY: elsewhere_count}

    def rows() -> Iterator[dict[str, Any]]:
        for text_rows in document_texts(documents, text):
            additions_of_texts = [
                "\n".join(additions.get(text_row.document_id, ())) for text_row in text_rows
            ]
            document_words = analyser.terms([text_row.text for text_row in text_rows])
            added_words = analyser.terms(additions_of_texts)
            for text_row, words, words_of_addition in zip(
                text_rows, document_words, added_words, strict=True
            ):
                word_counts = Counter([*words, *words_of_addition])
                counts["documents"] += 1
                counts[WITHOUT_KEY] += not additions.get(text_row.document_id)
                terms = [{"term": word, "weight": word_counts[word]} for word in sorted(word_counts)]
                yield text_row.key | {"terms": terms}

    TERM_VECTORS.write(output, progress(rows(), "expand documents", "documents"))
    return counts


def check_expansion(vectors: Sequence[str | Path]) -> None:
    """Refuse an expansion that adds nothing to any document; log one that misses more than `NOTED_SHARE` of lines or
    documents."""
    counts = [read_sidecar(path).get("counts", {}) for path in vectors]
    if not all(LINES_KEY in file_counts for file_counts in counts):
        return
    line_count = max(file_counts[LINES_KEY] for file_counts in counts)
    matched_count = sum(file_counts[LINES_KEY] - file_counts[ELSEWHERE_KEY] for file_counts in counts)
    source = counts[0]["source"]
    if not matched_count:
        document = next(iter(TERM_VECTORS.stream(vectors[0], ["document_id"], 1))).column(0)[0].as_py()
        raise InputError(
            source,
            f"none of its {count_of(line_count, 'line')} names a document of the corpus, whose first one is "
            f"{document!r}",
            remedy="Give the expansion of this corpus, with the identifiers that its documents have here.",
        )
    document_count = sum(file_counts["documents"] for file_counts in counts)
    unchanged_count = sum(file_counts[WITHOUT_KEY] for file_counts in counts)
    if unchanged_count == document_count:
        raise InputError(
            source,
            f"it has no text for any of the {count_of(document_count, 'document')} of the corpus",
            remedy="Give an expansion that has texts: with this one the index would be that of the documents alone.",
        )
    if unchanged_count > NOTED_SHARE * document_count:
        unchanged_text = f"{unchanged_count:,} of {count_of(document_count, 'document')}"
        notice("index", f"{source}: it adds nothing to {unchanged_text}.")
    if line_count - matched_count > NOTED_SHARE * line_count:
        elsewhere_text = f"{line_count - matched_count:,} of {count_of(line_count, 'line')}"
        notice("index", f"{source}: {elsewhere_text} name no document of the corpus.")


def _read_expansion(path: str | Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (document, texts) of each line: a JSON object, or a document, a tab and a text."""
    for line_number, line in numbered_lines(path):
        if line.lstrip().startswith("{"):
            document, texts = _read_json(path, line_number, line)
        else:
            document, tab, text = line.rstrip("\r\n").partition("\t")
            if re.search(rf"\r|{OTHER_LINE_END}\S+\t", text):
                joined_lines = Line(line_number, line).joined()
                raise InputError(path, joined_lines.detail, line_number, f"{joined_lines.remedy}.")
            if not tab or not document.strip():
                layout = "a document, a tab and a text, or is a JSON object"
                raise InputError(path, f"a line has {layout}", line_number)
            texts = [text]
        if fault := identifier_fault(document):
            raise InputError(path, f"bad identifier: {fault}", line_number)
        yield document, texts


def _read_json(path: str | Path, line_number: int, line: str) -> tuple[str, list[str]]:
    parsed = parse_object(Line(line_number, line))
    if isinstance(parsed, Malformed):
        raise InputError(path, str(parsed), line_number, f"{parsed.remedy}.")
    record = parsed.fields
    for field_names in (IDENTIFIERS, TEXT_FIELDS):
        if fault := synonym_fault(record, None, field_names):
            raise InputError(path, fault, line_number, "Keep one of them.")
    key = pick_field(record, None, IDENTIFIERS)
    document = as_identifier(record[key]) if key else None
    texts = record.get("queries", record.get("text"))
    texts = [texts] if isinstance(texts, str) else texts
    if not document or not isinstance(texts, list) or not all(isinstance(item, str) for item in texts):
        layout = f"{' or '.join(IDENTIFIERS)}, and queries, a list of texts, or text"
        raise InputError(path, f"a JSON line has {layout}", line_number)
    return document, list(map(clean_text, texts))
