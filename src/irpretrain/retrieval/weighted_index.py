"""A Lucene index of integer term weights in place of term frequencies (DeepCT, section 3.2).

Words become the terms of the tf index, and the weights of words with one stem add up, as repeated words do in a text. A
document's length is the sum of its weights. So BM25 and query likelihood over this index are their formulas with
weights for frequencies; frequencies as weights give the tf index's own scores.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from irpretrain.atomic import working_directory
from irpretrain.config.retrieval import QueryWords, RetrievalConfig
from irpretrain.contracts import TERM_VECTORS
from irpretrain.errors import InputError
from irpretrain.progress import Counter
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.expansion import check_expansion
from irpretrain.retrieval.lucene import DOCUMENTS_AT_ONCE, InputFiles, check_identifier, run_indexing

# Largest sum of a document's weights. Lucene's own limit is 2^31 - 1, but Anserini writes every term out as often as
# its weight says, in one string: ten million words of six letters are 70 MB of Java's heap for each thread.
LONGEST_DOCUMENT = 10_000_000


def index_weights(
    vectors: Sequence[str | Path], query_words: QueryWords, options: RetrievalConfig, output: str | Path
) -> dict[str, Any]:
    """Index a corpus by weights (TERM_VECTORS, all shards) into a directory.

    Args:
        query_words: how the texts behind the weights were cut into words; queries are cut the same way.

    Returns:
        Counts: documents; those without terms, which Lucene leaves out (judged queries of theirs count 0); terms and
        words; words that are stop words; the sum of all weights.

    Raises:
        InputError: an expansion names no document, no document has a term, a document's weights are too large, or a run
            cannot hold an identifier.
        IntegrityError, SetupError, JavaError: as in `lucene.index`.
    """
    check_expansion(vectors)
    counts = dict.fromkeys(
        ("documents", "documents_without_terms", "words", "words_without_terms", "terms", "weight"), 0
    )
    analyser = Analyser.of(options, query_words)
    with working_directory(output, "input") as source:
        counter = Counter("write weights for Lucene", "documents", sum(map(TERM_VECTORS.count, vectors)))
        with InputFiles(source) as files:
            for path in vectors:
                batches = TERM_VECTORS.stream(path, ["document_id", "terms"], DOCUMENTS_AT_ONCE)
                for document, terms in analysed_weights(batches, path, analyser, counts):
                    check_identifier(path, document)
                    _check_length(path, document, terms)
                    if terms:
                        files.add({"id": document, "vector": terms})
                    counts["documents"] += 1
                    counts["documents_without_terms"] += not terms
                    counts["terms"] += len(terms)
                    counts["weight"] += sum(terms.values())
                    counter.add(1)
        if counts["documents"] == counts["documents_without_terms"]:
            raise InputError(vectors[0], "no document has a term to index")
        arguments = ["-collection", "JsonVectorCollection", "-pretokenized"]
        run_indexing(
            source,
            output,
            arguments,
            options,
            expected=counts["documents"] - counts["documents_without_terms"],
            record={**counts, "query_words": query_words},
        )
    return counts


def analysed_weights(
    batches: Iterable[pa.RecordBatch], path: str | Path, analyser: Analyser, counts: dict[str, int]
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each document of TERM_VECTORS rows with its index weights: analysed term → sum of its words, sorted by
    term.

    `counts` gains `words` and `words_without_terms` (stop words). InputError on a weight below 1.
    """
    for batch in batches:
        terms = batch.column("terms")
        flat = terms.flatten()
        words, weights = flat.field("term"), flat.field("weight")
        analyser.learn(words.unique().to_pylist())
        pairs = iter(zip(words.to_pylist(), weights.to_pylist(), strict=True))
        lengths = terms.value_lengths().to_pylist()
        for document, length in zip(batch.column("document_id").to_pylist(), lengths, strict=True):
            sums: dict[str, int] = {}
            for _ in range(length):
                word, weight = next(pairs)
                if weight < 1:
                    raise InputError(
                        path,
                        f"the weight of {word!r} in document {document!r} is {weight}; weights are 1 or more",
                    )
                word_terms = analyser.terms_of_word(word)
                counts["words_without_terms"] += not word_terms
                for term in word_terms:
                    sums[term] = sums.get(term, 0) + weight
            counts["words"] += length
            yield document, dict(sorted(sums.items()))


def _check_length(path: str | Path, document: str, terms: dict[str, int]) -> None:
    total = sum(terms.values())
    if total > LONGEST_DOCUMENT:
        raise InputError(
            path,
            f"the weights of document {document!r} add up to {total:,}, more than {LONGEST_DOCUMENT:,}",
            remedy="Scale them to smaller integers.",
        )
