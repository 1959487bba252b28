"""Candidates re-ranked by cross-encoders, zero-shot (ours, or given by their path) or fine-tuned, and by fine-tuned
rankers over words."""


rule rerank:
    input:
        model=plan.models.files,
        tokens=plan.models.for_external_reranker([], plan.of_dataset(paths.TOKENS)),
        documents=plan.models.for_external_reranker(plan.of_dataset(paths.DOCUMENTS), []),
        queries=paths.QUERIES,
        candidates=paths.FIRST_STAGE_RUN,
    output:
        run=paths.ZERO_SHOT_RUN,
        meta=sidecar(paths.ZERO_SHOT_RUN),
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}-{seed}.log",
    priority: plan.models.ranking_priority
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=minutes(720),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=plan.models.reranking,
        directory=plan.models.directory,
        text=plan.models.for_external_reranker(settings("text")),
        snapshot=None,
        checkpoints=paths.CHECKPOINTS,
    script:
        "../scripts/rerank.py"


use rule rerank as rerank_snapshot with:
    # Zero-shot scores of a model in the middle of its pre-training, for learning curves and to choose among snapshots.
    input:
        model=paths.PRETRAINED,
        tokens=plan.of_dataset(paths.TOKENS),
        documents=[],
        queries=paths.QUERIES,
        candidates=paths.FIRST_STAGE_RUN,
    output:
        run=paths.SNAPSHOT_RUN,
        meta=sidecar(paths.SNAPSHOT_RUN),
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}@{step}-{seed}.log",
    params:
        options=plan.models.reranking,
        directory=plan.file(paths.PRETRAINED, "models"),
        text=None,
        snapshot=plan.models.snapshot,
        checkpoints=paths.CHECKPOINTS,


rule finetune:
    """Grid and epoch chosen on a validation fold, the test queries ranked once: a test fold, or, as fold 0, all
    queries of a data set that trains on another."""
    input:
        model=plan.models.directory,
        documents=plan.datasets.training_documents,
        queries=plan.datasets.training_file(paths.QUERIES),
        qrels=plan.datasets.training_file(paths.QRELS),
        folds=plan.datasets.training_file(paths.FOLDS),
        candidates=plan.datasets.training_run,
        test_documents=plan.datasets.test_documents,
        test_queries=plan.datasets.test_file(paths.QUERIES),
        test_candidates=plan.datasets.test_file(paths.FIRST_STAGE_RUN),
        apart=plan.file(paths.LEAKAGE_CHECK, "datasets", used="train_on"),
    output:
        run=paths.FINETUNED_RUN,
        metrics=paths.FINETUNING_METRICS,
        meta=sidecar(paths.FINETUNED_RUN),
    log:
        "results/logs/finetune/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.log",
    wildcard_constraints:
        regime=r"full|few-shot-\d+",
    priority: plan.models.training_priority
    threads: plan.models.finetuning_threads
    resources:
        mem_mb=memory(plan.models.finetuning_memory),
        runtime=minutes(1440),
        gpu=plan.models.finetuning_gpus,
    params:
        options=plan.models.finetuning,
        reranking=plan.models.reranking,
        measure=settings("datasets.validation_measure"),
        checkpoints=paths.CHECKPOINTS,
        models=paths.FINETUNED_MODELS,
    script:
        "../scripts/finetune.py"


rule select_model:
    """Of the snapshots of a pre-training, the one that ranks some held-out queries best."""
    input:
        model=paths.PRETRAINED,
        runs=plan.models.selection_runs,
        qrels=plan.file(paths.QRELS, "models", dataset="select_on.dataset"),
    output:
        model=directory(paths.SELECTED),
        scores=paths.SELECTION_SCORES,
        meta=sidecar(paths.SELECTED),
    log:
        "results/logs/select/{model}-{seed}.log",
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        steps=plan.models.selection_steps,
        measure=settings("models.select_on.measure"),
    script:
        "../scripts/select_model.py"
