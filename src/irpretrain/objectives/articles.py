"""Articles as objectives read them: fields, sections, and where characters of the body are in the token store."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, NO_ANCHOR
from irpretrain.objectives.groups import Span
from irpretrain.text.texts import body_start
from irpretrain.text.token_store import TokenStore
from irpretrain.text.words import count_spaced
from irpretrain.wikipedia.article import Section, read_sections

ARTICLES_PER_BATCH = 512


@dataclass(frozen=True)
class ShardArticle:
    """A document, its sections (one, the whole body, where its format has no structure) and its word pieces."""

    number: int  # its row in the shard
    # document_id, title, body, sections: as in the DOCUMENTS table, the title without white space around it.
    document_id: str
    location: tuple[int, int]  # its (part, position)
    title: str
    body: str
    sections: list[Section]
    # store, row: where its word pieces are.
    store: TokenStore
    row: int
    body_start: int  # character of the text in the token store at which the body begins
    language: str  # of its text

    @property
    def levels(self) -> list[int]:
        return [section.level for section in self.sections]

    @property
    def stored_pieces(self) -> int:
        """Word pieces in the token store, of all fields."""
        return int(self.store.lengths[self.row])

    @cached_property
    def length(self) -> int:
        """Words (`text.words`) of the body."""
        return count_spaced(self.body, self.language)

    def words(self, start: int, end: int) -> int:
        """Return the number of words (`text.words`) of some characters of the body."""
        return count_spaced(self.body[start:end], self.language)

    def pieces(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the word pieces (first, last exclusive) that begin in some characters of the body.

        None without a word in these characters, or beyond the stored pieces.
        """
        first, last = self.store.span(self.row, self.body_start + start, self.body_start + end)
        return (first, last) if first < last else None

    def pieces_of(self, spans: np.ndarray) -> np.ndarray:
        """Return `pieces` of many non-empty spans, int [spans, 2]; `NO_ANCHOR` for spans without pieces."""
        pieces = self.store.pieces_before(self.row, self.body_start + spans)
        pieces[pieces[:, 0] >= pieces[:, 1]] = NO_ANCHOR
        return pieces

    def span(self, start: int, end: int) -> Span | None:
        pieces = self.pieces(start, end)
        return None if pieces is None else Span(self.document_id, *pieces)


def stream_articles(
    documents: str | Path, tokens: str | Path, text: TextConfig, wanted: pa.Array | None = None
) -> Iterator[ShardArticle | None]:
    """Yield the `wanted` (or all) articles of a shard in corpus order; None for a disambiguation page.

    Raises:
        ConfigError: `text.fields` leaves out the body.
        InputError: the token store lacks a document.
        IntegrityError: the token store was made without positions.
    """
    store = TokenStore.open([tokens])
    identifiers = DOCUMENTS.read(documents, columns=["document_id"])["document_id"]
    chosen = np.ones(len(identifiers), bool)
    if wanted is not None:
        chosen = pc.is_in(identifiers, value_set=wanted).to_numpy()
    rows = store.rows(identifiers.filter(pa.array(chosen)))
    columns = ["document_id", "part", "position", "title", "body", "sections", "disambiguation", *text.fields]
    rest = _chosen(documents, list(dict.fromkeys(columns)), chosen)
    for number, row, document in zip(np.flatnonzero(chosen), rows, rest, strict=True):
        if document["disambiguation"]:
            yield None
            continue
        yield ShardArticle(
            int(number),
            document["document_id"],
            (document["part"], document["position"]),
            document["title"].strip(),
            document["body"],
            read_sections(document["sections"], document["body"]),
            store,
            int(row),
            body_start(document, text),
            text.language,
        )


def _chosen(documents: str | Path, columns: list[str], chosen: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield the rows of a DOCUMENTS table that `chosen`, bool [documents], marks."""
    before = 0
    for batch in DOCUMENTS.stream(documents, columns, ARTICLES_PER_BATCH):
        yield from batch.filter(pa.array(chosen[before : before + len(batch)])).to_pylist()
        before += len(batch)
