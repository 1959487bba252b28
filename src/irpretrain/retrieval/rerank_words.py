"""Re-ranking of first-stage candidates by a ranker over words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import Run
from irpretrain.retrieval.pair_scoring import Pair, as_run, pair_names, score_sequences
from irpretrain.text.word_documents import WordDocuments
from irpretrain.training.word_batches import WordBatchBuilder, pad

if TYPE_CHECKING:
    from irpretrain.models.neural.ranker import NeuralRanker
    from irpretrain.retrieval.partial_scores import PartialScores


def rerank_words(
    ranker: NeuralRanker,
    documents: WordDocuments,
    texts: Mapping[str, str],
    candidates: Run,
    options: RerankingConfig,
    kept: PartialScores | None = None,
) -> Run:
    """Return `candidates` re-ranked by the ranker's scores, in canonical order.

    Args:
        ranker: its own options say how much of a text it reads.
        texts: query → text; holds all queries of `candidates`.
        candidates: documents to score, all of them: `options.depth` is not applied here.
        options: batches, of which `batch_tokens` counts words here; threads and device.
        kept: where scores are kept meanwhile, and may lie from before.

    Raises:
        InputError: the word stores lack a document.
        IntegrityError: they are of another collection than the ranker's.
        TrainingError: a score is not a number.
    """
    names = pair_names(candidates)
    rows = documents.rows([document for _, document in names])
    pairs = [Pair(query, document, int(row)) for (query, document), row in zip(names, rows, strict=True)]
    sizes = ranker.options
    builder = WordBatchBuilder(documents, ranker.vocabulary, sizes.query_words, sizes.document_words)
    queries = {query: builder.query(texts[query]) for query in candidates}
    # Unknown words are left out only when a document is read, so a length may be less than this.
    longest = np.minimum(documents.lengths[rows], sizes.document_words)
    lengths = [len(queries[pair.query]) + int(words) for pair, words in zip(pairs, longest, strict=True)]

    def build(chosen: Sequence[int]) -> Sequence[NDArray[np.int64]]:
        query = pad([queries[pairs[i].query] for i in chosen])
        return query, pad([builder.document(pairs[i].row) for i in chosen])

    scores = score_sequences(ranker, ranker, pairs, lengths, build, options, kept)
    return as_run(candidates, pairs, scores)
