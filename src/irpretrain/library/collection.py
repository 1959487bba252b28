"""A collection of documents, and what the papers compute from all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.contracts import AXIOM_VALUES, DOCUMENT_QUERIES, DOCUMENTS, REDIRECTS
from irpretrain.corpora.shards import write_shard
from irpretrain.errors import ConfigError
from irpretrain.extras import naming_extras
from irpretrain.library.collection_files import CollectionFiles
from irpretrain.library.documents import GivenDocument, corpus_options, document_rows, say_what_is_left_out
from irpretrain.library.given import Pair, listed_pairs, naming
from irpretrain.library.groups import Groups
from irpretrain.library.options import Options
from irpretrain.objectives.registry import needs
from irpretrain.objectives.shard import Shard
from irpretrain.objectives.write_groups import write_groups
from irpretrain.text.compose import stream_texts
from irpretrain.text.words import find_words

if TYPE_CHECKING:
    import pandas as pd


class Collection(CollectionFiles):
    """Documents, and what is computed from them when it is first asked for.

    Whatever has to lie on disk lies in a temporary folder that goes with the object.

    Examples:
        >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
        >>> len(fruit)
        3
    """

    def __init__(
        self,
        documents: Iterable[GivenDocument] | Mapping[str, str] = (),
        options: Options | None = None,
        encoder: str | Path | None = None,
        vectors: str | Path | None = None,
    ) -> None:
        """Take the documents.

        Args:
            documents: texts, pairs of identifier and text, mappings with columns of DOCUMENTS (docs/contracts.md), or
                documents of `read_documents` and `parse_wikitext`; or one mapping of identifiers to texts.
            options: preset, seed, and sections of the configuration.
            encoder: for objectives that cut documents (all but rop and ares): Hugging Face directory, a name on its
                hub that is in the local cache, or embedded:<asset>.
            vectors: file of word vectors for `axioms`; without one they are trained on the documents.

        Raises:
            ConfigError: these are no documents.
            InputError: there is no such encoder.
        """
        super().__init__(options or Options(), encoder, vectors)
        self.source = "documents"
        DOCUMENTS.write(self.documents, document_rows(documents))
        REDIRECTS.write(self._redirects, [])

    @classmethod
    def read(
        cls,
        path: str | Path,
        format: str = "jsonl",
        options: Options | None = None,
        encoder: str | Path | None = None,
        vectors: str | Path | None = None,
        **others: Any,
    ) -> Collection:
        """Return the collection of a file, a folder, or `ir_datasets:<id>`; `others` are options of the format
        (docs/corpora.md), and `malformed`: "skip" leaves out what cannot be read, {"skip": 0.01} at most that share."""
        collection = cls((), options, encoder, vectors)
        collection.source = str(path)
        with naming(collection.source, collection._folder):
            corpus, source = corpus_options(path, format, others, collection._folder)
            counts = write_shard(corpus, source, 0, collection.documents, collection._redirects)
        say_what_is_left_out(
            collection.source, {**counts, "malformed": {}}
        )  # the shard tells of malformed records
        return collection

    def __len__(self) -> int:
        return DOCUMENTS.count(self.documents)

    def texts(self) -> dict[str, str]:
        """Return the text of each document by its identifier: title and body, as `options.text` says."""
        return {
            name: text for names, texts in self.stream(1024) for name, text in zip(names, texts, strict=True)
        }

    def stream(self, at_once: int) -> Iterator[tuple[list[str], list[str]]]:
        """Yield identifiers and texts of the documents, so many at a time."""
        return stream_texts(self.documents, self.options.text, at_once)

    def word_sets(self, **changes: Any) -> pd.DataFrame:
        """Draw PROP's pairs of word sets (Ma et al., WSDM 2021, Algorithm 1); the likelier set comes first.

        Args:
            changes: keys of objective rop that differ from the preset's.

        Returns:
            Columns document_id, preferred, other (words, separated by spaces), and the log-likelihoods of both.

        Examples:
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> pairs = fruit.word_sets(minimum_count=1, pairs_per_document=2)
            >>> len(pairs), bool((pairs.preferred_score >= pairs.other_score).all())
            (6, True)
        """
        import pandas as pd

        rows = [
            {
                "document_id": group.document_ids[0],
                "preferred": group.queries[0],
                "other": group.queries[1],
                "preferred_score": group.scores[0],
                "other_score": group.scores[1],
            }
            for group in self.groups("rop", **changes)
        ]
        columns = ["document_id", "preferred", "other", "preferred_score", "other_score"]
        return pd.DataFrame(rows, columns=columns)

    def log_likelihoods(self, pairs: Iterable[Pair], **changes: Any) -> np.ndarray:
        """Return log P(words | document) of PROP's smoothed language model (equations 2 and 3), float64 [pairs].

        Words outside the vocabulary count nothing. `changes` are keys of objective rop that differ from the preset's.

        Examples:
            >>> fruit = Collection({"document_id": name, "body": f"{name} pie"} for name in ("apple", "pear"))
            >>> apple, pear = fruit.log_likelihoods([("apple", "apple"), ("pear", "apple")], minimum_count=1)
            >>> bool(apple > pear)
            True
        """
        from irpretrain.objectives.prop.pair_sampler import PairSampler

        pairs = self._checked(pairs)
        options, texts, words = (
            self.options.objective("rop", **changes),
            self.texts(),
            self.options.text.word_kind,
        )
        with naming(self.source, self._folder):
            model = PairSampler(self._statistics, options, self.options.text, self.options.seed).collection
        documents = {
            name: model.document(find_words(texts[name], words)) for name in {name for _, name in pairs}
        }
        terms = [model.number(find_words(query, words)) for query, _ in pairs]
        return np.array(
            [
                documents[name].log_likelihood(numbers[numbers >= 0].tolist())
                for (_, name), numbers in zip(pairs, terms, strict=True)
            ]
        )

    def pseudo_queries(self, **changes: Any) -> pd.DataFrame:
        """Draw ARES's pseudo-queries (Chen et al., SIGIR 2022, section 4.1).

        Args:
            changes: keys of section pseudo_queries that differ.

        Returns:
            Columns document_id and query.

        Examples:
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> queries = fruit.pseudo_queries(minimum_count=1, temperature=0.1, per_document=2)
            >>> list(queries.document_id)
            ['0', '0', '1', '1', '2', '2']
        """
        with naming(self.source, self._folder):
            drawn = self._drawn(self.options.drawn(**changes))
        table = DOCUMENT_QUERIES.read(drawn, ["document_id", "query"])
        frame: pd.DataFrame = table.to_pandas()
        return frame

    def axioms(self, pairs: Iterable[Pair]) -> pd.DataFrame:
        """Return what the nine axioms compare of each (query, document): ARES, table 1, and docs/methods/axioms.md.

        Returns:
            Columns query, document_id, terms, and those of AXIOM_VALUES. For `rank`, `prox_1` and `prox_2` smaller is
            better; a rank of 0 stands for one beyond `axioms.rank_depth`.

        Examples:
            >>> from irpretrain import Options
            >>> options = Options(word_vectors={"minimum_count": 1, "dimensions": 4})
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"], options)
            >>> fruit.axioms([("apple juice", "0"), ("pear", "0")])[["query", "rank", "stm_2"]].values.tolist()
            [['apple juice', 1, 1.0], ['pear', 0, 0.0]]
        """
        pairs = self._checked(pairs)
        queries = self._path("pairs.parquet")
        DOCUMENT_QUERIES.write(queries, [_query_row(number, *pair) for number, pair in enumerate(pairs)])
        with naming(self.source, self._folder):
            frame: pd.DataFrame = AXIOM_VALUES.read(self._valued(queries, "pairs")).to_pandas()
        return frame.drop(columns=["part", "position", "sample", "query_id"])

    def ranks(self, pairs: Iterable[Pair], depth: int | None = None) -> np.ndarray:
        """Return at which rank BM25 finds the document under the query, int32 [pairs], without a search.

        Terms, BM25 and lengths are those of `options.axioms`. 0 stands for a document without a term of the query, or
        beyond `depth`.

        Examples:
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> fruit.ranks([("apple pie", "0"), ("apple pie", "1"), ("juice", "1")]).tolist()
            [1, 2, 0]
        """
        import pyarrow as pa

        from irpretrain.axioms.collection import open_terms
        from irpretrain.rank_engine import document_ranks

        pairs = self._checked(pairs)
        options = self.options.axioms
        terms, postings = open_terms(self._statistics, self._postings, options)
        queries = [
            terms.terms(terms.words(find_words(query, self.options.text.word_kind))) for query, _ in pairs
        ]
        offsets = np.cumsum([0, *map(len, queries)])
        documents = postings.rows(pa.array([name for _, name in pairs], pa.string()))
        flat = np.concatenate(queries) if queries else np.zeros(0, np.int64)
        return document_ranks(postings, documents, flat, offsets, self._bm25, depth, options.threads)

    @naming_extras()
    def groups(self, objective: str, **changes: Any) -> Groups:
        """Make the ranking groups of an objective.

        Args:
            objective: type of an objective: rop, srr, rwi, ati, ltm, hp, shp, mrds, ict, bfs, wlp, rqp, qdm, rdp, acm,
                ares or bprop.
            changes: keys of the objective that differ from the preset's; `predictor` of ares is a directory.

        Raises:
            ConfigError: the objective needs an encoder, and the collection has none.

        Examples:
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
            >>> group = next(iter(fruit.groups("rop", minimum_count=1)))
            >>> group.documents, len(group.queries), group.scores[0] >= group.scores[1]
            (['apple pie with apple juice'], 2, True)
        """
        options = self.options.objective(objective, **changes)
        needed = needs(options)
        if needed & {"positions", "term_weights"} and not self.has_encoder:
            reads = (
                "draws words by the attention"
                if "term_weights" in needed
                else "cuts documents by the word pieces"
            )
            raise ConfigError(
                f"objective {objective}: {reads} of an encoder; name one: Collection(..., encoder=...)"
            )
        predictor = getattr(options, "predictor", None)
        tokens = self.tokens if self.has_encoder else ""
        made: dict[str, Callable[[], Any]] = {
            "statistics": lambda: self._statistics,
            "graph": lambda: self._graph,
            "collection": lambda: (self.documents,),
            "collection_tokens": lambda: (tokens,),
            "anchor_texts": lambda: self._anchors,
            "term_weights": lambda: self._attention,
            "axiom_values": lambda: self._valued(self._drawn(self.options.pseudo_queries), "pseudo-queries"),
        }
        path = self._path(f"groups-{len(list(self._folder.glob('groups-*')))}.parquet")
        with naming(self.source, self._folder):
            shard = Shard(
                self.documents,
                self.options.text,
                self.options.seed,
                tokens=tokens,
                predictor=predictor or "",
                axioms=self.options.axioms,
                collection_term_weights=(self._attention,) if "term_weights" in needed else (),
                **{name: make() for name, make in made.items() if name in needed},
            )
            return Groups(self, options, path, write_groups(shard, options, path))

    def _checked(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Return the pairs; ConfigError for a pair of a document that the collection lacks."""
        checked = listed_pairs(pairs, "an identifier")
        for number, (_, name) in enumerate(checked):
            if name not in self._names:
                raise ConfigError(f"pair {number}: the collection has no document {name!r}")
        return checked

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(DOCUMENTS.read(self.documents, ["document_id"])["document_id"].to_pylist())


def _query_row(number: int, query: str, document_id: str) -> dict[str, Any]:
    return {
        "part": 0,
        "position": number,
        "sample": 0,
        "document_id": document_id,
        "query_id": "",
        "query": query,
    }
