"""The kinds of models that can be fine-tuned: cross-encoders over word pieces, and rankers over words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import Run
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.neural.ranker import NeuralRanker
from irpretrain.models.neural.registry import is_neural_ranker, load_neural_ranker
from irpretrain.retrieval.pair_scoring import KeptScores, rerank_words
from irpretrain.retrieval.rerank import rerank_run
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.batches import BatchBuilder, GroupSource, WordBatchBuilder
from irpretrain.training.ranking_tasks import PassageReader, RankingTask, SequenceReader, WordReader
from irpretrain.training.trainer import StepTask

# Of the one task of a fine-tuning.
NAME = "judged"


class Ranker(ABC):
    """How the model in a directory is loaded, reads documents, is trained, and ranks."""

    def __init__(self, directory: str | Path, reranking: RerankingConfig, seed: int) -> None:
        self.directory, self.reranking, self.seed = Path(directory), reranking, seed

    @abstractmethod
    def load(self) -> Any:
        """Return the saved model."""

    @abstractmethod
    def open(self, stores: Sequence[str | Path]) -> Any:
        """Return the documents of a corpus: of token stores or word stores, whichever the model reads."""

    @abstractmethod
    def check(self, model: Any, options: FinetuningConfig) -> None:
        """Raise ConfigError if the model cannot read what the options configure."""

    @abstractmethod
    def task(self, model: Any, documents: Any, source: GroupSource, options: FinetuningConfig) -> StepTask:
        """Return what trains the model on groups."""

    @abstractmethod
    def rank(
        self,
        model: Any,
        documents: Any,
        texts: Mapping[str, str],
        candidates: Run,
        retained: KeptScores | None = None,
    ) -> Run:
        """Return the candidates in the model's order; `retained` has scores of an earlier, interrupted run."""


class CrossEncoderRanker(Ranker):
    """A cross-encoder; with `reranking.passages` the score of a document comes from its passages."""

    def __init__(self, directory: str | Path, reranking: RerankingConfig, seed: int) -> None:
        super().__init__(directory, reranking, seed)
        self.tokenizer = load_tokenizer(directory)

    def load(self) -> CrossEncoderModel:
        return CrossEncoderModel.load(self.directory, seed=self.seed)

    def open(self, stores: Sequence[str | Path]) -> TokenStore:
        return TokenStore.open(stores)

    def check(self, model: CrossEncoderModel, options: FinetuningConfig) -> None:
        model.check_length(options.max_length, "finetuning.max_length")
        model.check_length(self.reranking.max_length, "reranking.max_length")

    def task(
        self, model: CrossEncoderModel, documents: TokenStore, source: GroupSource, options: FinetuningConfig
    ) -> StepTask:
        builder = BatchBuilder(documents, self.tokenizer, options.max_length, options.query_length)
        passages = self.reranking.passages
        reader = SequenceReader(builder) if passages is None else PassageReader(builder, passages)
        return RankingTask(NAME, source, reader, options.loss, options.margin)

    def rank(
        self,
        model: CrossEncoderModel,
        documents: TokenStore,
        texts: Mapping[str, str],
        candidates: Run,
        retained: KeptScores | None = None,
    ) -> Run:
        return rerank_run(
            model, self.tokenizer, documents, texts, candidates, self.reranking, retained=retained
        )


class WordRanker(Ranker):
    def load(self) -> NeuralRanker:
        return load_neural_ranker(self.directory)

    def open(self, stores: Sequence[str | Path]) -> WordDocuments:
        return WordDocuments.open(stores)

    def check(self, model: NeuralRanker, options: FinetuningConfig) -> None:
        """Nothing to check: its own options limit how much it reads."""

    def task(
        self, model: NeuralRanker, documents: WordDocuments, source: GroupSource, options: FinetuningConfig
    ) -> StepTask:
        sizes = model.options
        builder = WordBatchBuilder(documents, model.vocabulary, sizes.query_words, sizes.document_words)
        return RankingTask(NAME, source, WordReader(builder), options.loss, options.margin)

    def rank(
        self,
        model: NeuralRanker,
        documents: WordDocuments,
        texts: Mapping[str, str],
        candidates: Run,
        retained: KeptScores | None = None,
    ) -> Run:
        return rerank_words(model, documents, texts, candidates, self.reranking, retained=retained)


def ranker_of(directory: str | Path, reranking: RerankingConfig, seed: int) -> Ranker:
    kind = WordRanker if is_neural_ranker(directory) else CrossEncoderRanker
    return kind(directory, reranking, seed)
