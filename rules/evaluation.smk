"""Runs → scores."""


rule evaluate:
    input:
        runs=experiment_run_files,
        qrels=experiment_qrels,
        folds=experiment_folds,
    output:
        per_query="results/per_query/{experiment}.parquet",
        scores="results/scores/{experiment}.csv",
        meta="results/per_query/{experiment}.parquet.meta.json",
    log:
        "results/logs/evaluate/{experiment}.log",
    benchmark:
        "results/benchmarks/evaluate/{experiment}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=60,
    params:
        runs=lambda wildcards: experiment_runs(wildcards.experiment),
        datasets=experiment_dataset,
    script:
        "../scripts/evaluate.py"
