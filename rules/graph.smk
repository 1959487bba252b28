"""Links between documents → the graph of a collection."""


rule extract_links:
    input:
        documents=paths.DOCUMENTS,
        titles=plan.corpora.titled_documents,
    output:
        links=paths.LINKS,
        sources=paths.LINK_SOURCES,
        meta=sidecar(paths.LINKS),
    log:
        "results/logs/links/{collection}-{corpus}-{shard}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(2000),
        runtime=minutes(120),
    params:
        options=plan.corpora.link_options,
    script:
        "../scripts/extract_links.py"


rule build_graph:
    input:
        links=plan.of_collection(paths.LINKS),
        sources=plan.of_collection(paths.LINK_SOURCES),
        redirects=plan.of_collection(paths.REDIRECTS),
        checked=paths.COLLECTION_CHECK,
    output:
        graph=directory(paths.GRAPH),
        meta=sidecar(paths.GRAPH),
    log:
        "results/logs/graphs/{collection}.log",
    priority: PREPARATION
    threads: CFG.graph.threads
    resources:
        mem_mb=memory(CFG.graph.memory_mb + 1000),
        runtime=minutes(240),
    params:
        options=settings("graph"),
        corpora=plan.corpora.shard_counts,
    script:
        "../scripts/build_graph.py"
