"""How weights of words look: their distribution over a collection, and heat maps of single passages."""


rule measure_weight_distribution:
    """How much of a passage's weight its heaviest terms have, of every weighting of a collection."""
    input:
        vectors=files_in(plan.weight_views.shown),
    output:
        shares=paths.WEIGHT_SHARES,
        meta=sidecar(paths.WEIGHT_SHARES),
    log:
        "results/logs/measure_weight_distribution/{distribution}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(3000),
        runtime=minutes(480),
    params:
        weightings=plan.weight_views.shown,
        options=settings("retrieval", include=INDEX_SETTINGS),
        words=CFG.text.word_kind,
    script:
        "../scripts/measure_weight_distribution.py"


rule write_term_weight_page:
    """Heat maps of the words of queries' passages; for the target term_weight_pages alone."""
    input:
        vectors=files_in(plan.weight_views.page_weightings, "vectors"),
        runs=plan.weight_views.page_runs,
        documents=plan.of_dataset(paths.DOCUMENTS, "term_weight_pages"),
        queries=plan.file(paths.QUERIES, "term_weight_pages"),
        qrels=plan.file(paths.QRELS, "term_weight_pages"),
    output:
        page=paths.TERM_WEIGHT_PAGE,
        meta=sidecar(paths.TERM_WEIGHT_PAGE),
    log:
        "results/logs/write_term_weight_page/{page}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        options=settings("term_weight_pages"),
        weightings=plan.weight_views.page_weightings,
        retrieval=settings("retrieval", include=INDEX_SETTINGS),
        text=settings("text"),
    script:
        "../scripts/write_term_weight_page.py"
