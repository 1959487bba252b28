"""Which files and options belong to which job, from the configuration. Functions only; no rules, no computing."""

from functools import cache
from itertools import product
from math import inf
from pathlib import Path

from irpretrain.config.consistency import (
    active_experiments,
    most_shots,
    trained_on,
    used_first_stages,
    used_models,
    wanted_models,
    with_starts,
)
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, TF_INDEX
from irpretrain.config.term_weights import TRAINED
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.files import list_files
from irpretrain.corpora.sources import corpus_files, encoder_files
from irpretrain.objectives.registry import needs
from irpretrain.report.figures import FIGURES, figure_names
from irpretrain.report.published import load_published

RESOURCES = Path(workflow.basedir) / "resources"
ASSET_DIRECTORIES = [name for name, asset in MANIFEST.assets.items() if asset.directory]
ASSET_FILES = [name for name in MANIFEST.assets if name not in ASSET_DIRECTORIES]
LINK_OPTIONS = {"segment_words", "title_case", "mentions", "mention_characters", "mention_lower"}
INDEX_OPTIONS = {"stemmer", "keep_stop_words", "threads", "memory_mb"}
SEARCH_OPTIONS = INDEX_OPTIONS | {"depth", "bm25", "query_likelihood", "jelinek_mercer"}
PAPERS = CFG.report.papers
PUBLISHED = {paper: RESOURCES / "published" / f"{paper}.yaml" for paper in FIGURES}
CHEAP_CHECKS = 1000
"""Priority of the jobs that refuse wrong data in seconds, so that nothing costly is started before them."""
RESULTS = 900
"""Priority of tables and reports: what can be shown is shown before anything else is computed."""
PREPARATION = 800
"""Priority of what models wait for; models themselves have priorities by paper, `training_priority`."""


wildcard_constraints:
    asset=r"[a-z0-9-]+",
    corpus=r"[a-z0-9-]+",
    collection=r"[a-z0-9-]+",
    objective=r"[a-z0-9-]+",
    model=r"[a-z0-9-]+",
    dataset=r"[a-z0-9-]+",
    candidates=r"[a-z0-9-]+",
    index=r"[a-z0-9-]+",
    experiment=r"[a-z0-9-]+",
    predictor=r"[a-z0-9-]+",
    terms="all|held",
    weighting=r"[a-z0-9-]+",
    diagnosis=r"[a-z0-9-]+",
    page=r"[a-z0-9-]+",
    paper=r"[a-z]+",
    shard=r"\d+",
    seed=r"\d+",
    fold=r"\d+",
    step=r"\d+",


def dump(section):
    """A section of the configuration as plain values, so that a change of any of them reruns what depends on it."""
    return section.model_dump(mode="json")


def training_groups(model):
    """Ranking groups that a model is trained on: what its training costs, as far as it is known before there are any."""
    training, tasks = CFG.training_of(model), CFG.models[model].tasks
    at_once = 1 if training.mixing == "alternate" else len(tasks)
    # Of epochs, whose steps are not known yet, a paper waits for the others.
    return (training.steps or inf) * training.batch_groups * at_once if tasks else 0


@cache
def paper_places():
    """Paper → its place when models are trained: the paper with the least to pre-train first, so that the first tables
    appear early."""
    cost = {paper: sum(map(training_groups, used_models(CFG.of_papers([paper])))) for paper in PAPERS}
    return {paper: place for place, paper in enumerate(sorted(PAPERS, key=cost.get))}


@cache
def model_place(model):
    """The first place of the papers that need a model."""
    places = [
        place for paper, place in paper_places().items() if model in used_models(CFG.of_papers([paper]))
    ]
    return min(places, default=len(PAPERS))


def training_priority(wildcards):
    """Within a paper what takes longest starts first, so that short jobs fill the gaps and none is left for the end."""
    return ranking_priority(wildcards) + 1


def ranking_priority(wildcards):
    return 10 * (len(PAPERS) - model_place(wildcards.model))


def memory(megabytes):
    """Memory request that grows with each attempt."""

    def request(wildcards, attempt):
        return megabytes * attempt

    return request


def seed_number(wildcards):
    return int(wildcards.seed)


# Inputs: embedded assets and the user's own files


