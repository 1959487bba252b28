"""Tasks beside retrieval: examples → fine-tuned models' predictions → scores. For the target downstream, and for the
table of a paper that shows them."""


rule prepare_downstream_task:
    input:
        files=task_inputs,
        sound=task_soundness,
    output:
        examples="results/downstream/examples/{task}.parquet",
        meta="results/downstream/examples/{task}.parquet.meta.json",
    log:
        "results/logs/prepare_downstream_task/{task}.log",
    benchmark:
        "results/benchmarks/prepare_downstream_task/{task}.tsv"
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        task=task_data,
        sources=task_sources,
        seed=CFG.seed,
    script:
        "../scripts/prepare_downstream_task.py"


rule finetune_downstream:
    input:
        model=pretrained_model,
        examples="results/downstream/examples/{task}.parquet",
    output:
        predictions="results/downstream/predictions/{task}/{model}/seed-{seed}.json",
        metrics="results/metrics/downstream/{task}/{model}/seed-{seed}.json",
        meta="results/downstream/predictions/{task}/{model}/seed-{seed}.json.meta.json",
    log:
        "results/logs/finetune_downstream/{task}-{model}-{seed}.log",
    benchmark:
        "results/benchmarks/finetune_downstream/{task}-{model}-{seed}.tsv"
    priority: ranking_priority
    threads: task_compute("threads")
    resources:
        mem_mb=memory(8000),
        runtime=minutes(2880),
        gpu=task_compute("gpus"),
    params:
        task=task_data,
        options=task_training,
        checkpoints="results/checkpoints",
        models="results/models/downstream",
    script:
        "../scripts/finetune_downstream.py"


rule evaluate_downstream:
    input:
        predictions=downstream_predictions,
        examples=downstream_examples,
    output:
        per_query="results/downstream/{experiment}.parquet",
        scores="results/downstream/{experiment}.csv",
        table="results/downstream/{experiment}.md",
        meta="results/downstream/{experiment}.parquet.meta.json",
    log:
        "results/logs/evaluate_downstream/{experiment}.log",
    benchmark:
        "results/benchmarks/evaluate_downstream/{experiment}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        runs=downstream_runs,
        tasks=downstream_tasks,
        labels=downstream_labels,
    script:
        "../scripts/evaluate_downstream.py"
