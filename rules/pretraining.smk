"""Ranking groups → pre-trained cross-encoders."""


rule pretrain:
    input:
        encoder=encoder_inputs,
        start=model_start,
        groups=model_groups,
        tokens=model_tokens,
    output:
        model=directory("results/models/pretrained/{model}/seed-{seed}"),
        metrics="results/metrics/pretrained/{model}/seed-{seed}.jsonl",
        meta="results/models/pretrained/{model}/seed-{seed}.meta.json",
    log:
        "results/logs/pretrain/{model}-{seed}.log",
    benchmark:
        "results/benchmarks/pretrain/{model}-{seed}.tsv"
    priority: training_priority
    threads: model_threads
    resources:
        mem_mb=memory(8000, model_processes),
        runtime=minutes(2880),
        gpu=model_gpus,
    params:
        encoder=dump(CFG.encoder),
        encoder_directory=encoder_directory,
        options=model_training,
        tasks=model_tasks,
        seed=seed_number,
        checkpoints="results/checkpoints",
    script:
        "../scripts/pretrain.py"
