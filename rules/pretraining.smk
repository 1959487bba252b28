"""Ranking groups → pre-trained cross-encoders."""


rule pretrain:
    input:
        encoder=encoder_directory,
        start=model_start,
        groups=model_groups,
        tokens=model_tokens,
    output:
        model=directory("results/models/pretrained/{model}/seed-{seed}"),
        metrics="results/metrics/pretrained/{model}/seed-{seed}.jsonl",
        meta="results/models/pretrained/{model}/seed-{seed}.meta.json",
    params:
        encoder=dump(CFG.encoder),
        options=lambda wildcards: dump(CFG.training_of(wildcards.model)),
        tasks=lambda wildcards: [dump(task) for task in CFG.models[wildcards.model].tasks],
        seed=lambda wildcards: int(wildcards.seed),
        title=lambda wildcards: f"pretrain {wildcards.model} seed {wildcards.seed}",
        checkpoints="results/checkpoints",
    log:
        "results/logs/pretrain/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/pretrain/{model}-{seed}.tsv"
    threads: CFG.pretraining.compute.threads
    resources:
        mem_mb=memory(8000),
        runtime=2880,
        gpu=CFG.pretraining.compute.gpus,
    script:
        "../scripts/pretrain.py"
