"""Runs → scores."""


rule evaluate:
    input:
        runs=[path for run in all_runs() for path in run["paths"]],
        qrels=expand("results/datasets/{dataset}/qrels.txt", dataset=tested_datasets(CFG)),
        folds=expand("results/datasets/{dataset}/folds.json", dataset=cross_validated()),
    output:
        per_query="results/per_query.parquet",
        scores="results/scores.csv",
        meta="results/per_query.parquet.meta.json",
    log:
        "results/logs/evaluate.log",
    benchmark:
        "results/benchmarks/evaluate.tsv"
    resources:
        mem_mb=memory(4000),
        runtime=60,
    params:
        runs=all_runs(),
        datasets={
            name: [CFG.datasets[name].measures, CFG.datasets[name].train_on is None]
            for name in tested_datasets(CFG)
        },
    script:
        "../scripts/evaluate.py"
