"""Ranking groups one by one, and plain, slow ways to batches and masks: what the compiled ones must give."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.contracts import NO_ANCHOR
from irpretrain.foundation.randomness import generator
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer
from irpretrain.training.batches import Batch
from irpretrain.training.masking import DRAWS_PER_POSITION, MASK_SHARE, RANDOM_SHARE, MaskedBatch
from irpretrain.training.ranking_groups import SPAN, RankingGroups, text_rows


class StoreSpan(NamedTuple):
    """Word pieces of a document, as `SPAN` has them."""

    row: int
    start: int = 0
    end: int = -1
    gap_start: int = 0
    gap_end: int = 0


class Group(NamedTuple):
    queries: Sequence[str | StoreSpan]  # one for all sequences, or one per sequence
    documents: Sequence[StoreSpan]  # the same
    anchors: Sequence[tuple[int, int]] = ()  # none, or one per sequence

    def sequences(self) -> list[tuple[str | StoreSpan, StoreSpan, tuple[int, int]]]:
        size = max(len(self.queries), len(self.documents))
        queries, documents = (
            list(texts) * size if len(texts) == 1 else list(texts) for texts in (self.queries, self.documents)
        )
        return list(zip(queries, documents, self.anchors or [NO_ANCHOR] * size, strict=True))


def columns(*groups: Group) -> RankingGroups:
    """Return groups as columns."""
    sequences = [sequence for group in groups for sequence in group.sequences()]
    texts = list(dict.fromkeys(query for query, _, _ in sequences if isinstance(query, str)))
    rows = {text: int(text_rows(np.array(number))) for number, text in enumerate(texts)}
    queries = [StoreSpan(rows[query]) if isinstance(query, str) else query for query, _, _ in sequences]
    return RankingGroups(
        np.array([tuple(query) for query in queries], SPAN),
        np.array([tuple(document) for _, document, _ in sequences], SPAN),
        np.array([anchor for _, _, anchor in sequences], np.int64).reshape(-1, 2),
        np.array([len(group.sequences()) for group in groups], np.int64),
        np.array([len(group.queries) == 1 for group in groups], bool),
        texts,
    )


def plain(groups: RankingGroups) -> list[Group]:
    """Return groups one by one: what `columns` was given."""
    found, queries, documents = [], list[str | StoreSpan](), list[StoreSpan]()
    for query, document in zip(groups.queries.tolist(), groups.documents.tolist(), strict=True):
        number = int(text_rows(np.array(query[0])))
        queries.append(groups.texts[number] if number >= 0 else StoreSpan(*query))
        documents.append(StoreSpan(*document))
    for first, size, shares in zip(groups.starts, groups.sizes, groups.shares_query, strict=True):
        some = slice(first, first + size)
        shared = slice(first, first + 1)
        anchors = [(int(start), int(end)) for start, end in groups.anchors[some]]
        own_queries = tuple(queries[shared if shares else some])
        own_documents = tuple(documents[some if shares else shared])
        found.append(Group(own_queries, own_documents, () if set(anchors) == {NO_ANCHOR} else tuple(anchors)))
    return found


def plain_batch(
    groups: Sequence[Group],
    store: TokenStore,
    tokenizer: WordPieceTokenizer,
    max_length: int,
    query_length: int,
) -> Batch:
    """Return the batch of groups, a list of Python for each sequence."""
    template = tokenizer.template
    names = [field.name for field in dataclasses.fields(Batch) if field.name != "group_sizes"]
    rows = []
    for group in groups:
        for query, document, anchor in group.sequences():
            pieces = _pieces(query, store, tokenizer)[:query_length]
            room = max_length - template.special_count - len(pieces)
            text = _pieces(document, store, tokenizer)[:room]
            start = 0 if isinstance(query, str) else query.start
            row = [(*fixed, 0, 0, 0, 0) for fixed in zip(*template.prefix, strict=True)]
            for position, (piece, begins) in enumerate(pieces):
                links = anchor[0] <= position + start < anchor[1]
                row.append((piece, template.query_type, 1, 0, links, begins or position == 0))
            row += [(*fixed, 0, 0, 0, 0) for fixed in zip(*template.middle, strict=True)]
            for position, (piece, begins) in enumerate(text):
                row.append((piece, template.document_type, 0, 1, 0, begins or position == 0))
            row += [(*fixed, 0, 0, 0, 0) for fixed in zip(*template.suffix, strict=True)]
            rows.append([(piece, kind, 1, *others) for piece, kind, *others in row])
    longest = max(map(len, rows))
    padding = (tokenizer.pad_token_id, 0, 0, 0, 0, 0, 0)
    table = np.array([row + [padding] * (longest - len(row)) for row in rows], np.int64)
    arrays = {name: table[:, :, column] for column, name in enumerate(names)}
    sizes = np.array([len(group.sequences()) for group in groups])
    masks = {name: arrays[name].astype(bool) for name in names[3:]}
    return Batch(**{**arrays, **masks}, group_sizes=sizes)


def _pieces(
    text: str | StoreSpan, store: TokenStore, tokenizer: WordPieceTokenizer
) -> list[tuple[int, bool]]:
    """Word pieces of a text, and whether each begins a word or what a gap leaves of one."""
    if isinstance(text, str):
        [words] = tokenizer.words([text])
        return list(zip(words.ids.tolist(), words.word_starts.tolist(), strict=True))
    pieces = list(zip(store.tokens(text.row).tolist(), store.word_starts(text.row).tolist(), strict=True))
    end = None if text.end < 0 else text.end
    if text.gap_start == text.gap_end:
        return pieces[text.start : end]
    after = pieces[text.gap_end : end]
    return pieces[text.start : text.gap_start] + [
        (piece, begins or position == 0) for position, (piece, begins) in enumerate(after)
    ]


def plain_masks(
    options: MaskingConfig,
    tokenizer: WordPieceTokenizer,
    seed: int,
    width: int,
    name: str,
    batch: Batch,
    step: int,
    before: int,
) -> MaskedBatch:
    """Return the masked batch, word piece by word piece, from all draws of the step so far."""
    sequences, positions = batch.input_ids.shape
    stream = generator(seed, "masking", f"{name}/{step}")
    draws = stream.random((before + sequences, DRAWS_PER_POSITION, width))[before:]
    words = np.flatnonzero(~tokenizer.special())
    ids, chosen = batch.input_ids.copy(), np.zeros((sequences, positions), bool)
    for row in range(sequences):
        units = list[list[int]]()
        for position in range(positions):
            if not batch.document_mask[row, position] and not (
                options.scope == "sequence" and batch.query_mask[row, position]
            ):
                continue
            begins = options.unit == "token" or batch.word_starts[row, position] or not units
            if begins or batch.document_mask[row, position] != batch.document_mask[row, units[-1][0]]:
                units.append([])
            units[-1].append(position)
        anchored = options.anchor_ratio is not None
        parts: tuple[list[list[int]], list[list[int]]] = ([], [])
        for unit in units:
            parts[anchored and bool(batch.anchor_mask[row, unit].any())].append(unit)
        others = max(1, int(np.floor(len(parts[0]) * options.ratio + 0.5))) if options.ratio else 0
        linked = int(np.floor(len(parts[1]) * (options.anchor_ratio or 0) + draws[row, 0, 0]))
        selected = [
            unit
            for part, quota in zip(parts, (others, linked), strict=True)
            for unit in sorted(part, key=lambda unit: draws[row, 0, unit[0]])[:quota]
        ]
        taken = 0
        for unit in sorted(selected, key=lambda unit: draws[row, 0, unit[0]]):
            taken += len(unit)
            if options.most is not None and taken > options.most:
                break
            chosen[row, unit] = True
        for position in np.flatnonzero(chosen[row]):
            kind, word = draws[row, 1:, position]
            if kind < MASK_SHARE:
                ids[row, position] = tokenizer.mask_token_id
            elif kind < MASK_SHARE + RANDOM_SHARE:
                ids[row, position] = words[int(word * len(words))]
    return MaskedBatch(ids, chosen, batch.input_ids[chosen])
