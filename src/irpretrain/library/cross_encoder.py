"""Cross-encoders that rank texts, or the candidates of a first stage: the workflow's re-ranking."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

import numpy as np
from pydantic import ValidationError

from irpretrain.config.base import explain
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.evaluation.runs import Run, top
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, naming_extras
from irpretrain.library.documents import document_rows
from irpretrain.library.frames import frame_candidates, is_frame
from irpretrain.library.inputs import Pair, checked_identifier, listed, listed_pairs, naming
from irpretrain.models.encoder_files import RERANKER_REMEDY, model_directory
from irpretrain.text.texts import stream_chosen

# Documents of each query, best first: a frame with columns such as qid and docno, or a mapping of queries to documents.
Candidates = Any


class CrossEncoder:
    """A re-ranker: pre-trained or fine-tuned here, or any sequence classifier of Hugging Face with one or two labels.

    Examples:
        >>> model = CrossEncoder(model_directory, max_length=32, query_length=8)
        >>> scores = model.predict([("apple juice", "apple pie with juice"), ("apple juice", "pear pie")])
        >>> scores.shape, scores.dtype.name
        ((2,), 'float32')
        >>> [best, other] = model.rank("apple juice", ["apple pie with juice", "pear pie"])
        >>> sorted(best), best["score"] >= other["score"]
        (['corpus_id', 'score'], True)
    """

    @naming_extras()
    def __init__(self, directory: str | Path, **options: Any) -> None:
        """Load the model.

        Args:
            directory: Hugging Face directory with its tokenizer, or a name on its hub that is in the local cache.
            options: keys of section reranking. By default a model trained here reads as in its training. Of others,
                max_length is where the tokenizer cuts, at most 512, and query_length is 64, at most half of it.
        """
        from irpretrain.models.cross_encoder import CrossEncoderModel
        from irpretrain.models.mlm_heads import MLM_HEAD_FILE
        from irpretrain.models.reranker import load_reranker

        self.directory = model_directory(directory, RERANKER_REMEDY)
        # The workflow reads the models that it trains by token stores, and others by their own tokenizers.
        self._is_trained_here = (self.directory / MLM_HEAD_FILE).exists()
        self._model: Any = (
            CrossEncoderModel.load(self.directory).eval()
            if self._is_trained_here
            else load_reranker(self.directory)
        )
        default_options = self._default_options(options.get("max_length"))
        self.options = explain(RerankingConfig, {**default_options, **options}, "reranking", top=True)
        self._model.check_length(self.options.max_length, "max_length")

    def _default_options(self, max_length: Any) -> dict[str, Any]:
        """Return keys of section reranking as the model was trained, as far as its directory says it."""
        from irpretrain.models.parameters import READING_KEY, longest_sequence

        training_lengths = getattr(self._model.classifier.config, READING_KEY, None)
        training_lengths = dict(training_lengths) if isinstance(training_lengths, dict) else {}
        if max_length is None:
            tokenizer_length = longest_sequence(self.directory)
            length_limits = [*self._model.limits(), *([] if tokenizer_length is None else [tokenizer_length])]
            max_length = min(RerankingConfig().max_length, *length_limits)
        else:
            try:
                max_length = RerankingConfig(max_length=max_length, query_length=1).max_length
            except ValidationError:
                return {}  # and refused
        # transformers cuts the longer text of a pair first, so that a query has half of the room, or all of it.
        half_length = max(1, (max_length - self._special_tokens()) // 2)
        query_length = training_lengths.get("query_length", RerankingConfig().query_length)
        return {**training_lengths, "max_length": max_length, "query_length": min(query_length, half_length)}

    def _special_tokens(self) -> int:
        from irpretrain.text.word_pieces import load_tokenizer

        tokenizer: Any = load_tokenizer(self.directory) if self._is_trained_here else self._model.tokenizer
        return int(tokenizer.template.special_count)

    def __repr__(self) -> str:
        """Name the directory, and how much of texts is read."""
        options = self.options
        passages_text = "" if options.passages is None else f", passages={options.passages.model_dump()}"
        lengths_text = f"max_length={options.max_length}, query_length={options.query_length}"
        return f"CrossEncoder({str(self.directory)!r}, {lengths_text}{passages_text})"

    @overload
    def predict(self, pairs: tuple[str, str]) -> np.float32: ...

    @overload
    def predict(self, pairs: Iterable[Pair]) -> np.ndarray: ...

    def predict(self, pairs: Any) -> Any:
        """Return the score of each (query, document), float32 [pairs]; larger is more relevant.

        One pair, as a tuple or a list of two texts, has one score, as in sentence-transformers.
        """
        is_one_pair = isinstance(pairs, tuple | list) and len(pairs) == 2 and isinstance(pairs[0], str)
        scores = self._predict(listed_pairs([pairs] if is_one_pair else pairs, "a text"))
        return scores[0] if is_one_pair else scores

    def _predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        if not pairs:
            return np.zeros(0, np.float32)
        texts = dict.fromkeys(text for _, text in pairs)
        document_ids = {text: str(text_number) for text_number, text in enumerate(texts)}
        candidates: dict[str, list[tuple[str, float]]] = {}
        for query, text in dict.fromkeys(pairs):
            candidates.setdefault(query, []).append((document_ids[text], 0.0))
        text_options = TextConfig(words="alphanumeric", fields=["body"])
        with TemporaryDirectory(prefix="irpretrain-") as folder, naming({Path(folder): "pairs"}):
            documents = Path(folder, "documents.parquet")
            DOCUMENTS.write(documents, document_rows({name: text for text, name in document_ids.items()}))
            queries = {query: query for query in candidates}
            run = self._score([documents], text_options, queries, candidates)
        scores = {(query, name): score for query, ranking in run.items() for name, score in ranking}
        return np.array([scores[query, document_ids[text]] for query, text in pairs], np.float32)

    def rank(
        self,
        query: str,
        documents: Iterable[str],
        top_k: int | None = None,
        return_documents: bool = False,
    ) -> list[dict[str, Any]]:
        """Return place (`corpus_id`, from 0) and `score` of each text, best first, as sentence-transformers does.

        Args:
            query: the text of one query.
            documents: texts.
            top_k: return so many at most.
            return_documents: add the text of each as `text`.

        Raises:
            ConfigError: `top_k` is below 1.
        """
        if top_k is not None and top_k < 1:
            raise ConfigError(f"top_k: 1 or more are needed, or None for all; given was {top_k}")
        texts = listed(documents, "texts")
        scores = self.predict([(query, text) for text in texts])
        order = np.argsort(-scores, kind="stable")[:top_k].tolist()
        return [
            {"corpus_id": index, "score": float(scores[index])}
            | ({"text": texts[index]} if return_documents else {})
            for index in order
        ]

    def rerank(
        self,
        documents: Sequence[str | Path],  # DOCUMENTS tables of the corpus
        text: TextConfig,
        queries: Mapping[str, str],  # query → text
        candidates: Run,
    ) -> Run:
        """Return the candidates, cut at the depth, with the model's scores: what the workflow's re-ranking writes.

        Raises:
            ConfigError: a query has no text.
            InputError: the corpus lacks a document.
        """
        if unknown_queries := sorted(candidates.keys() - queries.keys()):
            raise ConfigError(f"candidates: query {unknown_queries[0]!r} has no text among the queries")
        return self._score(documents, text, queries, top(candidates, self.options.depth))

    def _score(
        self,
        documents: Sequence[str | Path],
        text: TextConfig,
        queries: Mapping[str, str],
        candidates: Run,
    ) -> Run:
        from irpretrain.retrieval.rerank import rerank_run, score_with_its_tokenizer
        from irpretrain.text.token_store import TokenStore, write_token_store
        from irpretrain.text.word_pieces import load_tokenizer

        document_ids = {document_id for ranking in candidates.values() for document_id, _ in ranking}
        candidate_texts = stream_chosen(documents, document_ids, text)
        if not self._is_trained_here:
            return score_with_its_tokenizer(
                self._model, candidate_texts, text, queries, candidates, self.options
            )
        with TemporaryDirectory(prefix="irpretrain-") as folder:
            table, tokens = Path(folder, "documents.parquet"), Path(folder, "tokens")
            texts = (
                {"body": body, "document_id": document_id}
                for names_and_bodies in candidate_texts
                for document_id, body in zip(*names_and_bodies, strict=True)
            )
            DOCUMENTS.write(table, document_rows(texts))
            body_text = text.model_copy(update={"fields": ["body"]})
            write_token_store(table, self.directory, body_text, tokens)
            return rerank_run(
                self._model,
                load_tokenizer(self.directory),
                TokenStore.open([tokens]),
                queries,
                candidates,
                self.options,
            )


def listed_candidates(candidates: Candidates) -> Run:
    """Return candidates as a run without scores, in their order; ConfigError where they are none, or named twice."""
    if is_frame(candidates):
        rows = frame_candidates(candidates)
    elif isinstance(candidates, Mapping):
        rows = (
            (query, name)
            for query, ids in candidates.items()
            for name in listed(ids, f"candidates of {query}")
        )
    else:
        expected = "a table with columns such as qid and docno, or a mapping of queries to documents"
        raise ConfigError(f"candidates: {expected} is needed, not {reprlib.repr(candidates)}")
    names_of_query: dict[str, list[str]] = {}
    for key, document in rows:
        query = checked_identifier(key, f"candidates: query {reprlib.repr(key)}")
        name = checked_identifier(document, f"candidates of {query}, {reprlib.repr(document)}")
        names_of_query.setdefault(query, []).append(name)
    for query, names in names_of_query.items():
        repeated_documents = [name for name, count in Counter(names).items() if count > 1]
        if repeated_documents:
            raise ConfigError(f"candidates: query {query!r} has the document {repeated_documents[0]!r} twice")
    return {query: [(name, 0.0) for name in names] for query, names in names_of_query.items()}
