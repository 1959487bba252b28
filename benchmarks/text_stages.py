"""What stages beside objectives cost a document: readers, word stores and vectors, postings, pseudo-queries, indexes,
TextRank, frequencies.

    python benchmarks/text_stages.py

The articles are those of benchmarks/objectives.py: generated, 1,000 words each, in one shard. Options by default, but
pseudo-queries from the whole collection's words, as configs/ares-paper.yaml draws them. Processor time of all threads
and of the processes that a stage starts (Java's start is in its stages); the median of rounds. A small collection goes
through everything first, so that no import and no compiling is measured.
"""

from __future__ import annotations

import argparse
import statistics as middle
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import cbor2
import pyarrow.compute as pc

from irpretrain.axioms.pseudo_queries import sample_pseudo_queries
from irpretrain.axioms.rank_engine import write_postings
from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig, WordVectorsConfig
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.retrieval import IndriOptions, RetrievalConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import DOCUMENTS, WORD_COUNTS
from irpretrain.retrieval.indri import build_positions
from irpretrain.retrieval.lucene import index
from irpretrain.retrieval.term_weights.targets import write_frequencies
from irpretrain.retrieval.textrank import weigh_by_textrank
from irpretrain.retrieval.weighted_index import index_weights
from irpretrain.text.terms import read_terms
from irpretrain.text.word_store import WordStore, write_word_store
from irpretrain.text.word_vectors import make_word_vectors
from objectives import TEXT, Collection
from side_by_side import Stopwatch, Turn

AXIOMS, RETRIEVAL = AxiomsConfig(), RetrievalConfig(threads=1)
PSEUDO_QUERIES = PseudoQueriesConfig(support="collection", temperature=0.1)
WORD_VECTORS = [WordVectorsConfig(dimensions=dimensions, epochs=1) for dimensions in (100, 300)]
"""The default's dimensions and the papers'."""
PARAGRAPH, PARAGRAPHS = 50, 20
"""Words of a paragraph of TREC CAR, and paragraphs of an article."""
PAGE = "<html><head><title>{title}</title></head><body><p>{body}</p></body></html>"
RESPONSE = "HTTP/1.1 200 OK\nContent-Type: text/html\n\n{page}"


def _tsv(row: dict[str, str]) -> bytes:
    return "{id}\t{title}\t{body}\n".format(**_flat(row)).encode()


def _trectext(row: dict[str, str]) -> bytes:
    form = "<DOC>\n<DOCNO>{id}</DOCNO>\n<HEAD>{title}</HEAD>\n<TEXT>\n{body}\n</TEXT>\n</DOC>\n"
    return form.format(**_flat(row)).encode()


def _trecweb(row: dict[str, str]) -> bytes:
    form = "<DOC>\n<DOCNO>{id}</DOCNO>\n<DOCHDR>\nhttp://example.org/{id}\n</DOCHDR>\n{page}\n</DOC>\n"
    return form.format(id=row["id"], page=_page(row)).encode()


def _warc(row: dict[str, str]) -> bytes:
    response = RESPONSE.format(page=_page(row)).encode()
    head = f"WARC/0.18\nWARC-Type: response\nWARC-TREC-ID: {row['id']}\nContent-Length: {len(response)}\n\n"
    return head.encode() + response + b"\n\n"


def _cord19(row: dict[str, str]) -> bytes:
    return '{id},"{title}","{body}"\n'.format(**_flat(row)).encode()


def _car_paragraphs(row: dict[str, str]) -> bytes:
    words, paragraphs = row["body"].split(), []
    for number in range(PARAGRAPHS):
        text = " ".join(words[number * PARAGRAPH : (number + 1) * PARAGRAPH])
        paragraphs.append(cbor2.dumps([0, f"{row['id']}-{number}", [[0, text]]]))
    return b"".join(paragraphs)


def _flat(row: dict[str, str]) -> dict[str, str]:
    return row | {"body": row["body"].replace("\n", " ")}


def _page(row: dict[str, str]) -> str:
    return PAGE.format(title=row["title"], body=row["body"].replace("\n", "</p><p>"))


@dataclass(frozen=True)
class Format:
    """How a corpus of a format is written.

    Attributes:
        write: an article (id, title, body) as bytes.
        options: what its configuration says.
        head: bytes before the first article.
        documents: of an article.
    """

    write: Callable[[dict[str, str]], bytes]
    options: dict[str, Any] = field(default_factory=dict)
    head: bytes = b""
    documents: int = 1


