"""Documents → ranking groups, by objective."""


rule list_anchor_texts:
    input:
        documents=collection_documents,
        graph="results/graphs/{collection}",
    output:
        anchors="results/anchors/{collection}.parquet",
        meta="results/anchors/{collection}.parquet.meta.json",
    log:
        "results/logs/anchors/{collection}.log",
    benchmark:
        "results/benchmarks/list_anchor_texts/{collection}.tsv"
    priority: PREPARATION
    threads: CFG.graph.threads
    resources:
        mem_mb=memory(CFG.graph.memory_mb + 1000),
        runtime=minutes(240),
    params:
        memory_mb=CFG.graph.memory_mb,
    script:
        "../scripts/list_anchor_texts.py"


rule build_groups:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        tokens="results/tokens/{corpus}/{shard}",
        statistics=objective_statistics,
        graph=objective_graph,
        collection=objective_collection,
        collection_tokens=objective_collection_tokens,
        anchor_texts=objective_anchor_texts,
        axiom_values=objective_axioms,
        predictor=objective_predictor,
    output:
        groups="results/groups/{collection}/{objective}/{corpus}-{shard}.parquet",
        meta="results/groups/{collection}/{objective}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/groups/{collection}-{objective}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/build_groups/{collection}-{objective}-{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=objective_options,
        axioms=objective_axiom_options,
        text=dump(CFG.text),
        seed=CFG.seed,
    script:
        "../scripts/build_groups.py"


rule merge_groups:
    input:
        groups=group_shards,
        checked="results/corpora/collection-{collection}.json",
    output:
        groups="results/groups/{collection}/{objective}.parquet",
        meta="results/groups/{collection}/{objective}.parquet.meta.json",
    log:
        "results/logs/groups/{collection}-{objective}.log",
    benchmark:
        "results/benchmarks/merge_groups/{collection}-{objective}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        corpora=shard_counts,
    script:
        "../scripts/merge_groups.py"
