"""The special tokens that a tokenizer puts around a query and a document, read off a pair that it joins itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irpretrain.errors import InputError, refusing

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Fixed(NamedTuple):
    """Special tokens that stand together in every sequence: ids and token types (int64)."""

    ids: np.ndarray
    types: np.ndarray


class PairTemplate(NamedTuple):
    """A sequence is prefix, query, middle, document, suffix.

    Attributes:
        prefix, middle, suffix: special tokens; of BERT [CLS], [SEP] and [SEP].
        query_type, document_type: token types of the two texts.
        types_from_document: whether all types before the document are 0, and those behind it the document's.
    """

    prefix: Fixed
    middle: Fixed
    suffix: Fixed
    query_type: int
    document_type: int
    types_from_document: bool

    @classmethod
    def of(cls, backend: Tokenizer, directory: Path, remedy: str) -> PairTemplate:
        """Return the template of a tokenizer whose special tokens inside texts are text.

        Raises:
            InputError: it joins no pairs of texts; `remedy` says what to do about its directory.
        """
        with refusing(directory, "the tokenizer cuts no text", remedy):
            query, document = backend.encode_batch(["a", "a"], add_special_tokens=False)
            query.truncate(1)
            document.truncate(1)
            joined = backend.post_process(query, document)
        places = np.flatnonzero(np.asarray(joined.special_tokens_mask) == 0)
        if len(places) != 2:
            raise InputError(directory, "the tokenizer does not join pairs of texts", remedy=remedy)
        ids, types = np.asarray(joined.ids, np.int64), np.asarray(joined.type_ids, np.int64)
        first, second = (int(place) for place in places)
        cuts = (slice(0, first), slice(first + 1, second), slice(second + 1, None))
        before, between, after = (Fixed(ids[cut], types[cut]) for cut in cuts)
        from_document = not types[:second].any() and (types[second:] == types[second]).all()
        return cls(before, between, after, int(types[first]), int(types[second]), bool(from_document))

    @property
    def special(self) -> int:
        """Special tokens of a sequence."""
        return len(self.prefix.ids) + len(self.middle.ids) + len(self.suffix.ids)

    def places(self, query: int, document: int) -> tuple[slice, slice]:
        """Return the positions of the two texts' pieces in a sequence, from their numbers."""
        first = len(self.prefix.ids)
        second = first + query + len(self.middle.ids)
        return slice(first, first + query), slice(second, second + document)

    def fill(
        self, ids: np.ndarray, types: np.ndarray, query: np.ndarray, document: np.ndarray
    ) -> tuple[slice, slice]:
        """Write the sequence of two texts' pieces, and its token types, to the beginning of two rows of zeros; return
        the positions of the two texts' pieces."""
        asked, read = self.places(len(query), len(document))
        end = read.stop + len(self.suffix.ids)
        ids[: asked.start] = self.prefix.ids
        ids[asked] = query
        ids[asked.stop : read.start] = self.middle.ids
        ids[read] = document
        ids[read.stop : end] = self.suffix.ids
        if self.types_from_document:
            types[read.start : end] = self.document_type
        else:
            types[: asked.start], types[asked] = self.prefix.types, self.query_type
            types[asked.stop : read.start], types[read] = self.middle.types, self.document_type
            types[read.stop : end] = self.suffix.types
        return asked, read
