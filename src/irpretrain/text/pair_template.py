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
    """

    prefix: Fixed
    middle: Fixed
    suffix: Fixed
    query_type: int
    document_type: int

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
        return cls(before, between, after, int(types[first]), int(types[second]))

    @property
    def special(self) -> int:
        """Special tokens of a sequence."""
        return len(self.prefix.ids) + len(self.middle.ids) + len(self.suffix.ids)

    def places(self, query: int, document: int) -> tuple[slice, slice]:
        """Return the positions of the two texts' pieces in a sequence, from their numbers."""
        first = len(self.prefix.ids)
        second = first + query + len(self.middle.ids)
        return slice(first, first + query), slice(second, second + document)

    def fill(self, ids: np.ndarray, types: np.ndarray, query: np.ndarray, document: np.ndarray) -> None:
        """Write the sequence of two texts' pieces, and its token types, to the beginning of two rows."""
        asked, read = self.places(len(query), len(document))
        ids[: asked.start], types[: asked.start] = self.prefix
        ids[asked], types[asked] = query, self.query_type
        ids[asked.stop : read.start], types[asked.stop : read.start] = self.middle
        ids[read], types[read] = document, self.document_type
        last = slice(read.stop, read.stop + len(self.suffix.ids))
        ids[last], types[last] = self.suffix
