"""First-stage retrieval with Lucene through Anserini."""


rule index_corpus:
    input:
        documents=lambda wildcards: documents_of([wildcards.corpus]),
    output:
        index=directory("results/indexes/{corpus}"),
        meta="results/indexes/{corpus}.meta.json",
    params:
        options={k: v for k, v in dump(CFG.retrieval).items() if k in INDEX_OPTIONS},
        text=dump(CFG.text),
    log:
        "results/logs/index/{corpus}.log",
    benchmark:
        "results/benchmarks/index_corpus/{corpus}.tsv"
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=480,
    script:
        "../scripts/index_corpus.py"


rule search:
    input:
        index=dataset_index,
        queries="results/datasets/{dataset}/queries.parquet",
    output:
        run="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        meta="results/runs/{dataset}/{candidates}/first-stage.run.gz.meta.json",
    wildcard_constraints:
        candidates="bm25|ql",
    params:
        options=dump(CFG.retrieval),
    log:
        "results/logs/search/{dataset}-{candidates}.log",
    benchmark:
        "results/benchmarks/search/{dataset}-{candidates}.tsv"
    threads: CFG.retrieval.threads
    resources:
        mem_mb=memory(CFG.retrieval.memory_mb + 1000),
        runtime=240,
    script:
        "../scripts/search.py"


rule make_folds:
    input:
        queries="results/datasets/{dataset}/queries.parquet",
    output:
        folds="results/datasets/{dataset}/folds.json",
        meta="results/datasets/{dataset}/folds.json.meta.json",
    params:
        dataset=lambda wildcards: dump(CFG.datasets[wildcards.dataset]),
        seed=CFG.seed,
    log:
        "results/logs/folds/{dataset}.log",
    resources:
        mem_mb=memory(1000),
        runtime=10,
    script:
        "../scripts/make_folds.py"
