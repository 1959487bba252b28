"""Statistics, word stores and postings of small documents, dealt to some shards."""

from collections.abc import Sequence
from pathlib import Path

from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.terms import read_terms
from irpretrain.text.word_store import WordStore, write_word_store
from small_documents import document_rows

TEXT = TextConfig(words="alphanumeric")


def write_shards(folder: Path, texts: Sequence[str], shards: int = 1) -> list[Path]:
    """Write documents d0, d1, …, dealt to shards in turn; return the shards."""
    folder.mkdir(exist_ok=True, parents=True)
    paths = [folder / f"documents-{shard}.parquet" for shard in range(shards)]
    for shard, path in enumerate(paths):
        DOCUMENTS.write(path, document_rows(texts)[shard::shards])
    return paths


class MadeCollection:
    """Statistics and word stores of the documents of some shards."""

    def __init__(self, folder: Path, documents: Sequence[Path], text: TextConfig = TEXT) -> None:
        self.folder, self.statistics = folder, folder / "words.parquet"
        counts = [folder / f"counts-{path.stem}.parquet" for path in documents]
        for path, counted in zip(documents, counts, strict=True):
            count_words(path, text, counted)
        merge_counts(counts, self.statistics)
        self.stores = [folder / f"store-{path.stem}" for path in documents]
        for path, store in zip(documents, self.stores, strict=True):
            write_word_store(path, self.statistics, text, store)

    def write_postings(self, options: AxiomsConfig) -> Path:
        terms = read_terms(self.statistics, options.stop_list, options.stemming)
        shards = [WordStore(store) for store in self.stores]
        output = self.folder / "postings"
        write_postings([shards], terms.term_of, len(terms.names), output, options.bm25)
        return output
