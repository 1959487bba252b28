"""The inner loop of counting: adds the words of a batch of documents to running counts, compiled."""

from typing import NamedTuple

import numpy as np

from irpretrain.compiled import compiled


class Tally(NamedTuple):
    """Running sums by word number, and the number of the last document that was seen with a word or a stem; int64."""

    counts: np.ndarray
    documents: np.ndarray
    stem_documents: np.ndarray
    last_document_of_word: np.ndarray
    last_document_of_stem: np.ndarray


@compiled
def add_documents(
    words: np.ndarray, offsets: np.ndarray, stem_of: np.ndarray, tally: Tally, first_document: int
) -> None:
    """Count the words `words[offsets[i]:offsets[i + 1]]` of each document i.

    Args:
        words: int64 word numbers of all documents of the batch, end to end.
        offsets: int64[documents + 1].
        stem_of: int64, word number → stem number.
        tally: changed in place.
        first_document: number of the batch's first document; documents are numbered through the whole run.
    """
    counts, documents, stem_documents = tally.counts, tally.documents, tally.stem_documents
    last_document_of_word, last_document_of_stem = tally.last_document_of_word, tally.last_document_of_stem
    for index in range(len(offsets) - 1):
        document = first_document + index
        for place in range(offsets[index], offsets[index + 1]):
            word = words[place]
            counts[word] += 1
            if last_document_of_word[word] == document:
                continue
            last_document_of_word[word] = document
            documents[word] += 1
            if last_document_of_stem[stem_of[word]] != document:
                last_document_of_stem[stem_of[word]] = document
                stem_documents[word] += 1
