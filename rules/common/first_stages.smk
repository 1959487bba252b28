"""Weighted indexes and named first stages."""


def names_of(entries):
    """A constraint of wildcards to names, which no name at all satisfies where there are none."""
    return "|".join(entries) or "(?!)"


def indexes_of_type(*kinds):
    return [name for name, index in CFG.indexes.items() if index.type in kinds]


def index_of(index, dataset):
    """The index that a data set is searched in."""
    corpus = CFG.datasets[dataset].corpus
    return f"results/indexes/{corpus}" if index == TF_INDEX else f"results/weighted_indexes/{index}/{corpus}"


def vector_shards(wildcards):
    """Weights of a corpus's terms, all shards."""
    shards = range(CFG.corpora[wildcards.corpus].shards)
    return [f"results/term_vectors/{wildcards.index}/{wildcards.corpus}-{shard}.parquet" for shard in shards]


def query_words(wildcards):
    """How the texts behind an index's weights were cut into words; queries are cut the same way."""
    return "lucene" if wildcards.index in CFG.indexes else CFG.text.words


def index_kind_options(wildcards):
    return dump(CFG.indexes[wildcards.index])


def expansion_file(wildcards):
    """Text to add to a shard's documents: a file that is given, or queries that are written for them."""
    index = CFG.indexes[wildcards.index]
    if index.type == "expansion":
        return index.path
    return f"results/generated_queries/{wildcards.index}/{wildcards.corpus}-{wildcards.shard}.parquet"


def expansion_times(wildcards):
    return CFG.indexes[wildcards.index].times


def generator_directory(wildcards):
    return source(CFG.indexes[wildcards.index].model)


def generator_inputs(wildcards):
    """The files of the model that writes queries, so that a changed one writes anew."""
    path = CFG.indexes[wildcards.index].model
    return source(path) if is_embedded(path) else list_files(path, [""])


def generator_options(wildcards):
    """What decides the queries that are written; how often they count does not."""
    index = CFG.indexes[wildcards.index]
    return index.model_dump(mode="json", exclude={"times": True, "compute": {"gpus"}})


def generator_compute(key):
    return lambda wildcards: getattr(CFG.indexes[wildcards.index].compute, key)


def first_stage(wildcards):
    return CFG.first_stages[wildcards.candidates]


def stages_of_model(*models, other=False):
    stages = {name: stage for name, stage in CFG.first_stages.items() if not stage.runs}
    return [name for name, stage in stages.items() if (stage.model in models) is not other]


def stages_of_others():
    return [name for name, stage in CFG.first_stages.items() if stage.runs]


def run_of_others(wildcards):
    """The section of a run; an error where the configuration has none for the data set."""
    runs = CFG.first_stages[wildcards.candidates].runs
    if wildcards.dataset not in runs:
        raise WorkflowError(f"first_stages.{wildcards.candidates} has no run for {wildcards.dataset}")
    return runs[wildcards.dataset]


def given_run(wildcards):
    return dataset_files(run_of_others(wildcards))


def run_soundness(wildcards):
    return sound_entries([run_of_others(wildcards)])


def given_run_options(wildcards):
    return described(run_of_others(wildcards))


def dataset_positions(wildcards):
    return f"results/positions/{CFG.datasets[wildcards.dataset].corpus}"


def stage_query_weights(wildcards):
    """Weights of the queries' terms, for first stages that have them."""
    weights = first_stage(wildcards).query_weights
    return [] if weights is None else f"results/term_weights/{weights}/queries/{wildcards.dataset}.parquet"


def structured_options(wildcards):
    """What decides a search with structured queries, beside `retrieval`; they are cut into words as positions were."""
    stage = first_stage(wildcards)
    return stage.model_dump(mode="json", include={"parameters", "dependence"}) | {
        "query_words": CFG.text.words
    }


def stage_search_options(wildcards):
    """What decides a named first stage's search, beside what is its own alone."""
    depth = first_stage(wildcards).depth
    return search_options() | ({} if depth is None else {"depth": depth})


