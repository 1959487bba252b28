"""DeepCT: targets of words → token regressions → weights of passages and queries → the integers of an index."""


rule make_term_targets:
    input:
        documents=plan.of_dataset(paths.DOCUMENTS, "term_weights"),
        queries=plan.file(paths.QUERIES, "term_weights"),
        qrels=plan.file(paths.QRELS, "term_weights"),
    output:
        targets=paths.TERM_TARGETS,
        meta=sidecar(paths.TERM_TARGETS),
    log:
        "results/logs/make_term_targets/{weighting}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        options=plan.term_weights.options,
        text=settings("text"),
    script:
        "../scripts/make_term_targets.py"


rule train_term_weights:
    """A token regression, of all queries (fold 0) or of those that one test fold leaves to train on."""
    input:
        encoder=plan.term_weights.encoder_files,
        targets=paths.TERM_TARGETS,
        folds=plan.term_weights.folds,
    output:
        model=directory(paths.TERM_MODEL),
        metrics=paths.TERM_METRICS,
        meta=sidecar(paths.TERM_MODEL),
    log:
        "results/logs/train_term_weights/{weighting}-{fold}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.learned(None, "regressor")),
    priority: PREPARATION
    threads: plan.term_weights.threads
    resources:
        mem_mb=memory(8000, settings("term_weights.training.compute.process_count")),
        runtime=minutes(2880),
        gpu=settings("term_weights.training.compute.gpus"),
    params:
        options=plan.term_weights.options,
        text=settings("text"),
        encoder=plan.term_weights.encoder,
        encoder_directory=plan.term_weights.encoder_directory,
        checkpoints=paths.CHECKPOINTS,
    script:
        "../scripts/train_term_weights.py"


rule train_word_vector_weights:
    input:
        targets=paths.TERM_TARGETS,
        vectors=plan.term_weights.if_model("word-vectors", paths.VECTORS),
        statistics=plan.term_weights.if_model("word-vectors", paths.STATISTICS),
        folds=plan.term_weights.folds,
    output:
        model=directory(paths.TERM_MODEL),
        meta=sidecar(paths.TERM_MODEL),
    log:
        "results/logs/train_word_vector_weights/{weighting}-{fold}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.learned(None, "word-vectors")),
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        text=settings("text"),
    script:
        "../scripts/train_word_vector_weights.py"


rule weigh_documents:
    input:
        documents=paths.DOCUMENTS,
        model=plan.term_weights.model_of_all,
        vectors=plan.term_weights.if_model("word-vectors", paths.VECTORS),
        statistics=plan.term_weights.if_model("word-vectors", paths.STATISTICS),
        targets=plan.term_weights.if_model("oracle", paths.TERM_TARGETS),
    output:
        weights=paths.TERM_WEIGHTS,
        meta=sidecar(paths.TERM_WEIGHTS),
    log:
        "results/logs/weigh_documents/{weighting}-{corpus}-{shard}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.learned("passages", "regressor", "word-vectors", "oracle")),
    priority: PREPARATION
    threads: settings("term_weights.inference.compute.threads")
    resources:
        mem_mb=memory(6000),
        runtime=minutes(2880),
        gpu=settings("term_weights.inference.compute.gpus"),
    params:
        options=plan.term_weights.options,
        text=settings("text"),
        checkpoints=paths.CHECKPOINTS,
    script:
        "../scripts/weigh_documents.py"


rule weigh_queries:
    input:
        queries=paths.QUERIES,
        model=plan.term_weights.models_of_folds,
        folds=plan.term_weights.weighed_folds,
        vectors=plan.term_weights.if_model("word-vectors", paths.VECTORS),
        statistics=plan.term_weights.if_model("word-vectors", paths.STATISTICS),
        targets=plan.term_weights.if_model("oracle", paths.TERM_TARGETS),
    output:
        weights=paths.QUERY_WEIGHTS,
        meta=sidecar(paths.QUERY_WEIGHTS),
    log:
        "results/logs/weigh_queries/{weighting}-{dataset}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.learned("queries", "regressor", "word-vectors", "oracle")),
    priority: PREPARATION
    threads: settings("term_weights.inference.compute.threads")
    resources:
        mem_mb=memory(6000),
        runtime=minutes(240),
        gpu=settings("term_weights.inference.compute.gpus"),
    params:
        options=plan.term_weights.options,
        text=settings("text"),
    script:
        "../scripts/weigh_queries.py"


rule write_term_vectors:
    input:
        weights=plan.term_weights.predicted,
    output:
        vectors=paths.TERM_VECTORS,
        meta=sidecar(paths.TERM_VECTORS),
    log:
        "results/logs/write_term_vectors/{weighting}-{corpus}-{shard}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.indexed()),
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        square_root=settings("term_weights.square_root"),
    script:
        "../scripts/write_term_vectors.py"


rule count_term_frequencies:
    input:
        documents=paths.DOCUMENTS,
    output:
        vectors=paths.TERM_VECTORS,
        meta=sidecar(paths.TERM_VECTORS),
    log:
        "results/logs/count_term_frequencies/{weighting}-{corpus}-{shard}.log",
    wildcard_constraints:
        weighting=pattern_of(plan.term_weights.counted()),
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        text=settings("text"),
    script:
        "../scripts/count_term_frequencies.py"
