"""Ranking groups → pre-trained cross-encoders."""


rule pretrain:
    input:
        encoder=plan.encoder_files,
        start=plan.models.start,
        groups=plan.models.groups,
        tokens=plan.models.tokens,
    output:
        model=directory(paths.PRETRAINED),
        metrics=paths.PRETRAINING_METRICS,
        probe=paths.PROBE,
        meta=sidecar(paths.PRETRAINED),
    log:
        "results/logs/pretrain/{model}-{seed}.log",
    priority: plan.models.training_priority
    threads: plan.models.threads
    resources:
        mem_mb=memory(8000, plan.models.processes),
        runtime=minutes(2880),
        gpu=plan.models.gpus,
    params:
        encoder=plan.encoder,
        encoder_directory=plan.encoder_directory,
        options=plan.models.training,
        tasks=settings("models.tasks"),
        seed=wildcard_number("seed"),
        checkpoints=paths.CHECKPOINTS,
    script:
        "../scripts/pretrain.py"
