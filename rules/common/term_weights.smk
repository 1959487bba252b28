"""DeepCT: weights of words."""


def weightings(kind, *models):
    """A constraint of wildcards to the weightings of a kind by some models; nothing satisfies it where there are none."""
    found = [n for n, w in CFG.term_weights.items() if w.kind == kind and w.model in models and not w.same_as]
    return "|".join(found) or "(?!)"


def counted_weightings():
    """The same for term frequencies, which weightings of model tf and the tf index both are."""
    found = [
        n for n, w in CFG.term_weights.items() if w.kind == "passages" and w.model == "tf" and not w.same_as
    ]
    return "|".join([TF_INDEX, *found])


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


def weighting_threads(wildcards):
    compute = weighting_of(wildcards).training.compute
    return compute.threads * compute.process_count


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
