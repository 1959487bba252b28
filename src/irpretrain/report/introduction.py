"""The report's first lines: what this run did; and, behind a fold, what is compared, for a reader who is new to it."""

from collections.abc import Sequence

from irpretrain.config import Config
from irpretrain.config.usage import used_models
from irpretrain.papers.published import Published
from irpretrain.report.naming import dataset_label, encoder_labels, first_stage_labels
from irpretrain.report.remarks import candidates_text, number_of_queries, rankings_text
from irpretrain.report.scores import FIRST_STAGE, Scores


def this_run(config: Config, scores: Scores) -> str:
    """Return what was searched, re-ranked and trained."""
    return " ".join([*_searched(config, scores), *_trained(config)])


def background(papers: Sequence[Published]) -> list[str]:
    """Return what is compared and why, and a paragraph a paper."""
    return [
        "One run of IR-Pretrain, which rebuilds papers on pre-training and term weighting for ad-hoc retrieval. A "
        "first stage finds candidates for each query, by words and their weights; a cross-encoder, which reads query "
        "and document together, puts them into a new order. The questions are whether learned weights find more, and "
        "whether pre-training makes the order better: zero-shot, before any judged query has been seen, and "
        "fine-tuned on judged queries other than those it is tested on.",
        *(paper.summary for paper in papers),
    ]


def _searched(config: Config, scores: Scores) -> list[str]:
    return [
        f"{number_of_queries(scores, dataset):,} queries of {dataset_label(config, dataset)}, "
        + _found(config, scores, dataset, candidates)
        for dataset, candidates in scores.pairs()
        if candidates in first_stage_labels(config)
    ]


def _found(config: Config, scores: Scores, dataset: str, candidates: str) -> str:
    """What is searched for a data set's queries: candidates to re-rank, or first stages alone."""
    if any(name.dataset == dataset and name.regime != FIRST_STAGE for name in scores.names()):
        return f"{candidates_text(config, candidates)}."
    return f"first stages alone, {rankings_text(config, scores, dataset)}."


def _trained(config: Config) -> list[str]:
    trained = [config.models[name] for name in used_models(config) if config.models[name].tasks]
    collections = dict.fromkeys(model.collection for model in trained if model.collection)
    corpora = dict.fromkeys(corpus for name in collections for corpus in config.collections[name])
    encoders = encoder_labels(config, used_models(config))
    if not trained:
        return [f"Encoder {encoders}, not pre-trained further."] if used_models(config) else []
    return [f"Encoder {encoders}, pre-trained on {', '.join(corpora)} for {_lengths(config)}."]


def _lengths(config: Config) -> str:
    """Return "50 or 160 steps or 1 epoch"."""
    used = [config.training_of(name) for name in used_models(config) if config.models[name].tasks]
    steps = sorted({training.steps for training in used if training.steps is not None})
    epochs = sorted({training.epochs for training in used if training.epochs is not None})
    lengths = [f"{' or '.join(f'{number:,}' for number in steps)} steps"] if steps else []
    if epochs:
        unit = "epoch" if epochs == [1] else "epochs"
        lengths.append(f"{' or '.join(f'{number:g}' for number in epochs)} {unit}")
    return " or ".join(lengths)
