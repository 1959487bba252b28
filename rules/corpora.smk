"""Files of any format → documents, queries and judgements."""


rule read_corpus:
    input:
        files=corpus_files,
    output:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        meta="results/corpora/{corpus}/documents-{shard}.parquet.meta.json",
    params:
        corpus=lambda wildcards: dump(CFG.corpora[wildcards.corpus]),
        source=lambda wildcards: source(CFG.corpora[wildcards.corpus].path),
        shard=lambda wildcards: int(wildcards.shard),
    log:
        "results/logs/corpora/{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/read_corpus/{corpus}-{shard}.tsv"
    resources:
        mem_mb=memory(2000),
        runtime=240,
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
    resources:
        mem_mb=memory(4000),
        runtime=60,
    script:
        "../scripts/check_collection.py"


rule prepare_dataset:
    input:
        queries=lambda wildcards: source(CFG.datasets[wildcards.dataset].queries.path),
        qrels=lambda wildcards: source(CFG.datasets[wildcards.dataset].qrels.path),
        documents=dataset_documents,
    output:
        queries="results/datasets/{dataset}/queries.parquet",
        qrels="results/datasets/{dataset}/qrels.txt",
        meta="results/datasets/{dataset}/queries.parquet.meta.json",
    params:
        dataset=lambda wildcards: dump(CFG.datasets[wildcards.dataset]),
        seed=CFG.seed,
    log:
        "results/logs/datasets/{dataset}.log",
    resources:
        mem_mb=memory(4000),
        runtime=60,
    script:
        "../scripts/prepare_dataset.py"