def positions_options():
    """What decides where terms stand; smoothing does not."""
    return CFG.retrieval.indri.model_dump(mode="json", include={"stemmer", "stop_list"})


def structured_search_options(wildcards):
    """What decides a search with structured queries, beside what is the first stage's own."""
    return {
        "depth": depth_of(CFG, wildcards.candidates),
        "indri": CFG.retrieval.indri.model_dump(mode="json"),
    }


def first_stage_index(wildcards):
    return index_of(first_stage(wildcards).index, wildcards.dataset)


def tuned_parameters(wildcards):
    """Where a first stage's parameters are chosen, for those that are tuned."""
    return [] if first_stage(wildcards).tuned_on is None else f"results/tuning/{wildcards.candidates}.json"


def first_stage_options(wildcards):
    """What decides a named first stage's search, beside `retrieval`; its name in tables does not."""
    return first_stage(wildcards).model_dump(mode="json", include={"model", "parameters"})


def tuning_index(wildcards):
    return index_of(first_stage(wildcards).index, first_stage(wildcards).tuned_on)


def tuning_file(name):
    """A file of the data set that a first stage is tuned on."""
    return lambda wildcards: f"results/datasets/{first_stage(wildcards).tuned_on}/{name}"


def tuning_label(wildcards):
    return first_stage(wildcards).label


def tuning_dataset(wildcards):
    return CFG.datasets[first_stage(wildcards).tuned_on].label


def tuned_stages(papers):
    """Tuned first stages that some experiment of these papers shows."""
    shown = used_first_stages(CFG.of_papers(papers))
    return [name for name in shown if name in CFG.first_stages and CFG.first_stages[name].tuned_on]


def stages_shown(dataset):
    """Named first stages of the experiments on a data set that search an index."""
    experiments = [e for e in active_experiments(CFG).values() if e.dataset == dataset]
    shown = [
        name for e in experiments for name in (e.candidates, *e.first_stages) if name in CFG.first_stages
    ]
    return [name for name in dict.fromkeys(shown) if not CFG.first_stages[name].runs]


def indexes_searched(dataset):
    """Indexes that some first stage of the experiments on a data set searches, the tf index first."""
    searched = [CFG.first_stages[name].index for name in stages_shown(dataset)]
    return list(dict.fromkeys([TF_INDEX, *searched]))


def measured_names(wildcards):
    return indexes_searched(wildcards.dataset)


def measured_indexes(wildcards):
    return [index_of(name, wildcards.dataset) for name in measured_names(wildcards)]


def measuring_stages(dataset):
    """For each index that is measured, the first stage that searches it by BM25 in the experiments on a data set, the
    first of several; None where there is none, and `retrieval` alone says how."""
    stages = {}
    for name in stages_shown(dataset):
        if CFG.first_stages[name].model == "bm25":
            stages.setdefault(CFG.first_stages[name].index, name)
    return [stages.get(index) for index in indexes_searched(dataset)]


def tuning_of(stage):
    return f"results/tuning/{stage}.json" if stage and CFG.first_stages[stage].tuned_on else None


def measured_tunings(wildcards):
    found = map(tuning_of, measuring_stages(wildcards.dataset))
    return [path for path in found if path is not None]


def measured_searches(wildcards):
    """How each index is searched: options, a stage's own parameters, and where they are tuned."""
    found = []
    for stage in measuring_stages(wildcards.dataset):
        depth = CFG.first_stages[stage].depth if stage else None
        options = search_options() | ({} if depth is None else {"depth": depth})
        parameters = dump(CFG.first_stages[stage].parameters) if stage else {}
        found.append({"options": options, "parameters": parameters, "tuning": tuning_of(stage)})
    return found


def tuning_options(wildcards):
    stage = first_stage(wildcards)
    return {
        "model": stage.model,
        "dataset": stage.tuned_on,
        "sweep": dump(stage.sweep or CFG.retrieval.sweep),
    }
