"""Pages with the rankings of two models side by side, query by query."""


rule write_query_page:
    """Those of runs that experiments make belong to every run; others are for the target query_pages alone."""
    input:
        runs=plan.query_pages.runs,
        models=plan.query_pages.attributed_files,
        documents=plan.of_dataset(paths.DOCUMENTS, "query_pages"),
        queries=plan.file(paths.QUERIES, "query_pages"),
        qrels=plan.file(paths.QRELS, "query_pages"),
    output:
        page=paths.QUERY_PAGE,
        meta=sidecar(paths.QUERY_PAGE),
    log:
        "results/logs/write_query_page/{page}.log",
    benchmark:
        "results/benchmarks/write_query_page/{page}.tsv"
    priority: RESULTS
    threads: plan.query_pages.threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
        gpu=plan.query_pages.gpus,
    params:
        options=settings("query_pages"),
        rankings=plan.query_pages.rankings,
        dataset=plan.query_pages.label,
        measure=plan.query_pages.measure,
        text=settings("text"),
        retrieval=settings("retrieval", include=INDEX_SETTINGS),
        reranking=settings("reranking"),
        seed=CFG.seed,
    script:
        "../scripts/write_query_page.py"
