"""Candidates re-ranked by cross-encoders, zero-shot (ours, or given by their path) or fine-tuned, and by fine-tuned
rankers over words."""


rule rerank:
    input:
        model=reranker_files,
        tokens=reranker_tokens,
        documents=reranker_documents,
        queries="results/datasets/{dataset}/queries.parquet",
        candidates="results/runs/{dataset}/{candidates}/first-stage.run.gz",
    output:
        run="results/runs/{dataset}/{candidates}/{model}/zero-shot/seed-{seed}.run.gz",
        meta="results/runs/{dataset}/{candidates}/{model}/zero-shot/seed-{seed}.run.gz.meta.json",
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}-{seed}.log",
    benchmark:
        "results/benchmarks/rerank/{dataset}-{candidates}-{model}-{seed}.tsv"
    priority: ranking_priority
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=minutes(720),
        gpu=CFG.reranking.compute.gpus,
    params:
        options=reranking_options,
        directory=reranker_directory,
        text=reranker_text,
        snapshot=None,
        checkpoints="results/checkpoints",
    script:
        "../scripts/rerank.py"


use rule rerank as rerank_snapshot with:
    # Zero-shot scores of a model in the middle of its pre-training, for learning curves and to choose among snapshots.
    input:
        model=model_with_snapshots,
        tokens=dataset_tokens,
        documents=[],
        queries="results/datasets/{dataset}/queries.parquet",
        candidates="results/runs/{dataset}/{candidates}/first-stage.run.gz",
    output:
        run="results/runs/{dataset}/{candidates}/{model}@{step}/zero-shot/seed-{seed}.run.gz",
        meta="results/runs/{dataset}/{candidates}/{model}@{step}/zero-shot/seed-{seed}.run.gz.meta.json",
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}@{step}-{seed}.log",
    benchmark:
        "results/benchmarks/rerank/{dataset}-{candidates}-{model}@{step}-{seed}.tsv"
    params:
        options=reranking_options,
        directory=model_with_snapshots,
        text=None,
        snapshot=snapshot_step,
        checkpoints="results/checkpoints",


rule finetune:
    """Grid and epoch chosen on a validation fold, the test queries ranked once: a test fold, or, as fold 0, all
    queries of a data set that trains on another."""
    input:
        model=pretrained_model,
        documents=training_documents,
        queries=training_file("queries.parquet"),
        qrels=training_file("qrels.txt"),
        folds=training_file("folds.json"),
        candidates=training_run,
        test_documents=test_documents,
        test_queries=test_queries,
        test_candidates=test_candidates,
        apart=apart_from_training,
    output:
        run="results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.run.gz",
        metrics="results/metrics/finetuned/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.json",
        meta="results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.run.gz.meta.json",
    log:
        "results/logs/finetune/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.log",
    benchmark:
        "results/benchmarks/finetune/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.tsv"
    wildcard_constraints:
        regime=r"full|few-shot-\d+",
    priority: training_priority
    threads: CFG.finetuning.compute.threads
    resources:
        mem_mb=memory(finetuning_memory),
        runtime=minutes(1440),
        gpu=CFG.finetuning.compute.gpus,
    params:
        options=finetuning_options,
        reranking=reranking_options,
        measure=validation_measure,
        checkpoints="results/checkpoints",
        models="results/models/finetuned",
    script:
        "../scripts/finetune.py"


rule select_model:
    """Of the snapshots of a pre-training, the one that ranks some held-out queries best."""
    input:
        model=model_with_snapshots,
        runs=selection_runs,
        qrels=selection_qrels,
    output:
        model=directory("results/models/selected/{model}/seed-{seed}"),
        scores="results/metrics/selected/{model}/seed-{seed}.json",
        meta="results/models/selected/{model}/seed-{seed}.meta.json",
    log:
        "results/logs/select/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/select_model/{model}-{seed}.tsv"
    priority: RESULTS
    resources:
        mem_mb=memory(1000),
        runtime=minutes(30),
    params:
        steps=selection_steps,
        measure=selection_measure,
    script:
        "../scripts/select_model.py"
