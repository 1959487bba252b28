"""Documents → ranking groups, by objective."""


rule build_groups:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        tokens="results/tokens/{corpus}/{shard}",
        statistics=objective_statistics,
        graph=objective_graph,
    output:
        groups="results/groups/{collection}/{objective}/{corpus}-{shard}.parquet",
        meta="results/groups/{collection}/{objective}/{corpus}-{shard}.parquet.meta.json",
    log:
        "results/logs/groups/{collection}-{objective}-{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/build_groups/{collection}-{objective}-{corpus}-{shard}.tsv"
    resources:
        mem_mb=memory(4000),
        runtime=120,
    params:
        options=objective_options,
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
    resources:
        mem_mb=memory(4000),
        runtime=120,
    params:
        corpora=shard_counts,
    script:
        "../scripts/merge_groups.py"
