"""What one shard of a corpus offers to an objective: articles as objectives read them, counts, and the files of its
groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.objectives import load_objective
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS, NO_ANCHOR
from irpretrain.foundation.errors import ConfigError, IntegrityError, cli_or_api
from irpretrain.foundation.out_of_core import merge_rounds
from irpretrain.foundation.progress import progress
from irpretrain.foundation.randomness import generator
from irpretrain.foundation.records import Section
from irpretrain.objectives.groups import Span
from irpretrain.text.texts import body_start
from irpretrain.text.token_store import TokenStore
from irpretrain.text.words import count_spaced
from irpretrain.wikipedia.article import read_sections

ARTICLES_PER_BATCH = 512


@dataclass(frozen=True)
class ShardArticle:
    """A document, its sections (one, the whole body, where its format has no structure) and its word pieces."""

    shard_row: int  # its row in the shard
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
        first_piece, end_piece = self.store.span(self.row, self.body_start + start, self.body_start + end)
        return (first_piece, end_piece) if first_piece < end_piece else None

    def pieces_of(self, spans: np.ndarray) -> np.ndarray:
        """Return `pieces` of many non-empty spans, int [spans, 2]; `NO_ANCHOR` for spans without pieces."""
        pieces = self.store.pieces_before(self.row, self.body_start + spans)
        pieces[pieces[:, 0] >= pieces[:, 1]] = NO_ANCHOR
        return pieces

    def span(self, start: int, end: int) -> Span | None:
        pieces = self.pieces(start, end)
        return None if pieces is None else Span(self.document_id, *pieces)


def stream_articles(
    documents: str | Path, tokens: str | Path, text: TextConfig, document_ids: pa.Array | None = None
) -> Iterator[ShardArticle | None]:
    """Yield the `document_ids` (or all) articles of a shard in corpus order; None for a disambiguation page.

    Raises:
        ConfigError: `text.fields` leaves out the body.
        InputError: the token store lacks a document.
        IntegrityError: the token store was made without positions.
    """
    store = TokenStore.open([tokens])
    identifiers = DOCUMENTS.read(documents, columns=["document_id"])["document_id"]
    is_selected = np.ones(len(identifiers), bool)
    if document_ids is not None:
        is_selected = pc.is_in(identifiers, value_set=document_ids).to_numpy()
    rows = store.rows(identifiers.filter(pa.array(is_selected)))
    columns = ["document_id", "part", "position", "title", "body", "sections", "disambiguation", *text.fields]
    selected_rows = _read_selected(documents, list(dict.fromkeys(columns)), is_selected)
    for shard_row, row, document in zip(np.flatnonzero(is_selected), rows, selected_rows, strict=True):
        if document["disambiguation"]:
            yield None
            continue
        yield ShardArticle(
            int(shard_row),
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


def _read_selected(
    documents: str | Path, columns: list[str], is_selected: np.ndarray
) -> Iterator[dict[str, Any]]:
    rows_before = 0
    for batch in DOCUMENTS.stream(documents, columns, ARTICLES_PER_BATCH):
        yield from batch.filter(pa.array(is_selected[rows_before : rows_before + len(batch)])).to_pylist()
        rows_before += len(batch)


def encoder_remedy() -> str:
    """Return how a call of the library, which may have none, names an encoder."""
    return cli_or_api("name one: Collection(..., encoder=...)", "name one: --encoder DIR")


Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """One shard of a corpus and its collection's files; those that the objective's `NEEDS` does not name are empty."""

    documents: str | Path  # DOCUMENTS table of the shard, in corpus order
    text: TextConfig  # how fields become a text, and a text words
    seed: int  # of the random streams
    tokens: str | Path = ""  # token store of the shard; it knows characters where `positions` are needed
    statistics: str | Path = ""  # WORD_COUNTS of the collection
    graph: str | Path = ""  # directory of the collection's graph
    collection: tuple[str | Path, ...] = ()  # DOCUMENTS tables of all shards of the collection
    collection_tokens: tuple[str | Path, ...] = ()  # token stores of these shards, in the same order
    anchor_texts: str | Path = ""  # ANCHOR_TEXTS table of the collection
    axiom_values: str | Path = ""  # AXIOM_VALUES of the shard's pseudo-queries
    predictor: str | Path = ""  # directory of the preference predictor that the objective's options name
    axioms: AxiomsConfig = field(default_factory=AxiomsConfig)  # how axioms compare queries

    def articles(self, counts: Counts) -> Iterator[ShardArticle]:
        """Yield the documents in corpus order, without disambiguation pages, and count; see `stream_articles`."""
        if not self.tokens:
            raise ConfigError(f"the objective reads the word pieces of an encoder; {encoder_remedy()}")
        counts.update(documents=0, skipped=Counter(disambiguation=0), groups_not_made=Counter())
        articles = stream_articles(self.documents, self.tokens, self.text)
        for article in progress(articles, f"groups {Path(self.documents).stem}", "documents"):
            counts["documents"] += 1
            if article is None:
                counts["skipped"]["disambiguation"] += 1
            else:
                yield article
                counts.close_document()

    def stream(self, objective: str, identifier: str) -> np.random.Generator:
        """Return the random stream of a document (or of what else is named) in an objective."""
        return generator(self.seed, objective, identifier)


class Counts(dict[str, Any]):
    """The counts of an objective on a shard; `counts["repeated"] += 1` starts at 0.

    `Shard.articles` counts documents, skipped (documents without a group, by their first reason) and groups_not_made
    (by reason, of documents that gave others).
    """

    def __init__(self) -> None:
        super().__init__()
        self._skip_reasons: Counter[str] = Counter()
        self._has_groups = False

    def __missing__(self, name: str) -> int:
        return 0

    def skip(self, reason: str) -> None:
        """Say why the document gives no group, or one fewer than it could."""
        self._skip_reasons[reason] += 1

    def tally(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass on groups, or drafts of them; the document that one was made of is not skipped."""
        for item in items:
            self._has_groups = True
            yield item

    def close_document(self) -> None:
        if self._has_groups:
            self["groups_not_made"].update(self._skip_reasons)
        else:
            self["skipped"][next(iter(self._skip_reasons), "no_groups")] += 1
        self._has_groups = False
        self._skip_reasons.clear()


