"""Files of any format → documents, queries and judgements."""


rule read_corpus:
    input:
        files=plan.corpora.files,
        sound=plan.soundness("corpora"),
    output:
        documents=paths.DOCUMENTS,
        redirects=paths.REDIRECTS,
        meta=sidecar(paths.DOCUMENTS),
    log:
        "results/logs/corpora/{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(240),
    params:
        corpus=plan.corpora.options,
        source=plan.source_at("corpora.path"),
        shard=wildcard_number("shard"),
        files=plan.corpora.file_names,
        aids=plan.corpora.aid_states,
    script:
        "../scripts/read_corpus.py"


rule check_collection:
    """Refuses an empty collection and one in which a document id stands twice."""
    input:
        documents=plan.of_collection(paths.DOCUMENTS),
    output:
        checked=paths.COLLECTION_CHECK,
        meta=sidecar(paths.COLLECTION_CHECK),
    log:
        "results/logs/corpora/collection-{collection}.log",
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        corpora=plan.corpora.expected_of_collection,
    script:
        "../scripts/check_collection.py"


rule prepare_dataset:
    input:
        queries=plan.datasets.queries,
        qrels=plan.datasets.qrels,
        documents=plan.of_dataset(paths.DOCUMENTS),
        sound=plan.soundness("datasets"),
    output:
        queries=paths.QUERIES,
        qrels=paths.QRELS,
        meta=sidecar(paths.QUERIES),
    log:
        "results/logs/datasets/{dataset}.log",
    wildcard_constraints:
        dataset=pattern_of(plan.datasets.answered(False)),
    priority: CHEAP_CHECKS
    group:
        travelling("dataset")
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        dataset=plan.datasets.options,
        corpora=plan.corpora.expected_of_dataset,
        seed=CFG.seed,
    script:
        "../scripts/prepare_dataset.py"


use rule prepare_dataset as prepare_questions with:
    # Questions whose answers judge what is retrieved for them, so that judgements are made later: judge_by_answers.
    output:
        queries=paths.QUERIES,
        meta=sidecar(paths.QUERIES),
    log:
        "results/logs/prepare_questions/{dataset}.log",
    wildcard_constraints:
        dataset=pattern_of(plan.datasets.answered()),


rule judge_by_answers:
    input:
        answers=plan.datasets.qrels,
        queries=paths.QUERIES,
        runs=plan.datasets.judged_runs,
        documents=plan.of_dataset(paths.DOCUMENTS),
    output:
        qrels=paths.QRELS,
        meta=sidecar(paths.QRELS),
    log:
        "results/logs/judge_by_answers/{dataset}.log",
    wildcard_constraints:
        dataset=pattern_of(plan.datasets.answered()),
    priority: PREPARATION
    resources:
        mem_mb=memory(plan.datasets.judging_memory),
        runtime=minutes(120),
    params:
        dataset=plan.datasets.options,
    script:
        "../scripts/judge_by_answers.py"


rule make_folds:
    input:
        queries=paths.QUERIES,
        given=plan.datasets.given_folds,
    output:
        folds=paths.FOLDS,
        meta=sidecar(paths.FOLDS),
    log:
        "results/logs/folds/{dataset}.log",
    priority: CHEAP_CHECKS
    group:
        travelling("dataset")
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        dataset=plan.datasets.options,
        shots=plan.datasets.shots,
        seed=CFG.seed,
    script:
        "../scripts/make_folds.py"


rule check_shared_queries:
    """Queries that an experiment tests, and queries that train, choose or tune what it tests, are different ones."""
    input:
        used=paths.USED_QUERIES,
        tested=paths.QUERIES,
        qrels=plan.datasets.comparable_judgements,
        used_documents=plan.datasets.compared_documents("used"),
        tested_documents=plan.datasets.compared_documents("dataset"),
    output:
        counts=paths.LEAKAGE_CHECK,
        meta=sidecar(paths.LEAKAGE_CHECK),
    log:
        "results/logs/check_shared_queries/{dataset}-{used}.log",
    wildcard_constraints:
        used=pattern_of(CFG.datasets),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(10),
    params:
        named_by=plan.datasets.keys_of_use,
    script:
        "../scripts/check_shared_queries.py"
