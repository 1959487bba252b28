"""Which files belong to which part of the configuration. Functions only; no rules, no computing."""

from pathlib import Path

from irpretrain.corpora.embedded import read_manifest, resolve

RESOURCES = Path(workflow.basedir) / "resources"
MANIFEST = read_manifest(RESOURCES / "embedded.yaml")
PAPERS = CFG.report.papers
INDEX_OPTIONS = ("stemmer", "keep_stop_words", "threads", "memory_mb")


wildcard_constraints:
    asset=r"[a-z0-9-]+",
    corpus=r"[a-z0-9-]+",
    collection=r"[a-z0-9-]+",
    objective=r"[a-z0-9-]+",
    model=r"[a-z0-9-]+",
    dataset=r"[a-z0-9-]+",
    candidates=r"[a-z0-9-]+",
    shard=r"\d+",
    seed=r"\d+",
    fold=r"\d+",
    step=r"\d+",


def dump(section):
    """A section of the configuration as plain values, so that a change of any of them reruns what depends on it."""
    return section.model_dump(mode="json")


def memory(megabytes):
    """Memory request that grows with each attempt."""

    def request(wildcards, attempt):
        return megabytes * attempt

    return request


def source(path):
    """Where a path of the configuration lies: the verified copy of an embedded asset, or the user's own file or folder."""
    kind, where = resolve(path)
    if kind == "file":
        return str(where)
    try:
        MANIFEST.asset(where)
    except IRPretrainError as error:
        raise WorkflowError(str(error)) from None
    return f"results/inputs/{where}"


def source_files(key, path):
    """The files behind a path of the configuration, so that a changed file reruns what is made of it."""
    place = Path(source(path))
    if resolve(path)[0] == "embedded" or place.is_file():
        return [str(place)]
    files = sorted(str(p) for p in place.rglob("*") if p.is_file() and not p.name.startswith("."))
    if not files:
        missing = "is an empty folder" if place.is_dir() else "does not exist"
        raise WorkflowError(f"{key}.path: {path} {missing}; it is taken relative to {Path.cwd()}")
    return files


def corpus_files(wildcards):
    return source_files(f"corpora.{wildcards.corpus}", CFG.corpora[wildcards.corpus].path)


def shards_of(corpus):
    return range(CFG.corpora[corpus].shards)


def documents_of(corpora):
    return [f"results/corpora/{c}/documents-{s}.parquet" for c in corpora for s in shards_of(c)]


def tokens_of(corpora):
    return [f"results/tokens/{c}/{s}" for c in corpora for s in shards_of(c)]


def collection_documents(wildcards):
    return documents_of(CFG.collections[wildcards.collection])


def collection_counts(wildcards):
    return [path.replace("/documents-", "/words-") for path in collection_documents(wildcards)]


def shards_of_groups(groups):
    """The shard files that a merged file of ranking groups is made of."""
    base = Path(groups).with_suffix("")
    return [f"{base}/{c}-{s}.parquet" for c in CFG.collections[base.parent.name] for s in shards_of(c)]


def group_shards(wildcards):
    return shards_of_groups(f"results/groups/{wildcards.collection}/{wildcards.objective}.parquet")


def encoder_directory(wildcards=None):
    source_files("encoder", CFG.encoder.path)
    return source(CFG.encoder.path)


def pretrained(model, seed):
    return f"results/models/pretrained/{model}/seed-{seed}"


def model_start(wildcards):
    """The model whose weights this one starts from, if it is not the encoder."""
    start = CFG.models[wildcards.model].start
    return [] if start == "encoder" else pretrained(start, wildcards.seed)


def model_groups(wildcards):
    model = CFG.models[wildcards.model]
    return [f"results/groups/{model.collection}/{task.objective}.parquet" for task in model.tasks]


def model_tokens(wildcards):
    model = CFG.models[wildcards.model]
    return tokens_of(CFG.collections[model.collection]) if model.tasks else []


def dataset_documents(wildcards):
    return documents_of([CFG.datasets[wildcards.dataset].corpus])


def dataset_tokens(wildcards):
    return tokens_of([CFG.datasets[wildcards.dataset].corpus])


def dataset_index(wildcards):
    return f"results/indexes/{CFG.datasets[wildcards.dataset].corpus}"


def fold_numbers(dataset):
    return range(1, fold_count(dataset) + 1)


def fold_count(dataset):
    from irpretrain.evaluation.folds import count_folds

    return count_folds(CFG.datasets[dataset])


def snapshot_steps(model):
    return CFG.training_of(model).snapshots if CFG.models[model].tasks else []


def cells():
    """Every (dataset, candidates, model, regime, seed) that some experiment asks for, once, in a fixed order."""
    found = {}
    for experiment in CFG.experiments.values():
        for model in experiment.models:
            for regime in experiment.regimes:
                for seed in experiment.seeds:
                    found[experiment.dataset, experiment.candidates, model, regime, seed] = None
                    if regime == "zero-shot":
                        for step in snapshot_steps(model):
                            found[experiment.dataset, experiment.candidates, f"{model}@{step}", regime, seed] = None
    return list(found)


def first_stages():
    """Every (dataset, method) that is searched: the candidates asked for, and both baselines."""
    datasets = dict.fromkeys(experiment.dataset for experiment in CFG.experiments.values())
    return [(dataset, method) for dataset in datasets for method in ("bm25", "ql")]


def run_files(dataset, candidates, model, regime, seed):
    base = f"results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}"
    if regime == "zero-shot":
        return [f"{base}.run.gz"]
    return [f"{base}/fold-{fold}.run.gz" for fold in fold_numbers(dataset)]


def first_stage_run(dataset, method):
    return f"results/runs/{dataset}/{method}/first-stage.run.gz"


def all_runs():
    """Description of every run that is evaluated, for evaluation.evaluate."""
    keys = ("dataset", "candidates", "model", "regime", "seed")
    runs = [
        dict(zip(keys, (dataset, method, method, "first-stage", 0)), paths=[first_stage_run(dataset, method)])
        for dataset, method in first_stages()
    ]
    return runs + [dict(zip(keys, cell), paths=run_files(*cell)) for cell in cells()]


def evaluated_datasets():
    return list(dict.fromkeys(run["dataset"] for run in all_runs()))


def trained_models():
    """(model, seed) of every model with a learning curve behind a cell."""
    pairs = dict.fromkeys((model.partition("@")[0], seed) for _, _, model, _, seed in cells())
    return [(model, seed) for model, seed in pairs if CFG.models[model].tasks]


def used_groups():
    """Sidecar-bearing group files of every trained model."""
    found = {}
    for model, _ in trained_models():
        for task in CFG.models[model].tasks:
            found[f"results/groups/{CFG.models[model].collection}/{task.objective}.parquet"] = None
    return list(found)
