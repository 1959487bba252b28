"""Collection statistics (words) and token stores (word pieces)."""


rule count_words:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
    output:
        counts="results/corpora/{corpus}/words-{shard}.parquet",
        meta="results/corpora/{corpus}/words-{shard}.parquet.meta.json",
    log:
        "results/logs/words/{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/count_words/{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        text=dump(CFG.text),
    script:
        "../scripts/count_words.py"


rule merge_counts:
    input:
        counts=collection_counts,
    output:
        statistics="results/statistics/{collection}/words.parquet",
        meta="results/statistics/{collection}/words.parquet.meta.json",
    log:
        "results/logs/statistics/{collection}.log",
    benchmark:
        "results/benchmarks/merge_counts/{collection}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    script:
        "../scripts/merge_counts.py"


rule store_tokens:
    input:
        documents="results/corpora/{corpus}/documents-{shard}.parquet",
        encoder=encoder_inputs,
    output:
        tokens=directory("results/tokens/{corpus}/{shard}"),
        meta="results/tokens/{corpus}/{shard}.meta.json",
    log:
        "results/logs/tokens/{corpus}-{shard}.log",
    benchmark:
        "results/benchmarks/store_tokens/{corpus}-{shard}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        text=dump(CFG.text),
        encoder=dump(CFG.encoder),
        encoder_directory=encoder_directory,
        positions=corpus_positions,
    script:
        "../scripts/store_tokens.py"
