"""What the library makes of a collection's documents, when it is first asked for: as the workflow's rules do."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from irpretrain.config.axioms import PseudoQueriesConfig
from irpretrain.config.base import explain
from irpretrain.config.text import EncoderConfig
from irpretrain.corpora.embedded import materialise, read_manifest, resolve
from irpretrain.corpora.sources import language_mismatch
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import count_of
from irpretrain.foundation.progress import notice
from irpretrain.foundation.resources import resources_directory
from irpretrain.library.inputs import naming
from irpretrain.library.options import Options
from irpretrain.models.encoder_files import REMEDY, hub_name, model_directory
from irpretrain.text.texts import stream_texts


class CollectionFiles:
    """Tables, stores and indexes of one shard, in a temporary folder that goes with the object.

    Attributes:
        options: preset, seed, and sections of the configuration.
        documents: DOCUMENTS table.
        source: what messages call the documents.
        ids_without_text: documents that `read` left out because they are empty.
    """

    source = "documents"

    def __init__(self, options: Options, encoder: str | Path | None, vectors: str | Path | None) -> None:
        self.options = options
        self.ids_without_text = set[str]()
        self._encoder, self._vectors = None if encoder is None else str(encoder), vectors
        if self._encoder is not None and resolve(self._encoder)[0] != "embedded":
            self._encoder = str(model_directory(self._encoder, REMEDY))
        if self._encoder is not None:
            manifest = read_manifest(resources_directory() / "embedded.yaml")
            if mismatch := language_mismatch(self._encoder, manifest, options.text.language):
                notice("encoder", f"WARNING: {mismatch} Give one of your language (docs/languages.md).")
        self._temporary = TemporaryDirectory(prefix="irpretrain-")
        self._folder = Path(self._temporary.name, "documents")  # progress is told under this name
        self._folder.mkdir()
        self.documents, self._redirects = self._path("documents.parquet"), self._path("redirects.parquet")

    def __repr__(self) -> str:
        """Name the source, the number of documents, and what decides results."""
        source = "" if self.source == CollectionFiles.source else f" of {self.source}"
        facts = [count_of(DOCUMENTS.count(self.documents), "document")]
        facts += [f"preset {self.options.preset}", f"seed {self.options.seed}"]
        facts += [f"encoder {self._encoder}"] if self.has_encoder else []
        return f"<Collection{source}: {', '.join(facts)}>"

    @property
    def has_encoder(self) -> bool:
        """Whether documents can be cut into word pieces, and models trained."""
        return self._encoder is not None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield identifier and text of each document, read from the disk: title and body, as `options.text` says."""
        for names, texts in stream_texts(self.documents, self.options.text, 1024):
            yield from zip(names, texts, strict=True)

    def texts(self) -> dict[str, str]:
        """Return the text of each document by its identifier, all of them in memory."""
        return dict(self)

    def naming(self) -> AbstractContextManager[None]:
        """Let messages name the documents' source and the encoder in place of temporary files."""
        return naming({self._path("encoder"): self._encoder or "", self._folder: self.source})

    def _path(self, name: str) -> Path:
        return self._folder / name

    @cached_property
    def _statistics(self) -> Path:
        from irpretrain.text.statistics import count_words, merge_counts

        counts, statistics = self._path("counts.parquet"), self._path("statistics.parquet")
        count_words(self.documents, self.options.text, counts)
        merge_counts([counts], statistics)
        return statistics

    @cached_property
    def encoder(self) -> Path:
        """Directory of the encoder."""
        assert self._encoder is not None
        path_kind, location = resolve(self._encoder)
        if path_kind != "embedded":
            return Path(self._encoder)
        materialise(str(location), resources_directory() / "embedded.yaml", self._path("encoder"))
        return self._path("encoder")

    def encoder_options(self, layers: int | None) -> EncoderConfig:
        """Return the encoder as a record of a training names it: its label is a name that others know it by."""
        assert self._encoder is not None
        path_kind, location = resolve(self._encoder)
        label = str(location) if path_kind == "embedded" else hub_name(self._encoder) or self.encoder.name
        return explain(
            EncoderConfig, {"path": self._encoder, "label": label, "layers": layers}, "encoder", top=True
        )

    @cached_property
    def tokens(self) -> Path:
        """Token store of the documents."""
        from irpretrain.text.token_store import write_token_store

        store = self._path("tokens")
        write_token_store(self.documents, self.encoder, self.options.text, store, positions=True)
        return store

    @cached_property
    def _words(self) -> Path:
        from irpretrain.text.word_store import write_word_store

        write_word_store(self.documents, self._statistics, self.options.text, self._path("words"))
        return self._path("words")

    @cached_property
    def _postings(self) -> Path:
        from irpretrain.axioms.rank_engine import write_postings
        from irpretrain.text.terms import read_terms
        from irpretrain.text.word_store import WordStore

        options = self.options.axioms
        terms = read_terms(self._statistics, options.stop_list, options.stemming)
        corpora, postings = [[WordStore(self._words)]], self._path("postings")
        size = len(terms.names)
        write_postings(corpora, terms.term_of, size, postings, options.bm25, options.memory_mb)
        return postings

    @cached_property
    def _word_vectors(self) -> Path:
        from irpretrain.text.word_vectors import make_word_vectors

        vectors, options = self._path("vectors"), self.options.word_vectors
        make_word_vectors(
            options, [[self._words]], self._statistics, self.options.seed, vectors, self._vectors
        )
        return vectors

    @cached_property
    def _graph(self) -> Path:
        from irpretrain.wikipedia.build_graph import build_graph
        from irpretrain.wikipedia.links import extract_links

        sources, links = self._path("sources.parquet"), self._path("links.parquet")
        options = self.options.graph
        extract_links(self.documents, options, sources, links, [self.documents], self.options.text.language)
        build_graph([[sources]], [[links]], [[self._redirects]], options, self._path("graph"))
        return self._path("graph")

    @cached_property
    def _anchors(self) -> Path:
        from irpretrain.wikipedia.links import write_anchor_texts

        options, anchors = self.options.graph, self._path("anchors.parquet")
        write_anchor_texts([self.documents], self._graph, options.memory_mb, options.threads, anchors)
        return anchors

    def _pseudo_queries(self, options: PseudoQueriesConfig) -> Path:
        from irpretrain.axioms.pseudo_queries import sample_pseudo_queries

        temperature = self._temperature(options) if options.temperature == "calibrated" else None
        queries = self._path("pseudo-queries.parquet")
        sample_pseudo_queries(self._words, self._statistics, options, self.options.seed, queries, temperature)
        return queries

    def _temperature(self, options: PseudoQueriesConfig) -> Path:
        from irpretrain.axioms.calibration import SAMPLE_DOCUMENTS, RankSample, calibrate_temperature
        from irpretrain.config.papers import printed_rank_shares

        seed, axioms = self.options.seed, self.options.axioms
        sample = RankSample([self._words], self._statistics, self._postings, axioms, SAMPLE_DOCUMENTS, seed)
        calibrate_temperature(sample, options, printed_rank_shares(), self._path("temperature.json"))
        return self._path("temperature.json")

    def _axiom_values(self, queries: Path, name: str) -> Path:
        from irpretrain.axioms.axiom_values import compute_axiom_values
        from irpretrain.axioms.batch import open_collection

        options, values = self.options.axioms, self._path(f"{name}-values.parquet")
        axiom_collection = open_collection(
            self._statistics, self._postings, self._word_vectors, options, options.threads
        )
        compute_axiom_values(queries, [self._words], axiom_collection, self.options.text, values)
        return values
