"""Models, and what they are pre-trained on."""


def is_given(model):
    """Whether a model is a re-ranker given by its path, which nothing here trains."""
    return CFG.models[model].cross_encoder is not None


def pretrained(model, seed):
    return f"results/models/pretrained/{model}/seed-{seed}"


def final_model(model, seed):
    """The model that others start from and that is tested: the last weights, those that a data set has chosen, a
    re-ranker that is given by its path, or a ranker over words that only fine-tuning trains."""
    if is_given(model):
        return source(CFG.models[model].cross_encoder)
    if is_neural(model):
        return f"results/models/neural/{model}/seed-{seed}"
    if CFG.models[model].select_on is None:
        return pretrained(model, seed)
    return f"results/models/selected/{model}/seed-{seed}"


def model_start(wildcards):
    """The model whose weights this one starts from, if it is not the encoder."""
    start = CFG.models[wildcards.model].start
    return [] if start == "encoder" else final_model(start, wildcards.seed)


def model_groups(wildcards):
    model = CFG.models[wildcards.model]
    return [f"results/groups/{model.collection}/{task.objective}.parquet" for task in model.tasks]


def model_tokens(wildcards):
    model = CFG.models[wildcards.model]
    return tokens_of(CFG.collections[model.collection]) if model.tasks else []


def model_training(wildcards):
    return dump(CFG.training_of(wildcards.model))


def model_tasks(wildcards):
    return [dump(task) for task in CFG.models[wildcards.model].tasks]


def model_threads(wildcards):
    return CFG.training_of(wildcards.model).compute.threads * model_processes(wildcards)


def model_processes(wildcards):
    return CFG.training_of(wildcards.model).compute.process_count


def model_gpus(wildcards):
    return CFG.training_of(wildcards.model).compute.gpus


@cache
def model_place(model):
    """The place of the first paper that needs a model, in the order of `report.papers`."""
    places = (place for place, paper in enumerate(PAPERS) if model in used_models(CFG.of_papers([paper])))
    return next(places, len(PAPERS))


def training_priority(wildcards):
    """Within a paper what takes longest starts first, so that short jobs fill the gaps and none is left for the end. A
    model that another one starts from comes right behind the first paper's: such a chain runs on one core."""
    is_start = any(CFG.models[name].start == wildcards.model for name in used_models(CFG))
    return max(ranking_priority(wildcards) + 1, 10 * len(PAPERS) - 5 if is_start else 0)


def ranking_priority(wildcards):
    return 10 * (len(PAPERS) - model_place(wildcards.model))
