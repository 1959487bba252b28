"""Rankers without pre-training, over words."""


def is_neural(model):
    return CFG.models[model].neural is not None


def neural_options(wildcards):
    """What decides a fresh ranker."""
    return dump(CFG.models[wildcards.model].neural)


def neural_collection(wildcards):
    return CFG.models[wildcards.model].neural.collection


def neural_statistics(wildcards):
    return f"results/statistics/{neural_collection(wildcards)}/words.parquet"


def neural_vectors(wildcards):
    """The word vectors that a ranker begins with, if it does."""
    needed = CFG.models[wildcards.model].neural.needs_vectors
    return f"results/vectors/{neural_collection(wildcards)}" if needed else []
