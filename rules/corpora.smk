"""Files of any format → documents, queries and judgements."""


rule read_corpus:
    input:
        files=corpus_inputs,
        sound=corpus_soundness,
    output:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        redirects="results/corpora/{corpus}/redirects-{shard}.parquet",
        meta="results/corpora/{corpus}/documents-{shard}.parquet.meta.json",
    log:
        "results/logs/corpora/{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/read_corpus/{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(240),
    params:
        corpus=corpus_options,
        source=corpus_source,
        shard=shard_number,
        aids=corpus_aid_states,
    script:
        "../scripts/read_corpus.py"


rule check_collection:
    """Refuses an empty collection and one in which a document id stands twice."""
    input:
        documents=collection_documents,
    output:
        checked="results/corpora/collection-{collection}.json",
        meta="results/corpora/collection-{collection}.json.meta.json",
    log:
        "results/logs/corpora/collection-{collection}.log",
    benchmark:
        "results/benchmarks/check_collection/{collection}.tsv"
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        corpora=expected_of_collection,
    script:
        "../scripts/check_collection.py"


rule prepare_dataset:
    input:
        queries=queries_file,
        qrels=qrels_file,
        documents=dataset_documents,
        sound=dataset_soundness,
    output:
        queries="results/datasets/{dataset}/queries.parquet",
        qrels="results/datasets/{dataset}/qrels.txt",
        meta="results/datasets/{dataset}/queries.parquet.meta.json",
    log:
        "results/logs/datasets/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_dataset/{dataset}.tsv"
    wildcard_constraints:
        dataset=names_of(judged_datasets()),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        dataset=dataset_options,
        corpora=expected_of_dataset,
        seed=CFG.seed,
    script:
        "../scripts/prepare_dataset.py"


rule prepare_questions:
    """Questions whose answers judge what is retrieved for them, so that judgements are made later: judge_by_answers."""
    input:
        questions=queries_file,
        answers=qrels_file,
        documents=dataset_documents,
        sound=dataset_soundness,
    output:
        queries="results/datasets/{dataset}/queries.parquet",
        meta="results/datasets/{dataset}/queries.parquet.meta.json",
    log:
        "results/logs/prepare_questions/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_questions/{dataset}.tsv"
    wildcard_constraints:
        dataset=names_of(answered_datasets()),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        dataset=dataset_options,
        corpora=expected_of_dataset,
        seed=CFG.seed,
    script:
        "../scripts/prepare_questions.py"


rule judge_by_answers:
    input:
        answers=qrels_file,
        queries="results/datasets/{dataset}/queries.parquet",
        runs=judged_runs,
        documents=dataset_documents,
    output:
        qrels="results/datasets/{dataset}/qrels.txt",
        meta="results/datasets/{dataset}/qrels.txt.meta.json",
    log:
        "results/logs/judge_by_answers/{dataset}.log",
    benchmark:
        "results/benchmarks/judge_by_answers/{dataset}.tsv"
    wildcard_constraints:
        dataset=names_of(answered_datasets()),
    priority: PREPARATION
    resources:
        mem_mb=memory(judging_memory),
        runtime=minutes(120),
    params:
        dataset=dataset_options,
    script:
        "../scripts/judge_by_answers.py"


rule make_folds:
    input:
        queries="results/datasets/{dataset}/queries.parquet",
        given=folds_file,
    output:
        folds="results/datasets/{dataset}/folds.json",
        meta="results/datasets/{dataset}/folds.json.meta.json",
    log:
        "results/logs/folds/{dataset}.log",
    benchmark:
        "results/benchmarks/make_folds/{dataset}.tsv"
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        dataset=dataset_options,
        shots=shots,
        seed=CFG.seed,
    script:
        "../scripts/make_folds.py"


rule check_shared_queries:
    """Queries that an experiment tests, and queries that train, choose or tune what it tests, are different ones."""
    input:
        used="results/datasets/{used}/queries.parquet",
        tested="results/datasets/{dataset}/queries.parquet",
        qrels=comparable_judgements,
        used_documents=compared_documents(0),
        tested_documents=compared_documents(1),
    output:
        counts="results/datasets/{dataset}/apart-from-{used}.json",
        meta="results/datasets/{dataset}/apart-from-{used}.json.meta.json",
    log:
        "results/logs/check_shared_queries/{dataset}-{used}.log",
    benchmark:
        "results/benchmarks/check_shared_queries/{dataset}-{used}.tsv"
    wildcard_constraints:
        used=names_of(CFG.datasets),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(10),
    params:
        named_by=keys_of_use,
    script:
        "../scripts/check_shared_queries.py"
