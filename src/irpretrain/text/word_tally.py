"""The inner loop of counting: adds the words of a batch of documents to running counts, compiled."""

from typing import NamedTuple

import numpy as np

from irpretrain.foundation.compiled import compiled


class TermTally(NamedTuple):
    """Running sums by word number, and the number of the last document that was seen with a word or a stem; int64."""

    counts: np.ndarray
    documents: np.ndarray
    stem_documents: np.ndarray
    last_document_of_word: np.ndarray
    last_document_of_stem: np.ndarray


@compiled
def add_documents(
    words: np.ndarray, offsets: np.ndarray, stem_of: np.ndarray, tally: TermTally, first_document: int
) -> None:
    """Count the words `words[offsets[i]:offsets[i + 1]]` of each document i; changes `tally`.

    `stem_of` maps word number → stem number; documents are numbered from `first_document` through the whole run.
    """
    counts, documents, stem_documents = tally.counts, tally.documents, tally.stem_documents
    last_document_of_word, last_document_of_stem = tally.last_document_of_word, tally.last_document_of_stem
    for index in range(len(offsets) - 1):
        document = first_document + index
        for position in range(offsets[index], offsets[index + 1]):
            word = words[position]
            counts[word] += 1
            if last_document_of_word[word] == document:
                continue
            last_document_of_word[word] = document
            documents[word] += 1
            if last_document_of_stem[stem_of[word]] != document:
                last_document_of_stem[stem_of[word]] = document
                stem_documents[word] += 1
