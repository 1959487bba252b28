"""Pages of attributions."""


def attribution_pages(wildcards):
    """Every page that the configuration asks for; an error where it asks for none."""
    if not CFG.attributions:
        raise WorkflowError(
            "the configuration asks for no page of attributions whose files are there; add one under attributions"
        )
    return [f"results/attributions/{page}.html" for page in CFG.attributions]


def page_options(wildcards):
    return dump(CFG.attributions[wildcards.page])


def page_dataset(name):
    """A file of the data set of a page."""
    return lambda wildcards: f"results/datasets/{CFG.attributions[wildcards.page].dataset}/{name}"


def page_documents(wildcards):
    return documents_of([CFG.datasets[CFG.attributions[wildcards.page].dataset].corpus])


def page_first_stage(wildcards):
    page = CFG.attributions[wildcards.page]
    return first_stage_run(page.dataset, page.candidates)


def page_model_files(wildcards):
    page = CFG.attributions[wildcards.page]
    files = [final_model_files(model, page.seed) for model in page.models]
    return [path for some in files for path in ([some] if isinstance(some, str) else some)]


def page_run(page, model):
    """The run in which the document has its rank; a query that is no query of the data set is in none."""
    if page.text is not None:
        return None
    [path] = run_files(page.dataset, page.candidates, model, page.regime, page.seed)
    return path


def page_runs(wildcards):
    page = CFG.attributions[wildcards.page]
    return [run for model in page.models if (run := page_run(page, model))]


def page_models(wildcards):
    """Fields of report.attributions.AttributedModel."""
    page = CFG.attributions[wildcards.page]
    return [
        {
            "key": model,
            "label": CFG.models[model].label,
            "directory": final_model(model, page.seed),
            "run": page_run(page, model),
        }
        for model in page.models
    ]
