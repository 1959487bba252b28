"""Pages of queries."""


def all_query_pages(wildcards):
    """Every page that the configuration asks for; an error where it asks for none."""
    if not CFG.query_pages:
        raise WorkflowError(
            "the configuration asks for no page of queries whose files are there; add one under query_pages"
        )
    return [f"results/query_pages/{page}.html" for page in CFG.query_pages]


def query_pages_of(papers):
    """The pages of runs that the experiments of these papers make."""
    return [f"results/query_pages/{page}.html" for page in active_query_pages(CFG.of_papers(papers))]


def query_page(wildcards):
    return CFG.query_pages[wildcards.page]


def query_page_options(wildcards):
    return dump(query_page(wildcards))


def query_page_dataset(name):
    """A file of the data set of a page."""
    return lambda wildcards: f"results/datasets/{query_page(wildcards).dataset}/{name}"


def query_page_documents(wildcards):
    return documents_of([CFG.datasets[query_page(wildcards).dataset].corpus])


def query_page_label(wildcards):
    page = query_page(wildcards)
    return dataset_label(CFG, page.dataset, page.candidates)


def query_page_measure(wildcards):
    page = query_page(wildcards)
    return page.measure or CFG.datasets[page.dataset].measures[0]


def shown_run(page, shown):
    """The files of the run of a ranking."""
    if shown.model in first_stage_names(CFG):
        return [first_stage_run(page.dataset, shown.model)]
    return run_files(page.dataset, page.candidates, shown.model, shown.regime or "zero-shot", shown.seed)


def query_page_runs(wildcards):
    return [path for ranking in query_page_rankings(wildcards) for path in ranking["paths"]]


def taken_apart(page):
    """The rankings of a page whose scores are taken apart."""
    sides = (page.left, page.right) if page.attributions else ()
    return [shown for shown in sides if can_attribute(CFG, shown)]


def query_page_model_files(wildcards):
    files = [final_model_files(shown.model, shown.seed) for shown in taken_apart(query_page(wildcards))]
    return [path for some in files for path in ([some] if isinstance(some, str) else some)]


def query_page_threads(wildcards):
    return CFG.reranking.compute.threads if query_page(wildcards).attributions else 1


def query_page_gpus(wildcards):
    return CFG.reranking.compute.gpus if query_page(wildcards).attributions else 0


def query_page_rankings(wildcards):
    """Fields of report.query_pages.ShownRanking."""
    page = query_page(wildcards)
    return [shown_ranking(page, shown) for shown in (page.left, page.right)]


def shown_ranking(page, shown):
    stages = first_stage_labels(CFG)
    regime = regime_label(shown.regime or "zero-shot")
    return {
        "key": shown.model,
        "label": stages.get(shown.model) or CFG.models[shown.model].label,
        "detail": "first stage" if shown.model in stages else f"{regime}, seed {shown.seed}",
        "paths": shown_run(page, shown),
        "directory": final_model(shown.model, shown.seed) if can_attribute(CFG, shown) else None,
    }