FORMATS = {
    "tsv": Format(_tsv, {"options": {"columns": ["id", "title", "body"]}}),
    "trectext": Format(_trectext),
    "trecweb": Format(_trecweb, {"files": ["*"]}),
    "warc": Format(_warc),
    "cord19": Format(_cord19, {"files": ["*"]}, b"cord_uid,title,abstract\n"),
    "car-paragraphs": Format(_car_paragraphs, {"files": ["*"]}, documents=PARAGRAPHS),
}


def write_source(documents: Path, form: str, output: Path) -> CorpusConfig:
    """Write documents as one file of a format; return how it is read."""
    written = FORMATS[form]
    with output.open("wb") as file:
        file.write(written.head)
        for row in DOCUMENTS.read(documents, columns=["document_id", "title", "body"]).to_pylist():
            name = row["document_id"].replace("/", "-")
            file.write(written.write({"id": name, "title": row["title"], "body": row["body"]}))
    return CorpusConfig(format=form, path=str(output), **written.options)


class Stages:
    """The stages on one collection, each in a round's own folder; each rests on those before it."""

    def __init__(self, folder: Path, articles: int) -> None:
        self._collection = Collection(folder, articles)
        self._collection.stages()["counts of words"]()
        self.articles = articles
        self._documents, self._counts = folder / "documents", folder / "counts"
        self._words = int(pc.sum(WORD_COUNTS.read(self._counts, ["count"])["count"]).as_py())
        self._sources = {}
        for form in FORMATS:
            (folder / form).mkdir()
            self._sources[form] = write_source(self._documents, form, folder / form / f"source.{form}")

    def run(self, out: Path) -> dict[str, tuple[int, Callable[[], Any]]]:
        """Stage → how many units it makes, and the stage."""
        out.mkdir()
        queries = self.articles * PSEUDO_QUERIES.per_document
        stages: dict[str, tuple[int, Callable[[], Any]]] = {
            **{
                f"read_corpus {form}": (self.articles * written.documents, partial(self._read, form, out))
                for form, written in FORMATS.items()
            },
            "store_words": (
                self.articles,
                lambda: write_word_store(self._documents, self._counts, TEXT, out / "words"),
            ),
            **{
                f"make_word_vectors {options.dimensions}": (
                    self._words,
                    partial(
                        make_word_vectors,
                        options,
                        [[out / "words"]],
                        self._counts,
                        1,
                        out / f"vectors-{options.dimensions}",
                    ),
                )
                for options in WORD_VECTORS
            },
            "build_postings": (self.articles, lambda: self._postings(out)),
            "sample_pseudo_queries": (
                queries,
                lambda: sample_pseudo_queries(
                    out / "words", self._counts, PSEUDO_QUERIES, 1, out / "queries"
                ),
            ),
            "index_corpus": (
                self.articles,
                lambda: index([self._documents], RETRIEVAL, TEXT, out / "index"),
            ),
            "build_positions": (
                self.articles,
                lambda: build_positions([self._documents], IndriOptions(), TEXT, out / "positions"),
            ),
            "weigh_textrank": (
                self.articles,
                lambda: weigh_by_textrank(self._documents, RETRIEVAL, TEXT, out / "textrank"),
            ),
            "count_term_frequencies": (
                self.articles,
                lambda: write_frequencies(self._documents, TEXT, out / "frequencies"),
            ),
            "index_weights": (
                self.articles,
                lambda: index_weights([out / "textrank"], "lucene", RETRIEVAL, out / "weighted"),
            ),
        }
        return stages

    def _read(self, form: str, out: Path) -> None:
        read = write_shard(
            self._sources[form],
            self._sources[form].path,
            0,
            out / f"{form}-documents",
            out / f"{form}-redirects",
        )
        assert read["written"] == self.articles * FORMATS[form].documents, read

    def _postings(self, out: Path) -> None:
        terms = read_terms(self._counts, stemming=AXIOMS.stemming, stop_list=AXIOMS.stop_list)
        stores, size = [[WordStore(out / "words")]], len(terms.names)
        write_postings(stores, terms.term_of, size, out / "postings", AXIOMS.bm25, AXIOMS.memory_mb)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=3_000, help="articles of the collection")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the median counts")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as temporary:
        folder = Path(temporary)
        for _, stage in Stages(folder / "small", min(64, given.articles)).run(folder / "small-out").values():
            stage()
        stages, turns = Stages(folder / "measured", given.articles), dict[str, list[Turn]]()
        for number in range(given.rounds):
            for name, (amount, stage) in stages.run(folder / f"out-{number}").items():
                watch = Stopwatch()
                stage()
                turns.setdefault(name, []).append(watch.turn(amount))
    print("| stage | a second of one core | processor seconds |\n|---|---:|---:|")
    for name, measured in turns.items():
        seconds = middle.median(turn.cpu for turn in measured)
        print(f"| {name} | {measured[0].amount / seconds:,.0f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
