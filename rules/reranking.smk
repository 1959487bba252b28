"""Candidates re-ranked by cross-encoders: zero-shot, or fine-tuned under cross-validation."""


rule rerank:
    input:
        model=lambda wildcards: pretrained(wildcards.model, wildcards.seed),
        tokens=dataset_tokens,
        queries="results/datasets/{dataset}/queries.parquet",
        candidates="results/runs/{dataset}/{candidates}/first-stage.run.gz",
    output:
        run="results/runs/{dataset}/{candidates}/{model}/zero-shot/seed-{seed}.run.gz",
        meta="results/runs/{dataset}/{candidates}/{model}/zero-shot/seed-{seed}.run.gz.meta.json",
    params:
        options=dump(CFG.reranking),
        snapshot=None,
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}-{seed}.log",
    benchmark:
        "results/benchmarks/rerank/{dataset}-{candidates}-{model}-{seed}.tsv"
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=720,
        gpu=CFG.reranking.compute.gpus,
    script:
        "../scripts/rerank.py"


rule rerank_snapshot:
    """Zero-shot scores of a model in the middle of its pre-training, for learning curves."""
    input:
        model=lambda wildcards: pretrained(wildcards.model, wildcards.seed),
        tokens=dataset_tokens,
        queries="results/datasets/{dataset}/queries.parquet",
        candidates="results/runs/{dataset}/{candidates}/first-stage.run.gz",
    output:
        run="results/runs/{dataset}/{candidates}/{model}@{step}/zero-shot/seed-{seed}.run.gz",
        meta="results/runs/{dataset}/{candidates}/{model}@{step}/zero-shot/seed-{seed}.run.gz.meta.json",
    params:
        options=dump(CFG.reranking),
        snapshot=lambda wildcards: int(wildcards.step),
    log:
        "results/logs/rerank/{dataset}-{candidates}-{model}@{step}-{seed}.log",
    benchmark:
        "results/benchmarks/rerank/{dataset}-{candidates}-{model}@{step}-{seed}.tsv"
    threads: CFG.reranking.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=720,
        gpu=CFG.reranking.compute.gpus,
    script:
        "../scripts/rerank.py"


rule finetune:
    """One test fold: grid and epoch chosen on the validation fold, the test fold ranked once."""
    input:
        model=lambda wildcards: pretrained(wildcards.model, wildcards.seed),
        tokens=dataset_tokens,
        queries="results/datasets/{dataset}/queries.parquet",
        qrels="results/datasets/{dataset}/qrels.txt",
        candidates="results/runs/{dataset}/{candidates}/first-stage.run.gz",
        folds="results/datasets/{dataset}/folds.json",
    output:
        run="results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.run.gz",
        metrics="results/metrics/finetuned/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.json",
        meta="results/runs/{dataset}/{candidates}/{model}/{regime}/seed-{seed}/fold-{fold}.run.gz.meta.json",
    wildcard_constraints:
        regime=r"full|few-shot-\d+",
    params:
        options=dump(CFG.finetuning),
        reranking=dump(CFG.reranking),
        measure=lambda wildcards: CFG.datasets[wildcards.dataset].validation_measure,
        checkpoints="results/checkpoints",
        models="results/models/finetuned",
    log:
        "results/logs/finetune/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.log",
    benchmark:
        "results/benchmarks/finetune/{dataset}-{candidates}-{model}-{regime}-{seed}-{fold}.tsv"
    threads: CFG.finetuning.compute.threads
    resources:
        mem_mb=memory(6000),
        runtime=1440,
        gpu=CFG.finetuning.compute.gpus,
    script:
        "../scripts/finetune.py"
