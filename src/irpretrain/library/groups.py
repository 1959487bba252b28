"""Ranking groups as texts: of an objective, or of one's own files."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from irpretrain.config.base import Section, option
from irpretrain.evaluation.runs import Run
from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, count_of
from irpretrain.foundation.progress import notice
from irpretrain.library.collection_files import CollectionFiles
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer


class TextGroup(NamedTuple):
    """Sequences of a query and a document of which the first is preferred.

    Attributes:
        queries, documents: texts. One of the two lists has one text, which all sequences share.
        scores: what the preference was read from, one a sequence.
        document_ids: identifiers of `documents`.
    """

    queries: list[str]
    documents: list[str]
    scores: list[float]
    document_ids: list[str]


GIVEN = "given"


class GivenOptions(Section):
    """Stands in the record of a training for the options of an objective."""

    type: Literal["given"] = option(GIVEN, "Groups of the user's own.")


class Judged(NamedTuple):
    """Groups as a test collection: queries, the documents preferred, and the candidates, by identifiers."""

    queries: dict[str, str]
    preferred: dict[str, list[str]]
    candidates: Run


@dataclass(frozen=True, repr=False)
class Groups:
    """Ranking groups, which `pretrain` and `finetune` learn from: of `Collection.groups`, `own_groups`, `read_groups`.

    Examples:
        >>> from irpretrain import own_groups
        >>> groups = own_groups([("pie", ["apple pie", "pear juice", "apples"])])
        >>> len(groups), [group.document_ids for group in groups]
        (1, [['0', '1', '2']])

    Attributes:
        collection: the documents.
        options: of the objective.
        table: GROUPS table.
        counts: what the objective counted: documents, skipped, groups, …
    """

    collection: CollectionFiles
    options: Any
    table: Path
    counts: dict[str, Any]

    def __repr__(self) -> str:
        """Name the objective, and how many groups it made."""
        skipped = f"; documents skipped: {self.skipped_text()}" if self.skipped_text() else ""
        return f"<Groups: {len(self):,} of {self.options.type}, {self.collection!r}{skipped}>"

    def __len__(self) -> int:
        return GROUPS.count(self.table)

    def __iter__(self) -> Iterator[TextGroup]:
        cut = _Cutter(self.collection)
        for batch in GROUPS.stream(self.table):
            for row in batch.to_pylist():
                queries = [cut(part) if part["document_id"] else part["text"] for part in row["queries"]]
                documents = [cut(part) for part in row["documents"]]
                names = [part["document_id"] for part in row["documents"]]
                yield TextGroup(queries, documents, row["scores"], names)

    def judged(self) -> Judged:
        """Return the groups as a test collection; ConfigError where a group prefers a query, not a document."""
        judged, numbers, others = Judged({}, {}, {}), dict[str, str](), dict[str, set[str]]()
        for made in self:
            if len(made.documents) == 1:
                raise ConfigError(
                    "groups: fine-tuning learns which document of a query is better, but a group has one document and "
                    f"{count_of(len(made.queries), 'query')}, the first {made.queries[0]!r}; pretrain learns from those"
                )
            name = numbers.setdefault(made.queries[0], str(len(numbers)))
            judged.queries[name] = made.queries[0]
            judged.preferred.setdefault(name, []).append(made.document_ids[0])
            judged.candidates.setdefault(name, []).extend((document, 0.0) for document in made.document_ids)
            others.setdefault(name, set()).update(made.document_ids[1:])
        both = [
            name for name, documents in judged.preferred.items() if not others[name].isdisjoint(documents)
        ]
        without = [name for name in both if others[name].issubset(judged.preferred[name])]
        if both:
            _note_both(judged.queries[both[0]], len(both), len(without), len(judged.queries))
        for name in without:
            del judged.queries[name], judged.preferred[name], judged.candidates[name]
        for name, ranking in judged.candidates.items():
            judged.preferred[name] = list(dict.fromkeys(judged.preferred[name]))
            judged.candidates[name] = list(dict.fromkeys(ranking))
        return judged

    def skipped_text(self) -> str:
        """Return how many documents gave no group, by reason, in words; nothing where each document gave one."""
        skipped = {reason: count for reason, count in self.counts.get("skipped", {}).items() if count}
        return ", ".join(f"{count:,} × {reason.replace('_', ' ')}" for reason, count in skipped.items())


def _note_both(query: str, both: int, without: int, queries: int) -> None:
    """Say, or refuse where nothing is left, what relevance cannot express: a preferred document below another."""
    fault = (
        f"of {both:,} of {count_of(queries, 'query')}, such as {reprlib.repr(query)}, some groups prefer a document "
        "that others do not; fine-tuning takes it as relevant, and learns no order of relevant documents"
    )
    if without == queries:
        raise ConfigError(f"groups: {fault}, so nothing is left to learn")
    left_out = f"; {without:,} left out, whose documents are all relevant then" if without else ""
    notice("fine-tune", f"{fault}{left_out}.")


class _Cutter:
    def __init__(self, collection: CollectionFiles) -> None:
        self._collection, self._texts = collection, collection.texts()
        self._rows = {name: row for row, name in enumerate(self._texts)}
        self._store: TokenStore | None = None
        most = collection.options.text.max_word_pieces
        if most is not None and collection.has_encoder:
            self._end_texts(most)

    def __call__(self, part: dict[str, Any]) -> str:
        text = self._texts[part["document_id"]]
        row, start, end = self._rows[part["document_id"]], part["start"], part["end"]
        gap_start, gap_end = part.get("gap_start", 0), part.get("gap_end", 0)
        if (start, end, gap_start, gap_end) == (0, -1, 0, 0):
            return text
        self._store = self._store or TokenStore.open([self._collection.tokens])
        end = int(self._store.lengths[row]) if end < 0 else end
        runs = [(start, end)] if gap_start == gap_end else [(start, gap_start), (gap_end, end)]
        ranges = [self._store.characters(row, *run) for run in runs if run[0] < run[1]]
        return " ".join(filter(None, (text[first:last].strip() for first, last in ranges)))

    def _end_texts(self, most: int) -> None:
        tokenizer = load_tokenizer(self._collection.encoder)
        for name, text in self._texts.items():
            firsts = tokenizer.words([text])[0].firsts
            if len(firsts) > most:
                self._texts[name] = text[: firsts[most]].rstrip()
