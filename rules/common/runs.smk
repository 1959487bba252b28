"""Runs of models, and the experiments that ask for them."""


def pretrained_model(wildcards):
    return final_model(wildcards.model, wildcards.seed)


def final_model_files(model, seed):
    """What the model's runs depend on: its directory, or the files of a user's own, so that a changed one reruns them."""
    path = CFG.models[model].cross_encoder
    return final_model(model, seed) if path is None or is_embedded(path) else list_files(path, [""])


def reranker_files(wildcards):
    return final_model_files(wildcards.model, wildcards.seed)


def reranker_directory(wildcards):
    return final_model(wildcards.model, wildcards.seed)


def reranker_tokens(wildcards):
    """The token store, for models with the encoder's tokenizer; others read the documents, see the next two."""
    return [] if is_given(wildcards.model) else dataset_tokens(wildcards)


def reranker_documents(wildcards):
    return dataset_documents(wildcards) if is_given(wildcards.model) else []


def reranker_text(wildcards):
    return dump(CFG.text) if is_given(wildcards.model) else None


def finetuning_options(wildcards):
    """What a model is fine-tuned with; the name of a recipe changes nothing by itself."""
    return CFG.finetuning_of(wildcards.model).model_dump(mode="json", exclude={"recipe"})


PIECE_MB = 0.65
"""Of a word piece in a step of fine-tuning on a CPU, with what the gradient needs: the peaks of the embedded encoder (8.4 GB
for 12,288 pieces of passages, 3.4 GB for 4,096). A larger encoder has its memory at a later attempt."""
PASSAGES_OF_A_DOCUMENT = 30
"""Where all of a document's are read, how many that are is not known beforehand; re-ranking by default reads so many."""


def finetuning_memory(wildcards):
    """Megabytes of a fine-tuning: what a step holds at once on a CPU; a GPU has memory of its own."""
    options = CFG.finetuning_of(wildcards.model)
    if options.compute.gpus or is_neural(wildcards.model):
        return 6000
    passages = CFG.reranking_of(wildcards.model).passages
    batches = options.batch_sizes_of(wildcards.regime)
    sequences = max(batches) * (1 + options.negatives)
    if passages is not None:
        sequences *= passages.most_in_training or passages.most or PASSAGES_OF_A_DOCUMENT
    pieces = sequences * options.max_length
    if options.compute.micro_batch_tokens is not None:
        group = pieces // max(batches)  # is never split
        pieces = min(pieces, max(options.compute.micro_batch_tokens, group))
    return max(6000, round(2000 + PIECE_MB * pieces))


def reranking_options(wildcards):
    """How a model's candidates are scored; rules without the wildcard score models as pre-trained."""
    return dump(CFG.reranking_of(wildcards.model, getattr(wildcards, "regime", "zero-shot")))


def model_with_snapshots(wildcards):
    return pretrained(wildcards.model, wildcards.seed)


def last_step(model):
    """The last step of a pre-training; None for one by epochs, of which no step can be asked for by its number."""
    return CFG.training_of(model).steps


def snapshot_step(wildcards):
    """The step of a snapshot; None for the last one, whose weights are the model's own."""
    step = int(wildcards.step)
    return None if step == last_step(wildcards.model) else step


def validation_measure(wildcards):
    return CFG.datasets[wildcards.dataset].validation_measure


def snapshot_steps(model):
    """Steps with runs of their own; the last one too where the final model may be another."""
    if not CFG.models[model].tasks:
        return []
    last = [last_step(model)] if CFG.models[model].select_on else []
    return sorted({*CFG.training_of(model).snapshots, *last})


def selection_steps(wildcards):
    return snapshot_steps(wildcards.model)


def selection_runs(wildcards):
    """A zero-shot run of every snapshot, over the queries that choose."""
    choosing = CFG.models[wildcards.model].select_on
    snapshots = [f"{wildcards.model}@{step}" for step in snapshot_steps(wildcards.model)]
    keys = [(choosing.dataset, choosing.candidates, name, "zero-shot", wildcards.seed) for name in snapshots]
    return [path for key in keys for path in run_files(*key)]


def selection_qrels(wildcards):
    return f"results/datasets/{CFG.models[wildcards.model].select_on.dataset}/qrels.txt"


def selection_measure(wildcards):
    return CFG.models[wildcards.model].select_on.measure


def cells(experiment):
    """Every (dataset, candidates, model, regime, seed) that an experiment asks for, once, in a fixed order."""
    asked = CFG.experiments[experiment]
    found = {}
    for model, regime, seed in product(asked.models, asked.regimes, asked.seeds):
        steps = snapshot_steps(model) if regime == "zero-shot" else []
        for name in (model, *(f"{model}@{step}" for step in steps)):
            found[asked.dataset, asked.candidates, name, regime, seed] = None
    return list(found)


def run_files(dataset, candidates, model, regime, seed):
    base = f"results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}"
    if regime == "zero-shot":
        return [f"{base}.run.gz"]
    return [f"{base}/fold-{fold}.run.gz" for fold in fold_numbers(dataset)]


def first_stage_run(dataset, method):
    return f"results/runs/{dataset}/{method}/first-stage.run.gz"


def experiment_runs(experiment):
    """Description of every run of an experiment, its first stages among them, for evaluation.evaluate."""
    keys = ("dataset", "candidates", "model", "regime", "seed")
    asked = CFG.experiments[experiment]
    dataset = asked.dataset
    runs = [
        dict(zip(keys, (dataset, method, method, "first-stage", 0)), paths=[first_stage_run(dataset, method)])
        for method in dict.fromkeys([*BUILT_IN_FIRST_STAGES, asked.candidates, *asked.first_stages])
    ]
    return runs + [dict(zip(keys, cell), paths=run_files(*cell)) for cell in cells(experiment)]


def experiment_run_files(wildcards):
    return [path for run in experiment_runs(wildcards.experiment) for path in run["paths"]]


def experiment_qrels(wildcards):
    return f"results/datasets/{CFG.experiments[wildcards.experiment].dataset}/qrels.txt"


def experiment_folds(wildcards):
    """The folds of the experiment's data set, where it is cut into folds."""
    dataset = CFG.experiments[wildcards.experiment].dataset
    return [] if CFG.datasets[dataset].train_on else f"results/datasets/{dataset}/folds.json"


def experiment_depths(wildcards):
    return CFG.experiments[wildcards.experiment].depths


def experiment_measures(wildcards):
    return CFG.datasets[CFG.experiments[wildcards.experiment].dataset].measures


def experiment_dataset(wildcards):
    """Name, measures and whether it is cut into folds."""
    dataset = CFG.experiments[wildcards.experiment].dataset
    return {dataset: [CFG.datasets[dataset].measures, CFG.datasets[dataset].train_on is None]}
