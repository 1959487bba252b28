"""DeepCT: targets of words → token regressions → weights of passages and queries → the integers of an index."""


rule make_term_targets:
    input:
        documents=target_documents,
        queries=target_file("queries.parquet"),
        qrels=target_file("qrels.txt"),
    output:
        targets="results/term_weights/{weighting}/targets.parquet",
        meta="results/term_weights/{weighting}/targets.parquet.meta.json",
    log:
        "results/logs/make_term_targets/{weighting}.log",
    benchmark:
        "results/benchmarks/make_term_targets/{weighting}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        options=weighting_options,
        text=dump(CFG.text),
    script:
        "../scripts/make_term_targets.py"


rule train_term_weights:
    """A token regression, of all queries (fold 0) or of those that one test fold leaves to train on."""
    input:
        encoder=weighting_encoder_inputs,
        targets="results/term_weights/{weighting}/targets.parquet",
        folds=weighting_folds,
    output:
        model=directory("results/term_weights/{weighting}/model-{fold}"),
        metrics="results/metrics/term_weights/{weighting}-{fold}.jsonl",
        meta="results/term_weights/{weighting}/model-{fold}.meta.json",
    log:
        "results/logs/train_term_weights/{weighting}-{fold}.log",
    benchmark:
        "results/benchmarks/train_term_weights/{weighting}-{fold}.tsv"
    wildcard_constraints:
        weighting=trained_weightings("regressor"),
    priority: PREPARATION
    threads: weighting_threads
    resources:
        mem_mb=memory(8000, weighting_training("process_count")),
        runtime=minutes(2880),
        gpu=weighting_training("gpus"),
    params:
        options=weighting_options,
        text=dump(CFG.text),
        encoder=weighting_encoder_options,
        encoder_directory=weighting_encoder_directory,
        checkpoints="results/checkpoints",
    script:
        "../scripts/train_term_weights.py"


rule train_word_vector_weights:
    input:
        targets="results/term_weights/{weighting}/targets.parquet",
        vectors=weighting_vectors,
        statistics=weighting_statistics,
        folds=weighting_folds,
    output:
        model=directory("results/term_weights/{weighting}/model-{fold}"),
        meta="results/term_weights/{weighting}/model-{fold}.meta.json",
    log:
        "results/logs/train_word_vector_weights/{weighting}-{fold}.log",
    benchmark:
        "results/benchmarks/train_word_vector_weights/{weighting}-{fold}.tsv"
    wildcard_constraints:
        weighting=trained_weightings("word-vectors"),
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        options=weighting_options,
        text=dump(CFG.text),
    script:
        "../scripts/train_word_vector_weights.py"


rule weigh_documents:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        model=weighting_models(whole),
        vectors=weighting_vectors,
        statistics=weighting_statistics,
        targets=oracle_targets,
    output:
        weights="results/term_weights/{weighting}/weights/{corpus}-{shard}.parquet",
        meta="results/term_weights/{weighting}/weights/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/weigh_documents/{weighting}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/weigh_documents/{weighting}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        weighting=weightings("passages", "regressor", "word-vectors", "oracle"),
    priority: PREPARATION
    threads: weighting_inference("threads")
    resources:
        mem_mb=memory(6000),
        runtime=minutes(2880),
        gpu=weighting_inference("gpus"),
    params:
        options=weighting_options,
        text=dump(CFG.text),
        checkpoints="results/checkpoints",
    script:
        "../scripts/weigh_documents.py"


rule weigh_queries:
    input:
        queries="results/datasets/{dataset}/queries.parquet",
        model=weighting_models(folds_of_queries),
        folds=folds_of_weighed,
        vectors=weighting_vectors,
        statistics=weighting_statistics,
        targets=oracle_targets,
    output:
        weights="results/term_weights/{weighting}/queries/{dataset}.parquet",
        meta="results/term_weights/{weighting}/queries/{dataset}.parquet.meta.json",
    log:
        "results/logs/weigh_queries/{weighting}-{dataset}.log",
    benchmark:
        "results/benchmarks/weigh_queries/{weighting}-{dataset}.tsv"
    wildcard_constraints:
        weighting=weightings("queries", "regressor", "word-vectors", "oracle"),
    priority: PREPARATION
    threads: weighting_inference("threads")
    resources:
        mem_mb=memory(6000),
        runtime=minutes(240),
        gpu=weighting_inference("gpus"),
    params:
        options=weighting_options,
        text=dump(CFG.text),
    script:
        "../scripts/weigh_queries.py"


rule write_term_vectors:
    input:
        weights=predicted_weights,
    output:
        vectors="results/term_vectors/{weighting}/{corpus}-{shard}.parquet",
        meta="results/term_vectors/{weighting}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/write_term_vectors/{weighting}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/write_term_vectors/{weighting}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        weighting=indexed_weightings(),
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        options=integer_options,
    script:
        "../scripts/write_term_vectors.py"


rule count_term_frequencies:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
    output:
        vectors="results/term_vectors/{weighting}/{corpus}-{shard}.parquet",
        meta="results/term_vectors/{weighting}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/count_term_frequencies/{weighting}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/count_term_frequencies/{weighting}-{corpus}-{shard}.tsv"
    wildcard_constraints:
        weighting=counted_weightings(),
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        text=dump(CFG.text),
    script:
        "../scripts/count_term_frequencies.py"
