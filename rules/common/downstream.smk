"""Tasks beside retrieval."""


def task_of(wildcards):
    return CFG.downstream_tasks[wildcards.task]


def task_data(wildcards):
    """What decides a task's examples; its name in tables, and how models are fine-tuned on them, do not."""
    data = {key: value for key, value in described(task_of(wildcards)).items() if key != "training"}
    return data | {"label": wildcards.task}


def task_training(wildcards):
    return dump(CFG.downstream_training_of(wildcards.task))


def task_sources(wildcards):
    """Part → its files; embedded ones as their verified copies."""
    return {
        part: [str(path) for path in dataset_files(files)] for part, files in task_of(wildcards).files.items()
    }


def task_inputs(wildcards):
    return [path for paths in task_sources(wildcards).values() for path in paths]


def task_soundness(wildcards):
    return sound_entries([task_of(wildcards)])


def task_compute(key):
    return lambda wildcards: getattr(CFG.downstream_training_of(wildcards.task).compute, key)


def downstream_runs(wildcards):
    """The runs of an entry of `downstream`, as irpretrain.downstream.evaluate wants them."""
    one = CFG.downstream[wildcards.experiment]
    return [
        {
            "task": task,
            "model": model,
            "seed": seed,
            "path": f"results/downstream/predictions/{task}/{model}/seed-{seed}.json",
        }
        for task, model, seed in product(one.tasks, one.models, one.seeds)
    ]


def downstream_predictions(wildcards):
    return [run["path"] for run in downstream_runs(wildcards)]


def downstream_examples(wildcards):
    return [task["examples"] for task in downstream_tasks(wildcards).values()]


def downstream_tasks(wildcards):
    return {
        task: {
            "task": described(CFG.downstream_tasks[task]) | {"training": {}},
            "examples": f"results/downstream/examples/{task}.parquet",
        }
        for task in CFG.downstream[wildcards.experiment].tasks
    }


def downstream_labels(wildcards):
    from irpretrain.report.naming import model_label

    return {model: model_label(CFG, model) for model in CFG.downstream[wildcards.experiment].models}


def downstream_results(papers):
    """Scores of the tasks beside retrieval, for the papers with a table of them."""
    shown = any(load_published(PUBLISHED[paper]).answers for paper in papers)
    return (
        [f"results/downstream/{name}.parquet" for name in active_downstream(CFG.of_papers(papers))]
        if shown
        else []
    )


def downstream_tables(wildcards):
    """What the target downstream makes; an error where there is nothing that can be run."""
    found = list(active_downstream(CFG))
    if not found:
        missing = "".join(f"\n  {task}: {reason}" for task, reason in CFG.absent_tasks.items())
        raise WorkflowError(
            "the configuration runs no task beside retrieval; lay configs/downstream.yaml over it, or add one "
            f"under downstream{missing}"
        )
    return [f"results/downstream/{name}.md" for name in found]
