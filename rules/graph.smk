"""Links between documents → the graph of a collection."""


rule extract_links:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        titles=titled_documents,
    output:
        links="results/links/{collection}/links/{corpus}-{shard}.parquet",
        sources="results/links/{collection}/sources/{corpus}-{shard}.parquet",
        meta="results/links/{collection}/links/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/links/{collection}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/extract_links/{collection}-{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        options=link_options(),
    script:
        "../scripts/extract_links.py"


rule build_graph:
    input:
        links=collection_links("links"),
        sources=collection_links("sources"),
        redirects=collection_redirects,
        checked="results/corpora/collection-{collection}.json",
    output:
        graph=directory("results/graphs/{collection}"),
        meta="results/graphs/{collection}.meta.json",
    log:
        "results/logs/graphs/{collection}.log",
    benchmark:
        "results/benchmarks/build_graph/{collection}.tsv"
    priority: PREPARATION
    threads: CFG.graph.threads
    resources:
        mem_mb=memory(CFG.graph.memory_mb + 1000),
        runtime=minutes(240),
    params:
        options=dump(CFG.graph),
        corpora=shard_counts,
    script:
        "../scripts/build_graph.py"
