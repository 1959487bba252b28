"""Views of the integer weights of words: their distribution over a collection, and pages of heat maps."""


def vectors_of(weighting, corpora):
    """Integer weights of the words of some corpora, all shards."""
    return [
        f"results/term_vectors/{weighting}/{corpus}-{shard}.parquet" for corpus, shard in shards_of(corpora)
    ]


def weight_distribution(name):
    return f"results/weight_distributions/{name}.json"


def distribution_vectors(wildcards):
    return [path for paths in distribution_weightings(wildcards).values() for path in paths]


def distribution_weightings(wildcards):
    """Weightings of a collection, each with its files."""
    shown = CFG.weight_distributions[wildcards.distribution]
    return {name: vectors_of(name, shown.corpora) for name in shown.weightings}


def distribution_label(wildcards):
    return CFG.weight_distributions[wildcards.distribution].label


def distribution_labels(wildcards):
    """Names of a collection's weightings in its figure."""
    labels = index_labels(CFG)
    return {name: labels[name] for name in CFG.weight_distributions[wildcards.distribution].weightings}


def check_views():
    """Refuse views that name what is not there, which a report without DeepCT does not look at."""
    if faults := list(view_faults(CFG)):
        raise WorkflowError("\n".join(faults))


def distribution_figures(wildcards):
    """The figure of every collection that the configuration asks for; an error where it asks for none."""
    if not CFG.weight_distributions:
        raise WorkflowError(
            "the configuration asks for no distribution of weights; add one under weight_distributions"
        )
    check_views()
    return [f"results/figures/weight-distribution-{name}.svg" for name in CFG.weight_distributions]


def weight_pages(wildcards):
    """Every page that the configuration asks for; an error where it asks for none."""
    if not CFG.term_weight_pages:
        raise WorkflowError(
            "the configuration asks for no page of term weights whose files are there; add one under term_weight_pages"
        )
    check_views()
    return [f"results/term_weight_pages/{page}.html" for page in CFG.term_weight_pages]


def weight_page(wildcards):
    return CFG.term_weight_pages[wildcards.page]


def weight_page_options(wildcards):
    return dump(weight_page(wildcards))


def weight_page_dataset(name):
    """A file of the data set of a page."""
    return lambda wildcards: f"results/datasets/{weight_page(wildcards).dataset}/{name}"


def weight_page_documents(wildcards):
    return documents_of([CFG.datasets[weight_page(wildcards).dataset].corpus])


def weight_page_vectors(wildcards):
    return [path for weighting in weight_page_weightings(wildcards) for path in weighting["vectors"]]


def weight_page_weightings(wildcards):
    """Fields of report.term_weight_pages.ShownWeighting."""
    page, labels = weight_page(wildcards), index_labels(CFG)
    corpus = CFG.datasets[page.dataset].corpus
    return [
        {"key": name, "label": labels[name], "vectors": vectors_of(name, [corpus])}
        for name in page.weightings
    ]


def weight_page_runs(wildcards):
    return [stage["run"] for stage in weight_page_stages(wildcards)]


def weight_page_stages(wildcards):
    """Fields of report.term_weight_pages.ShownStage."""
    page, labels = weight_page(wildcards), first_stage_labels(CFG)
    return [
        {"key": name, "label": labels[name], "run": first_stage_run(page.dataset, name)}
        for name in page.first_stages
    ]
