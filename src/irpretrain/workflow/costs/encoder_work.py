"""Work of encoders, in word pieces: pre-training, fine-tuning, re-ranking, weights of words."""

from pathlib import Path
from typing import Any, NamedTuple

from irpretrain.config.axioms import PAIRS_PER_DOCUMENT
from irpretrain.config.finetuning import shots_of
from irpretrain.config.retrieval import MAX_PASSAGES, RerankingConfig
from irpretrain.config.root import Config
from irpretrain.config.run import Run
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.corpora.embedded import Manifest, installed_path, resolve
from irpretrain.models.encoder_files import read_config
from irpretrain.workflow.costs import work
from irpretrain.workflow.costs.work import UNKNOWN, Computing, CountWork, Wildcards, Work


def computing(encoder: EncoderConfig, compute: ComputeConfig) -> Computing:
    """Return what a rate of this encoder, computed like this, must have been measured with."""
    return Computing(
        encoder=encoder.label,
        layers=encoder.layers,
        precision=compute.precision,
        device="gpu" if compute.gpus else "cpu",
    )


class Shape(NamedTuple):
    """Sizes of a BERT."""

    layers: int = 12
    hidden: int = 768
    intermediate: int = 3072
    vocabulary: int = 30522

    @property
    def model_bytes(self) -> float:
        """Bytes of a saved model in single precision."""
        layer = 4 * self.hidden**2 + 2 * self.hidden * self.intermediate
        return 4.0 * (self.layers * layer + self.vocabulary * self.hidden)

    def operations(self, stage: str) -> float:
        """Floating-point operations of a stage per word piece, in sequences of `SEQUENCE_LENGTH`."""
        layer = 8 * self.hidden**2 + 4 * self.hidden * self.intermediate + 4 * SEQUENCE_LENGTH * self.hidden
        predicted = MASKED_SHARE if stage.endswith("with MLM") else 0
        head = predicted * 2 * self.hidden * (self.hidden + self.vocabulary)
        # both gradients of a product are products of its size
        return (3 if stage in TRAINING_STAGES else 1) * (self.layers * layer + head)


SEQUENCE_LENGTH = 512
# Share of word pieces that the MLM head predicts.
MASKED_SHARE = 0.15
TRAINING_STAGES = ("pretrain with MLM", "pretrain without MLM", "finetune", "train_term_weights")
BERT_BASE = Shape()


def encoders(config: Config) -> list[EncoderConfig]:
    """Return every encoder of a configuration."""
    overriding = [model.encoder for model in config.models.values()]
    overriding += [weighting.encoder for weighting in config.term_weights.values()]
    return [config.encoder, *filter(None, overriding)]


def shapes(config: Config, manifest: Manifest) -> dict[str, Shape]:
    """Return label → sizes of the encoders that are there; the others count as BERT-base."""
    shape_by_label = {}
    for encoder in encoders(config):
        kind, location = resolve(encoder.path)
        folder = installed_path(manifest.asset(str(location))) if kind == "embedded" else Path(encoder.path)
        # a link is a stand-in for an encoder that is not there
        if folder is None or folder.is_symlink() or not (folder / "config.json").is_file():
            continue
        sizes = read_config(folder)
        names = ("num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size")
        if all(isinstance(sizes.get(name), int) for name in names):
            shape = Shape(*(sizes[name] for name in names))
            shape_by_label[encoder.label] = shape._replace(layers=encoder.layers or shape.layers)
    return shape_by_label


def sequences_of_group(options: Any) -> float:
    """Return the most sequences that a ranking group of an objective has: the preferred one and its negatives."""
    negatives = getattr(options, "most_negatives", getattr(options, "negatives", 1))
    return 1 + (UNKNOWN if negatives is None else negatives)


def _pretrain(config: Config, wildcards: Wildcards) -> list[Work]:
    model = config.models[wildcards["model"]]
    if not model.tasks:
        return []
    training = config.training_of(wildcards["model"])
    pieces_per_group = sum(
        training.of_task(task).max_length * sequences_of_group(config.objectives[task.objective])
        for task in model.tasks
    )
    has_mlm = any(task.mlm_weight > 0 for task in model.tasks)
    return [
        Work(
            "pretrain with MLM" if has_mlm else "pretrain without MLM",
            "word pieces",
            (training.steps or UNKNOWN) * training.batch_groups * pieces_per_group,
            computing(config.encoder_of(wildcards["model"]), training.compute),
        )
    ]


# Words of a document that is cut into passages, and word pieces of a word: lengths are not known when a run is planned.
TYPICAL_WORDS, TYPICAL_PIECES = 200, 1.5


def _document_pieces(reranking: RerankingConfig) -> float:
    """Return the word pieces that the scores of one document read, the query's with each passage."""
    window = reranking.passages
    if window is None:
        return reranking.max_length
    passages = min(MAX_PASSAGES, 1 + max(0.0, TYPICAL_WORDS - window.words) / window.stride)
    return passages * min(reranking.max_length, TYPICAL_PIECES * window.words + reranking.query_length)


def _ranked_documents(config: Config, dataset: str, queries: float) -> float:
    return queries * config.reranking_depth(dataset).documents


