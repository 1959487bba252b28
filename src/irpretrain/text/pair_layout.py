"""Sequences of query and document: where their special tokens, word pieces and padding stand; compiled."""

from typing import NamedTuple

import numpy as np

from irpretrain.foundation.compiled import compiled
from irpretrain.text.word_pieces import PairTemplate


class Sequences(NamedTuple):
    """A model's input."""

    input_ids: np.ndarray  # int64 [sequences, positions]
    token_type_ids: np.ndarray  # int64 [sequences, positions]
    attention_mask: np.ndarray  # int64 [sequences, positions]; 0 for padding


class PairLayout(NamedTuple):
    """Sequences whose special tokens are in place, and whose word pieces are still to be written."""

    sequences: Sequences  # with the id of padding where nothing is written yet
    query_mask: np.ndarray  # bool [sequences, positions]; where the query's word pieces belong
    document_mask: np.ndarray  # bool [sequences, positions]; where the document's belong


def lay_out(
    template: PairTemplate, query_lengths: np.ndarray, document_lengths: np.ndarray, pad_id: int
) -> PairLayout:
    """Return sequences for texts of so many word pieces, padded to the longest.

    Args:
        queries, documents: numbers of word pieces of each sequence, int64 [sequences].
        pad_id: the id of padding.
    """
    shape = (len(query_lengths), template.special_count + int((query_lengths + document_lengths).max()))
    sequences = Sequences(
        np.full(shape, pad_id, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    )
    layout = PairLayout(sequences, np.zeros(shape, bool), np.zeros(shape, bool))
    special_parts = (template.prefix, template.middle, template.suffix)
    ids, types = (np.concatenate(parts) for parts in zip(*special_parts, strict=True))
    special_counts = np.array([len(part.ids) for part in special_parts], np.int64)
    text_types = template.query_type, template.document_type
    _fill_layout(ids, types, special_counts, text_types, (query_lengths, document_lengths), layout)
    return layout


@compiled
def _fill_layout(
    special_ids: np.ndarray,
    special_types: np.ndarray,
    special_counts: np.ndarray,  # of prefix, middle and suffix
    text_types: tuple[int, int],  # of query and document
    text_lengths: tuple[np.ndarray, np.ndarray],
    layout: PairLayout,
) -> None:
    ids, types, attention = layout.sequences
    text_masks = layout.query_mask, layout.document_mask
    for row in range(len(attention)):
        position = next_special = 0
        for part in range(3):
            for _ in range(special_counts[part]):
                ids[row, position] = special_ids[next_special]
                types[row, position] = special_types[next_special]
                position += 1
                next_special += 1
            if part < 2:
                end = position + text_lengths[part][row]
                text_masks[part][row, position:end] = True
                types[row, position:end] = text_types[part]
                position = end
        attention[row, :position] = 1
