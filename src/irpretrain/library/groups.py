"""Ranking groups as texts: of an objective, or of one's own files."""

import reprlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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


OWN_GROUPS = "given"


class OwnGroupsOptions(Section):
    """Stands in the record of a training for the options of an objective."""

    type: str = option(OWN_GROUPS, "given: of the user's own; else the objective that made the texts.")


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
        return f"<Groups: {len(self):,} of {self.options.type}, {self.collection!r}{self.skipped_note()}>"

    def __len__(self) -> int:
        return GROUPS.count(self.table)

    def __iter__(self) -> Iterator[TextGroup]:
        cut_text = _SpanCutter(self.collection)
        for batch in GROUPS.stream(self.table):
            for row in batch.to_pylist():
                queries = [cut_text(span) if span["document_id"] else span["text"] for span in row["queries"]]
                documents = [cut_text(span) for span in row["documents"]]
                document_ids = [span["document_id"] for span in row["documents"]]
                yield TextGroup(queries, documents, row["scores"], document_ids)

    def judged(self) -> Judged:
        """Return the groups as a test collection; ConfigError where a group prefers a query, not a document."""
        query_ids = dict[str, str]()  # text → identifier
        # Dictionaries without values: sets in the order of the groups.
        preferred: dict[str, dict[str, None]] = defaultdict(dict)
        candidates: dict[str, dict[str, None]] = defaultdict(dict)
        not_first = defaultdict[str, set[str]](set)
        for group in self:
            if len(group.documents) == 1:
                raise ConfigError(
                    "groups: fine-tuning learns which document of a query is better, but a group has one document and "
                    f"{count_of(len(group.queries), 'query')}, the first {group.queries[0]!r}; pretrain "
                    "learns from those"
                )
            query_id = query_ids.setdefault(group.queries[0], str(len(query_ids)))
            first_id, *other_ids = group.document_ids
            preferred[query_id][first_id] = None
            candidates[query_id] |= dict.fromkeys(group.document_ids)
            not_first[query_id].update(other_ids)
        queries = {query_id: text for text, query_id in query_ids.items()}
        conflicting_queries = [
            query_id for query_id in queries if preferred[query_id].keys() & not_first[query_id]
        ]
        queries_without_order = [
            query_id for query_id in conflicting_queries if not_first[query_id] <= preferred[query_id].keys()
        ]
        if conflicting_queries:
            example = queries[conflicting_queries[0]]
            _note_conflicts(example, len(conflicting_queries), len(queries_without_order), len(queries))
        for query_id in queries_without_order:
            del queries[query_id]
        return Judged(
            queries,
            {query_id: list(preferred[query_id]) for query_id in queries},
            {query_id: [(name, 0.0) for name in candidates[query_id]] for query_id in queries},
        )

    def skipped_note(self) -> str:
        """Return how many documents gave no group, by reason, to end a message with; empty if each gave one."""
        skip_counts = {reason: count for reason, count in self.counts.get("skipped", {}).items() if count}
        texts = [f"{count:,} × {reason.replace('_', ' ')}" for reason, count in skip_counts.items()]
        return f"; documents skipped: {', '.join(texts)}" if texts else ""


def _note_conflicts(query: str, conflicting_count: int, left_out_count: int, query_count: int) -> None:
    """Say, or refuse where nothing is left, what relevance cannot express: a preferred document below another."""
    fault = (
        f"of {conflicting_count:,} of {count_of(query_count, 'query')}, such as {reprlib.repr(query)}, some groups "
        "prefer a document that others do not; fine-tuning takes it as relevant, and learns no order of relevant "
        "documents"
    )
    if left_out_count == query_count:
        raise ConfigError(f"groups: {fault}, so nothing is left to learn")
    left_out_note = (
        f"; {left_out_count:,} left out, whose documents are all relevant then" if left_out_count else ""
    )
    notice("fine-tune", f"{fault}{left_out_note}.")


class _SpanCutter:
    def __init__(self, collection: CollectionFiles) -> None:
        self._collection, self._texts = collection, collection.texts()
        self._rows = {name: row for row, name in enumerate(self._texts)}
        self._store: TokenStore | None = None
        max_word_pieces = collection.options.text.max_word_pieces
        if max_word_pieces is not None and collection.has_encoder:
            self._end_texts(max_word_pieces)

    def __call__(self, span: dict[str, Any]) -> str:
        text = self._texts[span["document_id"]]
        row, start, end = self._rows[span["document_id"]], span["start"], span["end"]
        gap_start, gap_end = span.get("gap_start", 0), span.get("gap_end", 0)
        if (start, end, gap_start, gap_end) == (0, -1, 0, 0):
            return text
        self._store = self._store or TokenStore.open([self._collection.tokens])
        end = int(self._store.lengths[row]) if end < 0 else end
        runs = [(start, end)] if gap_start == gap_end else [(start, gap_start), (gap_end, end)]
        ranges = [self._store.characters(row, *run) for run in runs if run[0] < run[1]]
        parts = [text[start_char:end_char].strip() for start_char, end_char in ranges]
        return " ".join(filter(None, parts))

    def _end_texts(self, max_word_pieces: int) -> None:
        tokenizer = load_tokenizer(self._collection.encoder)
        for name, text in self._texts.items():
            piece_starts = tokenizer.words([text])[0].char_starts
            if len(piece_starts) > max_word_pieces:
                self._texts[name] = text[: piece_starts[max_word_pieces]].rstrip()
