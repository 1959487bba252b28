"""ARES: words by number → postings, word vectors, pseudo-queries → axiom values → preference predictors."""


rule store_words:
    input:
        documents=paths.DOCUMENTS,
        statistics=paths.STATISTICS,
    output:
        words=directory(paths.WORDS),
        meta=sidecar(paths.WORDS),
    log:
        "results/logs/words/{collection}-{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        text=settings("text"),
    script:
        "../scripts/store_words.py"


rule build_postings:
    input:
        words=plan.of_collection(paths.WORDS),
        statistics=paths.STATISTICS,
    output:
        postings=directory(paths.POSTINGS),
        meta=sidecar(paths.POSTINGS),
    log:
        "results/logs/postings/{collection}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(240),
    params:
        terms=settings("axioms", include=TERM_SETTINGS),
        bounds=settings("axioms.bm25"),
        corpora=plan.corpora.shard_counts,
        memory=settings("axioms", include={"memory_mb"}),
    script:
        "../scripts/build_postings.py"


rule make_word_vectors:
    input:
        words=plan.of_collection(paths.WORDS),
        statistics=paths.STATISTICS,
        given=plan.axioms.given_vectors,
    output:
        vectors=directory(paths.VECTORS),
        meta=sidecar(paths.VECTORS),
    log:
        "results/logs/vectors/{collection}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(1440),
    params:
        options=settings("word_vectors", exclude={"files"}),
        corpora=plan.corpora.shard_counts,
        seed=CFG.seed,
    script:
        "../scripts/make_word_vectors.py"


rule calibrate_temperature:
    """The temperature at which a collection's pseudo-queries rank their documents most like the paper's."""
    input:
        words=plan.of_collection(paths.WORDS),
        statistics=paths.STATISTICS,
        postings=paths.POSTINGS,
    output:
        temperature=paths.TEMPERATURE,
        meta=sidecar(paths.TEMPERATURE),
    log:
        "results/logs/pseudo_queries/{collection}-temperature.log",
    priority: PREPARATION
    threads: CFG.axioms.threads
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(120),
    params:
        options=settings("pseudo_queries", exclude={"temperature", "per_document"}),
        axioms=settings("axioms", include=RANKING_SETTINGS),
        shares=plan.printed_rank_shares,
        seed=CFG.seed,
    script:
        "../scripts/calibrate_temperature.py"


rule sample_pseudo_queries:
    input:
        words=paths.WORDS,
        statistics=paths.STATISTICS,
        temperature=plan.axioms.calibrated_temperature,
    output:
        queries=paths.PSEUDO_QUERIES,
        meta=sidecar(paths.PSEUDO_QUERIES),
    log:
        "results/logs/pseudo_queries/{collection}-{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=settings("pseudo_queries"),
        seed=CFG.seed,
    script:
        "../scripts/sample_pseudo_queries.py"


rule compute_axioms:
    """Axiom values of a shard's pseudo-queries."""
    input:
        queries=paths.PSEUDO_QUERIES,
        words=paths.WORDS,
        statistics=paths.STATISTICS,
        postings=paths.POSTINGS,
        vectors=paths.VECTORS,
    output:
        values=paths.AXIOMS,
        meta=sidecar(paths.AXIOMS),
    log:
        "results/logs/axioms/{collection}-{corpus}-{shard}.log",
    priority: PREPARATION
    threads: CFG.axioms.threads
    resources:
        mem_mb=memory(CFG.axioms.memory_mb + 1000),
        runtime=minutes(480),
    params:
        options=settings("axioms"),
        text=settings("text"),
    script:
        "../scripts/compute_axioms.py"


rule count_ranks:
    """In which intervals the RANK of a collection's pseudo-queries lies."""
    input:
        values=plan.of_collection(paths.AXIOMS),
    output:
        intervals=paths.RANK_INTERVALS,
        meta=sidecar(paths.RANK_INTERVALS),
    log:
        "results/logs/axioms/{collection}-rank-intervals.log",
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(60),
    params:
        depth=CFG.axioms.rank_depth,
    script:
        "../scripts/count_ranks.py"


rule judge_queries:
    """The queries of a data set, each with the documents of the collection that are relevant to it."""
    input:
        documents=plan.of_dataset(paths.DOCUMENTS),
        queries=paths.QUERIES,
        qrels=paths.QRELS,
    output:
        queries=paths.JUDGED_QUERIES,
        meta=sidecar(paths.JUDGED_QUERIES),
    log:
        "results/logs/judged/{collection}-{dataset}-queries.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    script:
        "../scripts/judge_queries.py"


