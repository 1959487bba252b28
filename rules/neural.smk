"""Word vectors of a collection → rankers without pre-training, which are fine-tuned as others are."""


rule make_neural_ranker:
    input:
        statistics=plan.file(paths.STATISTICS, "models", collection="neural.collection"),
        vectors=plan.models.neural_vectors,
    output:
        model=directory(paths.NEURAL),
        meta=sidecar(paths.NEURAL),
    log:
        "results/logs/neural/{model}-{seed}.log",
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        options=settings("models.neural"),
        text=settings("text"),
        seed=wildcard_number("seed"),
    script:
        "../scripts/make_neural_ranker.py"
