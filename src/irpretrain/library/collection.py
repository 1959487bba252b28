"""A collection of documents, and what the papers compute from all of them together."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from irpretrain.axioms.predictor import REMEDY
from irpretrain.axioms.preferences import DEFINITIONS
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.objectives import needs
from irpretrain.corpora.collection import check_identifiers
from irpretrain.corpora.policy import describe_location_in
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENT_QUERIES, DOCUMENTS, REDIRECTS
from irpretrain.foundation.errors import ConfigError, cli_or_api, naming_extras, need_folder
from irpretrain.library.collection_search import SearchableCollection
from irpretrain.library.documents import GivenDocument, document_rows, report_left_out
from irpretrain.library.formats import describe_source
from irpretrain.library.frames import frame_document_pairs, is_frame
from irpretrain.library.groups import Groups
from irpretrain.library.inputs import Pair, listed
from irpretrain.library.options import Options
from irpretrain.objectives.shard import Shard, encoder_remedy, write_groups

if TYPE_CHECKING:
    import pandas as pd


# Of `axiom_preferences`; their documents' words are in memory.
_PAIRS_PER_BATCH = 4096


class Collection(SearchableCollection):
    """Documents, and what is computed from them when it is first asked for.

    Whatever has to lie on disk lies in a temporary folder that goes with the object.

    Examples:
        >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"])
        >>> len(fruit)
        3
        >>> next(iter(fruit))
        ('0', 'apple pie with apple juice')
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
            documents: texts; pairs of identifier and text; dictionaries with `id`, `title`, `url` and `text`;
                documents of `read_documents` and `parse_wikitext`, which may have sections and links; one mapping of
                identifiers to texts; or a frame with a column of texts, read by the names of its columns.
            options: preset, seed, and sections of the configuration.
            encoder: for objectives that cut documents into word pieces, and for rop with preset released, which skips
                documents of few: Hugging Face directory, a name on its hub that is in the local cache, or
                embedded:<asset>.
            vectors: file of word vectors for `axioms`; without one they are trained on the documents.

        Raises:
            ConfigError: these are no documents, or no options.
            InputError: there is no such encoder.
        """
        if not isinstance(options, Options | None):
            raise ConfigError(
                f"options: write Options(preset=..., seed=..., ...), not {reprlib.repr(options)}"
            )
        super().__init__(options or Options(), encoder, vectors)
        DOCUMENTS.write(self.documents, document_rows(documents))
        REDIRECTS.write(self._redirects, [])

    @classmethod
    def read(
        cls,
        path: str | Path,
        format: str | None = None,
        options: Options | None = None,
        encoder: str | Path | None = None,
        vectors: str | Path | None = None,
        **settings: Any,
    ) -> Collection:
        """Return the collection of a file, a folder, or `ir_datasets:<id>`, by its beginning if no format is given.

        `settings` are options of the format (docs/corpora.md), `files`, patterns of the files of a folder that count,
        and `malformed`: "skip" leaves out what cannot be read, {"skip": 0.01} at most that share.

        Raises:
            InputError: there is no such file, it holds no document, more records than allowed cannot be read, or two
                documents share an identifier.
        """
        collection = cls((), options, encoder, vectors)
        collection.source = str(path)
        with collection.naming():
            corpus, source = describe_source(CorpusConfig, path, format, settings, collection._folder)
            counts = write_shard(
                corpus,
                source,
                0,
                collection.documents,
                collection._redirects,
                ids_without_text=collection.ids_without_text,
            )
            files = corpus.files_in(source)
            check_identifiers(
                [collection.documents],
                lambda _, file_number, position: describe_location_in(
                    files[file_number], position, corpus.format
                ),
            )
        # the shard tells of malformed records and of fields
        report_left_out(collection.source, {**counts, "malformed": {}, "unread_fields": {}})
        return collection

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
            (group.document_ids[0], *group.queries, *group.scores) for group in self.groups("rop", **changes)
        ]
        columns = ["document_id", "preferred", "other", "preferred_score", "other_score"]
        return pd.DataFrame(rows, columns=columns)

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
        with self.naming():
            queries_table = self._pseudo_queries(self.options.drawn(**changes))
        table = DOCUMENT_QUERIES.read(queries_table, ["document_id", "query"])
        frame: pd.DataFrame = table.to_pandas()
        return frame

    def axioms(self, pairs: Iterable[Pair]) -> pd.DataFrame:
        """Return what the axioms compare of each (query, document): ARES, table 1, and docs/methods/axioms.md.

        All columns of axioms are finite numbers or NaN, so they can be features of a model (XGBoost reads NaN as
        missing). NaN: `rank` beyond `axioms.rank_depth`, `prox_1` and `prox_2` where the document lacks a term of the
        query (with `missing_terms: skipped`, all of them), and every axiom of a query without terms.

        Args:
            pairs: (query, document), or a frame with a column of queries' texts and one of identifiers, such as docno.

        Returns:
            A row for each pair, in their order. Columns query, document_id, terms, and float64 of the axioms. For
            `rank`, `prox_1` and `prox_2` smaller is better.

        Examples:
            >>> from irpretrain import Options
            >>> options = Options(word_vectors={"minimum_count": 1, "dimensions": 4})
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"], options)
            >>> fruit.axioms([("apple juice", "0"), ("pear", "0")])[["query", "rank", "stm_2"]].values.tolist()
            [['apple juice', 1.0, 1.0], ['pear', nan, 0.0]]
        """
        pairs = self._checked_pairs(pairs)
        queries = self._path("pairs.parquet")
        rows = [
            {"part": 0, "position": place, "sample": 0, "document_id": name, "query_id": "", "query": query}
            for place, (query, name) in enumerate(pairs)
        ]
        DOCUMENT_QUERIES.write(queries, rows)
        with self.naming():
            frame: pd.DataFrame = AXIOM_VALUES.read(self._axiom_values(queries, "pairs")).to_pandas()
        columns = [definition.column for definition in DEFINITIONS.values()]
        values = frame[columns].to_numpy(np.float64)
        is_defined = np.isfinite(values) & (frame["terms"].to_numpy() > 0)[:, None]
        is_defined[:, columns.index("rank")] &= frame["rank"].to_numpy() > 0
        frame[columns] = np.where(is_defined, values, np.nan)
        return frame.drop(columns=["part", "position", "sample", "query_id"])

    def axiom_preferences(self, pairs: Iterable[tuple[str, str, str]]) -> pd.DataFrame:
        """Return which of two documents each axiom prefers for a query, as `ir_axioms` does: features of a pair.

        PROX compares documents that hold the same terms of the query, two or more, by these terms; other axioms
        compare the values of `axioms`, where a document beyond `rank_depth` is behind every other one.

        Args:
            pairs: (query, one document, another), or a frame with the columns query, first and second.

        Returns:
            Columns query, first, second (documents), and int8 of the axioms: 1 prefers the first document, -1 the
            second, 0 neither.

        Raises:
            ConfigError: a part is missing, or the collection lacks a document.

        Examples:
            >>> from irpretrain import Options
            >>> options = Options(word_vectors={"minimum_count": 1, "dimensions": 4})
            >>> fruit = Collection(["apple pie with apple juice", "pear pie", "an apple and a pear"], options)
            >>> found = fruit.axiom_preferences([("apple juice", "0", "1"), ("apple juice", "1", "0")])
            >>> found[["first", "second", "rank", "prox_1", "stm_2"]].values.tolist()
            [['0', '1', 1, 0, 0], ['1', '0', -1, 0, 0]]
        """
        import pandas as pd
        import pyarrow as pa

        from irpretrain.axioms.batch import AxiomBatch, BatchMaker, open_collection
        from irpretrain.axioms.document_pairs import document_preferences, over_present_terms
        from irpretrain.text.word_store import WordDocuments

        triples = list(frame_document_pairs(pairs)) if is_frame(pairs) else listed(pairs, "pairs")
        for pair_number, triple in enumerate(triples):
            if not isinstance(triple, tuple | list) or len(triple) != 3:
                raise ConfigError(
                    f"pair {pair_number}: a query and two document identifiers are needed, not {reprlib.repr(triple)}"
                )
        first, second = (
            self._checked_pairs([(triple[0], triple[position]) for triple in triples]) for position in (1, 2)
        )
        options, features = self.options.axioms, [np.zeros((0, len(DEFINITIONS)), np.int8)]
        with self.naming():
            axiom_collection = open_collection(
                self._statistics, self._postings, self._word_vectors, options, options.threads
            )
            documents = WordDocuments.open([self._words], len(axiom_collection.terms.word_numbers))
            maker = BatchMaker(over_present_terms(axiom_collection), documents, self.options.text.word_kind)

            def make(pairs: list[tuple[str, str]]) -> AxiomBatch:
                document_ids = pa.array([document_id for _, document_id in pairs], pa.string())
                rows = documents.rows(document_ids), axiom_collection.postings.rows(document_ids)
                return maker.make([query for query, _ in pairs], *rows)

            for start in range(0, len(triples), _PAIRS_PER_BATCH):
                batch = slice(start, start + _PAIRS_PER_BATCH)
                features.append(document_preferences(make(first[batch]), make(second[batch])))
        key_rows = [
            (query, first_id, second_id)
            for (query, first_id), (_, second_id) in zip(first, second, strict=True)
        ]
        columns = [definition.column for definition in DEFINITIONS.values()]
        frame = pd.DataFrame(key_rows, columns=["query", "first", "second"], dtype=object)
        return frame.join(pd.DataFrame(np.concatenate(features), columns=columns))

    @naming_extras()
    def groups(self, objective: str, **changes: Any) -> Groups:
        """Make the ranking groups of an objective.

        Args:
            objective: type of an objective, such as rop or ares (docs/reference/config/objectives.md).
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
        needed_inputs = needs(options)
        if not self.has_encoder and (encoder_use := _use_of_encoder(options)):
            remedy = encoder_remedy()
            if hasattr(options, "short_document_pieces"):
                switch_off = cli_or_api("short_document_pieces=0", "--set short_document_pieces=0")
                remedy = f"{remedy}, or switch it off: {switch_off}"
            raise ConfigError(f"objective {objective}: {encoder_use} of an encoder; {remedy}")
        if predictor := getattr(options, "predictor", None):
            need_folder(predictor, REMEDY)
        input_makers: dict[str, Callable[[], Any]] = {
            "statistics": lambda: self._statistics,
            "graph": lambda: self._graph,
            "collection": lambda: (self.documents,),
            "collection_tokens": lambda: (self.tokens,),
            "anchor_texts": lambda: self._anchors,
            "axiom_values": lambda: self._axiom_values(
                self._pseudo_queries(self.options.pseudo_queries), "pseudo-queries"
            ),
        }
        path = self._path(f"groups-{len(list(self._folder.glob('groups-*')))}.parquet")
        with self.naming():
            shard = Shard(
                self.documents,
                self.options.text,
                self.options.seed,
                tokens=self.tokens if self.has_encoder else "",
                predictor=predictor or "",
                axioms=self.options.axioms,
                **{name: make() for name, make in input_makers.items() if name in needed_inputs},
            )
            return Groups(self, options, path, write_groups(shard, options, path))


def _use_of_encoder(options: Any) -> str:
    """Return what an objective does by parts of an encoder; nothing where it needs none."""
    if "positions" in needs(options):
        return "cuts documents by the word pieces"
    if getattr(options, "skips_short_documents", False):
        return "short_document_pieces counts the word pieces"
    return ""
