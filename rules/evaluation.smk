"""Runs → scores."""


rule evaluate:
    input:
        runs=experiment_run_files,
        qrels=experiment_qrels,
        apart=apart_from_used,
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
        runtime=minutes(60),
    params:
        runs=lambda wildcards: experiment_runs(wildcards.experiment),
        datasets=experiment_dataset,
    script:
        "../scripts/evaluate.py"


rule evaluate_depths:
    """Recall of candidates and every re-ranked run, cut to the first candidates (DeepCT, Table 4)."""
    input:
        runs=experiment_run_files,
        qrels=experiment_qrels,
        apart=apart_from_used,
    output:
        per_query="results/depths/{experiment}.parquet",
        scores="results/depths/{experiment}.csv",
        meta="results/depths/{experiment}.parquet.meta.json",
    log:
        "results/logs/evaluate_depths/{experiment}.log",
    benchmark:
        "results/benchmarks/evaluate_depths/{experiment}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        runs=lambda wildcards: experiment_runs(wildcards.experiment),
        depths=experiment_depths,
        measures=experiment_measures,
    script:
        "../scripts/evaluate_depths.py"
