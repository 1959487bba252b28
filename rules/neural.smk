"""Word vectors of a collection → rankers without pre-training, which are fine-tuned as others are."""


rule make_neural_ranker:
    input:
        statistics=neural_statistics,
        vectors=neural_vectors,
    output:
        model=directory("results/models/neural/{model}/seed-{seed}"),
        meta="results/models/neural/{model}/seed-{seed}.meta.json",
    log:
        "results/logs/neural/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/make_neural_ranker/{model}-{seed}.tsv"
    priority: PREPARATION
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        options=neural_options,
        text=dump(CFG.text),
        seed=seed_number,
    script:
        "../scripts/make_neural_ranker.py"
