"""Tasks beside retrieval: examples → fine-tuned models' predictions → scores. For the target downstream, and for the
table of a paper that shows them."""


rule prepare_downstream_task:
    input:
        files=files_in(plan.downstream.sources),
        sound=plan.soundness("downstream_tasks"),
    output:
        examples=paths.TASK_EXAMPLES,
        meta=sidecar(paths.TASK_EXAMPLES),
    log:
        "results/logs/prepare_downstream_task/{task}.log",
    priority: CHEAP_CHECKS
    resources:
        mem_mb=memory(4000),
        runtime=minutes(60),
    params:
        task=plan.downstream.data,
        sources=plan.downstream.sources,
        seed=CFG.seed,
    script:
        "../scripts/prepare_downstream_task.py"


rule finetune_downstream:
    input:
        model=plan.models.directory,
        examples=paths.TASK_EXAMPLES,
    output:
        predictions=paths.TASK_PREDICTIONS,
        metrics=paths.TASK_METRICS,
        meta=sidecar(paths.TASK_PREDICTIONS),
    log:
        "results/logs/finetune_downstream/{task}-{model}-{seed}.log",
    priority: plan.models.ranking_priority
    threads: CFG.question_answering.compute.threads
    resources:
        mem_mb=memory(8000),
        runtime=minutes(2880),
        gpu=CFG.question_answering.compute.gpus,
    params:
        options=settings("question_answering"),
        checkpoints=paths.CHECKPOINTS,
    script:
        "../scripts/finetune_downstream.py"


rule evaluate_downstream:
    input:
        predictions=files_in(plan.downstream.runs, "path"),
        examples=files_in(plan.downstream.tasks, "examples"),
    output:
        per_query=paths.TASK_PER_QUERY,
        scores=paths.TASK_SCORES,
        table=paths.TASK_TABLE,
        meta=sidecar(paths.TASK_PER_QUERY),
    log:
        "results/logs/evaluate_downstream/{experiment}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(2000),
        runtime=minutes(30),
    params:
        runs=plan.downstream.runs,
        tasks=plan.downstream.tasks,
        labels=plan.downstream.labels,
    script:
        "../scripts/evaluate_downstream.py"