def write_groups(shard: Shard, options: Any, output: str | Path) -> dict[str, Any]:
    """Write an objective's groups of a shard, whole or not at all; return its counts, groups and sequences."""
    counts = Counts()
    group_count = sequence_count = 0
    with GROUPS.writing(output) as writer:
        for batch in counts.tally(load_objective(options).make_groups(shard, options, counts)):
            if isinstance(batch, pa.Table):
                writer.add(batch)
                group_count += batch.num_rows
                sequence_count += pc.sum(pc.list_value_length(batch["scores"])).as_py() or 0
            else:
                writer.add_row(batch)
                group_count += 1
                sequence_count += len(batch["scores"])
    report = {name: dict(sorted(n.items())) if isinstance(n, Counter) else n for name, n in counts.items()}
    return {**report, "groups": group_count, "sequences": sequence_count}


# The order of merged groups, which does not depend on the shards.
ORDER_COLUMNS = ("part", "position", "sample")


def merge_groups(corpora: Sequence[Sequence[str | Path]], output: str | Path) -> dict[str, Any]:
    """Merge GROUPS tables that are each in corpus order; return counts of corpora, shards, groups.

    Args:
        corpora: the shard files of each corpus. Corpora keep their order; within a corpus groups are sorted by (part,
            position, sample).
        output: a GROUPS table; its bytes depend on neither number nor order of the shards of a corpus.
    """
    with GROUPS.writing(output) as writer:
        for corpus in corpora:
            tables = merge_rounds([GROUPS.stream(shard) for shard in corpus], ORDER_COLUMNS)
            total = sum(map(GROUPS.count, corpus))
            for rows in progress(_check_order(tables, corpus), "merge groups", "groups", total, size=len):
                writer.add(rows)
        groups = writer.rows
    return {"corpora": len(corpora), "shards": sum(map(len, corpora)), "groups": groups}


def _check_order(tables: Iterator[pa.Table], corpus: Sequence[str | Path]) -> Iterator[pa.Table]:
    """Refuse locations that occur twice or go back, which a shard out of order would cause."""
    last_location: tuple[int, ...] = (-1,)
    for rows in tables:
        locations = list(zip(*(rows.column(name).to_pylist() for name in ORDER_COLUMNS), strict=True))
        if any(second <= first for first, second in pairwise([last_location, *locations])):
            raise IntegrityError(
                corpus[0],
                "the groups of this corpus's shards overlap or are out of order",
                remedy="Delete the shards' groups and run the workflow again.",
            )
        last_location = locations[-1]
        yield rows
