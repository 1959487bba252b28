"""Which words the scores of a document come from: a page of its own, and for the searches in the report."""


rule write_attributions:
    input:
        models=plan.attributions.model_files_of_page,
        runs=files_in(plan.attributions.shown_models, "run"),
        documents=plan.of_dataset(paths.DOCUMENTS, "attributions"),
        queries=plan.file(paths.QUERIES, "attributions"),
        qrels=plan.file(paths.QRELS, "attributions"),
    output:
        page=paths.ATTRIBUTIONS,
        words=paths.ATTRIBUTED_WORDS,
        meta=sidecar(paths.ATTRIBUTIONS),
    log:
        "results/logs/attributions/{page}.log",
    priority: RESULTS
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=minutes(120),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=settings("attributions"),
        models=plan.attributions.shown_models,
        text=settings("text"),
    script:
        "../scripts/write_attributions.py"
