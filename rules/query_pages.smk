"""Pages with the rankings of two models side by side, query by query."""


rule write_query_page:
    """Those of runs that experiments make belong to every run; others are for the target query_pages alone."""
    input:
        runs=query_page_runs,
        models=query_page_model_files,
        documents=query_page_documents,
        queries=query_page_dataset("queries.parquet"),
        qrels=query_page_dataset("qrels.txt"),
    output:
        page="results/query_pages/{page}.html",
        meta="results/query_pages/{page}.html.meta.json",
    log:
        "results/logs/write_query_page/{page}.log",
    benchmark:
        "results/benchmarks/write_query_page/{page}.tsv"
    priority: RESULTS
    threads: query_page_threads
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
        gpu=query_page_gpus,
    params:
        options=query_page_options,
        rankings=query_page_rankings,
        dataset=query_page_label,
        measure=query_page_measure,
        text=dump(CFG.text),
        retrieval=index_options(),
        reranking=dump(CFG.reranking),
        seed=CFG.seed,
    script:
        "../scripts/write_query_page.py"
