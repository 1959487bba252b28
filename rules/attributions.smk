"""Pages that show which words the scores of a document come from; for the target attributions alone."""


rule write_attributions:
    input:
        models=page_model_files,
        runs=page_runs,
        first_stage=page_first_stage,
        documents=page_documents,
        queries=page_dataset("queries.parquet"),
        qrels=page_dataset("qrels.txt"),
    output:
        page="results/attributions/{page}.html",
        meta="results/attributions/{page}.html.meta.json",
    log:
        "results/logs/attributions/{page}.log",
    benchmark:
        "results/benchmarks/write_attributions/{page}.tsv"
    priority: RESULTS
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=minutes(120),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=page_options,
        models=page_models,
        text=dump(CFG.text),
        reranking=dump(CFG.reranking),
    script:
        "../scripts/write_attributions.py"
