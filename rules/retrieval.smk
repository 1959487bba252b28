"""First-stage retrieval with Lucene through Anserini."""


rule index_corpus:
    input:
        documents=plan.corpora.documents,
    output:
        index=directory(paths.INDEX),
        meta=sidecar(paths.INDEX),
    log:
        "results/logs/index/{corpus}.log",
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=minutes(480),
    params:
        options=settings("retrieval", include=INDEX_SETTINGS),
        text=settings("text"),
    script:
        "../scripts/index_corpus.py"


rule search:
    input:
        index=plan.file(paths.INDEX, "datasets"),
        queries=paths.QUERIES,
    output:
        run=paths.FIRST_STAGE_RUN,
        meta=sidecar(paths.FIRST_STAGE_RUN),
    log:
        "results/logs/search/{dataset}-{candidates}.log",
    wildcard_constraints:
        candidates=pattern_of(BUILT_IN_FIRST_STAGES),
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
    params:
        options=plan.retrieval.search_options,
        queries_are_documents=settings("datasets.queries_are_documents"),
    script:
        "../scripts/search.py"


rule weigh_textrank:
    input:
        documents=paths.DOCUMENTS,
    output:
        vectors=paths.INDEX_VECTORS,
        meta=sidecar(paths.INDEX_VECTORS),
    log:
        "results/logs/weigh_textrank/{index}-{corpus}-{shard}.log",
    wildcard_constraints:
        index=pattern_of(plan.retrieval.indexes_of_type("textrank")),
    priority: PREPARATION
    resources:
        mem_mb=memory(3000),
        runtime=minutes(480),
    params:
        retrieval=settings("retrieval", include=INDEX_SETTINGS),
        text=settings("text"),
    script:
        "../scripts/weigh_textrank.py"


rule expand_documents:
    input:
        documents=paths.DOCUMENTS,
        expansion=settings("indexes.path"),
    output:
        vectors=paths.INDEX_VECTORS,
        meta=sidecar(paths.INDEX_VECTORS),
    log:
        "results/logs/expand_documents/{index}-{corpus}-{shard}.log",
    wildcard_constraints:
        index=pattern_of(plan.retrieval.indexes_of_type("expansion")),
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(480),
    params:
        text=settings("text"),
    script:
        "../scripts/expand_documents.py"


rule index_weights:
    input:
        vectors=plan.retrieval.vectors,
    output:
        index=directory(paths.WEIGHTED_INDEX),
        meta=sidecar(paths.WEIGHTED_INDEX),
    log:
        "results/logs/index_weights/{index}-{corpus}.log",
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 2000),
        runtime=minutes(480),
    params:
        options=settings("retrieval", include=INDEX_SETTINGS),
        query_words=plan.retrieval.query_words,
    script:
        "../scripts/index_weights.py"


rule tune_first_stage:
    """Every point of the grid on training queries; the best of them is what the tested queries are searched with."""
    input:
        index=plan.retrieval.tuning_index,
        queries=plan.file(paths.QUERIES, "first_stages", dataset="tuned_on"),
        qrels=plan.file(paths.QRELS, "first_stages", dataset="tuned_on"),
    output:
        tuning=paths.TUNING,
        grid=paths.TUNING_GRID,
        meta=sidecar(paths.TUNING),
    log:
        "results/logs/tune_first_stage/{candidates}.log",
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(3000),
        runtime=minutes(480),
    params:
        options=plan.retrieval.tuning_search_options,
        tuning=plan.retrieval.tuning_options,
    script:
        "../scripts/tune_first_stage.py"


rule search_first_stage:
    """A first stage of `first_stages`: any index, with parameters that are given or tuned; the whole index, or the
    candidates of another first stage."""
    input:
        index=plan.retrieval.index,
        queries=paths.QUERIES,
        ranked=plan.retrieval.ranked,
        tuning=plan.retrieval.tuning,
    output:
        run=paths.FIRST_STAGE_RUN,
        meta=sidecar(paths.FIRST_STAGE_RUN),
    log:
        "results/logs/search_first_stage/{dataset}-{candidates}.log",
    wildcard_constraints:
        candidates=pattern_of(plan.retrieval.stages_of_own_searches(structured=False)),
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(3000),
        runtime=minutes(240),
    params:
        options=plan.retrieval.search_options,
        first_stage=settings("first_stages", include={"model", "parameters"}),
        queries_are_documents=settings("datasets.queries_are_documents"),
    script:
        "../scripts/search_first_stage.py"


rule take_run:
    """Candidates that others retrieved, checked and in the order of ours."""
    input:
        run=plan.retrieval.external_run_files,
        queries=paths.QUERIES,
        documents=plan.of_dataset(paths.DOCUMENTS),
        sound=plan.retrieval.external_run_soundness,
    output:
        run=paths.FIRST_STAGE_RUN,
        meta=sidecar(paths.FIRST_STAGE_RUN),
    log:
        "results/logs/take_run/{dataset}-{candidates}.log",
    wildcard_constraints:
        candidates=pattern_of(plan.retrieval.stages_of_external_runs()),
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(8000),
        runtime=minutes(120),
    params:
        options=plan.retrieval.external_run_options,
        depth=plan.retrieval.depth,
        queries_are_documents=settings("datasets.queries_are_documents"),
    script:
        "../scripts/take_run.py"


rule build_positions:
    input:
        documents=plan.corpora.documents,
    output:
        positions=directory(paths.POSITIONS),
        meta=sidecar(paths.POSITIONS),
    log:
        "results/logs/build_positions/{corpus}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(480),
    params:
        text=settings("text"),
    script:
        "../scripts/build_positions.py"


rule search_structured:
    """Weighted bags of words and sequential dependence queries in Indri's query likelihood."""
    input:
        positions=plan.file(paths.POSITIONS, "datasets"),
        queries=paths.QUERIES,
        weights=plan.file(paths.QUERY_WEIGHTS, "first_stages", weighting="query_weights"),
    output:
        run=paths.FIRST_STAGE_RUN,
        meta=sidecar(paths.FIRST_STAGE_RUN),
    log:
        "results/logs/search_structured/{dataset}-{candidates}.log",
    wildcard_constraints:
        candidates=pattern_of(plan.retrieval.stages_of_own_searches(structured=True)),
    priority: PREPARATION
    resources:
        mem_mb=memory(8000),
        runtime=minutes(480),
    params:
        depth=plan.retrieval.depth,
        first_stage=plan.retrieval.structured_stage,
        queries_are_documents=settings("datasets.queries_are_documents"),
    script:
        "../scripts/search_structured.py"
