"""Collection statistics (words) and token stores (word pieces)."""


rule count_words:
    input:
        documents=paths.DOCUMENTS,
    output:
        counts=paths.WORD_COUNTS,
        meta=sidecar(paths.WORD_COUNTS),
    log:
        "results/logs/words/{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        text=settings("text"),
    script:
        "../scripts/count_words.py"


rule merge_counts:
    input:
        counts=plan.of_collection(paths.WORD_COUNTS),
    output:
        statistics=paths.STATISTICS,
        meta=sidecar(paths.STATISTICS),
    log:
        "results/logs/statistics/{collection}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    script:
        "../scripts/merge_counts.py"


rule store_tokens:
    input:
        documents=paths.DOCUMENTS,
        encoder=plan.encoder_files,
    output:
        tokens=directory(paths.TOKENS),
        meta=sidecar(paths.TOKENS),
    log:
        "results/logs/tokens/{corpus}{tokenizer}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(240),
    params:
        text=settings("text"),
        encoder=plan.encoder,
        encoder_directory=plan.encoder_directory,
        positions=plan.corpora.needs_positions,
    script:
        "../scripts/store_tokens.py"