use rule compute_axioms as compute_judged_axioms with:
    input:
        queries=paths.JUDGED_QUERIES,
        words=plan.of_dataset(paths.WORDS),
        statistics=paths.STATISTICS,
        postings=paths.POSTINGS,
        vectors=paths.VECTORS,
    output:
        values=paths.JUDGED_AXIOMS,
        meta=sidecar(paths.JUDGED_AXIOMS),
    log:
        "results/logs/judged/{collection}-{dataset}-all-terms.log",


rule sample_negative_queries:
    """Pseudo-queries with as many terms as each judged query has."""
    input:
        judged=paths.JUDGED_AXIOMS,
        words=plan.of_dataset(paths.WORDS),
        statistics=paths.STATISTICS,
        temperature=plan.axioms.calibrated_temperature,
    output:
        queries=paths.NEGATIVE_QUERIES,
        meta=sidecar(paths.NEGATIVE_QUERIES),
    log:
        "results/logs/judged/{collection}-{dataset}-all-terms-negatives.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=settings("pseudo_queries"),
        axioms=settings("axioms", include=TERM_SETTINGS),
        seed=CFG.seed,
    script:
        "../scripts/sample_negative_queries.py"


use rule compute_judged_axioms as compute_negative_axioms with:
    input:
        queries=paths.NEGATIVE_QUERIES,
        words=plan.of_dataset(paths.WORDS),
        statistics=paths.STATISTICS,
        postings=paths.POSTINGS,
        vectors=paths.VECTORS,
    output:
        values=paths.NEGATIVE_AXIOMS,
        meta=sidecar(paths.NEGATIVE_AXIOMS),
    log:
        "results/logs/judged/{collection}-{dataset}-all-terms-negatives-axioms.log",


rule train_predictor:
    input:
        judged=plan.file(paths.JUDGED_AXIOMS, "predictors"),
        pseudo=plan.axioms.negatives,
    output:
        scores=paths.PREDICTOR_SCORES,
        model=paths.PREDICTOR_MODEL,
        table=paths.PREDICTOR_TABLE,
        predictor=paths.PREDICTOR,
        card=paths.PREDICTOR_CARD,
        meta=sidecar(paths.PREDICTOR_SCORES),
    log:
        "results/logs/predictors/{predictor}.log",
    priority: PREPARATION
    threads: CFG.axioms.threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=settings("predictors"),
        axioms=settings("axioms"),
    script:
        "../scripts/train_predictor.py"


# What re-rankers have learned of the axioms


rule choose_diagnosis_pairs:
    input:
        values=plan.of_collection(paths.AXIOMS, "diagnoses"),
    output:
        pairs=paths.DIAGNOSIS_PAIRS,
        meta=sidecar(paths.DIAGNOSIS_PAIRS),
    log:
        "results/logs/diagnosis/{diagnosis}-pairs.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        options=settings("diagnoses", exclude={"models", "seeds"}),
        axioms=settings("axioms"),
        seed=CFG.seed,
    script:
        "../scripts/choose_diagnosis_pairs.py"


rule score_diagnosis_pairs:
    input:
        model=plan.models.files,
        tokens=plan.models.for_external_reranker([], plan.of_collection(paths.TOKENS, "diagnoses")),
        documents=plan.models.for_external_reranker(plan.of_collection(paths.DOCUMENTS, "diagnoses"), []),
        pairs=paths.DIAGNOSIS_PAIRS,
    output:
        scores=paths.DIAGNOSIS_SCORES,
        meta=sidecar(paths.DIAGNOSIS_SCORES),
    log:
        "results/logs/diagnosis/{diagnosis}-{model}-{seed}.log",
    priority: plan.models.ranking_priority
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=plan.models.reranking,
        directory=plan.models.directory,
        text=plan.models.for_external_reranker(settings("text")),
    script:
        "../scripts/score_diagnosis_pairs.py"


rule diagnose:
    input:
        pairs=paths.DIAGNOSIS_PAIRS,
        scores=files_in(plan.diagnoses.scores),
    output:
        shares=paths.DIAGNOSIS,
        meta=sidecar(paths.DIAGNOSIS),
    log:
        "results/logs/diagnosis/{diagnosis}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        scores=plan.diagnoses.scores,
        labels=plan.diagnoses.labels,
    script:
        "../scripts/diagnose.py"
