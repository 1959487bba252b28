"""Articles as objectives read them: fields, sections, and where characters of the body are in the token store.

`write_groups` is the loop that objectives with one document at a time share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from irpretrain.config.text import TextConfig
from irpretrain.objectives.groups import Span
from irpretrain.wikipedia.tree import SectionRow, read_sections

if TYPE_CHECKING:
    import pyarrow as pa

    from irpretrain.text.token_store import TokenStore

ARTICLES_PER_BATCH = 512
LOOKED_THROUGH_PER_BATCH = 4096
"""Where few of them are wanted: each batch costs a pass over the wanted identifiers and those of the token store."""


@dataclass(frozen=True)
class Article:
    """A document, its sections (one, the whole body, where its format has no structure) and its word pieces.

    Attributes:
        number: its row in the shard.
        document_id, title, body, sections: as in the DOCUMENTS table, the title without white space around it.
        place: its (part, position).
        store, row: where its word pieces are.
        body_start: character of the text in the token store at which the body begins.
    """

    number: int
    document_id: str
    place: tuple[int, int]
    title: str
    body: str
    sections: list[SectionRow]
    store: TokenStore
    row: int
    body_start: int

    @property
    def levels(self) -> list[int]:
        """Level of each section."""
        return [section.level for section in self.sections]

    @cached_property
    def length(self) -> int:
        """Words, between white space, of the body."""
        return len(self.body.split())

    def words(self, start: int, end: int) -> int:
        """Return the number of words, between white space, of some characters of the body."""
        return len(self.body[start:end].split())

    def pieces(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the word pieces (first, last exclusive) that begin in some characters of the body.

        None where there are none: the characters hold no word, or lie beyond what the token store keeps.
        """
        first, last = self.store.span(self.row, self.body_start + start, self.body_start + end)
        return (first, last) if first < last else None

    def span(self, start: int, end: int) -> Span | None:
        """Return `pieces` as a span of this document."""
        found = self.pieces(start, end)
        return None if found is None else Span(self.document_id, *found)


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
    import numpy as np
    import pyarrow.compute as pc

    from irpretrain.contracts import DOCUMENTS
    from irpretrain.text.compose import body_start
    from irpretrain.text.token_store import TokenStore

    store = TokenStore.open([tokens])
    before = 0
    columns = list(
        dict.fromkeys(
            ["document_id", "part", "position", "title", "body", "sections", "disambiguation", *text.fields]
        )
    )
    most = ARTICLES_PER_BATCH if wanted is None else LOOKED_THROUGH_PER_BATCH
    for batch in DOCUMENTS.stream(documents, columns, most):
        numbers = np.arange(before, before + len(batch))
        before += len(batch)
        if wanted is not None:
            chosen = pc.is_in(batch.column("document_id"), value_set=wanted)
            batch, numbers = batch.filter(chosen), numbers[chosen.to_numpy(zero_copy_only=False)]
        rows = store.rows(batch.column("document_id"))
        for number, row, document in zip(numbers, rows, batch.to_pylist(), strict=True):
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
            )


Draft = TypeVar("Draft")

Skipped: TypeAlias = "Counter[str]"
"""Takes the reason where an article gives no group, or (counted apart) fewer than it could."""


def write_groups(
    documents: str | Path,
    tokens: str | Path,
    text: TextConfig,
    output: str | Path,
    objective: str,
    groups_of: Callable[[Article, Skipped], Iterator[dict[str, Any]]],
) -> dict[str, Any]:
    """Write the rows of GROUPS that `groups_of` makes of each article of a shard, in corpus order.

    Returns:
        Counts: documents, skipped (by reason, each document once), groups_not_made (of others, by reason), documents
        with groups (all that are not skipped), groups, sequences.
    """
    from irpretrain.contracts import GROUPS

    counts = Counts()

    def rows() -> Iterator[dict[str, Any]]:
        for row in counts.over(documents, tokens, text, objective, groups_of):
            counts.sequences += max(len(row["queries"]), len(row["documents"]))
            yield row

    groups = GROUPS.write(output, rows())
    return {
        **counts.report(),
        "documents_with_groups": counts.used,
        "groups": groups,
        "sequences": counts.sequences,
    }


def draft_groups(
    documents: str | Path,
    tokens: str | Path,
    text: TextConfig,
    objective: str,
    drafts_of: Callable[[Article, Skipped], Iterator[Draft]],
) -> tuple[list[Draft], dict[str, Any]]:
    """Return what `drafts_of` makes of each article of a shard, in corpus order, and counts: documents, skipped,
    groups_not_made."""
    counts = Counts()
    drafts = list(counts.over(documents, tokens, text, objective, drafts_of))
    return drafts, counts.report()


class Counts:
    """Goes through the articles of a shard, and counts them and those that are skipped, each for its first reason."""

    def __init__(self) -> None:
        self.documents, self.used, self.sequences = 0, 0, 0
        self.skipped: Skipped = Counter(disambiguation=0)
        self.not_made: Skipped = Counter()

    def over(
        self,
        documents: str | Path,
        tokens: str | Path,
        text: TextConfig,
        objective: str,
        made_of: Callable[[Article, Skipped], Iterator[Draft]],
    ) -> Iterator[Draft]:
        """Yield what `made_of` makes of each article that is no disambiguation page."""
        from irpretrain.progress import progress

        articles = stream_articles(documents, tokens, text)
        for article in progress(articles, f"{objective} groups {Path(documents).stem}", "documents"):
            self.documents += 1
            if article is None:
                self.skipped["disambiguation"] += 1
                continue
            made, reasons = False, Counter[str]()
            for draft in made_of(article, reasons):
                made = True
                yield draft
            if made:
                self.used += 1
                self.not_made.update(reasons)
            else:
                self.skipped[next(iter(reasons), "no_groups")] += 1

    def report(self) -> dict[str, Any]:
        """Return documents, skipped by reason, and groups not made of other documents by reason."""
        return {
            "documents": self.documents,
            "skipped": dict(sorted(self.skipped.items())),
            "groups_not_made": dict(sorted(self.not_made.items())),
        }
