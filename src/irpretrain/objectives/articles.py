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
from irpretrain.text.compose import body_start
from irpretrain.text.lengths import count_spaced
from irpretrain.text.token_store import TokenStore
from irpretrain.wikipedia.article import Section
from irpretrain.wikipedia.tree import read_sections

ARTICLES_PER_BATCH = 512


@dataclass(frozen=True)
class Article:
    """A document, its sections (one, the whole body, where its format has no structure) and its word pieces.

    Attributes:
        number: its row in the shard.
        document_id, title, body, sections: as in the DOCUMENTS table, the title without white space around it.
        place: its (part, position).
        store, row: where its word pieces are.
        body_start: character of the text in the token store at which the body begins.
        language: of its text.
    """

    number: int
    document_id: str
    place: tuple[int, int]
    title: str
    body: str
    sections: list[Section]
    store: TokenStore
    row: int
    body_start: int
    language: str

    @property
    def levels(self) -> list[int]:
        """Level of each section."""
        return [section.level for section in self.sections]

    @property
    def stored_pieces(self) -> int:
        """Word pieces in the token store, of all fields."""
        return int(self.store.lengths[self.row])

    @cached_property
    def length(self) -> int:
        """Words (`text.lengths`) of the body."""
        return count_spaced(self.body, self.language)

    def words(self, start: int, end: int) -> int:
        """Return the number of words (`text.lengths`) of some characters of the body."""
        return count_spaced(self.body[start:end], self.language)

    def pieces(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the word pieces (first, last exclusive) that begin in some characters of the body.

        None where there are none: the characters hold no word, or lie beyond what the token store keeps.
        """
        first, last = self.store.span(self.row, self.body_start + start, self.body_start + end)
        return (first, last) if first < last else None

    def pieces_of(self, spans: np.ndarray) -> np.ndarray:
        """Return `pieces` of many spans, int [spans, 2], of which none is empty; `NO_ANCHOR` where there are none."""
        pieces = self.store.pieces_before(self.row, self.body_start + spans)
        pieces[pieces[:, 0] >= pieces[:, 1]] = NO_ANCHOR
        return pieces

    def span(self, start: int, end: int) -> Span | None:
        """Return `pieces` as a span of this document."""
        pieces = self.pieces(start, end)
        return None if pieces is None else Span(self.document_id, *pieces)


def stream_articles(
    documents: str | Path, tokens: str | Path, text: TextConfig, wanted: pa.Array | None = None
) -> Iterator[Article | None]:
    """Yield the articles of a shard in corpus order; None for a disambiguation page.

    Args:
        documents: DOCUMENTS table of the shard.
        tokens: its token store.
        text: fields that made the token store.
        wanted: identifiers of the documents to yield; others are not looked at. All where not given.

    Raises:
        ConfigError: `text.fields` leaves out the body, so that the token store has no place for its characters.
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
        yield Article(
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
    """Yield those rows of a DOCUMENTS table that `chosen`, bool [documents], says."""
    before = 0
    for batch in DOCUMENTS.stream(documents, columns, ARTICLES_PER_BATCH):
        yield from batch.filter(pa.array(chosen[before : before + len(batch)])).to_pylist()
        before += len(batch)
