"""Documents → token store: each is cut into word pieces once a corpus, whatever is trained or ranked with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.atomic import atomic_directory
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.growing_array import GrowingArray
from irpretrain.progress import progress
from irpretrain.text.chunk_table import ChunkTable
from irpretrain.text.compose import stream_texts
from irpretrain.text.token_store import CHAR_STARTS
from irpretrain.text.word_pieces import WordPieceTokenizer, Words, load_tokenizer

DOCUMENTS_AT_ONCE = 512


def write_token_store(
    documents: str | Path,
    encoder: str | Path,
    text: TextConfig,
    output: str | Path,
    vocabulary_size: int | None = None,
    positions: bool = False,
) -> dict[str, Any]:
    """Tokenise a corpus shard into a token store, a directory.

    `tokens.npy` has the word pieces of all documents in a row, `word_starts.npy` which of them begin a word,
    `offsets.npy` where each document begins, `documents.parquet` the documents' identifiers, and `store.json` counts
    and hashes; `char_starts.npy` the first character of each piece, if positions are kept.

    Args:
        documents: DOCUMENTS table.
        encoder: Hugging Face directory whose tokenizer is used.
        text: fields of a document and the most word pieces kept of it.
        output: directory to write.
        vocabulary_size: expected size of the vocabulary; checked when given.
        positions: also keep the first character of each word piece in the document's text (`TokenStore.span`).

    Returns:
        Counts: documents, empty documents, truncated documents, word pieces.
    """
    tokenizer = load_tokenizer(encoder, vocabulary_size)
    kind = np.dtype(np.uint16 if tokenizer.size <= 1 << 16 else np.int32)
    counts = {"documents": 0, "empty": 0, "truncated": 0, "word_pieces": 0}
    lengths: list[np.ndarray] = []
    identifiers: list[pa.Array] = []
    names = hashlib.sha256()
    with atomic_directory(output) as folder:
        with ExitStack() as files:
            tokens = files.enter_context(GrowingArray(folder / "tokens.npy", kind))
            starts = files.enter_context(GrowingArray(folder / "word_starts.npy", np.dtype(bool)))
            if positions:
                characters = files.enter_context(GrowingArray(folder / CHAR_STARTS, np.dtype(np.int32)))
            for ids, words in _encoded(documents, tokenizer, text):
                most = text.max_word_pieces
                pieces = [document.ids for document in words]
                kept = [piece[:most] for piece in pieces]
                lengths.append(np.array([len(piece) for piece in kept], dtype=np.int64))
                identifiers.append(pa.array(ids, pa.string()))
                names.update("".join(f"{name}\0" for name in ids).encode())
                flat = np.concatenate(kept) if kept else np.zeros(0, np.int32)
                tokens.add(flat.astype(kind))
                starts.add(
                    np.concatenate([np.zeros(0, bool), *(document.begins[:most] for document in words)])
                )
                if positions:
                    for document in words:
                        characters.add(document.firsts[:most])
                counts["documents"] += len(kept)
                counts["empty"] += sum(len(piece) == 0 for piece in kept)
                counts["truncated"] += sum(len(a) < len(b) for a, b in zip(kept, pieces, strict=True))
                counts["word_pieces"] += len(flat)
        offsets = np.zeros(counts["documents"] + 1, dtype=np.int64)
        np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]), out=offsets[1:])
        np.save(folder / "offsets.npy", offsets)
        table = pa.table({"document_id": pa.chunked_array(identifiers, type=pa.string())})
        pq.write_table(table.combine_chunks(), folder / "documents.parquet", compression="zstd")
        record = {
            "vocabulary_size": tokenizer.size,
            "tokenizer": tokenizer.fingerprint,
            "text": text.model_dump(),
            "contents": {
                "tokens": tokens.sha256(),
                "offsets": hashlib.sha256(offsets.tobytes()).hexdigest(),
                "documents": names.hexdigest(),
                **({"char_starts": characters.sha256()} if positions else {}),
            },
            **counts,
        }
        (folder / "store.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return counts


def _encoded(
    documents: str | Path, tokenizer: WordPieceTokenizer, text: TextConfig
) -> Iterator[tuple[list[str], list[Words]]]:
    """Yield identifiers and the words of each document."""
    cutter = ChunkTable(tokenizer) if tokenizer.cuts_at_spaces else tokenizer
    batches = stream_texts(documents, text, DOCUMENTS_AT_ONCE)
    title = f"word pieces of {Path(documents).stem}"
    total = DOCUMENTS.count(documents)
    for identifiers, texts in progress(batches, title, "documents", total, size=lambda batch: len(batch[0])):
        yield identifiers, cutter.words(texts)
