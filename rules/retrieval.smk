"""First-stage retrieval with Lucene through Anserini."""


rule index_corpus:
    input:
        documents=corpus_documents,
    output:
        index=directory("results/indexes/{corpus}"),
        meta="results/indexes/{corpus}.meta.json",
    log:
        "results/logs/index/{corpus}.log",
    benchmark:
        "results/benchmarks/index_corpus/{corpus}.tsv"
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=480,
    params:
        options=index_options(),
        text=dump(CFG.text),
    script:
        "../scripts/index_corpus.py"


rule search:
    input:
        index=dataset_index,
        queries="results/datasets/{dataset}/queries.parquet",
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    log:
        "results/logs/search/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/search/{dataset}-{candidates}.tsv"
    wildcard_constraints:
        candidates="bm25|ql",
    priority: PREPARATION
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=240,
    params:
        options=dump(CFG.retrieval),
    script:
        "../scripts/search.py"
