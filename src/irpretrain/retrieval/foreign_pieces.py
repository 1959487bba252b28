"""Word pieces of queries and candidates for a re-ranker that was not made here, by its own tokenizer.

The token store holds those of the configured encoder, so the texts are tokenised anew: once each, and no more is kept
of a document than a sequence has room for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from irpretrain.config.retrieval import PassagesConfig, RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Run
from irpretrain.text.chosen_texts import stream_chosen
from irpretrain.text.pair_tokenizer import PairTokenizer, Sequences
from irpretrain.text.passages import text_passages


@dataclass(frozen=True)
class ForeignPieces:
    """Word pieces by query and by document, and the lengths to which a sequence cuts them.

    Of a document there are the pieces of each passage; where it is not cut, it is one passage.
    """

    tokenizer: PairTokenizer
    queries: Mapping[str, np.ndarray]
    documents: Mapping[str, Sequence[np.ndarray]]
    max_length: int
    query_length: int

    def length(self, query: str, document: str, passage: int) -> int:
        """Return the length of the sequence of a query and a passage, special tokens included."""
        return self.tokenizer.special + sum(map(len, self._read(query, document, passage)))

    def sequences(self, parts: Sequence[tuple[str, str, int]]) -> Sequences:
        """Return the padded sequences of queries and passages: (query, document, number of the passage)."""
        return self.tokenizer.join([self._read(*part) for part in parts])

    def _read(self, query: str, document: str, passage: int) -> tuple[np.ndarray, np.ndarray]:
        pieces = self.documents[document][passage]
        return self.tokenizer.cut(self.queries[query], pieces, self.max_length, self.query_length)


def tokenise(
    tokenizer: PairTokenizer,
    documents: Sequence[str | Path],
    text: TextConfig,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
) -> ForeignPieces:
    """Tokenise the queries of a run and the documents that it ranks.

    Args:
        documents: DOCUMENTS tables of the corpus.
        options: lengths, and the passages that documents are cut into.

    Raises:
        InputError: the corpus lacks a document.
    """
    asked = [texts[query] for query in candidates]
    queries = dict(
        zip(candidates, tokenizer.encode(asked, options.query_length) if asked else [], strict=True)
    )
    ranked_documents = {document for ranking in candidates.values() for document, _ in ranking}
    longest = min(options.max_length, text.max_word_pieces or options.max_length)
    pieces: dict[str, list[np.ndarray]] = {}
    for identifiers, bodies in stream_chosen(documents, ranked_documents, text):
        cut = [_passages(body, options.passages, text.language) for body in bodies]
        encoded = iter(tokenizer.encode([passage for some in cut for passage in some], longest))
        for identifier, some in zip(identifiers, cut, strict=True):
            pieces[identifier] = [next(encoded) for _ in some]
    return ForeignPieces(tokenizer, queries, pieces, options.max_length, options.query_length)


def _passages(text: str, options: PassagesConfig | None, language: str) -> list[str]:
    return [text] if options is None else text_passages(text, options, options.most, language)
