"""ARES: axioms, preference predictors, diagnoses."""


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


def ranking_options():
    """What decides the values of RANK alone."""
    return CFG.axioms.model_dump(mode="json", include={"stemming", "stop_list", "bm25", "rank_lengths"})


def axiom_options():
    """What decides the values of axioms; threads and memory do not."""
    return CFG.axioms.model_dump(mode="json", exclude={"threads", "memory_mb"})


def given_vectors(wildcards):
    """The user's own file of a collection's word vectors, or the verified copy of an embedded one; nothing where they
    are trained."""
    path = CFG.word_vectors.files.get(wildcards.collection)
    return [] if path is None else source(path)


def vector_training():
    """How word vectors are trained."""
    return CFG.word_vectors.model_dump(mode="json", exclude={"files"})


def pseudo_query_options():
    """How pseudo-queries are drawn; how their temperature is found is another matter."""
    return CFG.pseudo_queries.model_dump(mode="json", exclude={"calibration"})


def calibration_options():
    """How the temperature of a collection's pseudo-queries is found; it draws numbers of queries of its own."""
    return CFG.pseudo_queries.model_dump(mode="json", exclude={"temperature", "per_document"})


def is_calibrated():
    return CFG.pseudo_queries.temperature == "calibrated"


def calibrated_temperature(wildcards):
    """The temperature that is found for a collection, where the configuration gives no number."""
    path = f"results/pseudo_queries/{wildcards.collection}/temperature.json"
    return path if is_calibrated() else []


def printed_rank_shares(wildcards):
    """In which intervals the ranks of ARES's own pseudo-queries lie, as printed."""
    return numbers_of("ares").axioms.rank_intervals.shares


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
