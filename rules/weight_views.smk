"""How weights of words look: their distribution over a collection, and heat maps of single passages."""


rule measure_weight_distribution:
    """How much of a passage's weight its heaviest terms have, of every weighting of a collection."""
    input:
        vectors=distribution_vectors,
    output:
        shares="results/weight_distributions/{distribution}.json",
        meta="results/weight_distributions/{distribution}.json.meta.json",
    log:
        "results/logs/measure_weight_distribution/{distribution}.log",
    benchmark:
        "results/benchmarks/measure_weight_distribution/{distribution}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(3000),
        runtime=minutes(480),
    params:
        weightings=distribution_weightings,
        options=index_options(),
    script:
        "../scripts/measure_weight_distribution.py"


rule draw_weight_distribution:
    input:
        shares="results/weight_distributions/{distribution}.json",
    output:
        svg="results/figures/weight-distribution-{distribution}.svg",
        png="results/figures/weight-distribution-{distribution}.png",
        meta="results/figures/weight-distribution-{distribution}.svg.meta.json",
    log:
        "results/logs/draw_weight_distribution/{distribution}.log",
    benchmark:
        "results/benchmarks/draw_weight_distribution/{distribution}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(15),
    params:
        label=distribution_label,
        labels=distribution_labels,
    script:
        "../scripts/draw_weight_distribution.py"


rule write_term_weight_page:
    """Heat maps of the words of queries' passages; for the target term_weight_pages alone."""
    input:
        vectors=weight_page_vectors,
        runs=weight_page_runs,
        documents=weight_page_documents,
        queries=weight_page_dataset("queries.parquet"),
        qrels=weight_page_dataset("qrels.txt"),
    output:
        page="results/term_weight_pages/{page}.html",
        meta="results/term_weight_pages/{page}.html.meta.json",
    log:
        "results/logs/write_term_weight_page/{page}.log",
    benchmark:
        "results/benchmarks/write_term_weight_page/{page}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(3000),
        runtime=minutes(60),
    params:
        options=weight_page_options,
        weightings=weight_page_weightings,
        stages=weight_page_stages,
        retrieval=index_options(),
        text=dump(CFG.text),
    script:
        "../scripts/write_term_weight_page.py"
