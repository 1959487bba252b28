"""Data sets: queries, judgements, folds."""

INDEX_OPTIONS = {"stemmer", "stop_list", "threads", "memory_mb"}
SEARCH_OPTIONS = INDEX_OPTIONS | {"depth", "bm25", "query_likelihood", "jelinek_mercer"}

ENTITY_QUESTIONS = 22_036
"""Of the data set of that name (ARES); taken where a configuration does not say how many questions there are."""


def dataset_options(wildcards):
    """What decides queries, judgements and folds; measures do not, nor does the name in tables."""
    options = without(described(CFG.datasets[wildcards.dataset]), {"measures", "validation_measure"})
    return options | {"label": wildcards.dataset}


@cache
def uses_of_queries():
    """Every use of queries behind the experiments: it is asked for once an experiment."""
    return query_uses(CFG)


def apart_from_used(wildcards):
    """Proofs that an experiment tests no queries that train, choose or tune what it tests."""
    uses = [use for use in uses_of_queries() if use.experiment == wildcards.experiment]
    return sorted({f"results/datasets/{use.tested}/apart-from-{use.dataset}.json" for use in uses})


def keys_of_use(wildcards):
    """Keys of the configuration that name a data set whose queries are used, where another is tested."""
    pair = (wildcards.used, wildcards.dataset)
    return sorted({use.key for use in uses_of_queries() if (use.dataset, use.tested) == pair})


def compared_datasets(wildcards):
    return [CFG.datasets[name] for name in (wildcards.used, wildcards.dataset)]


def comparable_judgements(wildcards):
    """Judgements of used and of tested queries. Those by answers come too late."""
    if any(dataset.by_answers for dataset in compared_datasets(wildcards)):
        return []
    return [f"results/datasets/{name}/qrels.txt" for name in (wildcards.used, wildcards.dataset)]


def compared_documents(place):
    """Documents of the used (0) or the tested (1) data set, where judgements are compared whose corpora are not read
    from the same path: they may hold the same documents nevertheless."""

    def documents(wildcards):
        corpora = [dataset.corpus for dataset in compared_datasets(wildcards)]
        one = len({CFG.corpora[corpus].path for corpus in corpora}) == 1
        return documents_of([corpora[place]]) if not one and comparable_judgements(wildcards) else []

    return documents


def apart_from_training(wildcards):
    """The proof that the data set which trains holds no tested query; training waits for it."""
    if not tested_whole(wildcards):
        return []
    return f"results/datasets/{wildcards.dataset}/apart-from-{trained_on(CFG, wildcards.dataset)}.json"


def answered_datasets():
    """Data sets whose judgements follow from answers, once first stages have retrieved something."""
    return [name for name, dataset in CFG.datasets.items() if dataset.by_answers]


def judged_datasets():
    return [name for name, dataset in CFG.datasets.items() if not dataset.by_answers]


def judged_runs(wildcards):
    """What first stages retrieve in the experiments on a data set: these passages are judged."""
    experiments = [e for e in active_experiments(CFG).values() if e.dataset == wildcards.dataset]
    stages = [stage for e in experiments for stage in (e.candidates, *e.first_stages)]
    return [first_stage_run(wildcards.dataset, stage) for stage in sorted({*BUILT_IN_FIRST_STAGES, *stages})]


def judging_memory(wildcards):
    """Megabytes: every retrieved passage of every question is held by its name, which takes a third of a kB where few
    questions share one, with the run in which it is read; half a kB is asked for."""
    from irpretrain.costs import sizes

    candidates = sum(depth_of(CFG, Path(path).parent.name) for path in judged_runs(wildcards))
    questions = sizes.queries(CFG, wildcards.dataset) or ENTITY_QUESTIONS
    return 2000 + questions * candidates // 2000


def dataset_soundness(wildcards):
    return sound_entries([CFG.datasets[wildcards.dataset]])


def expected_of_dataset(wildcards):
    return expected_records([CFG.datasets[wildcards.dataset].corpus])


def dataset_files(section):
    """The files of topics, judgements or a run; embedded ones as their verified copies."""
    sources = [source(path) for path in section.paths]
    copies = [path for path in sources if path not in section.paths]
    own = [path for path in sources if path in section.paths]
    return copies + given_files(own, getattr(format_module(section.kind, section.format), "SUFFIXES", None))


def queries_file(wildcards):
    return dataset_files(CFG.datasets[wildcards.dataset].queries)


def qrels_file(wildcards):
    return dataset_files(CFG.datasets[wildcards.dataset].qrels)


def folds_file(wildcards):
    """The file that gives the folds, where one does."""
    folds = CFG.datasets[wildcards.dataset].folds
    if not isinstance(folds, str):
        return []
    return list_files(folds, [".txt"]) if Path(folds).is_dir() else folds


@cache
def fold_numbers(dataset):
    """The test folds of a data set; one that trains on another is tested whole."""
    from irpretrain.evaluation.folds import WHOLE, count_folds

    if CFG.datasets[dataset].train_on:
        return [WHOLE]
    return range(1, count_folds(CFG.datasets[dataset]) + 1)


def documents_read(model, corpus):
    """What a model is fine-tuned on of a corpus: its word pieces, or its words by the numbers of a ranker's collection."""
    if is_neural(model):
        return words_of(CFG.models[model].neural.collection, [corpus])
    return tokens_of([corpus])


def training_documents(wildcards):
    return documents_read(wildcards.model, CFG.datasets[trained_on(CFG, wildcards.dataset)].corpus)


def training_file(name):
    """A file of the data set that trains."""
    return lambda wildcards: f"results/datasets/{trained_on(CFG, wildcards.dataset)}/{name}"


def training_run(wildcards):
    """Candidates of the queries that train; those of another first stage where others' run is of the tested ones alone."""
    candidates = training_candidates(CFG, wildcards.dataset, wildcards.candidates)
    return first_stage_run(trained_on(CFG, wildcards.dataset), candidates)


def tested_whole(wildcards):
    return CFG.datasets[wildcards.dataset].train_on is not None


def test_documents(wildcards):
    """What is tested whole, where another data set trains; nothing under cross-validation. So for the next two."""
    if not tested_whole(wildcards):
        return []
    return documents_read(wildcards.model, CFG.datasets[wildcards.dataset].corpus)


def test_queries(wildcards):
    return f"results/datasets/{wildcards.dataset}/queries.parquet" if tested_whole(wildcards) else []


def test_candidates(wildcards):
    return first_stage_run(wildcards.dataset, wildcards.candidates) if tested_whole(wildcards) else []


def shots(wildcards):
    """The most training queries that a few-shot regime asks for."""
    return most_shots(CFG, wildcards.dataset)


def dataset_documents(wildcards):
    return documents_of([CFG.datasets[wildcards.dataset].corpus])


def dataset_tokens(wildcards):
    return tokens_of([CFG.datasets[wildcards.dataset].corpus])


def dataset_index(wildcards):
    return index_of(TF_INDEX, wildcards.dataset)


def index_options():
    """What decides an index; the rest of `retrieval` matters to searches only."""
    return CFG.retrieval.model_dump(mode="json", include=INDEX_OPTIONS)


def search_options():
    """What decides a search; grids of parameters do not."""
    return CFG.retrieval.model_dump(mode="json", include=SEARCH_OPTIONS)
