"""Collections and their ranking groups."""


def collection_documents(wildcards):
    return documents_of(CFG.collections[wildcards.collection])


def collection_counts(wildcards):
    corpora = CFG.collections[wildcards.collection]
    return [f"results/corpora/{corpus}/words-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def objective_options(wildcards):
    return dump(CFG.objectives[wildcards.objective])


def needed(objective):
    return needs(CFG.objectives[objective])


def objective_statistics(wildcards):
    """The collection's words, for objectives that need them."""
    base = f"results/statistics/{wildcards.collection}"
    return f"{base}/words.parquet" if "statistics" in needed(wildcards.objective) else []


def objective_graph(wildcards):
    """The collection's graph of links, for objectives that need it."""
    return f"results/graphs/{wildcards.collection}" if "graph" in needed(wildcards.objective) else []


def objective_collection(wildcards):
    """All documents of the collection, for objectives that take words or passages of documents in other shards."""
    return collection_documents(wildcards) if "collection" in needed(wildcards.objective) else []


def objective_collection_tokens(wildcards):
    """The token stores of all shards of the collection, for objectives that take passages of other documents."""
    corpora = CFG.collections[wildcards.collection]
    return tokens_of(corpora) if "collection_tokens" in needed(wildcards.objective) else []


def objective_anchor_texts(wildcards):
    """What the collection's anchor texts lead to, for objectives that need it."""
    path = f"results/anchors/{wildcards.collection}.parquet"
    return path if "anchor_texts" in needed(wildcards.objective) else []


def objective_axioms(wildcards):
    """Axiom values of the shard's pseudo-queries, for objectives that compare them."""
    path = f"results/axioms/{wildcards.collection}/{wildcards.corpus}-{wildcards.shard}.parquet"
    return path if "axiom_values" in needed(wildcards.objective) else []


def objective_axiom_options(wildcards):
    """How axioms are compared, for objectives that do."""
    return axiom_options() if "axiom_values" in needed(wildcards.objective) else {}


def objective_predictor(wildcards):
    """The probabilities of the preference predictor that an objective names."""
    name = getattr(CFG.objectives[wildcards.objective], "predictor", None)
    return [] if name is None else f"results/predictors/{name}/probabilities.npy"


def corpus_positions(wildcards):
    """Whether an objective in use needs to know where the word pieces of this corpus begin."""
    models = [CFG.models[name] for name in wanted_models(CFG)]
    trained = [model for model in models if wildcards.corpus in CFG.collections.get(model.collection, [])]
    return any("positions" in needed(task.objective) for model in trained for task in model.tasks)


def shard_counts(wildcards):
    """Corpora in their order, each with its number of shards: where one corpus ends and the next begins."""
    return [[corpus, CFG.corpora[corpus].shards] for corpus in CFG.collections[wildcards.collection]]


def group_shards(wildcards):
    return shards_of_groups(wildcards.collection, wildcards.objective)


def shards_of_groups(collection, objective):
    base = f"results/groups/{collection}/{objective}"
    return [f"{base}/{corpus}-{shard}.parquet" for corpus, shard in shards_of(CFG.collections[collection])]
