"""The kinds of models that can be fine-tuned: cross-encoders over word pieces, and rankers over words.

Each knows how the model in a directory is loaded, reads documents, is trained, and ranks. A ranking may go on from
`saved_scores`, scores of an earlier, interrupted one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.evaluation.runs import Run
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.neural.ranker import NeuralRanker
from irpretrain.models.neural.registry import is_neural_ranker, load_neural_ranker
from irpretrain.retrieval.pair_scoring import SavedScores, rerank_words
from irpretrain.retrieval.rerank import rerank_run
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.batches import BatchBuilder, WordBatchBuilder
from irpretrain.training.ranking_groups import GroupSource
from irpretrain.training.ranking_tasks import PassageReader, RankingTask, SequenceReader, WordReader

# Of the one task of a fine-tuning.
TASK_NAME = "judged"


@dataclass(frozen=True)
class CrossEncoderRanker:
    """A cross-encoder; with `reranking.passages` the score of a document comes from its passages."""

    directory: Path
    reranking: RerankingConfig
    tokenizer: WordPieceTokenizer
    seed: int

    def load(self) -> CrossEncoderModel:
        model = CrossEncoderModel.load(self.directory, seed=self.seed)
        # A fine-tuned model is tested at the length that it is trained at (`Config.reranking_of`).
        model.trained_length = self.reranking.max_length
        model.trained_reading = self.reranking.model_dump(include={"query_length", "passages"})
        return model

    def open(self, stores: Sequence[str | Path]) -> TokenStore:
        return TokenStore.open(stores)

    def task(
        self, model: CrossEncoderModel, documents: TokenStore, source: GroupSource, options: FinetuningConfig
    ) -> RankingTask:
        """Return what trains the model on groups; ConfigError if it cannot read sequences so long."""
        model.check_length(options.max_length, "finetuning.max_length")
        model.check_length(self.reranking.max_length, "reranking.max_length")
        builder = BatchBuilder(documents, self.tokenizer, options.max_length, options.query_length)
        passages = self.reranking.passages
        reader = SequenceReader(builder) if passages is None else PassageReader(builder, passages)
        return RankingTask(TASK_NAME, source, reader, options.loss, options.margin)

    def rank(
        self,
        model: CrossEncoderModel,
        documents: TokenStore,
        texts: Mapping[str, str],
        candidates: Run,
        saved_scores: SavedScores | None = None,
    ) -> Run:
        return rerank_run(
            model, self.tokenizer, documents, texts, candidates, self.reranking, saved_scores=saved_scores
        )


@dataclass(frozen=True)
class WordRanker:
    directory: Path
    reranking: RerankingConfig

    def load(self) -> NeuralRanker:
        return load_neural_ranker(self.directory)

    def open(self, stores: Sequence[str | Path]) -> WordDocuments:
        return WordDocuments.open(stores)

    def task(
        self, model: NeuralRanker, documents: WordDocuments, source: GroupSource, options: FinetuningConfig
    ) -> RankingTask:
        model_options = model.options
        builder = WordBatchBuilder(
            documents, model.vocabulary, model_options.query_words, model_options.document_words
        )
        return RankingTask(TASK_NAME, source, WordReader(builder), options.loss, options.margin)

    def rank(
        self,
        model: NeuralRanker,
        documents: WordDocuments,
        texts: Mapping[str, str],
        candidates: Run,
        saved_scores: SavedScores | None = None,
    ) -> Run:
        return rerank_words(model, documents, texts, candidates, self.reranking, saved_scores=saved_scores)


def ranker_of(
    directory: str | Path, reranking: RerankingConfig, seed: int
) -> CrossEncoderRanker | WordRanker:
    if is_neural_ranker(directory):
        return WordRanker(Path(directory), reranking)
    return CrossEncoderRanker(Path(directory), reranking, load_tokenizer(directory), seed)
