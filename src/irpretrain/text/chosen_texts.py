"""The texts of some documents of a corpus, found by their identifiers."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import InputError
from irpretrain.text.compose import texts_of

TEXTS_AT_ONCE = 512


def stream_chosen(
    documents: Sequence[str | Path], wanted: Collection[str], options: TextConfig
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (identifiers, texts) of the wanted documents in the corpus's order, some hundreds at a time.

    Of row groups without any of them only the identifiers are read.

    Args:
        documents: DOCUMENTS tables of the corpus.

    Raises:
        InputError: at the end, where the corpus lacks a document.
    """
    columns = list(dict.fromkeys(["document_id", *options.fields]))
    missing = set(wanted)
    for path in documents:
        for batch in DOCUMENTS.stream_chosen(path, wanted, columns, rows=TEXTS_AT_ONCE):
            identifiers = batch.column("document_id").to_pylist()
            missing.difference_update(identifiers)
            yield identifiers, texts_of(batch, options)
    if missing:
        raise InputError(
            Path(documents[0]).parent,
            f"{len(missing):,} documents are not in the corpus, such as {min(missing)}",
            remedy="They must be documents of the data set's corpus.",
        )


def read_chosen(
    documents: Sequence[str | Path], wanted: Collection[str], options: TextConfig
) -> dict[str, str]:
    """Return the text of each wanted document, as `stream_chosen` yields them."""
    return {
        document: text
        for identifiers, texts in stream_chosen(documents, wanted, options)
        for document, text in zip(identifiers, texts, strict=True)
    }