def expected_asset(wildcards):
    """What the manifest demands of the files, so that they are verified and copied again when that changes."""
    return MANIFEST.assets[wildcards.asset].model_dump(include={"package", "version", "directory", "files"})


def is_embedded(path):
    return resolve(path)[0] == "embedded"


def source(path):
    """Where a path of the configuration lies: the verified copy of an embedded asset, or the user's own file or folder."""
    return f"results/inputs/{resolve(path)[1]}" if is_embedded(path) else path


def encoder_inputs(wildcards):
    """The encoder's files, so that a changed one reruns what is made of it."""
    return source(CFG.encoder.path) if is_embedded(CFG.encoder.path) else encoder_files(CFG)


# Corpora


def corpus_options(wildcards):
    return dump(CFG.corpora[wildcards.corpus])


def corpus_source(wildcards):
    return source(CFG.corpora[wildcards.corpus].path)


def corpus_inputs(wildcards):
    """The corpus's files, so that a changed one reruns what is made of it."""
    path = CFG.corpora[wildcards.corpus].path
    return source(path) if is_embedded(path) else corpus_files(CFG, wildcards.corpus)


def wikitext_audits(wildcards):
    """The audit of every dump that the configuration names; an error where it names none."""
    wikis = [name for name, corpus in CFG.corpora.items() if corpus.format == "wikipedia-dump"]
    if not wikis:
        raise WorkflowError(
            "the configuration names no corpus of format wikipedia-dump; add one under corpora"
        )
    return [f"results/audits/{corpus}.md" for corpus in wikis]


def corpus_documents(wildcards):
    return documents_of([wildcards.corpus])


def shard_number(wildcards):
    return int(wildcards.shard)


def shards_of(corpora):
    """Every (corpus, shard) of some corpora, in their order."""
    return [(corpus, shard) for corpus in corpora for shard in range(CFG.corpora[corpus].shards)]


