"""Documents → ranking groups, by objective."""


rule list_anchor_texts:
    input:
        documents=plan.of_collection(paths.DOCUMENTS),
        graph=paths.GRAPH,
    output:
        anchors=paths.ANCHORS,
        meta=sidecar(paths.ANCHORS),
    log:
        "results/logs/anchors/{collection}.log",
    priority: PREPARATION
    threads: CFG.graph.threads
    resources:
        mem_mb=memory(CFG.graph.memory_mb + 1000),
        runtime=minutes(240),
    params:
        memory=settings("graph", include={"memory_mb"}),
    script:
        "../scripts/list_anchor_texts.py"


rule build_groups:
    input:
        documents=paths.DOCUMENTS,
        tokens=paths.TOKENS,
        statistics=plan.corpora.if_needed("statistics", paths.STATISTICS),
        graph=plan.corpora.if_needed("graph", paths.GRAPH),
        collection=plan.corpora.if_needed("collection", plan.of_collection(paths.DOCUMENTS)),
        collection_tokens=plan.corpora.if_needed("collection_tokens", plan.of_collection(paths.TOKENS)),
        anchor_texts=plan.corpora.if_needed("anchor_texts", paths.ANCHORS),
        axiom_values=plan.corpora.if_needed("axiom_values", paths.AXIOMS),
        predictor=plan.corpora.predictor,
    output:
        groups=paths.GROUPS_SHARD,
        meta=sidecar(paths.GROUPS_SHARD),
    log:
        "results/logs/groups/{collection}{tokenizer}-{objective}-{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        options=settings("objectives"),
        axioms=plan.corpora.axiom_settings,
        text=settings("text"),
        seed=CFG.seed,
    script:
        "../scripts/build_groups.py"


rule merge_groups:
    input:
        groups=plan.of_collection(paths.GROUPS_SHARD),
        checked=paths.COLLECTION_CHECK,
    output:
        groups=paths.GROUPS,
        meta=sidecar(paths.GROUPS),
    log:
        "results/logs/groups/{collection}{tokenizer}-{objective}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(120),
    params:
        corpora=plan.corpora.shard_counts,
    script:
        "../scripts/merge_groups.py"