def _model_computing(config: Config, model: str, compute: ComputeConfig) -> Computing:
    if config.models[model].cross_encoder is None:
        return computing(config.encoder_of(model), compute)
    encoder = EncoderConfig(path="given", label=config.models[model].label, layers=None, vocabulary_size=None)
    return computing(encoder, compute)


def _rerank(config: Config, wildcards: Wildcards) -> list[Work]:
    model, dataset = wildcards["model"], wildcards["dataset"]
    documents = _ranked_documents(config, dataset, work.query_count(config, dataset))
    reranking = config.reranking_of(model)
    amount = documents * _document_pieces(reranking)
    return [Work("rerank", "word pieces", amount, _model_computing(config, model, reranking.compute))]


def _finetune(config: Config, wildcards: Wildcards) -> list[Work]:
    """At most: every point of the grid with all its epochs."""
    model, regime, fold = wildcards["model"], wildcards["regime"], int(wildcards["fold"])
    if config.models[model].neural is not None:
        return []
    options, tested_dataset = config.finetuning_of(model), wildcards["dataset"]
    training_dataset = config.trained_on(tested_dataset)
    shots, folds = shots_of(regime), _folds(config, training_dataset)
    run = Run(config, tested_dataset, wildcards["candidates"], model, regime)
    training_share = run.training_folds(folds) / folds
    # A few shots are so many queries; else all of the share train.
    judged_pairs = work.relevant_pairs(config, training_dataset)
    training_queries = work.query_count(config, training_dataset)
    pairs = judged_pairs / training_queries * shots if shots else judged_pairs * training_share
    grid_epochs = len(options.batch_sizes_of(regime)) * len(options.learning_rates) * options.epochs
    reranking = config.reranking_of(model, regime)
    documents = pairs * (1 + options.negatives) * grid_epochs
    validated_queries = training_queries * run.chooses / folds * grid_epochs
    tested_queries = work.query_count(config, tested_dataset) / (folds if fold else 1)
    ranked_documents = _ranked_documents(config, training_dataset, validated_queries)
    ranked_documents += _ranked_documents(config, tested_dataset, tested_queries)
    # Passages are ranked, and the best of each document is trained.
    ranked_documents += 0 if reranking.passages is None else documents
    ranked_pieces = ranked_documents * _document_pieces(reranking)
    rate_key = computing(config.encoder_of(model), options.compute)
    return [
        Work("finetune", "word pieces", documents * options.max_length, rate_key),
        Work("finetune, ranking", "word pieces", ranked_pieces, rate_key),
    ]


def _folds(config: Config, dataset: str) -> int:
    from irpretrain.corpora.make_folds import count_folds  # pyarrow

    return count_folds(config.datasets[dataset])


def _weighting(config: Config, wildcards: Wildcards) -> tuple[TermWeightsConfig, EncoderConfig]:
    weighting = config.term_weights[wildcards["weighting"]]
    return weighting, weighting.encoder or config.encoder


def _train_term_weights(config: Config, wildcards: Wildcards) -> list[Work]:
    weighting, encoder = _weighting(config, wildcards)
    training, dataset = weighting.training, str(weighting.dataset)
    if training.steps is not None:
        sequences: float = training.steps * training.batch_size
    else:
        count = work.relevant_pairs if weighting.kind == "passages" else work.query_count
        sequences = count(config, dataset) * training.length_in_epochs
        if int(wildcards["fold"]):
            folds = _folds(config, dataset)
            sequences *= (folds - 1) / folds
    amount = sequences * weighting.max_length
    return [Work("train_term_weights", "word pieces", amount, computing(encoder, training.compute))]


def _weigh(rule: str, config: Config, wildcards: Wildcards, texts: float) -> list[Work]:
    weighting, encoder = _weighting(config, wildcards)
    if weighting.model != "regressor":
        return []
    # How many windows a text has is not known.
    windows = 1 if weighting.window_overlap is None else UNKNOWN
    amount = texts * weighting.max_length * windows
    return [Work(rule, "word pieces", amount, computing(encoder, weighting.inference.compute))]


def _weigh_documents(config: Config, wildcards: Wildcards) -> list[Work]:
    return _weigh("weigh_documents", config, wildcards, work.documents_of_shard(config, wildcards))


def _weigh_queries(config: Config, wildcards: Wildcards) -> list[Work]:
    return _weigh("weigh_queries", config, wildcards, work.query_count(config, wildcards["dataset"]))


def _score_diagnosis_pairs(config: Config, wildcards: Wildcards) -> list[Work]:
    diagnosis, model = config.diagnoses[wildcards["diagnosis"]], wildcards["model"]
    reranking = config.reranking_of(model)
    amount = 2 * diagnosis.documents * PAIRS_PER_DOCUMENT * _document_pieces(reranking)
    rate_key = _model_computing(config, model, reranking.compute)
    return [Work("score_diagnosis_pairs", "word pieces", amount, rate_key)]


# Rule → how its work is counted.
ENCODER_RULES: dict[str, CountWork] = {
    "pretrain": _pretrain,
    "rerank": _rerank,
    "rerank_snapshot": _rerank,
    "finetune": _finetune,
    "train_term_weights": _train_term_weights,
    "weigh_documents": _weigh_documents,
    "weigh_queries": _weigh_queries,
    "score_diagnosis_pairs": _score_diagnosis_pairs,
}