def documents_of(corpora):
    return [f"results/corpora/{corpus}/documents-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def tokens_of(corpora):
    return [f"results/tokens/{corpus}/{shard}" for corpus, shard in shards_of(corpora)]


# Collections and their ranking groups


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
    """The preference predictor that an objective names."""
    name = getattr(CFG.objectives[wildcards.objective], "predictor", None)
    return [] if name is None else f"results/predictors/{name}/scores.json"


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


# ARES: axioms and predictors


def collection_words(wildcards):
    return words_of(wildcards.collection, CFG.collections[wildcards.collection])


def words_of(collection, corpora):
    return [f"results/words/{collection}/{corpus}-{shard}" for corpus, shard in shards_of(corpora)]


def judged_words(wildcards):
    """Words of the corpus that a data set judges, numbered as those of a collection that holds it."""
    return words_of(wildcards.collection, [CFG.datasets[wildcards.dataset].corpus])


def axiom_values_of(collection, corpora):
    return [f"results/axioms/{collection}/{corpus}-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def collection_axioms(wildcards):
    return axiom_values_of(wildcards.collection, CFG.collections[wildcards.collection])


def term_options():
    """What decides which words are terms."""
    return CFG.axioms.model_dump(mode="json", include={"stemming", "stop_list"})


def rank_options():
    """BM25 of RANK, for which postings keep bounds of scores."""
    return {**dump(CFG.axioms.bm25), "lengths": CFG.axioms.rank_lengths}


def axiom_options():
    """What decides the values of axioms; threads and memory do not."""
    return CFG.axioms.model_dump(mode="json", exclude={"threads", "memory_mb"})


def given_vectors():
    """The user's own file of word vectors, or the verified copy of an embedded one; nothing where they are trained."""
    path = CFG.word_vectors.path
    return [] if path is None else source(path)


def pseudo_query_options(wildcards):
    return dump(CFG.pseudo_queries.of(wildcards.collection))


def predictor_options(wildcards):
    return dump(CFG.predictors[wildcards.predictor])


def predictor_judged(wildcards):
    predictor = CFG.predictors[wildcards.predictor]
    return f"results/judged/{predictor.collection}/{predictor.dataset}/{predictor.judged_terms}-terms.parquet"


def predictor_pseudo(wildcards):
    """Axiom values of the pseudo-queries of the documents that a predictor's data set judges."""
    predictor = CFG.predictors[wildcards.predictor]
    return axiom_values_of(predictor.collection, [CFG.datasets[predictor.dataset].corpus])


def diagnosis_options(wildcards):
    """What decides the pairs of a diagnosis, whatever models are diagnosed by them."""
    return CFG.diagnoses[wildcards.diagnosis].model_dump(mode="json", exclude={"models", "label", "seed"})


def diagnosed_axioms(wildcards):
    collection = CFG.diagnoses[wildcards.diagnosis].collection
    return axiom_values_of(collection, CFG.collections[collection])


def diagnosed_corpora(wildcards):
    return CFG.collections[CFG.diagnoses[wildcards.diagnosis].collection]


def diagnosed_tokens(wildcards):
    """Token stores, for models with the encoder's tokenizer; others read the documents."""
    return [] if is_given(wildcards.model) else tokens_of(diagnosed_corpora(wildcards))


def diagnosed_documents(wildcards):
    return documents_of(diagnosed_corpora(wildcards)) if is_given(wildcards.model) else []


def diagnosed_model(wildcards):
    return final_model_files(wildcards.model, CFG.diagnoses[wildcards.diagnosis].seed)


def diagnosed_directory(wildcards):
    return final_model(wildcards.model, CFG.diagnoses[wildcards.diagnosis].seed)


def diagnosed_labels(wildcards):
    """Models of a diagnosis with their names in tables, in its order."""
    return {model: CFG.models[model].label for model in CFG.diagnoses[wildcards.diagnosis].models}


def diagnosis_scores(wildcards):
    models = CFG.diagnoses[wildcards.diagnosis].models
    return [f"results/diagnosis/{wildcards.diagnosis}/scores/{model}.parquet" for model in models]


# DeepCT: weights of words


def weightings(kind, *models):
    """A constraint of wildcards to the weightings of a kind by some models; nothing satisfies it where there are none."""
    found = [n for n, w in CFG.term_weights.items() if w.kind == kind and w.model in models and not w.same_as]
    return "|".join(found) or "(?!)"


def indexed_weightings():
    """The same for weightings whose predicted weights become integers."""
    found = [
        n for n, w in CFG.term_weights.items() if w.kind == "passages" and (w.same_as or w.model != "tf")
    ]
    return "|".join(found) or "(?!)"


def predicted_weights(wildcards):
    """Weights of a shard's words by a weighting, or by the one that it is the same as."""
    name = weighting_of(wildcards).same_as or wildcards.weighting
    return f"results/term_weights/{name}/weights/{wildcards.corpus}-{wildcards.shard}.parquet"


def trained_weightings(model):
    """The same for both kinds."""
    return "|".join(n for n, w in CFG.term_weights.items() if w.model == model and not w.same_as) or "(?!)"


def weighting_of(wildcards):
    return CFG.term_weights[wildcards.weighting]


def weighting_options(wildcards):
    """What decides a weighting; its name in tables, and what only its integers take, do not."""
    return weighting_of(wildcards).model_dump(
        mode="json",
        exclude={
            "label": True,
            "same_as": True,
            "scale": True,
            "square_root": True,
            "inference": {"compute": {"gpus"}},
        },
    ) | {"label": wildcards.weighting}


def integer_options(wildcards):
    """What decides the integers of a weighting's weights."""
    return weighting_of(wildcards).model_dump(mode="json", include={"scale", "square_root"})


def target_documents(wildcards):
    return documents_of([CFG.datasets[weighting_of(wildcards).dataset].corpus])


def target_file(name):
    """A file of the data set that gives a weighting's targets."""
    return lambda wildcards: f"results/datasets/{weighting_of(wildcards).dataset}/{name}"


def weighting_encoder(wildcards):
    return weighting_of(wildcards).encoder or CFG.encoder


def weighting_encoder_options(wildcards):
    return dump(weighting_encoder(wildcards))


def weighting_encoder_directory(wildcards):
    return source(weighting_encoder(wildcards).path)


def weighting_encoder_inputs(wildcards):
    """The files of a weighting's encoder, so that a changed one reruns what is made of it."""
    path = weighting_encoder(wildcards).path
    return source(path) if is_embedded(path) else list_files(path, [""])


def weighting_folds(wildcards):
    """The folds of the data set that a model is trained on, where it is the model of one fold; fold 0 has all queries."""
    return target_file("folds.json")(wildcards) if int(wildcards.fold) else []


def weighting_training(key):
    return lambda wildcards: getattr(weighting_of(wildcards).training.compute, key)


def weighting_inference(key):
    return lambda wildcards: getattr(weighting_of(wildcards).inference.compute, key)


def weighting_vectors(wildcards):
    """The word vectors that a weighting's regression is over."""
    weighting = weighting_of(wildcards)
    return f"results/vectors/{weighting.collection}" if weighting.model == "word-vectors" else []


def weighting_statistics(wildcards):
    """What numbers the words of these vectors."""
    weighting = weighting_of(wildcards)
    base = f"results/statistics/{weighting.collection}"
    return f"{base}/words.parquet" if weighting.model == "word-vectors" else []


def weighting_models(folds):
    """Models of a weighting that learns: of each of some folds."""

    def files(wildcards):
        if weighting_of(wildcards).model not in TRAINED:
            return []
        return [f"results/term_weights/{wildcards.weighting}/model-{fold}" for fold in folds(wildcards)]

    return files


def whole(wildcards):
    """The fold of the model that all queries train."""
    return [0]


def folds_of_queries(wildcards):
    """The models that weight a data set's queries: where they gave the targets, one a test fold, else one of all."""
    own = weighting_of(wildcards).dataset == wildcards.dataset
    return fold_numbers(wildcards.dataset) if own else whole(wildcards)


def folds_of_weighed(wildcards):
    """The folds of these models."""
    trained = weighting_of(wildcards).model in TRAINED and folds_of_queries(wildcards) != [0]
    return f"results/datasets/{wildcards.dataset}/folds.json" if trained else []


def oracle_targets(wildcards):
    """Targets that are weights themselves."""
    path = f"results/term_weights/{wildcards.weighting}/targets.parquet"
    return path if weighting_of(wildcards).model == "oracle" else []


# Graphs


def link_options():
    """What decides the links of a shard; the rest of `graph` matters to the whole graph only."""
    return CFG.graph.model_dump(mode="json", include=LINK_OPTIONS)


def redirects_of(corpora):
    return [f"results/corpora/{corpus}/redirects-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def collection_redirects(wildcards):
    return redirects_of(CFG.collections[wildcards.collection])


def titled_documents(wildcards):
    """All documents of a collection, where their titles are looked for in each of its texts."""
    return collection_documents(wildcards) if CFG.graph.mentions == "titles" else []


def collection_links(kind):
    """The shards of a collection's links, or of their sources."""

    def files(wildcards):
        shards = shards_of(CFG.collections[wildcards.collection])
        return [
            f"results/links/{wildcards.collection}/{kind}/{corpus}-{shard}.parquet"
            for corpus, shard in shards
        ]

    return files


# Pre-training


def is_given(model):
    """Whether a model is a re-ranker given by its path, which nothing here trains."""
    return CFG.models[model].cross_encoder is not None


def pretrained(model, seed):
    return f"results/models/pretrained/{model}/seed-{seed}"


def final_model(model, seed):
    """The model that others start from and that is tested: the last weights, those that a data set has chosen, or a
    re-ranker that is given by its path."""
    if is_given(model):
        return source(CFG.models[model].cross_encoder)
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
    return CFG.training_of(wildcards.model).compute.threads


def model_gpus(wildcards):
    return CFG.training_of(wildcards.model).compute.gpus


# Data sets


def dataset_options(wildcards):
    return dump(CFG.datasets[wildcards.dataset])


def queries_file(wildcards):
    return source(CFG.datasets[wildcards.dataset].queries.path)


def qrels_file(wildcards):
    return source(CFG.datasets[wildcards.dataset].qrels.path)


def folds_file(wildcards):
    """The file that gives the folds, where one does."""
    folds = CFG.datasets[wildcards.dataset].folds
    return folds if isinstance(folds, str) else []


@cache
def fold_numbers(dataset):
    """The test folds of a data set; one that trains on another is tested whole."""
    from irpretrain.evaluation.folds import WHOLE, count_folds

    if CFG.datasets[dataset].train_on:
        return [WHOLE]
    return range(1, count_folds(CFG.datasets[dataset]) + 1)


def training_tokens(wildcards):
    return tokens_of([CFG.datasets[trained_on(CFG, wildcards.dataset)].corpus])


def training_file(name):
    """A file of the data set that trains."""
    return lambda wildcards: f"results/datasets/{trained_on(CFG, wildcards.dataset)}/{name}"


def training_candidates(wildcards):
    return first_stage_run(trained_on(CFG, wildcards.dataset), wildcards.candidates)


def tested_whole(wildcards):
    return CFG.datasets[wildcards.dataset].train_on is not None


def test_tokens(wildcards):
    """What is tested whole, where another data set trains; nothing under cross-validation. So for the next two."""
    return dataset_tokens(wildcards) if tested_whole(wildcards) else []


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


# Weighted indexes and named first stages


def names_of(entries):
    """A constraint of wildcards to names, which no name at all satisfies where there are none."""
    return "|".join(entries) or "(?!)"


def indexes_of_type(kind):
    return [name for name, index in CFG.indexes.items() if index.type == kind]


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
    return CFG.indexes[wildcards.index].path


def first_stage(wildcards):
    return CFG.first_stages[wildcards.candidates]


def stages_of_model(*models, other=False):
    return [name for name, stage in CFG.first_stages.items() if (stage.model in models) is not other]


def dataset_positions(wildcards):
    return f"results/positions/{CFG.datasets[wildcards.dataset].corpus}"


def stage_query_weights(wildcards):
    """Weights of the queries' terms, for first stages that have them."""
    weights = first_stage(wildcards).query_weights
    return [] if weights is None else f"results/term_weights/{weights}/queries/{wildcards.dataset}.parquet"


def structured_options(wildcards):
    """What decides a search with structured queries, beside `retrieval`."""
    stage = first_stage(wildcards)
    return stage.model_dump(mode="json", include={"parameters", "dependence"}) | {
        "query_words": CFG.text.words
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


def tested_queries(wildcards):
    """Queries that some experiment tests a first stage on, which do not choose its parameters; those of other sources
    than the tuning queries have identifiers of their own."""
    tuning = CFG.datasets[first_stage(wildcards).tuned_on]
    experiments = active_experiments(CFG).values()
    shown = [e for e in experiments if wildcards.candidates in (e.candidates, *e.first_stages)]
    names = dict.fromkeys(
        e.dataset for e in shown if CFG.datasets[e.dataset].queries.path == tuning.queries.path
    )
    return [f"results/datasets/{name}/queries.parquet" for name in names]


def tuning_label(wildcards):
    return first_stage(wildcards).label


def tuning_dataset(wildcards):
    return CFG.datasets[first_stage(wildcards).tuned_on].label


def tuned_stages(papers):
    """Tuned first stages that some experiment of these papers shows."""
    shown = used_first_stages(CFG.of_papers(papers))
    return [name for name in shown if name in CFG.first_stages and CFG.first_stages[name].tuned_on]


def measured_names(wildcards):
    """Indexes that some first stage of the experiments on a data set searches, the tf index first."""
    experiments = [e for e in active_experiments(CFG).values() if e.dataset == wildcards.dataset]
    shown = [
        name for e in experiments for name in (e.candidates, *e.first_stages) if name in CFG.first_stages
    ]
    return list(dict.fromkeys([TF_INDEX, *(CFG.first_stages[name].index for name in shown)]))


def measured_indexes(wildcards):
    return [index_of(name, wildcards.dataset) for name in measured_names(wildcards)]


def tuning_options(wildcards):
    stage = first_stage(wildcards)
    return {
        "model": stage.model,
        "dataset": stage.tuned_on,
        "sweep": dump(stage.sweep or CFG.retrieval.sweep),
    }


# Runs


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


# Attributions


def attribution_pages(wildcards):
    """Every page that the configuration asks for; an error where it asks for none."""
    if not CFG.attributions:
        raise WorkflowError("the configuration asks for no page of attributions; add one under attributions")
    return [f"results/attributions/{page}.html" for page in CFG.attributions]


def page_options(wildcards):
    return dump(CFG.attributions[wildcards.page])


def page_dataset(name):
    """A file of the data set of a page."""
    return lambda wildcards: f"results/datasets/{CFG.attributions[wildcards.page].dataset}/{name}"


def page_documents(wildcards):
    return documents_of([CFG.datasets[CFG.attributions[wildcards.page].dataset].corpus])


def page_first_stage(wildcards):
    page = CFG.attributions[wildcards.page]
    return first_stage_run(page.dataset, page.candidates)


def page_model_files(wildcards):
    page = CFG.attributions[wildcards.page]
    files = [final_model_files(model, page.seed) for model in page.models]
    return [path for some in files for path in ([some] if isinstance(some, str) else some)]


def page_run(page, model):
    """The run in which the document has its rank; a query that is no query of the data set is in none."""
    if page.text is not None:
        return None
    [path] = run_files(page.dataset, page.candidates, model, page.regime, page.seed)
    return path


def page_runs(wildcards):
    page = CFG.attributions[wildcards.page]
    return [run for model in page.models if (run := page_run(page, model))]


def page_models(wildcards):
    """Fields of report.attributions.AttributedModel."""
    page = CFG.attributions[wildcards.page]
    return [
        {
            "key": model,
            "label": CFG.models[model].label,
            "directory": final_model(model, page.seed),
            "run": page_run(page, model),
        }
        for model in page.models
    ]


# Report


def experiments_of(papers):
    return list(active_experiments(CFG.of_papers(papers)))


def scores_of(papers):
    return [f"results/scores/{experiment}.csv" for experiment in experiments_of(papers)]


def per_query_of(papers):
    return [f"results/per_query/{experiment}.parquet" for experiment in experiments_of(papers)]


def verdicts(papers):
    return [f"results/verdicts/{paper}.csv" for paper in papers]


def trained_models(papers):
    """(model, seed) of every model with a learning curve behind a cell."""
    asked = [cell for experiment in experiments_of(papers) for cell in cells(experiment)]
    pairs = dict.fromkeys((model.partition("@")[0], seed) for _, _, model, _, seed in asked)
    return [(model, seed) for model, seed in pairs if CFG.models[model].tasks]


def training_metrics(papers):
    return [f"results/metrics/pretrained/{model}/seed-{seed}.jsonl" for model, seed in trained_models(papers)]


def sampling_counts(papers):
    """Sidecars of the shards of ranking groups behind every trained model."""
    models = [CFG.models[model] for model, _ in trained_models(papers)]
    pairs = dict.fromkeys((model.collection, task.objective) for model in models for task in model.tasks)
    return [f"{shard}.meta.json" for pair in pairs for shard in shards_of_groups(*pair)]


def published(papers):
    """The files with the papers' own numbers."""
    return [PUBLISHED[paper] for paper in papers]


def shows_axioms(papers):
    return any(load_published(PUBLISHED[paper]).axioms for paper in papers)


def predictor_scores(papers):
    """The scores of every preference predictor, for the papers that show them."""
    predictors = CFG.predictors if shows_axioms(papers) else {}
    return [f"results/predictors/{predictor}/scores.json" for predictor in predictors]


def rank_intervals(papers):
    """How high pseudo-queries rank their documents, of every collection that has them, for the papers that show it."""
    if not shows_axioms(papers):
        return []
    models = [CFG.models[model] for model, _ in trained_models(papers)]
    compared = [
        model for model in models if any("axiom_values" in needed(task.objective) for task in model.tasks)
    ]
    users = [*CFG.predictors.values(), *compared, *CFG.diagnoses.values()]
    return [
        f"results/axioms/{name}/rank-intervals.json"
        for name in dict.fromkeys(one.collection for one in users)
    ]


def diagnoses(papers):
    """What was found of each re-ranker, axiom by axiom, for the papers that show it."""
    return [f"results/diagnosis/{name}.csv" for name in CFG.diagnoses] if shows_axioms(papers) else []


def paper_results(paper):
    """What the target named after a paper makes; an error where the configuration leaves the paper out."""

    def request(wildcards):
        if paper not in PAPERS:
            raise WorkflowError(f"report.papers of the configuration does not name {paper}; add it there")
        return [f"results/reports/{paper}.html", *tables([paper]), *figures([paper])]

    return request


def headline_tables():
    return formats(["headline"])


def tables(papers):
    """Each paper's headline table and its own tables."""
    names = [
        f"{paper}_{table}"
        for paper in papers
        for table in ("headline", *load_published(PUBLISHED[paper]).table_names())
    ]
    return formats(names)


def formats(names):
    return expand("results/tables/{name}.{format}", name=names, format=["md", "csv", "tex"])


def figures(papers):
    return expand("results/figures/{name}.{format}", name=figure_names(papers), format=["svg", "png"])
